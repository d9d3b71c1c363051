"""How long a host takes from the start of its process to listening, and what it holds then."""

from __future__ import annotations

import time

from rig import processes
from rig.report import at_most
from rig.stage import Stage

from served import HostProcess, Wire

__all__ = ["measure", "started"]


async def started(server: HostProcess) -> tuple[float, float]:
    """Start a server, see that it answers, stop it: milliseconds until it listened, megabytes it held."""
    before = time.perf_counter()
    await server.start()
    took = (time.perf_counter() - before) * 1000
    try:
        wire = Wire(server.url)
        await wire.initialize()
        held = processes.resident(server.pid)
        await wire.close()
    finally:
        await server.end()
    return took, held


async def measure(stage: Stage) -> None:
    """New data directories; the first start, which compiles Python's modules, is not counted."""
    has_peer = await stage.has_peer()
    await started(stage.new_host())
    ours, theirs = [], []
    for _ in range(stage.rounds):
        ours.append(await started(stage.new_host()))
        if has_peer:
            theirs.append(await started(stage.new_peer()))
    stage.report.add("until it listens", "ms", [took for took, _ in ours], at_most(150))
    if theirs:
        stage.report.add("until the peer listens", "ms", [took for took, _ in theirs])
    stage.report.add("resident, with a client", "MB", [held for _, held in ours], at_most(45))
    if theirs:
        stage.report.add("resident, the peer with a client", "MB", [held for _, held in theirs])
