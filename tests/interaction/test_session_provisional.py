"""Sessions that `vscode…` clients create before anybody wants them: there for who knows them, shown on first use."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from aio import aio
from interaction.catalogue import consistent, failing, further_chat, listed, restartable, told
from interaction.talk import accepted, refused, shown
from served import Clients, Wire, user

EDITOR: Final = {"name": "vscode-desktop", "title": "Code"}


async def _editor(clients: Clients) -> Wire:
    return await clients("ahp-root://", clientInfo=EDITOR)


async def _unseen(watcher: Wire, session: str, active: int) -> None:
    """Nobody was told of a session, and no list has it."""
    await watcher.settled()
    assert await listed(watcher, session) is None
    assert [each for each in watcher.messages if session in str(each.get("params", {}).get("summary", ""))] == []
    assert [note for note in watcher.notices("root/sessionSummaryChanged") if note["session"] == session] == []
    assert watcher.state("ahp-root://")["activeSessions"] == active


async def _seen_once(watcher: Wire, session: str, active: int) -> None:
    await watcher.until(lambda: told(watcher, session))
    await watcher.until(lambda: watcher.state("ahp-root://")["activeSessions"] == active + 1)
    added = [note["summary"]["resource"] for note in watcher.notices("root/sessionAdded")]
    assert added.count(session) == 1
    summary = await listed(watcher, session)
    assert told(watcher, session) == summary


@aio
async def test_an_eager_session_is_there_and_shown_to_nobody(clients: Clients, session: str) -> None:  # INTEROP 2.3
    editor, watcher = await _editor(clients), await clients("ahp-root://")
    active = watcher.state("ahp-root://")["activeSessions"]
    await editor.request("createSession", session, provider="demo", config={"isolation": "folder"})
    state = await editor.subscribe(session)
    chat = state["defaultChat"]
    await editor.subscribe(chat)
    await editor.until(lambda: editor.state(session)["lifecycle"] == "ready")
    entry = {"clientId": editor.client_id, "tools": []}
    await accepted(editor, session, "session/activeClientSet", activeClient=entry)
    await accepted(editor, session, "session/configChanged", config={"permissionMode": "auto"})
    await accepted(editor, session, "session/titleChanged", title="Perhaps")
    await accepted(editor, chat, "chat/draftChanged", draft=user("I may say"))
    await accepted(editor, session, "session/isReadChanged", isRead=True)
    for wire in (editor, watcher):
        await _unseen(wire, session, active)
    state = await shown(clients, session)
    assert (state["title"], state["activeClients"], state["status"]) == ("Perhaps", [entry], 33)
    assert (await shown(clients, chat))["draft"] == user("I may say")
    async with failing(-32003):
        await watcher.request("createSession", session, provider="demo")
    assert await editor.request("disposeSession", session) is None
    for wire in (editor, watcher):
        await _unseen(wire, session, active)
        assert [note for note in wire.notices("root/sessionRemoved") if note["session"] == session] == []
    async with failing(-32001):
        await editor.subscribe(session)
    async with failing(-32001):
        await editor.request("x-holdfast/restoreSession", session)


@aio
async def test_a_first_conversation_as_the_editor_has_it(
    clients: Clients, session: str
) -> None:  # INTEROP 2.1, INTEROP 2.3, INTEROP 2.5
    editor, watcher = await _editor(clients), await clients("ahp-root://")
    active = watcher.state("ahp-root://")["activeSessions"]
    await editor.request("createSession", session, provider="demo", config={"speed": 0})
    chat = (await editor.subscribe(session))["defaultChat"]
    followed = await editor.follow(chat)
    number = await editor.dispatch(chat, "chat/turnStarted", turnId="t1", message=user("hello"))
    assert "activeTurn" not in (await followed)["snapshot"]["state"], "the snapshot is from before the turn"
    echo = await editor.until(lambda: editor.echo(number))
    assert (echo["channel"], echo["action"]["type"]) == (chat, "chat/turnStarted")
    assert (await editor.ended(chat))["state"] == "complete"
    await _seen_once(watcher, session, active)
    assert told(watcher, session)["title"] == "hello"
    await consistent(clients, session, editor)


@aio
async def test_every_first_use_announces_a_session_once(clients: Clients, session: str) -> None:  # INTEROP 2.3
    editor, watcher = await _editor(clients), await clients("ahp-root://")

    async def begun(name: str) -> tuple[str, str, int]:
        uri = f"{session}-{name}"
        await editor.request("createSession", uri, provider="demo", config={"speed": 0})
        chat = (await editor.subscribe(uri))["defaultChat"]
        await editor.subscribe(chat)
        active = watcher.state("ahp-root://")["activeSessions"]
        await _unseen(watcher, uri, active)
        return uri, chat, active

    uri, chat, active = await begun("queued")
    await editor.dispatch(chat, "chat/pendingMessageSet", kind="queued", id="q1", message=user("hello"))
    await editor.ended(chat)
    await _seen_once(watcher, uri, active)

    uri, chat, active = await begun("chat")
    await further_chat(editor, uri)
    await _seen_once(watcher, uri, active)

    uri, chat, active = await begun("archived")
    await accepted(editor, uri, "session/isArchivedChanged", isArchived=True)
    await _seen_once(watcher, uri, active)
    assert told(watcher, uri)["status"] == 65
    await accepted(editor, uri, "session/isArchivedChanged", isArchived=False)
    await editor.say(chat, "t1", "hello")
    await editor.ended(chat)
    await _seen_once(watcher, uri, active)
    await editor.request("disposeSession", uri)
    await watcher.until(lambda: told(watcher, uri) is None)


@aio
async def test_a_refused_turn_announces_nothing(clients: Clients, session: str) -> None:
    editor, watcher = await _editor(clients), await clients("ahp-root://")
    active = watcher.state("ahp-root://")["activeSessions"]
    await editor.request("createSession", session, provider="demo")
    chat = (await editor.subscribe(session))["defaultChat"]
    forged: dict[str, Any] = {"text": "hello", "origin": {"kind": "agent"}}
    await refused(editor, chat, "chat/turnStarted", turnId="t1", message=forged)
    await _unseen(watcher, session, active)


@aio
async def test_other_clients_show_their_sessions_at_once(clients: Clients, session: str) -> None:  # S-6
    watcher = await clients("ahp-root://")
    for place, name in enumerate(("zed", "not-vscode", "VSCode")):
        client = await clients(clientInfo={"name": name})
        uri = f"{session}-{place}"
        await client.request("createSession", uri, provider="demo")
        await watcher.settled()
        summary = await listed(watcher, uri)
        assert told(watcher, uri) == summary
        assert summary["resource"] == uri


@aio
async def test_an_unused_session_survives_a_kill_and_is_still_unseen(tmp_path: Path) -> None:  # INTEROP 2.3
    async with restartable(tmp_path) as clients:
        editor = await _editor(clients)
        session = "demo:/unused"
        chat = await editor.session(session, config={"speed": 0})
        await accepted(editor, chat, "chat/draftChanged", draft=user("I may say"))
        await clients.restart()
        assert (await clients.back(editor))["type"] == "replay"
        watcher = await clients("ahp-root://")
        await _unseen(watcher, session, 0)
        assert (await shown(clients, chat))["draft"] == user("I may say")
        await editor.say(chat, "t1", "hello")
        await editor.ended(chat)
        await _seen_once(watcher, session, 0)
        await clients.restart()
        watcher = await clients("ahp-root://")
        assert watcher.state("ahp-root://")["activeSessions"] == 1
        assert (await listed(watcher, session))["title"] == "hello"
