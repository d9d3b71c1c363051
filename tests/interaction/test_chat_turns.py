"""The life of a turn: started, ended in each of its ways, resumed, cut away; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from aio import aio
from holdfast.protocol.timestamps import to_milliseconds
from holdfast.protocol.uris import default_chat
from interaction.talk import (
    QUICK,
    accepted,
    agree,
    begin,
    call,
    cancel,
    confirm,
    parts,
    refused,
    shown,
    spoken,
    took,
    wait_for_call,
    waiting,
)
from served import Clients, user

RESUMABLE = {"errorType": "demoInterruption", "message": "The line is busy. Resume to go on from here."}
FINAL = {"errorType": "demoFailure", "message": "It did not work, as announced. Nothing is broken."}


@aio
async def test_a_new_chat_shows_what_every_chat_has(clients: Clients, session: str) -> None:  # C-1
    client = await clients()
    chat = await begin(client, session)
    state = await shown(clients, chat)
    modified = state.pop("modifiedAt")
    assert to_milliseconds(modified)
    assert state == {"resource": chat, "title": "", "status": 1, "origin": {"kind": "user"}, "turns": []}


@aio
async def test_a_started_turn_is_the_active_one(clients: Clients, session: str) -> None:  # C-2
    client = await clients()
    chat = await begin(client, session)
    sent = {"turnId": "t1", "startedAt": "2026-10-02T09:00:00.000Z", "message": user("wait")}
    action = await accepted(client, chat, "chat/turnStarted", **sent)
    assert action == {"type": "chat/turnStarted", **sent}
    state = client.state(chat)
    active = state["activeTurn"]
    assert (active["id"], active["startedAt"], active["message"]) == ("t1", sent["startedAt"], sent["message"])
    assert (state["status"], state["modifiedAt"]) == (8, sent["startedAt"])
    await cancel(client, chat, "t1")


@aio
async def test_the_host_stamps_what_a_client_left_out(clients: Clients, session: str) -> None:  # C-6
    client = await clients()
    chat = await begin(client, session)
    started = await accepted(client, chat, "chat/turnStarted", turnId="t1", message=user("wait"))
    assert started.keys() == {"type", "turnId", "message", "startedAt"}
    cancelled = await accepted(client, chat, "chat/turnCancelled", turnId="t1")
    assert cancelled.keys() == {"type", "turnId", "duration"}
    assert cancelled["duration"] >= 0
    turn = await client.ended(chat)
    assert (turn["startedAt"], turn["duration"]) == (started["startedAt"], cancelled["duration"])


# What somebody does while the turn runs -> the one action that ends it, and the state it leaves.
ENDS = {
    "hello": ("chat/turnComplete", "complete", 1),
    "wait": ("chat/turnCancelled", "cancelled", 1),
    "error": ("chat/error", "error", 2),
}


@pytest.mark.parametrize("text", ENDS)
@aio
async def test_a_turn_ends_exactly_once(clients: Clients, session: str, text: str) -> None:  # C-4, C-6, C-7
    ender, state, status = ENDS[text]
    client = await clients()
    chat = await begin(client, session)
    await accepted(client, chat, "chat/turnStarted", turnId="t1", message=user(text))
    if text == "wait":
        await accepted(client, chat, "chat/turnCancelled", turnId="t1")
    turn = await client.ended(chat)
    after = await agree(clients, chat, client)
    ends = [action for each, _, _ in ENDS.values() for action in client.actions(each, chat)]
    assert [each["type"] for each in ends] == [ender]
    assert ends[0]["duration"] >= 0
    assert (turn["id"], turn["state"], turn["duration"]) == ("t1", state, ends[0]["duration"])
    assert after["turns"] == [turn]
    assert "activeTurn" not in after
    assert after["status"] == status
    ended_at = to_milliseconds(turn["startedAt"]) + turn["duration"]
    assert to_milliseconds(after["modifiedAt"]) == ended_at


@pytest.mark.parametrize("kind", ["agent", "tool", "systemNotification", "automation", "somebody"])
@aio
async def test_clients_speak_for_users_only(clients: Clients, session: str, kind: str) -> None:  # C-8
    client = await clients()
    chat = await begin(client, session)
    message = {"text": "hello", "origin": {"kind": kind}}
    before = await shown(clients, chat)
    reasons = [
        await refused(client, chat, "chat/turnStarted", turnId="t1", message=message),
        await refused(client, chat, "chat/pendingMessageSet", kind="queued", id="q1", message=message),
        await refused(client, chat, "chat/pendingMessageSet", kind="steering", id="q1", message=message),
        await refused(client, chat, "chat/draftChanged", draft=message),
    ]
    assert reasons == ["clients send messages of origin user"] * 4
    assert await shown(clients, chat) == before


@aio
async def test_a_second_turn_at_once_is_refused(clients: Clients, session: str) -> None:  # C-9
    one, two = await clients(), await clients()
    chat = await begin(one, session)
    await two.subscribe(chat)
    await accepted(one, chat, "chat/turnStarted", turnId="t1", message=user("wait"))
    reason = await refused(two, chat, "chat/turnStarted", turnId="t2", message=user("hello"))
    assert reason == "a turn is running; queue the message instead"
    await accepted(two, chat, "chat/turnCancelled", turnId="t1")
    turn = await one.ended(chat)
    assert (turn["id"], turn["state"]) == ("t1", "cancelled")
    await agree(clients, chat, one, two)


@aio
async def test_a_turn_id_is_used_once(clients: Clients, session: str) -> None:  # section 13
    client = await clients()
    chat = await begin(client, session)
    await took(client, chat, "t1", "hello")
    reason = await refused(client, chat, "chat/turnStarted", turnId="t1", message=user("hello again"))
    assert reason == "this chat has a turn with that id"
    assert await refused(client, chat, "chat/turnStarted", turnId="", message=user("hello")) == "a turn has an id"
    assert len((await agree(clients, chat, client))["turns"]) == 1


@aio
async def test_cancelling_skips_what_is_unfinished(clients: Clients, session: str) -> None:  # C-10, C-43
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "parallel")
    await client.until(lambda: len(client.actions("chat/toolCallReady", chat)) == 2)
    turn = await cancel(client, chat, "t1")
    calls = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert turn["state"] == "cancelled"
    assert [(each["status"], each["reason"]) for each in calls] == [("cancelled", "skipped")] * 2
    assert await waiting(clients, session) == []
    assert (await agree(clients, chat, client))["status"] == 1


@aio
async def test_a_turn_that_ends_skips_a_call_whatever_its_state(clients: Clients, session: str) -> None:  # C-43
    client = await clients()
    chat = await begin(client, session)
    for number, (text, status) in enumerate(
        {
            "approve": "pending-confirmation",
            "slow 1 3600": "running",
            "review": "pending-result-confirmation",
            "mcp": "auth-required",
        }.items()
    ):
        turn = f"t{number}"
        await client.say(chat, turn, text)
        await wait_for_call(client, chat, status)
        ended = await cancel(client, chat, turn)
        tool = next(part["toolCall"] for part in ended["responseParts"] if part["kind"] == "toolCall")
        assert (tool["status"], tool["reason"]) == ("cancelled", "skipped")
        assert await waiting(clients, session) == []
    await agree(clients, chat, client)


@aio
async def test_only_the_running_turn_can_be_cancelled(clients: Clients, session: str) -> None:  # C-11
    client = await clients()
    chat = await begin(client, session)
    assert await refused(client, chat, "chat/turnCancelled", turnId="t1", duration=1) == "no turn is running"
    await client.say(chat, "t1", "wait")
    reason = await refused(client, chat, "chat/turnCancelled", turnId="t0", duration=1)
    assert reason == "another turn is running"
    assert client.state(chat)["activeTurn"]["id"] == "t1"
    await cancel(client, chat, "t1")
    assert await refused(client, chat, "chat/turnCancelled", turnId="t1", duration=1) == "no turn is running"
    await agree(clients, chat, client)


# Trouble


@aio
async def test_a_failure_is_the_last_part(clients: Clients, session: str) -> None:  # C-12, C-13, C-82
    client = await clients()
    chat = await begin(client, session)
    turn = await took(client, chat, "t1", "error")
    (action,) = client.actions("chat/error", chat)
    assert action == {
        "type": "chat/error",
        "turnId": "t1",
        "duration": turn["duration"],
        "part": {"kind": "error", "error": FINAL},
    }
    assert turn["responseParts"][-1] == action["part"]
    assert turn["state"] == "error"
    assert "error" not in turn
    after = await agree(clients, chat, client)
    assert after["status"] == 2
    assert "inputRequests" not in after
    created = [each["part"]["kind"] for each in client.actions("chat/responsePart", chat)]
    assert created == ["markdown"]


@aio
async def test_a_resumed_turn_goes_on_where_it_failed(clients: Clients, session: str) -> None:  # C-14
    client = await clients()
    chat = await begin(client, session)
    failed = await took(client, chat, "t1", "flaky")
    assert failed["responseParts"][-1] == {"kind": "error", "error": RESUMABLE, "resumable": True}
    assert client.state(chat)["status"] == 2
    action = await accepted(client, chat, "chat/turnResume", turnId="t1")
    assert action == {"type": "chat/turnResume", "turnId": "t1"}
    turn = await client.ended(chat)
    assert (turn["id"], turn["state"], turn["startedAt"]) == ("t1", "complete", failed["startedAt"])
    kept = failed["responseParts"]
    assert turn["responseParts"][: len(kept)] == kept
    assert "4. catch the train" in spoken(turn)
    after = await agree(clients, chat, client)
    assert (after["turns"], after["status"]) == ([turn], 1)


@aio
async def test_a_turn_is_resumed_only_where_that_makes_sense(clients: Clients, session: str) -> None:  # C-15
    client = await clients()
    chat = await begin(client, session)
    not_last = "only the last turn can be resumed, and only if it failed"
    assert await refused(client, chat, "chat/turnResume", turnId="t0") == not_last
    await took(client, chat, "t1", "hello")
    assert await refused(client, chat, "chat/turnResume", turnId="t1") == not_last
    await took(client, chat, "t2", "error")
    assert await refused(client, chat, "chat/turnResume", turnId="t2") == "this turn cannot be resumed"
    await took(client, chat, "t3", "flaky")
    await took(client, chat, "t4", "hello")
    assert await refused(client, chat, "chat/turnResume", turnId="t3") == not_last
    await took(client, chat, "t5", "flaky")
    await client.say(chat, "t6", "wait")
    reason = await refused(client, chat, "chat/turnResume", turnId="t5")
    assert reason == "a turn is running; queue the message instead"
    await cancel(client, chat, "t6")
    await agree(clients, chat, client)


@aio
async def test_the_next_turn_clears_the_error(clients: Clients, session: str) -> None:  # C-16
    client = await clients()
    chat = await begin(client, session)
    await took(client, chat, "t1", "error")
    assert (await agree(clients, chat, client))["status"] == 2
    await accepted(client, chat, "chat/turnStarted", turnId="t2", message=user("wait"))
    assert client.state(chat)["status"] == 8
    await cancel(client, chat, "t2")
    assert (await agree(clients, chat, client))["status"] == 1


# Truncation


async def _three_turns(client: Any, chat: str) -> list[Any]:
    return [await took(client, chat, f"t{number}", f"hello {number}") for number in (1, 2, 3)]


@aio
async def test_truncation_keeps_through_a_turn(clients: Clients, session: str) -> None:  # C-17
    client = await clients()
    chat = await begin(client, session)
    turns = await _three_turns(client, chat)
    modified = client.state(chat)["modifiedAt"]
    action = await accepted(client, chat, "chat/truncated", turnId="t2")
    assert action == {"type": "chat/truncated", "turnId": "t2"}
    after = await agree(clients, chat, client)
    assert (after["turns"], after["modifiedAt"]) == (turns[:2], modified)
    await accepted(client, chat, "chat/truncated")
    after = await agree(clients, chat, client)
    assert after["turns"] == []
    assert "turnsNextCursor" not in after


@aio
async def test_truncation_drops_the_running_turn(clients: Clients, session: str) -> None:  # C-17
    client = await clients()
    chat = await begin(client, session)
    turns = await _three_turns(client, chat)
    await client.say(chat, "t4", "approve")
    await wait_for_call(client, chat, "pending-confirmation")
    await accepted(client, chat, "chat/truncated", turnId="t1")
    after = await agree(clients, chat, client)
    assert (after["turns"], after["status"]) == (turns[:1], 1)
    assert "activeTurn" not in after
    assert await waiting(clients, session) == []
    again = await took(client, chat, "t2", "hello")
    assert (await agree(clients, chat, client))["turns"] == [turns[0], again]


@aio
async def test_truncation_clears_an_error(clients: Clients, session: str) -> None:  # C-17
    client = await clients()
    chat = await begin(client, session)
    first = await took(client, chat, "t1", "hello")
    await took(client, chat, "t2", "error")
    await accepted(client, chat, "chat/truncated", turnId="t1")
    after = await agree(clients, chat, client)
    assert (after["turns"], after["status"]) == ([first], 1)


@aio
async def test_truncation_to_nowhere_changes_nothing(clients: Clients, session: str) -> None:  # C-18
    client = await clients()
    chat = await begin(client, session)
    await _three_turns(client, chat)
    before = await shown(clients, chat)
    reason = await refused(client, chat, "chat/truncated", turnId="t9")
    assert reason == "this chat has no such completed turn"
    await client.say(chat, "t4", "wait")
    assert await refused(client, chat, "chat/truncated", turnId="t4") == reason
    assert client.state(chat)["activeTurn"]["id"] == "t4"
    await accepted(client, chat, "chat/truncated", turnId="t3")
    after = await agree(clients, chat, client)
    assert after["turns"] == before["turns"]


@aio
async def test_the_agent_forgets_what_was_cut_away(clients: Clients, session: str) -> None:  # C-19
    client = await clients()
    chat = await begin(client, session)
    await _three_turns(client, chat)
    remembered = spoken(await took(client, chat, "t4", "recall"))
    assert remembered.startswith("I remember 3 earlier turns of this chat:\n\n1. hello 1\n2. hello 2\n3. hello 3\n")
    await accepted(client, chat, "chat/truncated", turnId="t1")
    remembered = spoken(await took(client, chat, "t5", "recall"))
    assert remembered.startswith("I remember 1 earlier turn of this chat:\n\n1. hello 1\n\n")
    await accepted(client, chat, "chat/truncated")
    remembered = spoken(await took(client, chat, "t6", "recall"))
    assert remembered.startswith("I remember 0 earlier turns of this chat.")


# What a turn carries


@aio
async def test_model_and_agent_stay_with_the_turn(clients: Clients, session: str) -> None:  # C-20
    client = await clients()
    chat = await begin(client, session)
    model = {"id": "demo-thoughtful", "config": {"thinking": "high"}}
    message = {**user("models"), "model": model, "agent": {"uri": "file:///agents/reviewer.md"}}
    action = await accepted(client, chat, "chat/turnStarted", turnId="t1", message=message)
    assert action["message"] == message
    turn = await client.ended(chat)
    assert turn["message"] == message
    assert "| Model | `demo-thoughtful` |" in spoken(turn)
    assert '| Model options | thinking = `"high"` |' in spoken(turn)
    assert "| Custom agent | `file:///agents/reviewer.md` |" in spoken(turn)
    assert (await agree(clients, chat, client))["turns"] == [turn]


@aio
async def test_usage_stays_with_the_turn(clients: Clients, session: str) -> None:  # C-81
    client = await clients()
    chat = await begin(client, session)
    turn = await took(client, chat, "t1", "usage")
    told = [each["usage"] for each in client.actions("chat/usage", chat)]
    assert len(told) == 3
    assert [each["inputTokens"] for each in told] == sorted(each["inputTokens"] for each in told)
    assert turn["usage"] == told[-1]
    assert turn["usage"]["model"] == "demo-swift"
    assert (await agree(clients, chat, client))["turns"] == [turn]


@aio
async def test_a_turn_may_begin_before_the_session_is_ready(clients: Clients, session: str) -> None:  # INTEROP 2.5
    client = await clients()
    chat = default_chat(session)
    await client.post("createSession", session, provider="demo", config=QUICK)
    await client.follow(session)
    await client.follow(chat)
    await accepted(client, chat, "chat/turnStarted", turnId="t1", message=user("hello"))
    turn = await client.ended(chat)
    assert (turn["id"], turn["state"]) == ("t1", "complete")
    assert (await agree(clients, session, client))["lifecycle"] == "ready"
    await agree(clients, chat, client)


# Host-only actions


BASE = {"turnId": "t1", "toolCallId": "k1"}
HOST_ONLY: dict[str, dict[str, Any]] = {
    "chat/responsePart": {"turnId": "t1", "part": {"kind": "markdown", "id": "p9", "content": "forged"}},
    "chat/delta": {"turnId": "t1", "partId": "p1", "content": "forged"},
    "chat/reasoning": {"turnId": "t1", "partId": "p1", "content": "forged"},
    "chat/usage": {"turnId": "t1", "usage": {"inputTokens": 1}},
    "chat/activityChanged": {"activity": "forging"},
    "chat/turnComplete": {"turnId": "t1", "duration": 1},
    "chat/error": {"turnId": "t1", "duration": 1, "part": {"kind": "error", "error": FINAL}},
    "chat/turnsLoaded": {"turns": []},
    "chat/toolCallStart": {**BASE, "toolName": "x", "displayName": "X"},
    "chat/toolCallDelta": {**BASE, "content": "forged"},
    "chat/toolCallReady": {**BASE, "invocationMessage": "forged", "confirmed": "not-needed"},
    "chat/toolCallAuthRequired": {
        **BASE,
        "auth": {"reason": "required", "resource": {"resource": "https://mcp.example/"}},
    },
    "chat/toolCallAuthResolved": BASE,
    "chat/inputRequested": {"request": {"id": "q1"}},
    "chat/movableChanged": {"movable": True},
    "chat/changesetsChanged": {"changesets": []},
    "chat/canvasesChanged": {"canvases": []},
    "chat/backgroundWorkSet": {
        "work": {
            "id": "w1",
            "label": "Forge",
            "startedAt": "2026-10-02T09:00:00.000Z",
            "kind": "shell",
            "command": "make",
        }
    },
    "chat/backgroundWorkRemoved": {"id": "w1"},
}


@aio
async def test_what_only_hosts_say_is_refused_from_clients(clients: Clients, session: str) -> None:  # C-83
    one, two = await clients(), await clients()
    chat = await begin(one, session)
    await two.subscribe(chat)
    await one.say(chat, "t1", "approve")
    await wait_for_call(two, chat, "pending-confirmation")
    before = await shown(clients, chat)
    assert parts(one, chat)[-1]["toolCall"] == call(one, chat)
    for name, fields in HOST_ONLY.items():
        assert await refused(one, chat, name, **fields) == f"{name} comes from the host only"
    assert await refused(one, chat, "chat/somethingNew", turnId="t1") == (
        "this host does not know the action 'chat/somethingNew'"
    )
    assert await agree(clients, chat, one, two) == before
    assert not any("rejectionReason" in envelope for envelope in two.envelopes(chat))
    await confirm(one, chat)
    await one.ended(chat)


@aio
async def test_actions_to_unknown_chats_vanish(clients: Clients, session: str) -> None:  # section 13
    client = await clients()
    chat = await begin(client, session)
    number = await client.dispatch("ahp-chat:/nobody", "chat/turnStarted", turnId="t1", message=user("hello"))
    await took(client, chat, "t1", "hello")
    assert client.echo(number) is None
