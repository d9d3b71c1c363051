"""For people who test what they build on Holdfast: a host in memory, an agent that does as it is told, time and ids.

    from holdfast.testing import Actor, calls, local_host

    async with local_host([Actor("Let me look.", calls("ls", ask=True))]) as local, local.connect() as host:
        session = await host.create_session()

`holdfast.testing.pytest` has fixtures of the same for tests that are plain functions.
"""

from __future__ import annotations

from holdfast.agents.turn import TurnContext
from holdfast.testing.actor import Actor
from holdfast.testing.environment import CountingIds, ManualClock
from holdfast.testing.local import LocalHost, local_host
from holdfast.testing.states import comparable
from holdfast.testing.steps import asks, calls, calls_client, fails, failure, says, thinks, uses, waits

__all__ = [
    "Actor",
    "CountingIds",
    "LocalHost",
    "ManualClock",
    "TurnContext",
    "asks",
    "calls",
    "calls_client",
    "comparable",
    "fails",
    "failure",
    "local_host",
    "says",
    "thinks",
    "uses",
    "waits",
]
