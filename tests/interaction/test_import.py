"""Sessions that come from an export: whole, unseen until they are, and under names that nobody else has."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from aio import aio
from holdfast.protocol import extensions
from holdfast.protocol.uris import default_chat
from interaction.catalogue import consistent, entries, failing, further_chat, listed, restartable, told
from interaction.exports import Exported, exported, imported, renamed
from interaction.talk import accepted, agree, begin, shown, spoken, took
from served import Clients, Failed, Wire, hosting, user

FLAGS = ("--frame-budget", "60kB")


async def lived_in(client: Wire, session: str) -> tuple[str, str]:
    """A session with a past: chats, long history, content, a title, flags, options, remarks, a draft."""
    first = await begin(client, session, permissionMode="auto")
    second = await further_chat(client, session)
    await took(client, first, "t1", "hello")
    await took(client, first, "t2", "big 90")
    for number in range(3, 7):
        await took(client, first, f"t{number}", "markdown")
    await took(client, second, "t1", "think")
    side = f"ahp-chat:/side-of-{session.partition('/')[2]}"
    source = {"kind": "sideChat", "chat": first, "turnId": "t1"}
    await client.request("createChat", session, chat=side, source=source)
    await client.subscribe(side)
    await took(client, side, "t1", "hello")
    await client.request("moveChat", side, destination={"kind": "session", "session": session})
    await accepted(client, session, "session/titleChanged", title="Knots")
    await accepted(client, session, "session/workingDirectorySet", directory="file:///w")
    await accepted(client, second, "chat/draftChanged", draft=user("not yet"))
    await client.subscribe(f"{session}/annotations")
    remark = {
        "id": "a1",
        "origin": {"session": session, "chat": first, "turnId": "t1"},
        "resource": "file:///w/a.py",
        "resolved": False,
        "entries": [{"id": "e1", "text": "Why?"}],
    }
    await accepted(client, f"{session}/annotations", "annotations/set", annotation=remark)
    await accepted(client, session, "session/isReadChanged", isRead=True)
    await accepted(client, session, "session/isArchivedChanged", isArchived=True)
    return first, side


@aio
async def test_a_session_moves_to_another_host_whole(clients: Clients, session: str, tmp_path: Path) -> None:
    first, side = await lived_in(await clients(), session)
    found = await exported(clients, session)
    assert found.contents, "the tool's output is kept beside the turns"
    assert len(found.chats[first]["turns"]) == 6
    async with hosting(tmp_path, *FLAGS) as other, Clients(other) as others:
        client, watcher = await others("ahp-root://"), await others("ahp-root://")
        names = await imported(client, found)
        assert names == {uri: uri for uri in found.chats}
        await watcher.until(lambda: told(watcher, session))
        assert told(watcher, session) == found.summary
        assert watcher.state("ahp-root://")["activeSessions"] == 1
        again = await exported(others, session)
        assert again.comparable() == found.comparable()
        await other.kill()
        await other.start()
        others = Clients(other)
        assert (await exported(others, session)).comparable() == found.comparable()
        client = await others()
        await client.subscribe(session)
        for chat, known in ((first, "t6"), (side, "t1")):
            await client.subscribe(chat)
            turn = await took(client, chat, "t9", "recall")
            assert turn["state"] == "complete"
            assert known in {each["id"] for each in client.state(chat)["turns"]}
        await consistent(others, session, client)
        await others.aclose()


@aio
async def test_the_agent_knows_what_it_knew(clients: Clients, session: str) -> None:
    client = await clients()
    _, side = await lived_in(client, session)
    copy = f"{session}-copy"
    names = await imported(client, await exported(clients, session), copy)
    remembered = []
    for chat in (side, names[side]):
        await client.subscribe(chat)
        remembered.append(spoken(await took(client, chat, "t9", "recall")))
    assert remembered[0].replace(default_chat(session), default_chat(copy)) == remembered[1]
    assert f"{default_chat(session)}`: 1 turn" in remembered[0], "what the side chat is about"
    assert "hello" in remembered[0]


@aio
async def test_a_copy_beside_the_original_has_names_of_its_own(clients: Clients, session: str) -> None:
    client, watcher = await clients(), await clients("ahp-root://")
    first, side = await lived_in(client, session)
    found = await exported(clients, session)
    copy = f"{session}-copy"
    names = await imported(client, found, copy)
    assert names[first] == default_chat(copy)
    assert not set(names.values()) & set(found.chats)
    await watcher.until(lambda: told(watcher, copy))
    again = await exported(clients, copy)
    assert not set(again.contents) & set(found.contents)
    everywhere = {session: copy, f"{session}/annotations": f"{copy}/annotations", **names}
    expected = renamed(found.comparable(), everywhere)
    assert again.comparable() == expected
    assert again.chats[names[side]]["origin"]["chat"] == names[first]
    await client.request("disposeSession", session)
    assert (await exported(clients, copy)).comparable() == expected, "it owes the original nothing"


@aio
async def test_nobody_sees_an_import_before_it_is_committed(clients: Clients, session: str) -> None:
    client, watcher = await clients("ahp-root://"), await clients("ahp-root://")
    chat, _ = await lived_in(client, session)
    copy = f"{session}-copy"
    names = await imported(client, await exported(clients, session), copy, commit=False)
    before = watcher.state("ahp-root://")["activeSessions"]
    for wire in (client, watcher):
        assert await listed(wire, copy) is None
        async with failing(-32001):
            await wire.subscribe(copy)
        for uri in (names[chat], f"{copy}/annotations"):
            async with failing(-32008):
                await wire.subscribe(uri)
        async with failing(-32001):
            await wire.request("disposeSession", copy)
        async with failing(-32001):
            await wire.request(extensions.RESTORE_SESSION, copy)
    async with failing(-32003):
        await watcher.request("createSession", copy, provider="demo")
    async with failing(-32003):
        await imported(watcher, await exported(clients, session), copy)
    async with failing(-32010):
        await watcher.request("createChat", session, chat=names[chat])
    async with failing(-32001):
        await watcher.request(extensions.COMMIT_IMPORT, copy)
    await watcher.settled()
    assert told(watcher, copy) is None
    await client.request(extensions.COMMIT_IMPORT, copy)
    await watcher.until(lambda: told(watcher, copy))
    assert watcher.state("ahp-root://")["activeSessions"] == before + 1
    async with failing(-32001):
        await client.request(extensions.COMMIT_IMPORT, copy)


async def _is_nowhere(client: Wire, session: str) -> None:
    """The session can be made, and has nothing of the import."""
    chat = await begin(client, session)
    state = client.state(session)
    assert (state["title"], entries(state), client.state(chat)["turns"]) == ("", [chat], [])
    await took(client, chat, "t1", "hello")


@aio
async def test_an_import_that_is_given_up_leaves_nothing(clients: Clients, session: str) -> None:
    client = await clients()
    await lived_in(client, session)
    copy = f"{session}-copy"
    await imported(client, await exported(clients, session), copy, commit=False)
    assert await client.request(extensions.ABORT_IMPORT, copy) is None
    async with failing(-32001):
        await client.request(extensions.ABORT_IMPORT, copy)
    assert copy not in str(await client.request(extensions.LIST_DISPOSED))
    await _is_nowhere(client, copy)


async def _created(client: Wire, session: str) -> bool:
    """Whether a session can be made, and is."""
    try:
        await client.request("createSession", session, provider="demo")
    except Failed as refused:
        if refused.code != -32003:
            raise
        return False
    return True


@aio
async def test_an_import_ends_with_its_connection(clients: Clients, session: str) -> None:
    client, other = await clients(), await clients()
    await lived_in(client, session)
    found = await exported(clients, session)
    copy = f"{session}-copy"
    await imported(client, found, copy, commit=False)
    async with failing(-32003):
        await other.request("createSession", copy, provider="demo")
    await client.drop()
    # The host learns of the end of a connection when it does.
    while not await _created(other, copy):
        await other.settled()
    assert (await other.subscribe(copy))["title"] == ""


@aio
async def test_an_import_that_a_restart_interrupts_leaves_nothing(tmp_path: Path) -> None:
    async with restartable(tmp_path, *FLAGS) as clients:
        client = await clients()
        await lived_in(client, "demo:/1")
        found = await exported(clients, "demo:/1")
        await imported(client, found, "demo:/2", commit=False)
        await imported(client, found, "demo:/3")
        await clients.restart()
        client = await clients("ahp-root://")
        assert client.state("ahp-root://")["activeSessions"] == 2
        names = {session: session for session in ("demo:/1", "demo:/3")}
        assert {each["resource"] for each in (await client.request("listSessions"))["items"]} == names.keys()
        await _is_nowhere(client, "demo:/2")


@aio
async def test_a_client_that_was_away_is_shown_what_was_imported(tmp_path: Path) -> None:
    async with restartable(tmp_path, "--undo-window", "0s") as clients:
        client, away = await clients(), await clients()
        chat = await begin(client, "demo:/1")
        await took(client, chat, "t1", "hello")
        found = await exported(clients, "demo:/1")
        await took(client, chat, "t2", "hello")
        for uri in ("demo:/1", chat):
            await away.subscribe(uri)
        await away.drop()
        await client.request("disposeSession", "demo:/1")
        await imported(client, found)
        assert (await away.reconnect())["type"] == "snapshot"
        assert [turn["id"] for turn in away.state(chat)["turns"]] == ["t1"]
        await away.drop()
        await clients.restart()
        assert (await clients.back(away))["type"] == "replay"


@aio
@pytest.mark.parametrize("version", ["0.9.0", "0.6.0", "0.2.0"])
async def test_clients_of_all_ages_see_what_was_imported(clients: Clients, session: str, version: str) -> None:
    client, older = await clients(), clients.wire()
    await lived_in(client, session)
    copy = f"{session}-copy"
    await imported(client, await exported(clients, session), copy)
    await older.initialize(versions=(version,))
    shapes = []
    for uri in (session, copy):
        state = (await older.request("subscribe", uri, resource=uri))["snapshot"]["state"]
        shapes.append((state.get("title") or state["summary"]["title"], len(state.get("turns", ()))))
    assert shapes[0] == shapes[1]
    assert shapes[0][0] == "Knots"


# What is refused


async def _small(clients: Clients, session: str) -> Exported:
    client = await clients()
    chat = await begin(client, session)
    await took(client, chat, "t1", "hello")
    return await exported(clients, session)


@aio
async def test_a_uri_that_is_in_use_is_refused(clients: Clients, session: str) -> None:
    client = await clients()
    found = await _small(clients, session)
    chat = next(iter(found.chats))
    for uri, code in ((session, -32003), (chat, -32003), ("ahp-root://", -32602), ("no uri", -32602)):
        async with failing(code):
            await imported(client, found, uri)
    await client.request("disposeSession", session)
    async with failing(-32003) as refused:
        await imported(client, found)
    assert "restore it" in str(refused.value)
    await client.request(extensions.RESTORE_SESSION, session)
    assert (await exported(clients, session)).comparable() == found.comparable()


@aio
async def test_what_does_not_fit_is_refused_and_the_rest_goes_on(clients: Clients, session: str) -> None:
    client = await clients()
    found = await _small(clients, session)
    (source,) = found.chats
    turn = found.chats[source]["turns"][0]
    copy = f"{session}-copy"

    async def begun(**changes: Any) -> None:
        fields = {"session": found.state, "chats": [{**found.chats[source], "turns": []}]} | changes
        await client.request(extensions.IMPORT_SESSION, copy, **fields)

    wrong: tuple[dict[str, Any], ...] = (
        {"chats": []},
        {"chats": [found.chats[source]]},
        {"chats": [{**found.chats[source], "turns": []}] * 2},
        {"chats": [{**found.chats[source], "turns": [], "modifiedAt": "yesterday"}]},
        {"chats": [{**found.chats[source], "turns": [], "resource": "no uri"}]},
        {"createdAt": "long ago"},
        {"session": {**found.state, "title": 7}},
    )
    for changes in wrong:
        async with failing(-32602):
            await begun(**changes)
    async with failing(-32002):
        await begun(session={**found.state, "provider": "nobody"})
    await begun()
    for method, fields, code in (
        (extensions.IMPORT_TURNS, {"chat": "ahp-chat:/other", "turns": []}, -32008),
        (extensions.IMPORT_TURNS, {"chat": source, "turns": [turn, turn]}, -32602),
        (extensions.IMPORT_TURNS, {"chat": source, "turns": [{**turn, "state": 1}]}, -32602),
        (extensions.IMPORT_CONTENT, {"uri": "x:1", "contentType": "text/plain", "data": "not base64"}, -32602),
    ):
        async with failing(code):
            await client.request(method, copy, **fields)
    assert await client.request(extensions.IMPORT_TURNS, copy, chat=source, turns=[turn]) == {"total": 1}
    async with failing(-32602):
        await client.request(extensions.IMPORT_TURNS, copy, chat=source, turns=[turn])
    await client.request(extensions.COMMIT_IMPORT, copy)
    assert (await shown(clients, default_chat(copy)))["turns"] == [turn]


@aio
async def test_content_may_come_in_pieces(clients: Clients, session: str) -> None:
    client = await clients()
    found = await _small(clients, session)
    (source,) = found.chats
    copy = f"{session}-copy"
    turns, found.chats[source]["turns"] = found.chats[source]["turns"], []
    await imported(client, found, copy, commit=False)

    async def piece(data: bytes, uri: str = "x:/1", **fields: Any) -> str:
        encoded = base64.b64encode(data).decode()
        result = await client.request(
            extensions.IMPORT_CONTENT, copy, uri=uri, contentType="image/png", data=encoded, **fields
        )
        return str(result["uri"])

    await piece(b"\0\1", more=True)
    async with failing(-32602):
        await piece(b"", "x:/2")
    async with failing(-32602):
        await client.request(extensions.COMMIT_IMPORT, copy)
    await piece(b"\2", more=True)
    kept = await piece(b"\3")
    async with failing(-32602):
        await piece(b"again")
    part = {"kind": "contentRef", "uri": "x:/1"}
    turn = {**turns[0], "responseParts": [*turns[0]["responseParts"], part]}
    await client.request(extensions.IMPORT_TURNS, copy, chat=source, turns=[turn])
    await client.request(extensions.COMMIT_IMPORT, copy)
    (kept_turn,) = (await shown(clients, default_chat(copy)))["turns"]
    assert kept_turn["responseParts"][-1] == {**part, "uri": kept}
    read = await client.request("resourceRead", uri=kept)
    assert base64.b64decode(read["data"]) == bytes(range(4))
    assert read["contentType"] == "image/png"
    await agree(clients, copy)


@aio
async def test_options_that_the_agent_does_not_have_so_are_left_out(clients: Clients, session: str) -> None:
    client = await clients()
    found = await _small(clients, session)
    before = dict(found.state["config"]["values"])
    found.state["config"]["values"] |= {"speed": "very", "isolation": "worktree"}
    await imported(client, found, f"{session}-copy")
    values = (await shown(clients, f"{session}-copy"))["config"]["values"]
    assert values["isolation"] == "worktree"
    assert values["speed"] != "very"
    assert values | {"speed": before["speed"]} == before | {"isolation": "worktree"}
