"""How much of the host one client may take: what waits for it, and how fast it may talk."""

from __future__ import annotations

from typing import Any

from aio import aio, until
from faults.memory import MemoryWire, house_in_memory

SESSION = "demo:/s"
HARD = 16 * 2**20


async def _client(hub: Any, *subscriptions: str) -> MemoryWire:
    client = MemoryWire(hub)
    await client.initialize("ahp-root://", *subscriptions)
    return client


@aio
async def test_a_client_that_so_much_waits_for_lags_and_catches_up() -> None:
    async with house_in_memory() as house:
        one = await _client(house.hub)
        chat = await one.session(SESSION)
        slow = await _client(house.hub, SESSION, chat)
        link = slow.link
        assert link is not None
        link.buffered = 2**20 + 1
        await one.say(chat, "t1", "hello")
        await one.ended(chat)
        # The tick in which it began to wait still reaches it; the others pass it by.
        assert slow.state(chat).get("turns") != one.state(chat)["turns"]
        link.buffered = 0
        house.hub.drained(link)
        assert await slow.ended(chat) == await one.ended(chat)
        assert link.closed is None


@aio
async def test_past_the_hard_limit_a_client_is_closed_and_forgotten_at_once() -> None:
    async with house_in_memory() as house:
        one = await _client(house.hub)
        chat = await one.session(SESSION)
        slow = await _client(house.hub, SESSION, chat)
        link = slow.link
        assert link is not None
        link.buffered = HARD + 1
        await one.say(chat, "t1", "hello")
        await one.ended(chat)
        assert link.closed == (1013, "too far behind; reconnect")
        assert house.hub.links == 1
        assert house.host.connections.keys() == {1}
        house.hub.closed(link)
        await slow.drop()
        await slow.reconnect()
        assert await slow.ended(chat) == await one.ended(chat)


@aio
async def test_a_client_that_lags_and_talks_is_closed_before_its_refusals_fill_the_memory() -> None:
    async with house_in_memory() as house:
        slow = await _client(house.hub)
        chat = await slow.session(SESSION)
        link = slow.link
        assert link is not None
        link.buffered = 2**20 + 1
        for _ in range(8):
            await slow.dispatch(chat, "chat/turnCancelled", turnId="x" * 600_000)
            await house.hub.settled()
        assert link.closed == (1013, "too far behind; reconnect")
        assert house.host.connections == {}


@aio
async def test_a_client_that_talks_too_fast_is_not_listened_to_for_a_while() -> None:
    async with house_in_memory(rate_limit=1000, rate_burst=10) as house:
        one = await _client(house.hub)
        link = one.link
        assert link is not None
        for _ in range(10):
            await one.post("ping")
        assert link.pauses == 1
        await until(lambda: not link.is_paused)
