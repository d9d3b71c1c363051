"""Coming back after a lost connection (01-wire, section 17)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aio import aio
from interaction.talk import agree, begin, shown, took
from served import Clients, Failed, Wire, user

FLAGS = ("--replay-bytes", "60kB")


async def returned(client: Wire, *subscriptions: str, seen: int | None = None) -> Any:
    """Come back, and only look at the answer."""
    await client.open()
    last = client.last_seen if seen is None else seen
    return await client.request(
        "reconnect", clientId=client.client_id, lastSeenServerSeq=last, subscriptions=list(subscriptions)
    )


async def beyond_the_log(client: Wire, other: Wire, session: str, chat: str) -> None:
    """Have so much happen that the host forgets what the client has missed. It tidies up every second."""
    for number in range(6):
        await took(other, chat, f"big-{number}", "big 40")
        for _ in range(30):
            await other.dispatch(session, "session/titleChanged", title="x" * 1000)
    while (await returned(client, *client.states))["type"] == "replay":
        await client.drop()
        await asyncio.sleep(0.02)
    await client.drop()


@aio
async def test_what_was_missed_is_replayed_in_order(clients: Clients, session: str) -> None:  # W-40, W-46
    client, other = await clients("ahp-root://"), await clients()
    chat = await begin(client, session)
    for channel in (session, chat):
        await other.subscribe(channel)
    await client.drop()
    seen = client.last_seen
    await took(other, chat, "t1", "markdown")
    await other.act(session, "session/titleChanged", title="x")
    await other.act(session, "session/ready")
    await other.settled()

    result = await returned(client, "ahp-root://", session, chat)

    assert (result["type"], result["missing"]) == ("replay", [])
    numbers = [envelope["serverSeq"] for envelope in result["actions"]]
    assert numbers == sorted(set(numbers))
    assert numbers[0] > seen
    live = {each["serverSeq"]: each for each in other.envelopes() if "rejectionReason" not in each}
    replayed = {each["serverSeq"]: each for each in result["actions"] if each["channel"] != "ahp-root://"}
    assert max(replayed) == max(live)
    for number, envelope in replayed.items():
        if envelope["action"]["type"] != "chat/delta":
            assert envelope == live[number]
    joined = [seq for seq, each in live.items() if each["action"]["type"] == "chat/delta" and seq not in replayed]
    assert live.keys() - replayed.keys() == set(joined)
    for envelope in result["actions"]:
        client._take_action(envelope)
    for channel in (session, chat):
        await agree(clients, channel, client, other)


@aio
async def test_what_is_no_longer_kept_is_shown_anew(clients: Clients, session: str) -> None:  # W-41
    client, other = await clients("ahp-root://"), await clients()
    chat = await begin(client, session)
    await client.drop()
    await other.subscribe(chat)
    await beyond_the_log(client, other, session, chat)
    result = await returned(client, session, chat, "demo:/nobody")
    assert result["type"] == "snapshot"
    assert [snapshot["resource"] for snapshot in result["snapshots"]] == [session, chat]
    for snapshot in result["snapshots"]:
        assert snapshot["state"] == await shown(clients, snapshot["resource"])
        assert snapshot["fromSeq"] > client.last_seen
    await client.act(session, "session/titleChanged", title="goes on")


@aio
async def test_a_number_of_the_future_is_answered_with_snapshots(clients: Clients, session: str) -> None:  # W-41
    client = await clients()
    await begin(client, session)
    await client.drop()
    result = await returned(client, session, seen=client.last_seen + 10_000_000)
    assert result["type"] == "snapshot"
    assert [snapshot["resource"] for snapshot in result["snapshots"]] == [session]


@aio
async def test_what_is_gone_is_missing(clients: Clients, session: str) -> None:  # W-42
    client, other = await clients("ahp-root://"), await clients()
    chat = await begin(client, session)
    await client.drop()
    await other.request("disposeSession", session)
    result = await returned(client, "ahp-root://", session, chat, "ahp-chat:/never")
    assert result["type"] == "replay"
    assert result["missing"] == [session, chat, "ahp-chat:/never"]
    assert {envelope["channel"] for envelope in result["actions"]} == {"ahp-root://"}


@aio
async def test_a_stranger_may_begin_instead(clients: Clients) -> None:  # W-43
    client = clients.wire()
    with pytest.raises(Failed) as failed:
        await returned(client, "ahp-root://")
    assert failed.value.code == -32008
    result = await client.request("initialize", protocolVersions=["1.0.0"], clientId=client.client_id)
    assert result["protocolVersion"] == "1.0.0"


@aio
async def test_life_goes_on_without_subscribing_again(clients: Clients, session: str) -> None:  # W-44
    client, other = await clients("ahp-root://"), await clients()
    chat = await begin(client, session)
    await client.drop()
    assert (await client.reconnect())["type"] == "replay"
    await other.dispatch(session, "session/titleChanged", title="x")
    await client.until(lambda: client.actions("session/titleChanged", session))
    await took(client, chat, "t1", "hello")
    await other.request("createSession", f"{session}-2", provider="demo")
    await client.until(lambda: client.actions("root/activeSessionsChanged")[-1]["activeSessions"])
    await agree(clients, chat, client)


@aio
async def test_only_what_is_listed_is_followed(clients: Clients, session: str) -> None:  # W-44
    client, other = await clients("ahp-root://"), await clients()
    chat = await begin(client, session)
    await client.drop()
    await returned(client, session)
    count = len(client.messages)
    await other.act(chat, "x-nobody/knows")
    await other.dispatch(chat, "chat/draftChanged", draft=user("x"))
    await other.settled()
    await client.settled()
    assert len(client.messages) == count + 1


@aio
async def test_notifications_are_not_repeated(clients: Clients, session: str) -> None:  # W-45, R-32
    client, other = await clients("ahp-root://"), await clients("ahp-root://")
    await client.drop()
    heard = len(client.messages)
    chat = await begin(other, session)
    await took(other, chat, "t1", "hello")
    await other.request("disposeSession", session)
    await other.settled()
    told = {message["method"] for message in other.messages if message.get("method", "").startswith("root/")}
    assert told == {"root/sessionAdded", "root/sessionSummaryChanged", "root/sessionRemoved"}
    await client.reconnect()
    await client.settled()
    assert [message["method"] for message in client.messages[heard:] if "method" in message] == []


@aio
async def test_both_ways_of_coming_back_end_in_the_same_state(clients: Clients, session: str) -> None:  # W-46
    client, other = await clients("ahp-root://"), await clients("ahp-root://")
    chat = await begin(client, session)
    await other.subscribe(session)
    await other.subscribe(chat)
    for number in range(3):
        await client.drop()
        await took(other, chat, f"t{number}", "markdown")
        await other.act(session, "session/titleChanged", title=f"title {number}")
        assert (await client.reconnect())["type"] == "replay"
        for channel in ("ahp-root://", session, chat):
            await agree(clients, channel, client, other)
    await client.drop()
    await beyond_the_log(client, other, session, chat)
    assert (await client.reconnect())["type"] == "snapshot"
    await client.act(session, "session/titleChanged", title="and on")
    await took(client, chat, "t9", "hello")
    for channel in ("ahp-root://", session, chat):
        await agree(clients, channel, client, other)
