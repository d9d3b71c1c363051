"""What one action costs from end to end: read, validated, reduced, durable in SQLite, sent to a hundred subscribers.

The same workload goes to Holdfast and to a plain Node host in turn. Messages of actions are counted per second of
the server's CPU time, so that a busy machine changes little; the wall clock is in the run's JSON.
"""

from __future__ import annotations

import json
from typing import Any

from rig.load import FIRST, Plan, Result, greeting
from rig.report import at_least
from rig.stage import Stage

from served import HostProcess

__all__ = ["measure", "plan", "run"]

# In flight -> how many actions in a round for the host and for the peer, which needs longer for as many; and what
# the ratio of the two should be.
_WINDOWS = {1: (2_000, 2_000, at_least(1)), 16: (10_000, 4_000, at_least(5))}

# Before the clock runs: what is compiled or cached on first use is no part of what an action costs.
_WARM_UP = 500

_SUBSCRIBERS = 100


def plan(url: str, chat: str, count: int, *, text: str = "draft", version: str = "1.0.0", **more: Any) -> Plan:
    """Drafts on their way: the lead dispatches, everybody subscribed sees them."""
    draft = {"text": f"{text} #number#: some sixty characters of what somebody types", "origin": {"kind": "user"}}
    action = {"type": "chat/draftChanged", "draft": draft}
    params = json.dumps({"channel": chat, "clientSeq": 0, "action": action}, separators=(",", ":"))
    message = '{"jsonrpc":"2.0","method":"dispatchAction","params":' + params + "}"
    message = message.replace('"clientSeq":0', '"clientSeq":#number#')
    return Plan(url, greeting(chat, version=version), message, count, expect='"clientSeq":', **more)


async def run(stage: Stage, server: HostProcess, count: int, **more: Any) -> Result:
    """One run. The load generator checks that everybody got everything in order; the final state is checked here."""
    chat = await stage.chat(server)
    await stage.load.run(plan(server.url, chat, _WARM_UP, subscribers=1, window=1), server.pid)
    result = await stage.load.run(plan(server.url, chat, count, **more), server.pid)
    draft = await stage.draft(server, chat)
    assert f" {FIRST + count - 1}:" in draft, f"the last draft is not what the server has: {draft!r}"
    return result


async def measure(stage: Stage) -> None:
    """One and sixteen messages in flight, a hundred subscribers."""
    has_peer = await stage.has_peer()
    for window, (count, peers, target) in _WINDOWS.items():
        ours: list[Result] = []
        theirs: list[Result] = []
        for _ in range(stage.rounds):
            async with stage.host() as host:
                ours.append(await run(stage, host, count, subscribers=_SUBSCRIBERS, window=window))
            if has_peer:
                async with stage.peer() as peer:
                    theirs.append(await run(stage, peer, peers, subscribers=_SUBSCRIBERS, window=window))
        name = f"{_SUBSCRIBERS} subscribers, {window} in flight"
        mine = [_rate(each) for each in ours]
        stage.report.add(f"{name}: actions", "/CPU-s", mine)
        if has_peer:
            others = [_rate(each) for each in theirs]
            stage.report.add(f"{name}: actions of the peer", "/CPU-s", others)
            stage.report.ratio(f"{name}: ratio", mine, others, target)
        stage.report.add(f"{name}: client's share of its core", "%", [100 * each.cpu / each.seconds for each in ours])


def _rate(result: Result) -> float:
    return result.received / (1 + _SUBSCRIBERS) / result.server_cpu
