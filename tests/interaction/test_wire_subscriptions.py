"""Following channels: snapshots, what comes after them, and how it may be delivered (01-wire, sections 13 and 14)."""

from __future__ import annotations

import pytest

from aio import aio
from interaction.talk import agree, begin, spoken, took
from served import Clients, Failed

DELTAS = 400


@aio
async def test_every_state_channel_has_a_snapshot(clients: Clients, session: str) -> None:  # W-23
    client = await clients()
    chat = await begin(client, session)
    for channel in ("ahp-root://", session, chat, f"{session}/annotations"):
        result = await client.request("subscribe", channel)
        assert result.keys() == {"snapshot"}
        assert result["snapshot"].keys() == {"resource", "state", "fromSeq"}
        assert result["snapshot"]["resource"] == channel


@pytest.mark.parametrize(
    ("channel", "code"),
    [
        ("ahp-session:/nobody", -32001),
        ("demo:/nobody", -32001),
        ("copilot:/nobody", -32001),
        ("ahp-chat:/nobody", -32008),
        ("ahp-chat://default/ZGVtbzovbm9ib2R5", -32008),
        ("ahp-terminal:/nobody", -32008),
        ("ahp-changeset:/nobody", -32008),
        ("demo:/nobody/annotations", -32008),
        ("demo:/nobody/changeset/uncommitted", -32008),
        ("ahp-automation:/nobody", -32008),
        ("ahp-otlp://logs", -32008),
        ("x-nobody:/knows", -32008),
        ("nothing", -32008),
    ],
)
@aio
async def test_what_is_not_there_cannot_be_followed(clients: Clients, channel: str, code: int) -> None:  # W-25
    client = await clients()
    with pytest.raises(Failed) as failed:
        await client.request("subscribe", channel)
    assert failed.value.code == code


@aio
async def test_a_snapshot_and_what_follows_it_make_the_state(clients: Clients, session: str) -> None:  # W-26
    first = await clients("ahp-root://")
    chat = await begin(first, session)
    late = await clients()
    await first.say(chat, "t1", f"burst {DELTAS}")
    await first.until(lambda: first.actions("chat/delta", chat))
    from_seq = {}
    for channel in (chat, session):
        result = await late.request("subscribe", channel)
        from_seq[channel] = result["snapshot"]["fromSeq"]
    again = [await clients(session, chat) for _ in range(3)]
    turn = await first.ended(chat)
    for channel in (chat, session):
        await agree(clients, channel, first, *again)
    assert spoken(turn)
    await late.settled()
    for channel, seq in from_seq.items():
        after = [envelope["serverSeq"] for envelope in late.envelopes(channel)]
        assert after == [each["serverSeq"] for each in first.envelopes(channel) if each["serverSeq"] > seq]


@aio
async def test_subscribing_again_gives_a_snapshot_and_no_second_delivery(clients: Clients, session: str) -> None:
    client = await clients()
    await begin(client, session)
    await client.subscribe(session)
    await client.act(session, "session/titleChanged", title="x")
    assert (await client.subscribe(session))["title"] == "x"
    await client.act(session, "session/titleChanged", title="y")
    await client.settled()
    assert [action["title"] for action in client.actions("session/titleChanged")] == ["x", "y"]


@aio
async def test_nothing_comes_after_unsubscribing(clients: Clients, session: str) -> None:  # W-27, W-28
    client, other = await clients("ahp-root://"), await clients()
    chat = await begin(client, session)
    await other.subscribe(session)
    await other.subscribe(chat)
    for channel in (chat, session, "ahp-root://", "demo:/never-followed"):
        await client.send({"jsonrpc": "2.0", "method": "unsubscribe", "params": {"channel": channel}})
    await client.settled()
    count = len(client.messages)
    await took(other, chat, "t1", "hello")
    await other.act(session, "session/titleChanged", title="x")
    await other.request("createSession", f"{session}-2", provider="demo")
    await client.request("ping")
    assert len(client.messages) == count + 1
    assert other.envelopes(session)


@aio
async def test_numbers_rise_over_all_channels(clients: Clients, session: str) -> None:  # W-29
    client = await clients("ahp-root://")
    chat = await begin(client, session)
    await took(client, chat, "t1", "markdown")
    await client.act(session, "session/ready")
    await client.act(session, "session/titleChanged", title="x")
    numbers = [envelope["serverSeq"] for envelope in client.envelopes()]
    assert {envelope["channel"] for envelope in client.envelopes()} == {"ahp-root://", session, chat}
    assert numbers == sorted(set(numbers))


@aio
async def test_delivery_changes_nothing_but_time(clients: Clients, session: str) -> None:  # W-38
    client = await clients()
    chat = await begin(client, session)
    eager, lazy = await clients(), await clients()
    await eager.subscribe(chat, delivery={"maxLatencyMs": 0})
    await lazy.subscribe(chat, delivery={"maxLatencyMs": 5000})
    turn = await took(client, chat, "t1", f"burst {DELTAS}")
    for each in (eager, lazy):
        assert await each.ended(chat) == turn
    assert len(eager.actions("chat/delta", chat)) >= DELTAS
    await agree(clients, chat, client, eager, lazy)


@aio
async def test_history_is_whole_unless_less_is_asked_for(clients: Clients, session: str) -> None:  # W-39
    client = await clients()
    chat = await begin(client, session)
    names = [f"t{number}" for number in range(60)]
    for name in names:
        await took(client, chat, name, "usage")
    whole = await client.subscribe(chat)
    assert [turn["id"] for turn in whole["turns"]] == names
    assert "turnsNextCursor" not in whole
    with_other_keys = await client.subscribe(chat, view={"x-later": 1})
    assert len(with_other_keys["turns"]) == 60
    part = await client.subscribe(chat, view={"turns": 5})
    assert [turn["id"] for turn in part["turns"]] == names[-5:]
    assert part["turnsNextCursor"]
