"""Requests that cost nothing by themselves: what remains is reading them, committing nothing, answering.

Two hundred and fifty-six pings are on their way at a time. `initialize` writes who came to the journal and is timed
for connections that come one after the other.
"""

from __future__ import annotations

from rig.load import Plan, greeting, request
from rig.report import at_least, at_most
from rig.stage import Stage

__all__ = ["measure"]

_WINDOW = 256
_CLIENTS = 200


async def measure(stage: Stage) -> None:
    has_peer = await stage.has_peer()
    pinged, peers, began = [], [], []
    for _ in range(stage.rounds):
        async with stage.host() as host:
            plan = Plan(host.url, greeting(), request("ping"), 80_000, window=_WINDOW)
            pinged.append(await stage.load.run(plan, host.pid))
            plan = Plan(
                host.url, greeting("ahp-root://"), request("ping"), 1, subscribers=0, stalled=_CLIENTS, window=1
            )
            began.append(await stage.load.run(plan, host.pid))
        if has_peer:
            async with stage.peer() as peer:
                plan = Plan(peer.url, greeting(), request("ping"), 80_000, window=_WINDOW)
                peers.append(await stage.load.run(plan, peer.pid))
    report = stage.report
    report.add("ping, pipelined", "/CPU-s", [each.received / each.server_cpu for each in pinged])
    report.add("ping, pipelined", "/s", [each.received / each.seconds for each in pinged], at_least(40_000))
    if peers:
        report.add("ping, pipelined, the peer", "/CPU-s", [each.received / each.server_cpu for each in peers])
    report.add("client's share of its core", "%", [100 * each.cpu / each.seconds for each in pinged])
    report.add("initialize, p50", "ms", [each.greetings.p50 * 1e3 for each in began], at_most(3))
    report.add("initialize, p99", "ms", [each.greetings.p99 * 1e3 for each in began])
