"""Messages that wait, and the draft: queued ones become turns, a steering one reaches the running turn."""

from __future__ import annotations

from typing import Any

from aio import aio
from interaction.talk import accepted, agree, begin, cancel, confirm, refused, shown, spoken, took, wait_for_call
from served import Clients, Wire, user

UNKNOWN = "there is no such pending message"


async def queue(client: Wire, chat: str, id: str, text: str) -> None:
    await accepted(client, chat, "chat/pendingMessageSet", kind="queued", id=id, message=user(text))


async def steer(client: Wire, chat: str, id: str, text: str) -> None:
    await accepted(client, chat, "chat/pendingMessageSet", kind="steering", id=id, message=user(text))


def pending(id: str, text: str) -> dict[str, Any]:
    return {"id": id, "message": user(text)}


def kinds(client: Wire, chat: str) -> list[str]:
    """Types of everything that happened on a chat but for what streams."""
    streams = {"chat/delta", "chat/responsePart", "chat/usage", "chat/activityChanged"}
    found = [each["action"]["type"] for each in client.envelopes(chat)]
    return [kind for kind in found if kind not in streams]


@aio
async def test_a_message_queued_while_idle_becomes_a_turn_at_once(clients: Clients, session: str) -> None:  # C-60
    client = await clients()
    chat = await begin(client, session)
    message = {**user("hello"), "model": {"id": "demo-pocket"}, "_meta": {"from": "the queue"}}
    await accepted(client, chat, "chat/pendingMessageSet", kind="queued", id="q1", message=message)
    turn = await client.ended(chat)
    assert kinds(client, chat) == [
        "chat/pendingMessageSet",
        "chat/pendingMessageRemoved",
        "chat/turnStarted",
        "chat/turnComplete",
    ]
    assert client.actions("chat/pendingMessageRemoved", chat) == [
        {"type": "chat/pendingMessageRemoved", "kind": "queued", "id": "q1"}
    ]
    (started,) = client.actions("chat/turnStarted", chat)
    assert started == {
        "type": "chat/turnStarted",
        "turnId": turn["id"],
        "startedAt": turn["startedAt"],
        "message": message,
        "queuedMessageId": "q1",
    }
    assert turn["message"] == message
    assert "queuedMessages" not in await agree(clients, chat, client)


@aio
async def test_the_queue_is_worked_off_one_by_one(clients: Clients, session: str) -> None:  # C-61, C-62
    one, two = await clients(), await clients()
    chat = await begin(one, session)
    await two.subscribe(chat)
    await one.say(chat, "t1", "approve")
    await wait_for_call(one, chat, "pending-confirmation")
    await queue(one, chat, "q1", "hello one")
    await queue(two, chat, "q2", "hello two")
    await queue(one, chat, "q3", "hello three")
    await one.settled()
    assert one.state(chat)["queuedMessages"] == [
        pending("q1", "hello one"),
        pending("q2", "hello two"),
        pending("q3", "hello three"),
    ]
    await agree(clients, chat, one)
    await confirm(one, chat)
    await one.ended(chat, 4)
    for client in (one, two):
        await client.ended(chat, 4)
        texts = [turn["message"]["text"] for turn in client.state(chat)["turns"]]
        assert texts == ["approve", "hello one", "hello two", "hello three"]
    worked = ["chat/turnComplete", "chat/pendingMessageRemoved", "chat/turnStarted"]
    assert kinds(two, chat)[-10:] == [*worked * 3, "chat/turnComplete"]
    started = [each.get("queuedMessageId") for each in two.actions("chat/turnStarted", chat)]
    assert started == [None, "q1", "q2", "q3"]
    ids = [each["turnId"] for each in two.actions("chat/turnStarted", chat)]
    assert len(set(ids)) == 4
    assert "queuedMessages" not in await agree(clients, chat, one, two)


@aio
async def test_a_queued_message_is_changed_in_its_place(clients: Clients, session: str) -> None:  # C-62
    client = await clients()
    chat = await begin(client, session)
    assert "queuedMessages" not in await shown(clients, chat)
    await client.say(chat, "t1", "wait")
    await client.until(lambda: client.states[chat].active_turn)
    for id in ("q1", "q2"):
        await queue(client, chat, id, f"hello {id}")
    await queue(client, chat, "q1", "hello changed")
    state = await agree(clients, chat, client)
    assert state["queuedMessages"] == [pending("q1", "hello changed"), pending("q2", "hello q2")]
    for id in ("q1", "q2"):
        await accepted(client, chat, "chat/pendingMessageRemoved", kind="queued", id=id)
    assert "queuedMessages" not in await agree(clients, chat, client)
    await cancel(client, chat, "t1")


@aio
async def test_reordering_loses_nothing(clients: Clients, session: str) -> None:  # C-63
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "wait")
    await client.until(lambda: client.states[chat].active_turn)
    for id in ("a", "b", "c", "d"):
        await queue(client, chat, id, f"hello {id}")
    for order, expected in (
        (["d", "c", "b", "a"], "dcba"),
        (["a"], "adcb"),
        (["c", "nobody", "c"], "cadb"),
        ([], "cadb"),
    ):
        await accepted(client, chat, "chat/queuedMessagesReordered", order=order)
        state = await agree(clients, chat, client)
        assert state["queuedMessages"] == [pending(id, f"hello {id}") for id in expected]
    await cancel(client, chat, "t1")
    await queue(client, chat, "e", "hello e")
    await client.ended(chat, 6)
    texts = [turn["message"]["text"] for turn in client.state(chat)["turns"][1:]]
    assert texts == [f"hello {id}" for id in "cadbe"]
    await agree(clients, chat, client)


@aio
async def test_only_a_completed_turn_starts_the_next(clients: Clients, session: str) -> None:  # C-61
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "wait")
    await client.until(lambda: client.states[chat].active_turn)
    await queue(client, chat, "q1", "error")
    await queue(client, chat, "q2", "hello two")
    await cancel(client, chat, "t1")
    state = await agree(clients, chat, client)
    assert (state["status"], [each["id"] for each in state["queuedMessages"]]) == (1, ["q1", "q2"])
    # The next message that is queued sets it going; the first of it fails, and the rest waits again.
    await queue(client, chat, "q3", "hello three")
    await client.ended(chat, 2)
    state = await agree(clients, chat, client)
    assert (state["status"], [each["id"] for each in state["queuedMessages"]]) == (2, ["q2", "q3"])
    # A turn that completes does as well.
    await took(client, chat, "t3", "hello")
    await client.ended(chat, 5)
    assert "queuedMessages" not in await agree(clients, chat, client)


@aio
async def test_typing_while_a_prompt_is_open(clients: Clients, session: str) -> None:  # INTEROP 2.7
    client = await clients()
    chat = await begin(client, session)
    waits = await wait_for_call(client, chat, "pending-confirmation", "approve")
    await client.dispatch(chat, "chat/turnCancelled", turnId="t1", duration=7)
    late = {"turnId": "t1", "toolCallId": waits["toolCallId"], "approved": True, "confirmed": "user-action"}
    approval = await client.dispatch(chat, "chat/toolCallConfirmed", **late)
    await client.dispatch(chat, "chat/pendingMessageSet", kind="queued", id="q1", message=user("hello instead"))
    turn = await client.ended(chat, 2)
    refusal = client.echo(approval)
    assert refusal is not None
    assert refusal["rejectionReason"] == "this tool call does not wait for confirmation"
    first = client.state(chat)["turns"][0]
    assert (first["state"], first["duration"]) == ("cancelled", 7)
    (tool,) = [part["toolCall"] for part in first["responseParts"] if part["kind"] == "toolCall"]
    assert (tool["status"], tool["reason"]) == ("cancelled", "skipped")
    assert (turn["message"], turn["state"]) == (user("hello instead"), "complete")
    for channel in (session, chat):
        await agree(clients, channel, client)


# Steering


@aio
async def test_a_steering_message_reaches_the_running_turn(clients: Clients, session: str) -> None:  # C-64
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "wait")
    await client.until(lambda: client.states[chat].active_turn)
    await steer(client, chat, "s1", "more to port")
    await client.until(lambda: "> more to port\n" in spoken(client.state(chat)["activeTurn"]))
    assert client.actions("chat/pendingMessageRemoved", chat) == [
        {"type": "chat/pendingMessageRemoved", "kind": "steering", "id": "s1"}
    ]
    assert "steeringMessage" not in await agree(clients, chat, client)
    await cancel(client, chat, "t1")


@aio
async def test_the_second_steering_message_takes_the_place_of_the_first(
    clients: Clients, session: str
) -> None:  # C-64
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "approve")
    await wait_for_call(client, chat, "pending-confirmation")
    await steer(client, chat, "s1", "to port")
    await steer(client, chat, "s2", "to starboard")
    state = await agree(clients, chat, client)
    assert state["steeringMessage"] == pending("s2", "to starboard")
    await confirm(client, chat)
    turn = await client.ended(chat)
    assert "> to starboard\n" in spoken(turn)
    assert "to port" not in spoken(turn)
    assert client.actions("chat/pendingMessageRemoved", chat) == [
        {"type": "chat/pendingMessageRemoved", "kind": "steering", "id": "s2"}
    ]
    assert "steeringMessage" not in await agree(clients, chat, client)


@aio
async def test_a_steering_message_can_be_taken_back(clients: Clients, session: str) -> None:  # C-64, C-65
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "approve")
    await wait_for_call(client, chat, "pending-confirmation")
    await steer(client, chat, "s1", "to port")
    await accepted(client, chat, "chat/pendingMessageRemoved", kind="steering", id="s1")
    assert "steeringMessage" not in await agree(clients, chat, client)
    await confirm(client, chat)
    assert "to port" not in spoken(await client.ended(chat))
    await agree(clients, chat, client)


@aio
async def test_a_steering_message_waits_for_the_next_turn(clients: Clients, session: str) -> None:  # C-64
    client = await clients()
    chat = await begin(client, session)
    await steer(client, chat, "s1", "to port")
    state = await agree(clients, chat, client)
    assert (state["steeringMessage"], state["status"], state["turns"]) == (pending("s1", "to port"), 1, [])
    turn = await took(client, chat, "t1", "steer 1")
    assert "> to port\n" in spoken(turn)
    assert "steeringMessage" not in await agree(clients, chat, client)


@aio
async def test_what_does_not_wait_cannot_be_removed(clients: Clients, session: str) -> None:  # C-65
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "approve")
    await wait_for_call(client, chat, "pending-confirmation")
    await queue(client, chat, "q1", "hello")
    await steer(client, chat, "s1", "to port")
    before = await shown(clients, chat)
    for kind, id in (("queued", "q9"), ("steering", "s9"), ("queued", "s1"), ("steering", "q1")):
        assert await refused(client, chat, "chat/pendingMessageRemoved", kind=kind, id=id) == UNKNOWN
    fields = {"kind": "parked", "id": "p1", "message": user("hello")}
    reason = await refused(client, chat, "chat/pendingMessageSet", **fields)
    assert reason == "there is no kind of pending message 'parked'"
    assert await agree(clients, chat, client) == before
    await cancel(client, chat, "t1")


# The draft


@aio
async def test_everybody_sees_the_draft(clients: Clients, session: str) -> None:  # C-66
    one, two = await clients("ahp-root://"), await clients()
    chat = await begin(one, session)
    for channel in (session, chat):
        await two.subscribe(channel)
    before = (await shown(clients, session), len(one.messages))
    draft = {**user("clean u"), "attachments": [{"type": "simple", "label": "x", "_meta": {"a": None}}]}
    await accepted(one, chat, "chat/draftChanged", draft=draft)
    await two.until(lambda: "draft" in two.state(chat))
    assert two.state(chat)["draft"] == draft
    state = await agree(clients, chat, one, two)
    assert (state["draft"], state["status"], state["turns"]) == (draft, 1, [])
    # It shows nowhere else.
    await one.settled()
    assert await shown(clients, session) == before[0]
    told = [each for each in one.messages[before[1] :] if "method" in each]
    assert [each["params"]["channel"] for each in told] == [chat]
    action = await accepted(two, chat, "chat/draftChanged")
    assert action == {"type": "chat/draftChanged"}
    assert "draft" not in await agree(clients, chat, two)
    await one.settled()
    assert "draft" not in one.state(chat)


@aio
async def test_a_draft_outlives_turns(clients: Clients, session: str) -> None:  # C-66
    client = await clients()
    chat = await begin(client, session)
    await accepted(client, chat, "chat/draftChanged", draft=user("later"))
    await took(client, chat, "t1", "hello")
    await accepted(client, chat, "chat/truncated")
    assert (await agree(clients, chat, client))["draft"] == user("later")
