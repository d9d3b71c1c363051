"""Opening a long chat: its newest turns, and all of it for a client that knows no pages.

Whether the loop stalls is seen from outside: while the whole history leaves, another client calls two thousand
times a second, and the longest time one call took is the stall, the way there and back included. The client shares
its core with nobody but the one who reads the history, and starts no thread.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from rig import made_up, processes
from rig.load import Plan, Result, greeting, request
from rig.report import at_most
from rig.stage import Stage

from served import HostProcess, Wire

__all__ = ["measure"]

_TURNS = 10_000
_VIEW = 20


async def measure(stage: Stage) -> None:
    directory = stage.new_directory()
    async with stage.host(directory=directory) as host:
        chat = await stage.chat(host)
    size = made_up.add_turns(directory / "data", chat, _TURNS)
    stage.report.note(f"{_TURNS:,} turns are {size / 1e6:.1f} MB")
    await _newest(stage, directory, chat)
    await _whole(stage, directory, chat)


async def _newest(stage: Stage, directory: Path, chat: str) -> None:
    opened, grown = [], []
    for _ in range(stage.rounds):
        async with stage.host(directory=directory) as host:
            await _check(host, chat)
            message = request("subscribe", channel=chat, view={"turns": _VIEW})
            before = processes.resident(host.pid)
            processes.reset_peak(host.pid)
            opened.append(await stage.load.run(Plan(host.url, greeting(), message, 300, window=1), host.pid))
            grown.append(processes.resident_peak(host.pid) - before)
    report = stage.report
    report.add(f"opened with view.turns {_VIEW}, p50", "ms", [each.delays.p50 * 1e3 for each in opened])
    report.add(f"opened with view.turns {_VIEW}, p95", "ms", [each.delays.p95 * 1e3 for each in opened], at_most(20))
    report.add("memory for 300 of these, at the most", "MB", grown, at_most(5))


async def _check(host: HostProcess, chat: str) -> None:
    wire = Wire(host.url)
    await wire.initialize()
    state = await wire.request("subscribe", chat, view={"turns": _VIEW})
    turns = [turn["id"] for turn in state["snapshot"]["state"]["turns"]]
    assert turns == [f"turn-{index:06}" for index in range(_TURNS - _VIEW, _TURNS)], turns
    await wire.close()


async def _whole(stage: Stage, directory: Path, chat: str) -> None:
    calm, busy, took = [], [], []
    for _ in range(stage.rounds):
        async with stage.host("--frame-budget", "0", directory=directory) as host:
            calm.append(await _call(stage, host))
            opened, called = await asyncio.gather(_open_soon(stage, host, chat), _call(stage, host))
            took.append(opened)
            busy.append(called)
    report = stage.report
    report.add("a call while nothing happens, longest", "ms", [each.delays.max * 1e3 for each in calm])
    report.add("a call while the whole chat is opened, longest", "ms", [each.delays.max * 1e3 for each in busy])
    report.add("the whole chat", "ms", [each.delays.p50 * 1e3 for each in took])
    more = [one.delays.max * 1e3 - other.delays.max * 1e3 for one, other in zip(busy, calm, strict=True)]
    report.add("stall", "ms", more, at_most(5))


async def _call(stage: Stage, host: HostProcess) -> Result:
    plan = Plan(host.url, greeting().replace("load-", "caller-"), request("ping"), 2_000, rate=2_000)
    return await stage.load.run(plan, host.pid)


async def _open_soon(stage: Stage, host: HostProcess, chat: str) -> Result:
    await asyncio.sleep(0.3)  # the calls have begun
    plan = Plan(host.url, greeting(), request("subscribe", channel=chat), 3, window=1)
    return await stage.load.run(plan, host.pid)
