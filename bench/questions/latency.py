"""How long it takes from an action's being sent until a subscriber has it, at a thousand actions a second.

Measured at the client, from the moment the action was due: the way to the host, the commit and the way to every
subscriber are all in it, so what lies between commit and delivery is less.
"""

from __future__ import annotations

from rig.load import Result
from rig.report import Target, at_most
from rig.stage import Stage

from questions import fanout

__all__ = ["measure"]

_RATE = 1_000
_COUNT = 3_000
_SUBSCRIBERS = (10, 100)


async def measure(stage: Stage) -> None:
    has_peer = await stage.has_peer()
    for subscribers in _SUBSCRIBERS:
        ours: list[Result] = []
        theirs: list[Result] = []
        for _ in range(stage.rounds):
            async with stage.host() as host:
                ours.append(await fanout.run(stage, host, _COUNT, subscribers=subscribers, rate=_RATE))
            if has_peer:
                async with stage.peer() as peer:
                    theirs.append(await fanout.run(stage, peer, _COUNT, subscribers=subscribers, rate=_RATE))
        _add(stage, f"{subscribers} subscribers", ours, at_most(3))
        if theirs:
            _add(stage, f"{subscribers} subscribers, the peer", theirs, None)


def _add(stage: Stage, name: str, results: list[Result], target: Target | None) -> None:
    stage.report.add(f"{name}: delivered after, p50", "ms", [each.delays.p50 * 1e3 for each in results], target)
    stage.report.add(f"{name}: delivered after, p99", "ms", [each.delays.p99 * 1e3 for each in results])
    stage.report.add(f"{name}: CPU", "%", [100 * each.server_cpu / each.seconds for each in results])
