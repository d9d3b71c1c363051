"""Feeds: everything since one began to read, at one's own pace, within bounds."""

from __future__ import annotations

import asyncio

import pytest

from aio import aio
from holdfast.client.broadcast import MOST, Broadcast, Feed
from holdfast.protocol.errors import UsageError


@aio
async def test_each_reader_has_everything_since_it_began() -> None:
    source: Broadcast[int] = Broadcast()
    early = source.feed()
    source.put(1)
    late = source.feed()
    source.put(2)
    source.end()
    assert [item async for item in early] == [1, 2]
    assert [item async for item in late] == [2]


@aio
async def test_a_reader_waits_for_what_comes() -> None:
    source: Broadcast[int] = Broadcast()
    async with source.feed() as feed:
        waiting = asyncio.ensure_future(anext(feed))
        await asyncio.sleep(0)
        source.put(7)
        assert await waiting == 7
    source.put(8)
    assert [item async for item in feed] == []


@aio
async def test_what_waits_is_read_before_the_error() -> None:
    feed: Feed[int] = Feed()
    feed.put(1)
    feed.end(UsageError("over"))
    feed.end()
    assert await anext(feed) == 1
    for _ in range(2):
        with pytest.raises(UsageError, match="over"):
            await anext(feed)


@aio
async def test_a_reader_that_falls_too_far_behind_is_told_so() -> None:
    feed: Feed[int] = Feed()
    for number in range(MOST + 1):
        feed.put(number)
    assert [await anext(feed) for _ in range(MOST)] == list(range(MOST))
    with pytest.raises(UsageError, match="behind"):
        await anext(feed)


@aio
async def test_neighbours_are_joined_while_they_wait() -> None:
    feed: Feed[str] = Feed()
    for item in ("a", "b", "!", "c"):
        feed.join(lambda one, other: None if "!" in one + other else one + other, item)
    feed.end()
    assert [item async for item in feed] == ["ab", "!", "c"]
