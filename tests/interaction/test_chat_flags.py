"""What a chat shows beside its turns: read and archived, a title, directories, background work; and completions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import troupe
from aio import aio
from interaction.talk import QUICK, accepted, agree, begin, refused, shown, took
from served import Clients, Failed, Wire, hosting

PROGRAM = troupe.PROGRAM

READ, ARCHIVED = 32, 64
DIRECTORIES = ["file:///w/one", "file:///w/two"]


def another(session: str) -> str:
    """The URI of a second chat of a session."""
    return f"ahp-chat:/{session.rpartition('/')[2]}-2"


async def two_chats(client: Wire, session: str) -> tuple[str, str]:
    """The default chat of a session and another one; both are followed."""
    default = await begin(client, session)
    await client.request("createChat", session, chat=another(session))
    await client.subscribe(another(session))
    return default, another(session)


async def flags(clients: Clients, session: str, chats: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """The flags of each chat: its own, in the catalogue of its session, in the list of sessions."""
    found = []
    summary = await listed(clients, session)
    catalogue = (await shown(clients, session))["chats"]
    for chat in chats:
        states = [(await shown(clients, chat))["status"]]
        for entries in (catalogue, summary["chats"]):
            states += [entry["status"] for entry in entries if entry["resource"] == chat]
        one, two, three = (status & (READ | ARCHIVED) for status in states)
        found.append((one, two, three))
    return found


async def listed(clients: Clients, session: str) -> Any:
    """The session as lists show it."""
    client = await clients()
    (found,) = [each for each in (await client.request("listSessions"))["items"] if each["resource"] == session]
    return found


@aio
async def test_a_chat_is_read_on_its_own(clients: Clients, session: str) -> None:  # C-76
    client = await clients("ahp-root://")
    chats = await two_chats(client, session)
    for number, chat in enumerate(chats):
        await accepted(client, chat, "chat/isReadChanged", isRead=True)
        expected = [(READ, READ, READ) if place <= number else (0, 0, 0) for place in range(2)]
        assert await flags(clients, session, chats) == expected
    assert (await shown(clients, session))["status"] & READ == 0
    told = [each["params"] for each in client.messages if each.get("method") == "root/sessionSummaryChanged"]
    last = [each for each in told if each["session"] == session][-1]["changes"]
    assert [entry["status"] & READ for entry in last["chats"]] == [READ, READ]
    await accepted(client, chats[0], "chat/isReadChanged", isRead=False)
    assert await flags(clients, session, chats) == [(0, 0, 0), (READ, READ, READ)]
    await took(client, chats[1], "t1", "hello")
    assert await flags(clients, session, chats) == [(0, 0, 0)] * 2
    for channel in (session, *chats):
        await agree(clients, channel, client)


@aio
async def test_a_chat_is_archived_on_its_own(clients: Clients, session: str) -> None:  # C-76
    client = await clients()
    chats = await two_chats(client, session)
    await accepted(client, chats[1], "chat/isArchivedChanged", isArchived=True)
    assert await flags(clients, session, chats) == [(0, 0, 0), (ARCHIVED,) * 3]
    assert (await shown(clients, session))["status"] & ARCHIVED == 0
    await accepted(client, chats[1], "chat/isArchivedChanged", isArchived=False)
    assert await flags(clients, session, chats) == [(0, 0, 0)] * 2
    for channel in (session, *chats):
        await agree(clients, channel, client)


@aio
async def test_the_default_chat_is_archived_with_its_session(clients: Clients, session: str) -> None:  # C-76
    client = await clients()
    chat = await begin(client, session)
    before = await shown(clients, chat)
    reason = "the default chat is archived with its session"
    assert await refused(client, chat, "chat/isArchivedChanged", isArchived=True) == reason
    assert await refused(client, chat, "session/isArchivedChanged", isArchived=True) == reason
    assert await shown(clients, chat) == before


@aio
async def test_session_actions_on_a_chat_mean_that_chat(clients: Clients, session: str) -> None:  # INTEROP 2.6
    """The echo comes back on the chat as it was sent; what it means follows in the host's own words."""
    client = await clients()
    chats = await two_chats(client, session)
    await accepted(client, chats[1], "session/titleChanged", title="The other one")
    await accepted(client, chats[1], "session/isReadChanged", isRead=True)
    await accepted(client, chats[1], "session/isArchivedChanged", isArchived=True)
    await client.settled()
    state = await shown(clients, session)
    assert [entry["title"] for entry in state["chats"]] == ["", "The other one"]
    assert state["title"] == ""
    assert (await shown(clients, chats[1]))["title"] == "The other one"
    assert await flags(clients, session, chats) == [(0, 0, 0), (READ | ARCHIVED,) * 3]
    assert state["status"] & (READ | ARCHIVED) == 0
    assert client.actions("chat/isReadChanged", chats[1]) == [{"type": "chat/isReadChanged", "isRead": True}]
    for channel in (session, *chats):
        await agree(clients, channel, client)


@aio
async def test_the_title_of_an_only_chat_is_the_session_s(clients: Clients, session: str) -> None:  # INTEROP 2.6
    client = await clients()
    chat = await begin(client, session)
    await accepted(client, chat, "session/titleChanged", title="Ours")
    await took(client, chat, "t1", "hello")
    state = await agree(clients, session, client)
    assert (state["title"], [entry["title"] for entry in state["chats"]]) == ("Ours", ["Ours"])
    assert (await listed(clients, session))["title"] == "Ours"


@aio
async def test_flags_of_sessions_nobody_follows(clients: Clients, session: str) -> None:  # INTEROP 2.6
    client, stranger = await clients(), await clients()
    await begin(client, session)
    await stranger.dispatch(session, "session/isReadChanged", isRead=True)
    await stranger.dispatch(session, "session/isArchivedChanged", isArchived=True)
    await client.until(lambda: client.state(session)["status"] & (READ | ARCHIVED) == READ | ARCHIVED)
    await stranger.settled()
    assert not any("rejectionReason" in envelope for envelope in stranger.envelopes(session))
    assert (await listed(clients, session))["status"] & (READ | ARCHIVED) == READ | ARCHIVED


@aio
async def test_a_chat_that_becomes_a_default_cannot_move_any_more(clients: Clients, session: str) -> None:  # C-79
    client = await clients()
    _, chat = await two_chats(client, session)
    assert (await shown(clients, chat))["movable"] is True
    result = await client.request("moveChat", chat, destination={"kind": "newSession"})
    await client.settled()
    assert client.actions("chat/movableChanged", chat) == [{"type": "chat/movableChanged", "movable": False}]
    assert (await agree(clients, chat, client))["movable"] is False
    (entry,) = (await shown(clients, result["session"]))["chats"]
    assert (entry["resource"], entry["movable"]) == (chat, False)


# Directories


@aio
async def test_a_chat_works_in_directories_of_its_session(clients: Clients, session: str) -> None:  # C-75
    client = await clients()
    chat = await client.session(session, config=QUICK, workingDirectories=DIRECTORIES)
    assert "workingDirectories" not in await shown(clients, chat)
    before = await shown(clients, chat)
    reason = await refused(client, chat, "chat/workingDirectorySet", directory="file:///elsewhere")
    assert reason == "a chat works in directories of its session"
    assert await shown(clients, chat) == before
    await accepted(client, chat, "chat/workingDirectorySet", directory=DIRECTORIES[1])
    assert (await agree(clients, chat, client))["workingDirectories"] == [DIRECTORIES[1]]
    state = await agree(clients, session, client)
    assert state["chats"][0]["workingDirectories"] == [DIRECTORIES[1]]
    assert state["workingDirectories"] == DIRECTORIES
    await took(client, chat, "t1", "models")
    said = json.dumps(client.state(chat)["turns"][0]["responseParts"])
    assert f"| Directories | `{DIRECTORIES[1]}` |" in said
    await accepted(client, chat, "chat/workingDirectoryRemoved", directory=DIRECTORIES[1])
    assert (await agree(clients, chat, client))["workingDirectories"] == []
    await agree(clients, session, client)


@aio
async def test_directories_take_an_agent_that_knows_several(clients: Clients, session: str) -> None:  # C-75
    client = await clients()
    chat = await client.session(session, provider="modest", workingDirectories=DIRECTORIES[:1])
    for kind in ("chat/workingDirectorySet", "chat/workingDirectoryRemoved"):
        reason = await refused(client, chat, kind, directory=DIRECTORIES[0])
        assert reason == "this agent works in one directory"
    assert "workingDirectories" not in await shown(clients, chat)


# Background work


def shell(id: str, **fields: Any) -> dict[str, Any]:
    work = {"id": id, "label": "Watch the files", "startedAt": "2026-10-02T09:00:00.000Z"}
    return {**work, "kind": "shell", "command": "make watch", **fields}


def work_set(work: dict[str, Any]) -> dict[str, Any]:
    return {"type": "chat/backgroundWorkSet", "work": work}


def work_removed(id: str) -> dict[str, Any]:
    return {"type": "chat/backgroundWorkRemoved", "id": id}


@aio
async def test_background_work_outlives_its_turn(clients: Clients, session: str) -> None:  # C-77
    client = await clients()
    chat = await client.session(session, provider="puppet")
    assert "backgroundWork" not in await shown(clients, chat)
    changed = shell("w1", label="Watch all files", _meta={"pid": 7})
    other = {**shell("w2"), "kind": "hologram"}
    steps = [work_set(shell("w1")), work_set(other), work_set(changed), {"later": work_removed("w1")}]
    turn = await took(client, chat, "t1", json.dumps(steps))
    assert turn["responseParts"] == []
    state = await agree(clients, chat, client)
    assert (state["backgroundWork"], state["status"]) == ([changed, other], 1)
    # Its end comes when it comes: here from the agent of a turn that is over.
    await took(client, chat, "t2", json.dumps([{"await": "later"}]))
    assert client.actions("chat/backgroundWorkRemoved", chat) == [work_removed("w1")]
    assert (await agree(clients, chat, client))["backgroundWork"] == [other]
    await took(client, chat, "t3", json.dumps([work_removed("w2")]))
    assert (await agree(clients, chat, client))["backgroundWork"] == []


@aio
async def test_a_turn_that_is_over_says_nothing_else(clients: Clients, session: str) -> None:  # C-4
    client = await clients()
    chat = await client.session(session, provider="puppet")
    part = {"type": "chat/responsePart", "part": {"kind": "markdown", "id": "p1", "content": "too late"}}
    usage = {"type": "chat/usage", "usage": {"inputTokens": 1}}
    late = [{"later": part}, {"later": usage}, {"later": {"type": "chat/activityChanged", "activity": "late"}}]
    await took(client, chat, "t1", json.dumps(late))
    await took(client, chat, "t2", json.dumps([{"await": "later"}]))
    state = await agree(clients, chat, client)
    assert [turn["responseParts"] for turn in state["turns"]] == [[], []]
    assert "activity" not in state


@aio
async def test_background_work_ends_with_its_host(tmp_path: Path, session: str) -> None:  # C-77
    async with hosting(tmp_path, program=PROGRAM) as host:
        client = Wire(host.url)
        await client.initialize()
        chat = await client.session(session, provider="puppet")
        await took(client, chat, "t1", json.dumps([work_set(shell("w1"))]))
        await host.kill()
        await client.gone()
        await host.start()
        client.url = host.url
        assert (await client.reconnect())["type"] == "replay"
        assert client.state(chat)["backgroundWork"] == []
        newcomer = Wire(host.url)
        await newcomer.initialize()
        assert (await newcomer.subscribe(chat))["backgroundWork"] == []
        await newcomer.close()
        await client.close()


# Completions


async def complete(client: Wire, channel: str, text: str, offset: int, kind: str = "userMessage") -> Any:
    found = await client.request("completions", channel, kind=kind, text=text, offset=offset)
    assert found.keys() == {"items"}
    return found["items"]


@aio
async def test_scenarios_are_completed(clients: Clients, session: str) -> None:  # C-80, INTEROP 2.17
    client = await clients()
    chat = await begin(client, session)
    (item,) = await complete(client, chat, "/mark please", 3)
    assert item == {
        "insertText": "/markdown ",
        "rangeStart": 0,
        "rangeEnd": 5,
        "attachment": {
            "type": "simple",
            "label": "/markdown",
            "_meta": {
                "command": "markdown",
                "title": "Markdown",
                "description": "Headings, lists, a table and code, in three parts.",
            },
        },
    }
    # The channel may be the session's: that means its default chat.
    assert await complete(client, session, "/mark please", 3) == [item]
    message = {"text": "/markdown ", "origin": {"kind": "user"}, "attachments": [item["attachment"]]}
    await accepted(client, chat, "chat/turnStarted", turnId="t1", message=message)
    turn = await client.ended(chat)
    assert turn["message"] == message


@aio
async def test_offsets_count_utf_16(clients: Clients, session: str) -> None:  # C-80
    client = await clients()
    chat = await begin(client, session)
    text = "⛵️ 𝄞 @boa"
    units = len(text.encode("utf-16-le")) // 2
    (item,) = await complete(client, chat, text, units)
    assert (item["insertText"], item["rangeStart"], item["rangeEnd"]) == ("@boats.csv ", units - 4, units)
    attachment = item["attachment"]
    assert (attachment["type"], attachment["label"]) == ("resource", "boats.csv")
    assert attachment["_meta"]["uri"] == attachment["uri"]
    for offset in (-1, units + 1):
        with pytest.raises(Failed) as failed:
            await complete(client, chat, text, offset)
        assert failed.value.code == -32602
    for fine in (0, units):
        await complete(client, chat, text, fine)


@aio
async def test_what_cannot_be_completed(clients: Clients, session: str) -> None:  # C-80
    client = await clients()
    chat = await begin(client, session)
    assert await complete(client, chat, "nothing of ours", 7) == []
    assert await complete(client, chat, "/mark", 5, kind="shellCommand") == []
    with pytest.raises(Failed) as failed:
        await complete(client, "ahp-chat:/nobody", "/mark", 5)
    assert failed.value.code == -32008


# What there is to review


def changes(kind: str, *variables: str, **fields: Any) -> dict[str, Any]:
    pattern = "".join(f"/{{{name}}}" for name in variables)
    return {"label": kind.title(), "uriTemplate": f"ahp-changeset:/{kind}{pattern}", "changeKind": kind, **fields}


OF_SESSION = [
    changes("session", description="Everything since the beginning", capabilities={"review": {}}),
    changes("turn", "turnId"),
    changes("compare-turns", "originalTurnId", "modifiedTurnId"),
    changes("weather"),
]


@pytest.mark.parametrize("kind", ["session", "chat"])
@aio
async def test_what_can_be_reviewed_is_replaced_and_cleared(
    tmp_path: Path, session: str, kind: str
) -> None:  # S-63, C-78
    async with hosting(tmp_path, program=PROGRAM) as host, Clients(host) as clients:
        client, other = await clients(), await clients()
        chat = await client.session(session, provider="puppet")
        await other.subscribe(session)
        await other.subscribe(chat)
        channel = session if kind == "session" else chat
        assert "changesets" not in await shown(clients, channel)
        steps: list[list[dict[str, Any]] | None] = [OF_SESSION, OF_SESSION[1:2], [], None]
        for turn, listed_now in enumerate(steps):
            said = {"type": f"{kind}/changesetsChanged", **({} if listed_now is None else {"changesets": listed_now})}
            await took(client, chat, f"t{turn}", json.dumps([said]))
            assert (await agree(clients, channel, client, other)).get("changesets") == listed_now
            assert other.actions(f"{kind}/changesetsChanged", channel)[-1] == said
        await took(client, chat, "t9", json.dumps([{"type": f"{kind}/changesetsChanged", "changesets": OF_SESSION}]))
        await host.kill()
        await host.start()
        assert (await shown(clients, channel))["changesets"] == OF_SESSION


@pytest.mark.parametrize("variables", [("branch",), ("originalTurnId",), ("turnId", "branch")])
@aio
async def test_what_clients_could_not_open_is_not_offered(
    clients: Clients, session: str, variables: tuple[str, ...]
) -> None:  # S-63
    client = await clients()
    chat = await client.session(session, provider="puppet")
    offers = [
        {"type": f"{kind}/changesetsChanged", "changesets": [*OF_SESSION, changes("odd", *variables)]}
        for kind in ("session", "chat")
    ]
    await took(client, chat, "t1", json.dumps(offers))
    for channel in (session, chat):
        assert "changesets" not in await agree(clients, channel, client)
