"""For people who test what they build on Holdfast: a host in memory, an agent that does as it is told, time and ids.

    from holdfast.testing import Actor, calls, local_host

    async with local_host([Actor("Let me look.", calls("ls", ask=True))]) as local, local.connect() as host:
        session = await host.create_session()

`sync_local_host` is the same for tests that are plain functions, and `holdfast.testing.pytest` has fixtures of it.
Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.agents.turn import TurnContext
    from holdfast.testing.actor import Actor
    from holdfast.testing.environment import CountingIds, ManualClock
    from holdfast.testing.local import LocalHost, local_host
    from holdfast.testing.states import comparable
    from holdfast.testing.steps import asks, calls, calls_client, fails, failure, says, thinks, uses, waits
    from holdfast.testing.synchronous import SyncLocalHost, sync_local_host

_HOMES = {
    "agents.turn": ("TurnContext",),
    "testing.actor": ("Actor",),
    "testing.environment": ("CountingIds", "ManualClock"),
    "testing.local": ("LocalHost", "local_host"),
    "testing.states": ("comparable",),
    "testing.steps": ("asks", "calls", "calls_client", "fails", "failure", "says", "thinks", "uses", "waits"),
    "testing.synchronous": ("SyncLocalHost", "sync_local_host"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Actor",
    "CountingIds",
    "LocalHost",
    "ManualClock",
    "SyncLocalHost",
    "TurnContext",
    "asks",
    "calls",
    "calls_client",
    "comparable",
    "fails",
    "failure",
    "local_host",
    "says",
    "sync_local_host",
    "thinks",
    "uses",
    "waits",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'holdfast.testing' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"holdfast.{home}"), name)
    globals()[name] = value
    return value
