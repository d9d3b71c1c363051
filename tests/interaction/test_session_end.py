"""The end of a session, and its return within the time for second thoughts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from aio import aio
from interaction.catalogue import consistent, entries, failing, further_chat, listed, restartable, told
from interaction.talk import accepted, agree, asked, begin, shown, took
from served import Clients, Wire, user

RESTORE: Final = "x-holdfast/restoreSession"


async def _lived_in(client: Wire, session: str) -> tuple[str, str]:
    """A session with a past: two chats in an order of their own, turns, a title, flags, options, a remark."""
    first = await begin(client, session)
    second = await further_chat(client, session)
    await took(client, first, "t1", "hello")
    await took(client, second, "t2", "markdown")
    await client.request("moveChat", second, destination={"kind": "session", "session": session})
    await accepted(client, session, "session/titleChanged", title="Knots")
    await accepted(client, session, "session/configChanged", config={"permissionMode": "auto"})
    await accepted(client, session, "session/workingDirectorySet", directory="file:///w")
    await accepted(client, second, "chat/isReadChanged", isRead=True)
    remark = {
        "id": "a1",
        "origin": {"session": session},
        "resource": "file:///w/a.py",
        "resolved": False,
        "entries": [{"id": "e1", "text": "Why?"}],
    }
    await client.subscribe(f"{session}/annotations")
    await accepted(client, f"{session}/annotations", "annotations/set", annotation=remark)
    await accepted(client, session, "session/isReadChanged", isRead=True)
    await accepted(client, session, "session/isArchivedChanged", isArchived=True)
    return first, second


async def _everything(clients: Clients, session: str) -> dict[str, Any]:
    """All that can be seen of a session."""
    state = await consistent(clients, session)
    channels = [session, f"{session}/annotations", *entries(state)]
    client = await clients()
    return {
        **{channel: await shown(clients, channel) for channel in channels},
        "summary": await listed(client, session),
    }


async def _gone(client: Wire, session: str, *chats: str) -> None:
    """A session and all it had cannot be found any more."""
    assert await listed(client, session) is None
    async with failing(-32001):
        await client.subscribe(session)
    for uri in (f"{session}/annotations", *chats):
        async with failing(-32008):
            await client.subscribe(uri)


@aio
async def test_a_session_ends_with_all_it_had(clients: Clients, session: str) -> None:  # S-64, S-66
    client, other = await clients("ahp-root://"), await clients("ahp-root://")
    before = client.state("ahp-root://")["activeSessions"]
    first, second = await _lived_in(client, session)
    for uri in (session, first, second):
        await other.subscribe(uri)
    assert await client.request("disposeSession", session) is None
    for wire in (client, other):
        await wire.settled()
        assert wire.state("ahp-root://")["activeSessions"] == before
        assert wire.notices("root/sessionRemoved") == [{"channel": "ahp-root://", "session": session}]
        assert told(wire, session) is None
        await _gone(wire, session, first, second)
    said = [wire.envelopes() for wire in (client, other)]
    await client.dispatch(session, "session/titleChanged", title="From beyond")
    await client.dispatch(first, "chat/turnStarted", turnId="t9", message=user("hello"))
    await client.settled()
    await other.settled()
    assert [wire.envelopes() for wire in (client, other)] == said, "neither an echo nor a refusal"
    for method, uri in (("disposeSession", session), ("fetchTurns", first), ("disposeChat", second)):
        async with failing(-32001 if uri == session else -32008):
            await client.request(method, uri)


@aio
async def test_what_does_not_exist_cannot_be_disposed_of(clients: Clients, session: str) -> None:  # S-65
    client = await clients()
    for uri in (session, "ahp-root://", "no uri"):
        async with failing(-32001):
            await client.request("disposeSession", uri)
    chat = await client.session(session)
    async with failing(-32001):
        await client.request("disposeSession", chat)
    assert await listed(client, session) is not None


@aio
async def test_a_session_ends_in_the_middle_of_its_turns(clients: Clients, session: str) -> None:  # S-64
    client, other = await clients("ahp-root://"), await clients()
    chat = await begin(client, session)
    second = await further_chat(client, session)
    for uri in (session, chat, second):
        await other.subscribe(uri)
    await client.say(chat, "t1", "wait")
    await asked(client, second, "form")
    assert await client.request("disposeSession", session) is None
    await other.until(lambda: other.actions("chat/turnCancelled", chat))
    await other.until(lambda: other.actions("chat/turnCancelled", second))
    await _gone(client, session, chat, second)
    assert await client.request(RESTORE, session) is None
    state = await consistent(clients, session)
    assert ("inputNeeded" in state, state["status"]) == (False, 1)
    for uri, turn in ((chat, "t1"), (second, "t1")):
        restored = await shown(clients, uri)
        assert [(each["id"], each["state"]) for each in restored["turns"]] == [(turn, "cancelled")]
        assert "activeTurn" not in restored
        await client.subscribe(uri)
    assert (await took(client, chat, "t9", "hello"))["state"] == "complete"


@aio
async def test_a_client_that_was_away_learns_that_the_session_is_missing(clients: Clients, session: str) -> None:
    client, away = await clients(), await clients("ahp-root://")
    first, second = await _lived_in(client, session)
    for uri in (session, first, second, f"{session}/annotations"):
        await away.subscribe(uri)
    await away.drop()
    await client.request("disposeSession", session)
    answer = await away.reconnect()
    assert answer["type"] == "replay"
    assert sorted(answer["missing"]) == sorted([session, first, second, f"{session}/annotations"])


@aio
async def test_a_client_that_was_away_is_shown_the_new_session_under_the_old_name(
    clients: Clients, session: str
) -> None:  # S-1
    client, away = await clients(), await clients("ahp-root://")
    chat = await begin(client, session)
    await took(client, chat, "t1", "hello")
    for uri in (session, chat):
        await away.subscribe(uri)
    await away.drop()
    await client.request("disposeSession", session)
    assert await begin(client, session) == chat
    assert (await away.reconnect())["type"] == "snapshot"
    assert away.state(chat)["turns"] == []
    await away.drop()
    await took(client, chat, "t2", "hello")
    assert (await away.reconnect())["type"] == "replay", "it followed the new one by then"
    await agree(clients, chat, client, away)


# Second thoughts


@aio
async def test_a_session_comes_back_as_it_was(clients: Clients, session: str) -> None:
    client, other = await clients("ahp-root://"), await clients("ahp-root://")
    first, _ = await _lived_in(client, session)
    before = await _everything(clients, session)
    active = other.state("ahp-root://")["activeSessions"]
    await client.request("disposeSession", session)
    await other.until(lambda: other.notices("root/sessionRemoved"))

    assert await client.request(RESTORE, session) is None

    await other.until(lambda: told(other, session))
    assert told(other, session) == before["summary"]
    await other.until(lambda: other.state("ahp-root://")["activeSessions"] == active)
    assert await _everything(clients, session) == before
    await client.subscribe(session)
    await client.subscribe(first)
    assert (await took(client, first, "t9", "recall"))["state"] == "complete"
    state = await consistent(clients, session, client)
    assert state["title"] == "Knots", "that somebody chose the title is remembered"
    async with failing(-32003):
        await client.request(RESTORE, session)


@aio
async def test_what_never_was_or_was_replaced_does_not_come_back(clients: Clients, session: str) -> None:
    client = await clients()
    async with failing(-32001):
        await client.request(RESTORE, session)
    await begin(client, session)
    await client.request("disposeSession", session)
    await client.request("createSession", session, provider="demo")
    fresh = await client.subscribe(session)
    assert (fresh["title"], await shown(clients, fresh["defaultChat"])) == (
        "",
        {
            **{key: fresh["chats"][0][key] for key in ("resource", "title", "status", "modifiedAt", "origin")},
            "turns": [],
        },
    )
    async with failing(-32003):
        await client.request(RESTORE, session)


@aio
async def test_a_uri_is_used_again_and_what_was_there_is_forgotten(clients: Clients, session: str) -> None:  # S-1
    client = await clients("ahp-root://")
    first, second = await _lived_in(client, session)
    await client.request("disposeSession", session)
    chat = await client.session(session, config={"speed": 0})
    assert chat == first
    state = await consistent(clients, session, client)
    assert (state["title"], state["status"], entries(state)) == ("", 1, [first])
    assert (await shown(clients, f"{session}/annotations")) == {"annotations": []}
    async with failing(-32008):
        await client.subscribe(second)
    await took(client, chat, "t1", "recall")
    assert [turn["id"] for turn in (await shown(clients, chat))["turns"]] == ["t1"]
    await agree(clients, chat, client)


@aio
async def test_disposing_and_restoring_survive_a_kill(tmp_path: Path) -> None:  # S-64
    async with restartable(tmp_path) as clients:
        client = await clients()
        gone, restored = "demo:/gone", "demo:/restored"
        for session in (gone, restored):
            await _lived_in(client, session)
        before = await _everything(clients, restored)
        for session in (gone, restored):
            await client.request("disposeSession", session)
        await clients.restart()
        client = await clients("ahp-root://")
        assert client.state("ahp-root://")["activeSessions"] == 0
        for session in (gone, restored):
            assert await listed(client, session) is None
            async with failing(-32001):
                await client.subscribe(session)
        await client.request(RESTORE, restored)
        assert await _everything(clients, restored) == before
        await clients.restart()
        assert await _everything(clients, restored) == before
        client = await clients("ahp-root://")
        assert client.state("ahp-root://")["activeSessions"] == 1


@aio
async def test_after_the_time_for_second_thoughts_a_session_is_gone(tmp_path: Path) -> None:
    async with restartable(tmp_path, "--undo-window", "0s") as clients:
        client = await clients()
        await begin(client, "demo:/1")
        await client.request("disposeSession", "demo:/1")
        async with failing(-32001):
            await client.request(RESTORE, "demo:/1")
