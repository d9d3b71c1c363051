"""One subscriber of a hundred stops reading: what that costs the others, and what it costs in memory.

Actions of a kilobyte go to 99 healthy subscribers, with and without one more that never reads. With sixteen
in flight, five thousand of them are five times what a client may leave waiting before it lags.
"""

from __future__ import annotations

from rig import processes
from rig.load import Result
from rig.report import at_least, at_most
from rig.stage import Stage

from questions import fanout

__all__ = ["measure"]

_HEALTHY = 99
_COUNT = 5_000
_WINDOW = 16
_TEXT = "x" * 1_000


async def _run(stage: Stage, stalled: int) -> tuple[Result, float]:
    async with stage.host() as host:
        before = processes.resident(host.pid)
        result = await fanout.run(
            stage, host, _COUNT, text=_TEXT, subscribers=_HEALTHY, stalled=stalled, window=_WINDOW
        )
        return result, processes.resident_peak(host.pid) - before


async def measure(stage: Stage) -> None:
    without, beside = [], []
    for _ in range(stage.rounds):
        without.append(await _run(stage, 0))
        beside.append(await _run(stage, 1))
    healthy = [_COUNT / result.server_cpu for result, _ in without]
    others = [_COUNT / result.server_cpu for result, _ in beside]
    stage.report.add(f"actions, {_HEALTHY} healthy subscribers", "/CPU-s", healthy)
    stage.report.add("actions, one more that reads nothing", "/CPU-s", others)
    stage.report.ratio("ratio", others, healthy, at_least(0.95))
    more = [stuck - usual for (_, stuck), (_, usual) in zip(beside, without, strict=True)]
    stage.report.add("memory it takes", "MB", more, at_most(4))
