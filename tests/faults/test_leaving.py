"""Whoever loses the connection, at whatever frame, and comes back, has in the end what everybody has."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from aio import aio
from faults.leaving import TURNS, Driver, Leaver, Stumbler, beliefs, follow_all, play
from faults.memory import house_in_memory
from served import Wire, hosting

FOREVER = 1_000_000
"""More messages than there are: away until everything is over."""


async def _undisturbed() -> tuple[int, dict[str, Any]]:
    """How many frames a client is sent that never leaves, and what it believes then."""
    async with house_in_memory() as house:
        watcher = Leaver(house.hub, FOREVER, 0, late=False)
        steady = await play(house, [watcher])
        assert beliefs(watcher) == beliefs(steady)
        return watcher.frames, beliefs(steady)


# W-26, W-40, W-44, W-46
@pytest.mark.parametrize("shift", range(2))
@aio
async def test_clients_that_leave_at_every_single_frame(shift: int) -> None:
    """One for each frame: it leaves there, and again and again after as many. All at once, in one run."""
    frames, expected = await _undisturbed()
    assert frames > 200
    async with house_in_memory() as house:
        leavers = [
            Leaver(house.hub, every, (0, 1, 5, FOREVER)[(every + shift) % 4], late=(every // 4 + shift) % 2 == 0)
            for every in range(1, frames + 1)
        ]
        steady = await play(house, leavers)
        assert beliefs(steady) == expected
        assert [leaver.every for leaver in leavers if beliefs(leaver) != expected] == []
        assert min(leaver.losses for leaver in leavers) == 1
        assert house.host.counters.replays == sum(leaver.losses for leaver in leavers)


async def _stumble(**where: Any) -> tuple[Stumbler, dict[str, Any], int]:
    async with house_in_memory() as house:
        driver = Stumbler(house.hub, **where)
        await driver.drive(TURNS)
        return driver, beliefs(driver), house.host.counters.turns


@aio
async def test_what_the_one_who_drives_sends_again_happens_once() -> None:
    """The connection is lost with every message it sends, delivered or not, and after every few it gets."""
    free, expected, turns = await _stumble()
    assert turns == len(TURNS)
    places: list[dict[str, Any]] = [{"takes": number} for number in range(1, free.taken + 1, 4)]
    places += [{"sends": number, "arrives": yes} for number in range(1, free.sent + 1) for yes in (True, False)]
    for place in places:
        driver, believed, turns = await _stumble(**place)
        assert not driver.counting, f"never lost {place}"
        assert (believed, turns) == (expected, len(TURNS)), place


@aio
async def test_over_sockets_it_is_the_same(tmp_path: Path) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    frames, _ = await _undisturbed()
    # Those who come later are sent less, and nobody may wait for a frame that never comes.
    places = [*random.Random(seed).sample(range(1, frames * 3 // 4), 7), frames * 3 // 4]
    async with hosting(tmp_path) as host:
        driver = Driver(Wire(host.url, "driver"))
        await driver.begin()
        watchers = [Wire(host.url, f"watcher-{place}") for place in places]
        async with asyncio.TaskGroup() as tasks:
            for watcher, place in zip(watchers, places, strict=True):
                await watcher.initialize("ahp-root://")
                await follow_all(watcher)
                tasks.create_task(_leave_once(watcher, place))
            await driver.drive(TURNS)
        expected = beliefs(driver.wire)
        for watcher in watchers:
            await follow_all(watcher)
            await watcher.settled()
            assert beliefs(watcher) == expected
            await watcher.close()
        newcomer = Wire(host.url)
        await newcomer.initialize("ahp-root://")
        await follow_all(newcomer)
        assert beliefs(newcomer) == expected
        await newcomer.close()
        await driver.wire.close()


async def _leave_once(watcher: Wire, place: int) -> None:
    await watcher.until(lambda: len(watcher.messages) >= place)
    await watcher.drop()
    assert (await watcher.reconnect())["type"] == "replay"
