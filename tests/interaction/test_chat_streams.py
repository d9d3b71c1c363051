"""What streams, in which order, and that everybody who watches ends up with the same."""

from __future__ import annotations

from typing import Any

import pytest

from aio import aio
from interaction.talk import (
    QUICK,
    accepted,
    agree,
    begin,
    cancel,
    confirm,
    refused,
    shown,
    spoken,
    took,
    wait_for_call,
)
from served import Clients, Wire, user


@aio
async def test_a_snapshot_comes_before_the_echo_of_what_was_sent_after_it(
    clients: Clients, session: str
) -> None:  # INTEROP 2.1
    client = await clients()
    await client.request("createSession", session, provider="demo", config=QUICK)
    chat = (await client.subscribe(session))["defaultChat"]
    answer = await client.follow(chat)
    number = await client.dispatch(chat, "chat/turnStarted", turnId="t1", message=user("hello"))
    snapshot = (await answer)["snapshot"]
    turn = await client.ended(chat)
    assert snapshot["state"]["turns"] == []
    assert "activeTurn" not in snapshot["state"]
    echo = client.echo(number)
    assert echo is not None
    assert echo["origin"] == {"clientId": client.client_id, "clientSeq": number}
    assert echo == client.envelopes(chat)[0]
    assert echo["serverSeq"] > snapshot["fromSeq"]
    assert (await agree(clients, chat, client))["turns"] == [turn]


TEXTS = ["markdown", "think", "burst 200", "big 300", "content", "parallel", "form", "subagent"]


@pytest.mark.parametrize("text", TEXTS)
@aio
async def test_deltas_go_to_parts_that_are_there(clients: Clients, session: str, text: str) -> None:  # C-3, C-13
    client = await clients()
    chat = await begin(client, session, permissionMode="auto")
    await client.say(chat, "t1", text)
    turn = await _help_along(client, chat, "t1")
    texts: dict[str, tuple[str, str]] = {}
    for envelope in client.envelopes(chat):
        action = envelope["action"]
        if action["type"] == "chat/responsePart":
            part = action["part"]
            assert part["kind"] != "error"
            if part["kind"] in ("markdown", "reasoning"):
                assert part["id"] not in texts
                texts[part["id"]] = (part["kind"], part["content"])
        elif action["type"] in ("chat/delta", "chat/reasoning"):
            kind, content = texts[action["partId"]]
            assert kind == {"chat/delta": "markdown", "chat/reasoning": "reasoning"}[action["type"]]
            assert action["turnId"] == "t1"
            texts[action["partId"]] = (kind, content + action["content"])
    streamed = [part for part in turn["responseParts"] if part["kind"] in ("markdown", "reasoning")]
    assert streamed == [{"kind": kind, "id": id, "content": content} for id, (kind, content) in texts.items()]
    assert streamed
    await agree(clients, chat, client)


async def _help_along(client: Wire, chat: str, turn: str) -> Any:
    """Decline what a turn asks until it is over; it is returned."""

    def news() -> Any:
        state = client.state(chat)
        if state["turns"] and state["turns"][-1]["id"] == turn:
            return state["turns"][-1]
        parts = state.get("activeTurn", {}).get("responseParts", [])
        return next((part for part in parts if part["kind"] == "inputRequest" and "response" not in part), None)

    while (found := await client.until(news)).get("id") != turn:
        await accepted(client, chat, "chat/inputCompleted", requestId=found["request"]["id"], response="decline")
    return found


@aio
async def test_long_text_goes_on_in_another_part(clients: Clients, session: str) -> None:  # SEMANTICS 13
    client = await clients()
    chat = await begin(client, session)
    turn = await took(client, chat, "t1", "big 300")
    sizes = [len(part["content"]) for part in turn["responseParts"] if part["kind"] == "markdown"]
    assert [size for size in sizes if size > 128_000] == []
    assert sum(sizes) > 300_000
    (tool,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    (block,) = tool["content"]
    assert (block["type"], block["sizeHint"]) == ("resource", 300_000)
    read = await client.request("resourceRead", uri=block["uri"])
    assert (len(read["data"]), read["contentType"]) == (300_000, "text/plain; charset=utf-8")
    await agree(clients, chat, client)


# One turn with a permission: channel and type of everything that is sent, the status where there is one.
PERMISSION = [
    ("chat", "chat/turnStarted", None),
    ("session", "session/chatUpdated", 8),
    ("session", "session/titleChanged", None),
    ("chat", "chat/responsePart", None),
    ("chat", "chat/delta", None),
    ("chat", "chat/toolCallStart", None),
    ("chat", "chat/toolCallDelta", None),
    ("chat", "chat/toolCallReady", None),
    ("session", "session/chatUpdated", 24),
    ("session", "session/inputNeededSet", None),
    ("chat", "chat/toolCallConfirmed", None),
    ("session", "session/chatUpdated", 8),
    ("session", "session/inputNeededRemoved", None),
    ("chat", "chat/toolCallContentChanged", None),
    ("chat", "chat/toolCallComplete", None),
    ("chat", "chat/responsePart", None),
    ("chat", "chat/delta", None),
    ("chat", "chat/usage", None),
    ("chat", "chat/turnComplete", None),
    ("session", "session/chatUpdated", 1),
]


@aio
async def test_the_order_of_a_turn_with_a_permission(clients: Clients, session: str) -> None:  # INTEROP 2 order
    client = await clients("ahp-root://")
    chat = await begin(client, session)
    first = len(client.envelopes())
    ready = await wait_for_call(client, chat, "pending-confirmation", "approve")
    (entry,) = client.state(session)["inputNeeded"]
    assert entry == {
        "id": entry["id"],
        "kind": "toolConfirmation",
        "chat": chat,
        "turnId": "t1",
        "toolCall": ready,
    }
    await confirm(client, chat, selectedOptionId="once")
    await client.ended(chat)
    await client.settled()
    names = {chat: "chat", session: "session", "ahp-root://": "root"}
    seen = [
        (names[each["channel"]], each["action"]["type"], each["action"].get("changes", {}).get("status"))
        for each in client.envelopes()[first:]
    ]
    assert seen == PERMISSION
    numbers = [each["serverSeq"] for each in client.envelopes()]
    assert numbers == sorted(set(numbers))


@aio
async def test_eager_clients_have_their_session_announced_by_the_first_turn(
    clients: Clients, session: str
) -> None:  # INTEROP 2.3, INTEROP 2 order
    watcher = await clients("ahp-root://")
    client = await clients("ahp-root://", clientInfo={"name": "vscode-host", "title": "VS Code"})
    chat = await begin(client, session)

    def added(wire: Wire) -> list[str]:
        told = [each["params"] for each in wire.messages if each.get("method") == "root/sessionAdded"]
        return [params["summary"]["resource"] for params in told]

    await watcher.settled()
    assert session not in added(watcher)
    await took(client, chat, "t1", "hello")
    for wire in (watcher, client):
        await wire.settled()
        assert added(wire).count(session) == 1


@aio
async def test_reduced_state_is_the_snapshot_wherever_one_stops(clients: Clients, session: str) -> None:  # C-5
    """Two clients watch one that is there from the beginning; a third comes at every stop of the tour."""
    one, two = await clients(), await clients()
    chat = await begin(one, session)
    for channel in (session, chat):
        await two.subscribe(channel)
    await one.say(chat, "t1", "tour")
    for tool in ("run_command", "edit_file"):
        waiting = await wait_for_call(one, chat, "pending-confirmation")
        assert waiting["toolName"] == tool
        for channel in (session, chat):
            await agree(clients, channel, one, two)
        late = await clients()
        await late.subscribe(chat)
        await confirm(two, chat)
        await late.ended(chat) if tool == "edit_file" else await wait_for_call(late, chat, "pending-confirmation")
        await one.settled()
        await agree(clients, chat, late)
    turn = await one.ended(chat)
    assert spoken(turn).endswith("That was the tour. Say `help` for everything else.\n")
    for channel in (session, chat):
        await agree(clients, channel, one, two)


@aio
async def test_two_clients_end_with_the_same_after_tools_and_questions(
    clients: Clients, session: str
) -> None:  # C-84, C-5
    one, two = await clients(), await clients()
    chat = await begin(one, session)
    for channel in (session, chat):
        await two.subscribe(channel)
    for number, text in enumerate(["approve", "form", "review", "flaky", "markdown", "think", "content", "usage"]):
        await one.say(chat, f"t{number}", text)
        if text == "approve":
            await wait_for_call(two, chat, "pending-confirmation")
            await confirm(two, chat)
        elif text == "review":
            tool = await wait_for_call(two, chat, "pending-result-confirmation")
            fields = {"turnId": f"t{number}", "toolCallId": tool["toolCallId"], "approved": True}
            await accepted(two, chat, "chat/toolCallResultConfirmed", **fields)
        await _help_along(one, chat, f"t{number}")
    await one.ended(chat, 8)
    await two.ended(chat, 8)
    assert one.state(chat) == two.state(chat)
    assert one.state(session) == two.state(session)
    assert [turn["state"] for turn in one.state(chat)["turns"]] == ["complete"] * 3 + ["error"] + ["complete"] * 4
    for channel in (session, chat):
        await agree(clients, channel, one, two)


@aio
async def test_what_two_clients_send_at_once_takes_effect_once(clients: Clients, session: str) -> None:  # C-5, C-29
    wires = [await clients() for _ in range(2)]
    chat = await begin(wires[0], session)
    await wires[1].subscribe(chat)
    await wires[0].say(chat, "t1", "approve")
    ready = await wait_for_call(wires[1], chat, "pending-confirmation")
    fields: dict[str, Any] = {"turnId": "t1", "toolCallId": ready["toolCallId"]}
    yes = await wires[0].dispatch(chat, "chat/toolCallConfirmed", **fields, approved=True, confirmed="user-action")
    no = await wires[1].dispatch(chat, "chat/toolCallConfirmed", **fields, approved=False, reason="denied")
    echoes = [await wire.until(lambda w=wire, n=n: w.echo(n)) for wire, n in zip(wires, (yes, no), strict=True)]  # type: ignore[misc]
    assert ["rejectionReason" in echo for echo in echoes].count(True) == 1
    for wire in wires:
        await wire.ended(chat)
    await agree(clients, chat, *wires)


@aio
async def test_one_hears_everything_once_until_one_unsubscribes(clients: Clients, session: str) -> None:  # C-5
    one, two = await clients(), await clients()
    chat = await begin(one, session)
    await two.subscribe(chat)
    await two.subscribe(chat)
    await took(one, chat, "t1", "hello")
    await two.ended(chat)
    started = [each for each in two.envelopes(chat) if each["action"]["type"] == "chat/turnStarted"]
    assert len(started) == 1
    await two.send({"jsonrpc": "2.0", "method": "unsubscribe", "params": {"channel": chat}})
    await two.settled()
    heard = len(two.envelopes(chat))
    await took(one, chat, "t2", "hello")
    await two.settled()
    assert len(two.envelopes(chat)) == heard
    assert len((await shown(clients, chat))["turns"]) == 2


@aio
async def test_what_comes_late_changes_nothing(clients: Clients, session: str) -> None:  # C-4
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "burst 20000")
    await client.until(lambda: len(client.actions("chat/delta", chat)) > 10)
    turn = await cancel(client, chat, "t1")
    await took(client, chat, "t2", "hello")
    last = [each["action"]["type"] for each in client.envelopes(chat) if each["action"].get("turnId") == "t1"][-1]
    assert last == "chat/turnCancelled"
    assert turn["state"] == "cancelled"
    assert 0 < len(spoken(turn).split()) < 20_000
    reason = await refused(client, chat, "chat/turnCancelled", turnId="t1", duration=1)
    assert reason == "no turn is running"
    assert (await agree(clients, chat, client))["turns"][0] == turn
