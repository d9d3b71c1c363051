"""The whole tour of the demo agent through the SDK, by every way in, with and without a host that dies in between.

The host is killed between any two steps for one way in; `HOLDFAST_TOUR=long` does so for all of them.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import holdfast
from aio import run
from client.tour import STEPS
from holdfast import places
from holdfast.agents.scripted.table import SCENARIOS
from served import environment, hosting

LONG = os.environ.get("HOLDFAST_TOUR") == "long"
WAYS = ("websocket", "unix", "stdio")
KILLED = [False, True] if LONG else [False]

QUICK = holdfast.Retry(most=0.2)
"""A host that dies every second is tried less and less often otherwise."""

Kill = Callable[[], Awaitable[None]]


@asynccontextmanager
async def toured(directory: Path, way: str) -> AsyncIterator[tuple[holdfast.Host, Kill]]:
    """A host, and a way to have it die and live again."""
    data = directory / "data"
    if way == "stdio":
        variables = [f"{name}={value}" for name, value in environment(directory).items()]
        command = ["env", *variables, sys.executable, "-m", "holdfast", "serve", "--stdio", "--data-dir", str(data)]

        async def kill_child() -> None:
            running = places.running(data)
            assert running is not None
            os.kill(running.pid, signal.SIGKILL)

        async with holdfast.connect(command, retry=QUICK) as host:
            yield host, kill_child
        return
    async with hosting(directory, "--unix-socket", str(directory / "s") if way == "unix" else "off") as process:

        async def kill() -> None:
            await process.kill()
            await process.start()

        target = f"unix:{directory / 's'}" if way == "unix" else None
        async with holdfast.connect(target, data_dir=data, retry=QUICK) as host:
            yield host, kill


@pytest.mark.parametrize(
    ("way", "killed"),
    [*((way, killed) for way in WAYS for killed in KILLED), *([] if LONG else [("websocket", True)])],
)
def test_every_scenario_can_be_played(tmp_path: Path, way: str, killed: bool) -> None:
    async def tour() -> None:
        async with toured(tmp_path, way) as (host, kill):
            session = await host.create_session("demo", directory=tmp_path, config={"speed": 0})
            for step in STEPS:
                await step.play(session, host)
                if killed:
                    await kill()
            async with holdfast.connect(data_dir=tmp_path / "data") as other:
                same = await other.session(session.uri)
                while await session.chat.load_older():
                    pass
                while await same.chat.load_older():
                    pass
                assert same.chat.turns == session.chat.turns
                assert same.title == session.title

    run(tour, 240)


def test_the_tour_leaves_no_scenario_out() -> None:
    played = {step.name.partition(" ")[0] for step in STEPS}
    assert {scenario.name for scenario in SCENARIOS} - played == set()
