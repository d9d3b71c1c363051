"""The catalogue of sessions: pages of it, and what keeps it current (02-root, sections 4.1 and 6)."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from aio import aio
from interaction.talk import begin, confirm, shown, took, wait_for_call
from served import Clients, Failed, Wire

ROOT: Final = "ahp-root://"
IS_READ, IS_ARCHIVED = 32, 64


def told(client: Wire, method: str, uri: str | None = None) -> list[dict[str, Any]]:
    """What a client was told of the catalogue, or of one session in it."""
    found = [message["params"] for message in client.messages if message.get("method") == f"root/{method}"]
    return [each for each in found if uri in (None, each.get("session") or each["summary"]["resource"])]


async def listed(client: Wire) -> dict[str, Any]:
    """The whole catalogue by URI."""
    return {item["resource"]: item for item in (await client.request("listSessions"))["items"]}


def merged(client: Wire, begun: dict[str, Any]) -> dict[str, Any]:
    """An early list with everything that this client was told since (02-root, section 7)."""
    sessions = dict(begun)
    for message in client.messages:
        params = message.get("params", {})
        match message.get("method"):
            case "root/sessionAdded":
                sessions[params["summary"]["resource"]] = params["summary"]
            case "root/sessionRemoved":
                sessions.pop(params["session"], None)
            case "root/sessionSummaryChanged" if params["session"] in sessions:
                sessions[params["session"]] = sessions[params["session"]] | params["changes"]
    return {
        uri: {key: value for key, value in item.items() if (key, value) != ("activity", "")}
        for uri, item in sessions.items()
    }


# Lists


@aio
async def test_an_entry_says_what_a_list_shows(clients: Clients, session: str) -> None:
    client = await clients()
    chat = await begin(client, session)
    entry = (await listed(client))[session]
    when = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
    assert when.fullmatch(entry.pop("createdAt"))
    assert when.fullmatch(entry.pop("modifiedAt"))
    annotations = {"resource": f"{session}/annotations", "annotationCount": 0, "entryCount": 0}
    assert entry == {
        "resource": session,
        "provider": "demo",
        "title": "",
        "status": 1,
        "annotations": annotations,
        "chats": [{"resource": chat, "title": "", "status": 1, "origin": {"kind": "user"}}],
        "defaultChat": chat,
    }


async def pages(client: Wire, limit: int | None) -> list[list[dict[str, Any]]]:
    """Every page of the catalogue."""
    found = []
    params: dict[str, Any] = {} if limit is None else {"limit": limit}
    page = await client.request("listSessions", **params)
    found.append(page["items"])
    while "nextCursor" in page:
        page = await client.request("listSessions", cursor=page["nextCursor"], **params)
        found.append(page["items"])
    return found


@aio
async def test_pages_visit_every_session_once(clients: Clients, session: str) -> None:
    client = await clients()
    uris = [f"{session}-{number}" for number in range(11)]
    for uri in uris:
        chat = await begin(client, uri)
        await took(client, chat, "t1", "hello")
    whole = (await pages(client, None))[0]
    moments = [item["modifiedAt"] for item in whole]
    assert moments == sorted(moments, reverse=True)
    assert {item["resource"] for item in whole} >= set(uris)
    for limit in (1, 3, 4, len(whole), 1000):
        found = await pages(client, limit)
        assert all(len(page) <= limit for page in found)
        assert all(found)
        assert [item for page in found for item in page] == whole
    assert len((await client.request("listSessions", limit=0))["items"]) <= 1


@aio
async def test_what_was_used_last_comes_first(clients: Clients, session: str) -> None:
    client = await clients()
    chats = [await begin(client, f"{session}-{number}") for number in range(3)]
    for number in (2, 0, 1):
        await took(client, chats[number], "t1", "hello")
    items = (await client.request("listSessions"))["items"]
    order = [item["resource"] for item in items if item["resource"].startswith(session)]
    moments = {item["resource"]: item["modifiedAt"] for item in items}
    assert order == sorted(order, key=lambda uri: moments[uri], reverse=True)


@pytest.mark.parametrize("cursor", ["", "page 2", "WzFd", "bnVsbA==", "x" * 10_000])
@aio
async def test_a_cursor_nobody_made_is_refused(clients: Clients, cursor: str) -> None:
    client = await clients()
    with pytest.raises(Failed) as failed:
        await client.request("listSessions", cursor=cursor)
    assert failed.value.code == -32602


@aio
async def test_a_page_goes_on_where_it_was_after_a_deletion(clients: Clients, session: str) -> None:
    client = await clients()
    for number in range(4):
        await begin(client, f"{session}-{number}")
    first = await client.request("listSessions", limit=2)
    await client.request("disposeSession", first["items"][1]["resource"])
    second = await client.request("listSessions", limit=1, cursor=first["nextCursor"])
    rest = [item["resource"] for item in (await client.request("listSessions"))["items"]]
    assert second["items"][0]["resource"] == rest[1]


# Notifications


@aio
async def test_a_new_session_is_told_to_who_follows_the_root(clients: Clients, session: str) -> None:
    creator, other, stranger = await clients(ROOT), await clients(ROOT), await clients()
    await begin(creator, session)
    await creator.subscribe(session)
    for each in (other, stranger):
        await each.settled()
    for each in (creator, other):
        (added,) = told(each, "sessionAdded")
        assert (added["channel"], added["summary"]["resource"]) == (ROOT, session)
        assert added["summary"]["provider"] == "demo"
    assert told(stranger, "sessionAdded") == []


@aio
async def test_a_session_that_is_gone_is_told(clients: Clients, session: str) -> None:
    creator, other, stranger = await clients(ROOT), await clients(ROOT), await clients()
    await begin(creator, session)
    await creator.request("disposeSession", session)
    for each in (other, stranger):
        await each.settled()
    for each in (creator, other):
        assert told(each, "sessionRemoved") == [{"channel": ROOT, "session": session}]
    assert told(stranger, "sessionRemoved") == []
    assert session not in await listed(creator)


@aio
async def test_changes_of_a_summary_are_told(clients: Clients, session: str) -> None:
    client, watcher = await clients(), await clients(ROOT)
    chat = await begin(client, session)
    await took(client, chat, "t1", "hello")
    await client.act(session, "session/titleChanged", title="A title")
    await client.act(session, "session/isReadChanged", isRead=True)
    await client.act(session, "session/isArchivedChanged", isArchived=True)
    await client.act(session, "session/workingDirectorySet", directory="file:///w")
    await watcher.settled()
    changes = [each["changes"] for each in told(watcher, "sessionSummaryChanged", session)]
    assert any(each.get("status", 0) & 8 for each in changes), "a turn runs"
    assert {"title": "A title"} in changes
    assert any(each.get("status", 0) & IS_READ for each in changes)
    assert any(each.get("status", 0) & IS_ARCHIVED for each in changes)
    assert {"workingDirectories": ["file:///w"]} in changes
    assert any("modifiedAt" in each for each in changes)
    for each in changes:
        assert each.keys() & {"resource", "provider", "createdAt"} == set()


@aio
async def test_notifications_add_up_to_the_list(clients: Clients, session: str) -> None:
    client, watcher = await clients(), await clients(ROOT)
    begun = await listed(watcher)
    chat = await begin(client, session)
    await begin(client, f"{session}-2")
    await took(client, chat, "t1", "markdown")
    await took(client, chat, "t2", "error")
    await client.act(session, "session/titleChanged", title="A title")
    await client.act(session, "session/isReadChanged", isRead=True)
    await client.request("createChat", session, chat=f"ahp-chat:/{client.client_id}-list")
    await begin(client, f"{session}-3")
    await client.request("disposeSession", f"{session}-2")
    await watcher.settled()
    assert merged(watcher, begun) == await listed(watcher)


@aio
async def test_notifications_add_up_while_somebody_is_asked(clients: Clients, session: str) -> None:
    client, watcher = await clients(), await clients(ROOT)
    begun = await listed(watcher)
    chat = await begin(client, session)
    await wait_for_call(client, chat, "pending-confirmation", "approve")
    await watcher.settled()
    now = await listed(watcher)
    assert now[session]["status"] & 24 == 24
    assert merged(watcher, begun) == now
    await confirm(client, chat)
    await client.ended(chat)
    await watcher.settled()
    now = await listed(watcher)
    assert now[session]["status"] & 31 == 1
    assert merged(watcher, begun) == now


@aio
async def test_the_chats_of_a_session_are_told_whole(clients: Clients, session: str) -> None:
    client, watcher = await clients(), await clients(ROOT)
    chat = await begin(client, session)
    one, two = f"ahp-chat:/{client.client_id}-one", f"ahp-chat:/{client.client_id}-two"

    async def catalogue() -> list[str]:
        """The URIs of the chats in the last change that was told, which is what the session itself says."""
        await watcher.settled()
        changes = [each["changes"] for each in told(watcher, "sessionSummaryChanged", session)]
        chats: list[dict[str, Any]] = [each["chats"] for each in changes if "chats" in each][-1]
        said = (await shown(clients, session))["chats"]
        keys = ("resource", "title", "status")
        assert [[each[key] for key in keys] for each in chats] == [[each[key] for key in keys] for each in said]
        assert (await listed(watcher))[session]["chats"] == chats
        return [each["resource"] for each in chats]

    for added in (one, two):
        await client.request("createChat", session, chat=added)
    assert await catalogue() == [chat, one, two]
    await client.subscribe(two)
    await client.act(two, "session/titleChanged", title="Renamed")
    assert await catalogue() == [chat, one, two]
    await client.request("moveChat", two, destination={"kind": "session", "session": session, "after": chat})
    assert await catalogue() == [chat, two, one]
    await client.request("disposeChat", one)
    assert await catalogue() == [chat, two]


@aio
async def test_root_notifications_are_not_replayed(clients: Clients, session: str) -> None:
    client, other = await clients(ROOT), await clients()
    await client.drop()
    heard = len(client.messages)
    await begin(other, session)
    await other.act(session, "session/titleChanged", title="x")
    result = await client.reconnect()
    assert {envelope["action"]["type"] for envelope in result["actions"]} == {"root/activeSessionsChanged"}
    await client.settled()
    assert [message["method"] for message in client.messages[heard:] if "method" in message] == []
    assert (await listed(client))[session]["title"] == "x"
