"""The dates of a connection that is slow, silent or both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from aio import aio, until
from holdfast.server.limits import Limits
from holdfast.server.outbox import Outbox
from holdfast.server.watch import Watch

SHORT = Limits(handshake_timeout=0.01, keepalive=0.01, keepalive_timeout=0.01, close_timeout=0.01)


class FakeOutbox:
    """So much waits, and each time somebody looks, more of it has been taken."""

    def __init__(self, size: int, pace: int) -> None:
        self.size = size
        self._pace = pace
        self._taken = 0
        self.looks = 0

    @property
    def taken(self) -> int:
        self.looks += 1
        self._taken += self._pace
        return self._taken


def _watch(
    outbox: FakeOutbox, is_deaf: Callable[[], bool] = lambda: False
) -> tuple[Watch, asyncio.Queue[str], asyncio.Queue[str]]:
    pings: asyncio.Queue[str] = asyncio.Queue()
    ends: asyncio.Queue[str] = asyncio.Queue()
    watch = Watch(
        SHORT,
        cast(Outbox, outbox),
        ping=lambda: pings.put_nowait("ping"),
        is_deaf=is_deaf,
        give_up=ends.put_nowait,
    )
    return watch, pings, ends


@aio
async def test_a_handshake_that_takes_too_long() -> None:
    watch, _, ends = _watch(FakeOutbox(0, 0))
    watch.opening()
    assert await ends.get() == "the handshake took too long"


@aio
async def test_silence_is_pinged_once_and_then_the_end() -> None:
    watch, pings, ends = _watch(FakeOutbox(0, 0))
    watch.open()
    await pings.get()
    assert await ends.get() == "silent"
    assert pings.empty()


@aio
async def test_a_client_that_slowly_takes_what_waits_for_it_lives() -> None:
    outbox = FakeOutbox(1000, 1)
    watch, pings, ends = _watch(outbox)
    watch.open()
    await pings.get()
    await until(lambda: outbox.looks > 20)
    assert ends.empty()
    outbox.size = 0  # now the ping has left, and nobody answers it
    assert await ends.get() == "silent"


@aio
async def test_a_client_that_takes_nothing_is_silent_whatever_waits_for_it() -> None:
    watch, _, ends = _watch(FakeOutbox(1000, 0))
    watch.open()
    assert await ends.get() == "silent"


@aio
async def test_who_cannot_be_heard_is_not_called_silent() -> None:
    looks = 0

    def is_deaf() -> bool:
        nonlocal looks
        looks += 1
        return looks < 10

    watch, pings, ends = _watch(FakeOutbox(0, 0), is_deaf)
    watch.open()
    assert await ends.get() == "silent"
    assert pings.qsize() == 1
    assert looks >= 10


@aio
async def test_a_slow_end_is_waited_for_but_not_for_ever() -> None:
    for pace, looks in ((0, 2), (1, 7)):
        outbox = FakeOutbox(1000, pace)
        watch, _, ends = _watch(outbox)
        watch.ending()
        watch.ending()
        assert await ends.get() == "the close handshake took too long"
        assert outbox.looks >= looks


@aio
async def test_a_stopped_watch_is_silent() -> None:
    watch, pings, ends = _watch(FakeOutbox(0, 0))
    watch.open()
    watch.stop()
    watch.ending()
    assert watch._timer is not None
    assert watch._timer.cancelled()
    assert pings.empty()
    assert ends.empty()
