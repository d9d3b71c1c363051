"""Tools that clients bring: called through the chat, finished by their owner, given up when the owner is gone."""

from __future__ import annotations

import json
from typing import Any

import troupe
from aio import aio
from interaction.talk import accepted, agree, begin, call, cancel, refused, shown, spoken, wait_for_call, waiting
from served import Clients, Wire

PROGRAM = troupe.PROGRAM
# A silent owner is given up soon, one whose connection dropped sooner.
FLAGS = ("--client-tool-timeout", "3s", "--grace", "1s")

TOOL = {
    "name": "measure",
    "title": "Measure",
    "description": "Measures the boat.",
    "inputSchema": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
}
NOT_OWNER = "only the client that runs a tool may finish it"
DONE = {
    "success": True,
    "pastTenseMessage": "Measured the mast",
    "content": [{"type": "text", "text": "12 metres"}],
}
CLIENT_CALL = "client measure the mast"


async def owning(clients: Clients, session: str) -> tuple[Wire, Wire, str]:
    """A client that brought a tool, another that watches, and the chat."""
    owner, other = await clients(), await clients()
    chat = await begin(owner, session)
    for channel in (session, chat):
        await other.subscribe(channel)
    active = {"clientId": owner.client_id, "displayName": "An editor", "tools": [TOOL]}
    await accepted(owner, session, "session/activeClientSet", activeClient=active)
    return owner, other, chat


def named(running: dict[str, Any], turn: str = "t1") -> dict[str, Any]:
    return {"turnId": turn, "toolCallId": running["toolCallId"]}


@aio
async def test_the_owner_runs_its_tool(clients: Clients, session: str) -> None:  # C-40, INTEROP 2.9
    owner, other, chat = await owning(clients, session)
    running = await wait_for_call(owner, chat, "running", CLIENT_CALL)
    assert running == {
        "toolCallId": running["toolCallId"],
        "toolName": "measure",
        "displayName": "Measure",
        "intention": "Show that a client's own tools can be called",
        "contributor": {"kind": "client", "clientId": owner.client_id},
        "status": "running",
        "invocationMessage": "Calling Measure",
        "toolInput": '{"what": "the mast"}',
        "confirmed": "not-needed",
    }
    assert json.loads(running["toolInput"]) == {"what": "the mast"}
    assert owner.state(chat)["status"] == 8
    (entry,) = (await shown(clients, session))["inputNeeded"]
    assert entry == {
        "id": entry["id"],
        "kind": "toolClientExecution",
        "chat": chat,
        "turnId": "t1",
        "clientId": owner.client_id,
        "toolCall": running,
    }
    content = [{"type": "text", "text": "Measuring …"}]
    await accepted(owner, chat, "chat/toolCallContentChanged", **named(running), content=content)
    await other.until(lambda: call(other, chat).get("content") == content)
    await other.settled()
    assert other.state(session)["inputNeeded"][0]["toolCall"] == {**running, "content": content}
    await accepted(owner, chat, "chat/toolCallComplete", **named(running), result=DONE)
    turn = await owner.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert ended == {**running, **DONE, "status": "completed"}
    assert "The client answered:\n\n> 12 metres\n" in spoken(turn)
    assert await waiting(clients, session) == []
    await other.ended(chat)
    for channel in (session, chat):
        await agree(clients, channel, owner, other)


@aio
async def test_an_owner_that_fails_says_so(clients: Clients, session: str) -> None:  # C-40
    owner, _, chat = await owning(clients, session)
    running = await wait_for_call(owner, chat, "running", CLIENT_CALL)
    result = {"success": False, "pastTenseMessage": "Could not", "error": {"message": "The mast is gone."}}
    await accepted(owner, chat, "chat/toolCallComplete", **named(running), result=result)
    turn = await owner.ended(chat)
    assert turn["state"] == "complete"
    assert "That did not work:\n\n> The mast is gone.\n" in spoken(turn)


@aio
async def test_an_owner_may_have_its_result_looked_at(clients: Clients, session: str) -> None:  # C-36, C-40
    owner, other, chat = await owning(clients, session)
    running = await wait_for_call(owner, chat, "running", CLIENT_CALL)
    fields = {**named(running), "result": DONE, "requiresResultConfirmation": True}
    await accepted(owner, chat, "chat/toolCallComplete", **fields)
    assert call(owner, chat)["status"] == "pending-result-confirmation"
    assert await waiting(clients, session) == [("toolConfirmation", chat)]
    await accepted(other, chat, "chat/toolCallResultConfirmed", **named(running), approved=False)
    turn = await owner.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["reason"]) == ("cancelled", "result-denied")
    assert spoken(turn).endswith("That did not work:\n\n> The result was withheld\n\n")
    await other.ended(chat)
    await agree(clients, chat, owner, other)


@aio
async def test_a_result_that_was_looked_at_reaches_the_agent(clients: Clients, session: str) -> None:  # C-36, C-40
    owner, other, chat = await owning(clients, session)
    running = await wait_for_call(owner, chat, "running", CLIENT_CALL)
    fields = {**named(running), "result": DONE, "requiresResultConfirmation": True}
    await accepted(owner, chat, "chat/toolCallComplete", **fields)
    await other.settled()
    assert "12 metres" not in spoken(other.state(chat)["activeTurn"])
    await accepted(other, chat, "chat/toolCallResultConfirmed", **named(running), approved=True)
    turn = await other.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert ended == {**running, **DONE, "status": "completed"}
    assert "The client answered:\n\n> 12 metres\n" in spoken(turn)


@aio
async def test_others_keep_their_hands_off(clients: Clients, session: str) -> None:  # C-41
    owner, other, chat = await owning(clients, session)
    running = await wait_for_call(other, chat, "running", CLIENT_CALL)
    assert await refused(other, chat, "chat/toolCallComplete", **named(running), result=DONE) == NOT_OWNER
    reason = await refused(other, chat, "chat/toolCallContentChanged", **named(running), content=[])
    assert reason == "only the client that runs a tool may show its content"
    assert call(other, chat) == running
    await accepted(owner, chat, "chat/toolCallComplete", **named(running), result=DONE)
    await owner.ended(chat)
    late = {**named(running), "result": DONE}
    assert await refused(owner, chat, "chat/toolCallComplete", **late) == "this tool call is not running"
    await other.ended(chat)
    await agree(clients, chat, owner, other)


@aio
async def test_nobody_finishes_a_tool_of_the_host(clients: Clients, session: str) -> None:  # C-41
    client = await clients()
    chat = await begin(client, session)
    running = await wait_for_call(client, chat, "running", "slow 1 3600")
    assert await refused(client, chat, "chat/toolCallComplete", **named(running), result=DONE) == NOT_OWNER
    reason = await refused(client, chat, "chat/toolCallContentChanged", **named(running), content=[])
    assert reason == "only the client that runs a tool may show its content"
    await cancel(client, chat, "t1")
    await agree(clients, chat, client)


@aio
async def test_a_silent_owner_is_given_up(clients: Clients, session: str) -> None:  # C-42
    owner, other, chat = await owning(clients, session)
    await wait_for_call(owner, chat, "running", CLIENT_CALL)
    turn = await owner.ended(chat)
    reason = "Measure was given up: the client that runs this tool did not answer in time"
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["success"], ended["pastTenseMessage"]) == ("completed", False, reason)
    assert f"That did not work:\n\n> {reason}\n" in spoken(turn)
    assert await waiting(clients, session) == []
    await other.ended(chat)
    await agree(clients, chat, owner, other)


@aio
async def test_an_owner_that_is_gone_is_given_up(clients: Clients, session: str) -> None:  # C-42, INTEROP 2.9
    owner, other, chat = await owning(clients, session)
    await owner.say(chat, "t1", CLIENT_CALL)
    await wait_for_call(other, chat, "running")
    await owner.drop()
    turn = await other.ended(chat)
    reason = "Measure was given up: the client that runs this tool is gone"
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["success"], ended["pastTenseMessage"]) == ("completed", False, reason)
    assert other.actions("session/activeClientRemoved", session) == [
        {"type": "session/activeClientRemoved", "clientId": owner.client_id}
    ]
    for channel in (session, chat):
        await agree(clients, channel, other)


@aio
async def test_an_owner_that_comes_back_in_time_goes_on(clients: Clients, session: str) -> None:  # C-42
    owner, other, chat = await owning(clients, session)
    running = await wait_for_call(owner, chat, "running", CLIENT_CALL)
    await owner.drop()
    await owner.reconnect()
    await accepted(owner, chat, "chat/toolCallComplete", **named(running), result=DONE)
    turn = await owner.ended(chat)
    assert "The client answered:\n\n> 12 metres\n" in spoken(turn)
    await other.ended(chat)
    await agree(clients, chat, owner, other)


@aio
async def test_an_owner_that_leaves_is_gone_at_once(clients: Clients, session: str) -> None:  # C-42
    """Whatever its calls were doing, one streaming, one waiting, one running: the agent is told about each."""
    owner, other = await clients(), await clients()
    chat = await owner.session(session, provider="puppet")
    for channel in (session, chat):
        await other.subscribe(channel)
    active = {"clientId": owner.client_id, "tools": [TOOL]}
    await accepted(owner, session, "session/activeClientSet", activeClient=active)
    mine = {"kind": "client", "clientId": owner.client_id}
    steps: list[dict[str, Any]] = []
    for id, confirmed in (("k1", None), ("k2", {}), ("k3", {"confirmed": "not-needed"})):
        start = {"type": "chat/toolCallStart", "toolCallId": id, "toolName": "measure", "displayName": "Measure"}
        steps.append({**start, "contributor": mine})
        if confirmed is not None:
            ready = {"type": "chat/toolCallReady", "toolCallId": id, "invocationMessage": "Measure it"}
            steps.append({**ready, **confirmed})
    heard = [{"await": "result", "id": "k3"}]
    for id in ("k1", "k2"):
        heard += [{"await": "decision", "id": id}, {"await": "result", "id": id}]
    await owner.say(chat, "t1", json.dumps([*steps, *heard]))
    await other.until(lambda: len(other.actions("chat/toolCallReady", chat)) == 2)
    await owner.dispatch(session, "session/activeClientRemoved", clientId=owner.client_id)
    turn = await other.ended(chat)
    ended = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert [(tool["status"], tool["success"]) for tool in ended] == [("completed", False)] * 3
    assert await waiting(clients, session) == []
    await owner.ended(chat)
    for channel in (session, chat):
        await agree(clients, channel, owner, other)


@aio
async def test_an_owner_finishes_a_call_that_waits(clients: Clients, session: str) -> None:  # C-40, 7.3
    owner, other = await clients(), await clients()
    chat = await owner.session(session, provider="puppet")
    mine = {"kind": "client", "clientId": owner.client_id}
    start = {"type": "chat/toolCallStart", "toolCallId": "k1", "toolName": "measure", "displayName": "Measure"}
    ready = {"type": "chat/toolCallReady", "toolCallId": "k1", "invocationMessage": "Measure it", "toolInput": "{}"}
    steps = [
        {**start, "contributor": mine},
        ready,
        {"await": "decision", "id": "k1"},
        {"await": "result", "id": "k1"},
    ]
    await owner.say(chat, "t1", json.dumps(steps))
    waits = await wait_for_call(owner, chat, "pending-confirmation")
    assert await refused(other, chat, "chat/toolCallComplete", **named(waits), result=DONE) == NOT_OWNER
    await accepted(owner, chat, "chat/toolCallComplete", **named(waits), result=DONE)
    turn = await owner.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["confirmed"], ended["success"]) == ("completed", "not-needed", True)
    assert spoken(turn) == '{"approved":true,"toolInput":"{}"}' + json.dumps(DONE, separators=(",", ":"))
    assert await waiting(clients, session) == []
    await agree(clients, chat, owner)


@aio
async def test_an_owner_declines_a_call_that_waits(clients: Clients, session: str) -> None:  # 7.5, C-28
    owner = await clients()
    chat = await owner.session(session, provider="puppet")
    mine = {"kind": "client", "clientId": owner.client_id}
    start = {"type": "chat/toolCallStart", "toolCallId": "k1", "toolName": "measure", "displayName": "Measure"}
    ready = {"type": "chat/toolCallReady", "toolCallId": "k1", "invocationMessage": "Measure it"}
    steps = [{**start, "contributor": mine}, ready, {"await": "decision", "id": "k1"}]
    await owner.say(chat, "t1", json.dumps(steps))
    waits = await wait_for_call(owner, chat, "pending-confirmation")
    fields = {**named(waits), "approved": False, "reason": "skipped"}
    await accepted(owner, chat, "chat/toolCallConfirmed", **fields)
    turn = await owner.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["reason"], ended["contributor"]) == ("cancelled", "skipped", mine)
    assert json.loads(spoken(turn))["approved"] is False
    await agree(clients, chat, owner)
