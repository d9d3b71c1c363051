"""Chats that come from others: created, forked, opened beside another, spawned by a tool; and their end."""

from __future__ import annotations

from typing import Any

import pytest

import troupe
from aio import aio
from interaction.talk import (
    QUICK,
    accepted,
    agree,
    begin,
    call,
    cancel,
    confirm,
    refused,
    shown,
    spoken,
    took,
    wait_for_call,
    waiting,
)
from served import Clients, Failed, Wire, user

PROGRAM = troupe.PROGRAM
INVALID, NOT_FOUND, NO_SESSION, EXISTS = -32602, -32008, -32001, -32010


def named(session: str, name: str) -> str:
    """The URI of a further chat of a session."""
    return f"ahp-chat:/{session.rpartition('/')[2]}-{name}"


async def create(client: Wire, session: str, chat: str, **params: Any) -> None:
    """Create a chat, which announces it before the answer, and follow it."""
    known = len(client.messages)
    assert await client.request("createChat", session, chat=chat, **params) is None
    if session in client.states:
        news = [each["params"]["action"] for each in client.messages[known:] if each.get("method") == "action"]
        added = [action["summary"]["resource"] for action in news if action["type"] == "session/chatAdded"]
        assert added == [chat]
    await client.subscribe(chat)


async def fails(client: Wire, code: int, session: str, chat: str, **params: Any) -> str:
    """Creating this chat fails; the message is returned."""
    with pytest.raises(Failed) as failed:
        await client.request("createChat", session, chat=chat, **params)
    assert failed.value.code == code
    return str(failed.value)


def fork(chat: str, turn: str) -> dict[str, Any]:
    return {"kind": "fork", "chat": chat, "turnId": turn}


def side(chat: str, turn: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "sideChat", "chat": chat, "turnId": turn, **fields}


# Created


@aio
async def test_a_created_chat_is_there_at_once(clients: Clients, session: str) -> None:  # C-67
    client, other = await clients(), await clients()
    default = await begin(client, session)
    await other.subscribe(session)
    chat = named(session, "new")
    await create(client, session, chat)
    state = client.state(chat)
    assert state == {
        "resource": chat,
        "title": "",
        "status": 1,
        "modifiedAt": state["modifiedAt"],
        "origin": {"kind": "user"},
        "movable": True,
        "turns": [],
    }
    await other.settled()
    catalogue = other.state(session)["chats"]
    assert [entry["resource"] for entry in catalogue] == [default, chat]
    assert catalogue[1] == {key: value for key, value in state.items() if key != "turns"}
    assert other.state(session)["defaultChat"] == default
    await took(client, chat, "t1", "hello")
    for channel in (session, chat, default):
        await agree(clients, channel, client)
    await agree(clients, session, other)


@aio
async def test_a_chat_created_with_a_message_starts_with_it(clients: Clients, session: str) -> None:  # C-68
    client = await clients()
    default = await begin(client, session)
    chat = named(session, "new")
    attachment = {"type": "chat", "label": "the other", "resource": default}
    message = {**user("recall"), "model": {"id": "demo-pocket"}, "attachments": [attachment]}
    await took(client, default, "t1", "hello one")
    await create(client, session, chat, initialMessage=message)
    turn = await client.ended(chat)
    assert turn["message"] == {**message, "attachments": [{**attachment, "endTurn": "t1"}]}
    assert "1. hello one\n" in spoken(turn)
    state = await agree(clients, chat, client)
    assert (state["turns"], state["origin"]) == ([turn], {"kind": "user"})
    await agree(clients, session, client)


@aio
async def test_what_cannot_be_created(clients: Clients, session: str) -> None:  # C-72
    client = await clients()
    default = await begin(client, session)
    await took(client, default, "t1", "hello")
    elsewhere = await begin(client, f"{session}-elsewhere")
    await took(client, elsewhere, "e1", "hello")
    modest = f"{session}-modest"
    await client.session(modest, provider="modest")
    await client.say(default, "t2", "wait")
    await client.until(lambda: client.states[default].active_turn)
    before = [await shown(clients, channel) for channel in (session, modest)]
    chat = named(session, "new")
    agent = {"text": "hello", "origin": {"kind": "agent"}}
    attached = {**user("x"), "attachments": [{"type": "chat", "label": "x", "resource": "ahp-chat:/nobody"}]}
    wrong: list[tuple[int, str, dict[str, Any]]] = [
        (NO_SESSION, "demo:/nobody", {"chat": chat}),
        (EXISTS, session, {"chat": default}),
        (EXISTS, session, {"chat": session}),
        (EXISTS, session, {"chat": "ahp-root://"}),
        (INVALID, session, {"chat": "no uri"}),
        (INVALID, modest, {"chat": chat}),
        (INVALID, session, {"chat": chat, "source": fork("ahp-chat:/nobody", "t1")}),
        (INVALID, session, {"chat": chat, "source": side("ahp-chat:/nobody", "t1")}),
        (INVALID, session, {"chat": chat, "source": fork(elsewhere, "e1")}),
        (INVALID, session, {"chat": chat, "source": side(elsewhere, "e1")}),
        (INVALID, session, {"chat": chat, "source": fork(chat, "t1")}),
        (INVALID, session, {"chat": chat, "source": side(chat, "t1")}),
        (INVALID, session, {"chat": chat, "source": fork(default, "t9")}),
        (INVALID, session, {"chat": chat, "source": side(default, "t9")}),
        (INVALID, session, {"chat": chat, "source": fork(default, "t2")}),
        (INVALID, session, {"chat": chat, "source": side(default, "t1", selection={"text": ""})}),
        (INVALID, session, {"chat": chat, "source": {"kind": "graft", "chat": default, "turnId": "t1"}}),
        (INVALID, session, {"chat": chat, "source": {"chat": default, "turnId": "t1"}}),
        (INVALID, session, {"chat": chat, "initialMessage": agent}),
        (INVALID, session, {"chat": chat, "initialMessage": attached}),
        (INVALID, session, {"chat": chat, "workingDirectories": ["file:///elsewhere"]}),
        (INVALID, session, {}),
    ]
    for code, channel, params in wrong:
        with pytest.raises(Failed) as failed:
            await client.request("createChat", channel, **params)
        assert failed.value.code == code, params
    assert [await shown(clients, channel) for channel in (session, modest)] == before
    with pytest.raises(Failed) as failed:
        await client.subscribe(chat)
    assert failed.value.code == NOT_FOUND
    await cancel(client, default, "t2")


@aio
async def test_an_agent_without_forks_makes_none(clients: Clients, session: str) -> None:  # C-72
    client = await clients()
    default = await client.session(session, provider="modest", config=QUICK)
    await took(client, default, "t1", "hello")
    for source in (None, fork(default, "t1"), side(default, "t1")):
        params = {} if source is None else {"source": source}
        reason = await fails(client, INVALID, session, named(session, "new"), **params)
        assert reason == "this agent has one chat per session"


@aio
async def test_a_chat_gets_directories_of_its_session(clients: Clients, session: str) -> None:  # C-73
    client = await clients()
    directories = ["file:///w/one", "file:///w/two"]
    default = await client.session(session, config=QUICK, workingDirectories=directories)
    await took(client, default, "t1", "hello")
    outside = [directories[0], "file:///elsewhere"]
    for source in ({}, {"source": side(default, "t1")}):
        reason = await fails(client, INVALID, session, named(session, "new"), workingDirectories=outside, **source)
        assert reason == "params.workingDirectories: a chat works in directories of its session"
    assert [entry["resource"] for entry in (await shown(clients, session))["chats"]] == [default]
    chat = named(session, "some")
    await create(client, session, chat, workingDirectories=directories[1:])
    assert client.state(chat)["workingDirectories"] == directories[1:]
    await took(client, chat, "c1", "hello")
    # A fork has what its source has, whatever it is asked for.
    copy = named(session, "copy")
    await create(client, session, copy, source=fork(chat, "c1"), workingDirectories=outside)
    assert client.state(copy)["workingDirectories"] == directories[1:]
    for channel in (session, chat, copy):
        await agree(clients, channel, client)


# Forked


@aio
async def test_a_fork_has_the_history_to_a_turn(clients: Clients, session: str) -> None:  # C-69
    client = await clients()
    default = await begin(client, session)
    turns = [await took(client, default, f"t{number}", f"hello {number}") for number in (1, 2, 3)]
    chat = named(session, "fork")
    await create(client, session, chat, source=fork(default, "t2"))
    state = client.state(chat)
    assert (state["turns"], state["origin"], state["status"]) == (turns[:2], fork(default, "t2"), 1)
    # From here on each goes its own way.
    said = spoken(await took(client, chat, "t3", "recall"))
    assert said.startswith("I remember 2 earlier turns of this chat:\n\n1. hello 1\n2. hello 2\n\n")
    await took(client, default, "t4", "hello 4")
    await accepted(client, default, "chat/truncated", turnId="t1")
    assert (await agree(clients, default, client))["turns"] == turns[:1]
    assert (await agree(clients, chat, client))["turns"][:2] == turns[:2]
    await accepted(client, chat, "chat/truncated", turnId="t2")
    assert (await agree(clients, chat, client))["turns"] == turns[:2]
    await agree(clients, session, client)


@aio
async def test_a_fork_may_start_at_once_and_be_forked(clients: Clients, session: str) -> None:  # C-68, C-69
    client = await clients()
    default = await begin(client, session)
    first = await took(client, default, "t1", "hello 1")
    chat, grandchild = named(session, "fork"), named(session, "fork-of-fork")
    await create(client, session, chat, source=fork(default, "t1"), initialMessage=user("recall"))
    turn = await client.ended(chat, 2)
    assert spoken(turn).startswith("I remember 1 earlier turn of this chat:\n\n1. hello 1\n\n")
    await create(client, session, grandchild, source=fork(chat, turn["id"]))
    assert client.state(grandchild)["turns"] == [first, turn]
    assert client.state(grandchild)["origin"] == fork(chat, turn["id"])


# Opened beside another


@aio
async def test_a_side_chat_is_empty_and_knows(clients: Clients, session: str) -> None:  # C-70
    client = await clients()
    default = await begin(client, session)
    for number in (1, 2, 3):
        await took(client, default, f"t{number}", f"hello {number}")
    part = client.state(default)["turns"][1]["responseParts"][0]["id"]
    selection = {"text": "  I am the demo agent ", "responsePartId": part}
    chat = named(session, "side")
    await create(client, session, chat, source=side(default, "t2", selection=selection))
    state = client.state(chat)
    assert (state["turns"], state["origin"]) == ([], side(default, "t2", selection=selection))
    await accepted(client, default, "chat/truncated")
    for turn in ("s1", "s2"):
        said = spoken(await took(client, chat, turn, "recall"))
        about = f"This side chat is about the chat `{default}`: 2 turns with 2 parts:\n\n1. hello 1\n2. hello 2\n\n"
        assert about in said
    for channel in (session, chat, default):
        await agree(clients, channel, client)


@aio
async def test_a_side_chat_of_a_running_turn(clients: Clients, session: str) -> None:  # C-71
    client = await clients()
    default = await begin(client, session)
    await took(client, default, "t1", "hello 1")
    await client.say(default, "t2", "approve this")
    await wait_for_call(client, default, "pending-confirmation")
    reason = await fails(client, INVALID, session, named(session, "fork"), source=fork(default, "t2"))
    assert reason == "params.source.turnId: not a completed turn of that chat"
    chat = named(session, "side")
    await create(client, session, chat, source=side(default, "t2"))
    # What the turn says later does not count.
    await confirm(client, default)
    await client.ended(default, 2)
    said = spoken(await took(client, chat, "s1", "recall"))
    about = f"about the chat `{default}`: 2 turns with 3 parts:\n\n1. hello 1\n2. approve this\n\n"
    assert about in said
    for channel in (session, chat, default):
        await agree(clients, channel, client)


# Disposed of


@aio
async def test_a_disposed_chat_is_gone(clients: Clients, session: str) -> None:  # C-74
    client, other = await clients(), await clients()
    default = await begin(client, session)
    chat = named(session, "new")
    await create(client, session, chat)
    for channel in (session, chat):
        await other.subscribe(channel)
    await client.say(chat, "t1", "approve")
    await wait_for_call(other, chat, "pending-confirmation")
    assert await waiting(clients, session) == [("toolConfirmation", chat)]
    assert await client.request("disposeChat", chat) is None
    assert client.actions("session/chatRemoved", session) == [{"type": "session/chatRemoved", "chat": chat}]
    await other.settled()
    assert other.actions("chat/turnCancelled", chat)[0]["turnId"] == "t1"
    state = await agree(clients, session, client, other)
    assert [entry["resource"] for entry in state["chats"]] == [default]
    assert "inputNeeded" not in state
    for method in ("subscribe", "disposeChat", "fetchTurns"):
        with pytest.raises(Failed) as failed:
            await other.request(method, chat)
        assert failed.value.code == NOT_FOUND
    number = await other.dispatch(chat, "chat/turnStarted", turnId="t2", message=user("hello"))
    await other.settled()
    assert other.echo(number) is None


@aio
async def test_the_default_chat_stays(clients: Clients, session: str) -> None:  # C-74
    client = await clients()
    default = await begin(client, session)
    before = await shown(clients, session)
    with pytest.raises(Failed) as failed:
        await client.request("disposeChat", default)
    assert failed.value.code == INVALID
    assert await shown(clients, session) == before


@aio
async def test_a_chat_outlives_where_it_came_from(clients: Clients, session: str) -> None:  # C-69, C-74
    client = await clients()
    default = await begin(client, session)
    one, two = named(session, "one"), named(session, "two")
    await create(client, session, one)
    turn = await took(client, one, "t1", "hello")
    await create(client, session, two, source=fork(one, "t1"))
    await client.request("disposeChat", one)
    state = await agree(clients, two, client)
    assert (state["turns"], state["origin"]) == ([turn], fork(one, "t1"))
    reused = named(session, "one")
    await create(client, session, reused)
    assert client.state(reused)["turns"] == []
    assert [entry["resource"] for entry in (await agree(clients, session, client))["chats"]] == [default, two, one]


# Spawned by a tool


@aio
async def test_a_worker_has_a_chat_of_its_own(clients: Clients, session: str) -> None:  # C-46
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "subagent")
    running = await client.until(
        lambda: client.states[chat].active_turn and (found := call(client, chat)) and found.get("content") and found
    )
    (block,) = running["content"]
    assert block == {"type": "subagent", "resource": block["resource"], "title": "Count the tests"}
    worker = block["resource"]
    await client.subscribe(worker)
    waits = await wait_for_call(client, worker, "pending-confirmation")
    state = client.state(worker)
    assert state["origin"] == {"kind": "tool", "chat": chat, "toolCallId": running["toolCallId"]}
    assert state["interactivity"] == "read-only"
    assert state["activeTurn"]["message"]["origin"] == {"kind": "tool"}
    entries = {entry["resource"]: entry for entry in (await shown(clients, session))["chats"]}
    assert entries[worker]["origin"] == state["origin"]
    assert entries[worker]["interactivity"] == "read-only"
    (request,) = (await shown(clients, session))["inputNeeded"]
    assert (request["kind"], request["chat"], request["toolCall"]) == ("toolConfirmation", worker, waits)
    assert (await shown(clients, session))["status"] & 31 == 24
    assert client.state(chat)["status"] == 8
    await confirm(client, worker)
    turn = await client.ended(chat)
    done = await client.ended(worker)
    assert done["state"] == "complete"
    assert "My helper reports: there are 128 tests, and one more never hurts." in spoken(turn)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert ended["content"][0] == block
    for channel in (session, chat, worker):
        await agree(clients, channel, client)


@pytest.mark.parametrize(("text", "interactivity"), [("subagent", "read-only"), ("subagent hidden", "hidden")])
@aio
async def test_nobody_writes_in_a_worker_s_chat(
    clients: Clients, session: str, text: str, interactivity: str
) -> None:  # C-46, section 13: read-only or hidden chat
    client = await clients()
    chat = await begin(client, session, permissionMode="auto")
    turn = await took(client, chat, "t1", text)
    (tool,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    worker = tool["content"][0]["resource"]
    before = await client.subscribe(worker)
    assert before["interactivity"] == interactivity
    reason = f"this chat is {interactivity}"
    assert await refused(client, worker, "chat/turnStarted", turnId="w9", message=user("hello")) == reason
    for kind in ("queued", "steering"):
        fields = {"kind": kind, "id": "q1", "message": user("hello")}
        assert await refused(client, worker, "chat/pendingMessageSet", **fields) == reason
    assert await refused(client, worker, "chat/truncated") == reason
    assert await shown(clients, worker) == before


@aio
async def test_a_cancelled_turn_takes_its_workers_along(clients: Clients, session: str) -> None:  # C-10, C-46
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "subagent")
    running = await client.until(
        lambda: client.states[chat].active_turn and (found := call(client, chat)) and found.get("content") and found
    )
    worker = running["content"][0]["resource"]
    await client.subscribe(worker)
    await wait_for_call(client, worker, "pending-confirmation")
    await cancel(client, chat, "t1")
    turn = await client.ended(worker)
    assert turn["state"] == "cancelled"
    (tool,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (tool["status"], tool["reason"]) == ("cancelled", "skipped")
    assert await waiting(clients, session) == []
    for channel in (session, chat, worker):
        assert (await agree(clients, channel, client))["status"] & 31 == 1
