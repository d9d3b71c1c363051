"""A whole host in memory: for tests of agents, and of whatever talks to a host.

    async with holdfast.testing.local_host(agents=[MyAgent()]) as local, local.connect() as host:
        session = await host.create_session()
        assert (await session.send("hello")).text == "Hello!"

It is the host that `holdfast serve` runs, with its journal in memory and no doors but `dial`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

from holdfast.agents.port import Agent
from holdfast.agents.scripted import demo
from holdfast.client.backoff import Retry
from holdfast.client.errors import NoHost
from holdfast.client.host import Connecting, connect
from holdfast.client.transports import Transport
from holdfast.host.environment import Clock, Ids
from holdfast.journal.memory import MemoryJournal
from holdfast.server.environment import SystemClock
from holdfast.server.house import House, journal_settings
from holdfast.server.settings import Settings
from holdfast.testing.environment import CountingIds, ManualClock
from holdfast.testing.memory import MemoryLink

__all__ = ["LocalHost", "local_host"]

_log: Final = logging.getLogger(__name__)

_RETRY: Final = Retry(first=0.001, most=0.05)
"""Nobody is crowded out in memory."""


def local_host(
    agents: Iterable[Agent] = (),
    *,
    clock: Clock | None = None,
    ids: Ids | None = None,
    **options: Any,
) -> LocalHost:
    """A host to be entered with `async with`. Without `agents` it has the demo agent, which then never pauses.

    `clock` is the real one unless a `ManualClock` is given; ids count. `options` are those of `holdfast serve`, with
    times in seconds: `local_host(grace=0.1)`.
    """
    return LocalHost(
        tuple(agents) or (demo(_never_pause),), clock or SystemClock(), ids or CountingIds(), Settings(**options)
    )


async def _never_pause(_: float) -> None:
    await asyncio.sleep(0)


class LocalHost:
    """Made by `local_host`."""

    def __init__(self, agents: Iterable[Agent], clock: Clock, ids: Ids, settings: Settings) -> None:
        self.agents = tuple(agents)
        self.clock = clock
        self.settings = settings
        self.house: House | None = None
        """The parts of the host, for who knows them; None while it does not run."""
        self._ids = ids
        self._journal = MemoryJournal(journal_settings(settings))
        self._links: set[MemoryLink] = set()
        self._is_reachable = True
        self._stop = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<LocalHost, {'running' if self.house is not None else 'stopped'}, {len(self._links)} connections>"

    async def __aenter__(self) -> LocalHost:
        await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    # Its clients

    def connect(self, **options: Any) -> Connecting:
        """`holdfast.connect` to this host, with the same options."""
        return connect(self.dial, **{"retry": _RETRY, **options})

    async def dial(self) -> Transport:
        """A connection, for `holdfast.connect(local.dial)`."""
        if self.house is None or not self._is_reachable:
            raise NoHost("the host in memory does not answer")
        link = MemoryLink(self.house.hub)
        self._links = {each for each in self._links if not each.is_over} | {link}
        return link.transport

    def drop(self) -> None:
        """Break every connection, with what is on its way to clients. They come back by themselves."""
        links, self._links = self._links, set()
        for link in links:
            link.abort()

    @asynccontextmanager
    async def unreachable(self) -> AsyncIterator[None]:
        """While the block lasts every connection is broken, and nobody gets a new one."""
        self._is_reachable = False
        self.drop()
        try:
            yield
        finally:
            self._is_reachable = True

    # Its life

    async def restart(self) -> None:
        """As after `kill -9`: what was acknowledged is there, turns that ran have failed."""
        await self._end()
        await self._start()

    async def settled(self) -> None:
        """Wait until everything that happened so far is committed and on its way to those who look."""
        assert self.house is not None, "it runs"
        await self.house.hub.settled()

    async def advance(self, seconds: float) -> None:
        """Let time pass and do what is due then. The host must have a `ManualClock`."""
        assert isinstance(self.clock, ManualClock), "time can be moved in a local_host(clock=ManualClock())"
        assert self.house is not None, "it runs"
        self.clock.advance(round(seconds * 1000))
        self.house.host.wake()
        self.house.tidy()
        await self.settled()

    async def _start(self) -> None:
        started = asyncio.get_running_loop().create_future()
        self._stop.clear()
        self._life = asyncio.create_task(self._live(started), name="a host in memory")
        try:
            await asyncio.wait((started, self._life), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not started.done():
                await self._end()

    async def _live(self, started: asyncio.Future[None]) -> None:
        opening = self._journal.open(self.clock.wall())
        house = House(self._journal, opening, self.agents, self.settings, self.clock, self._ids)
        async with house.running():
            self.house = house
            started.set_result(None)
            stopping = asyncio.create_task(self._stop.wait())
            try:
                await asyncio.wait((stopping, house.hub.broken), return_when=asyncio.FIRST_COMPLETED)
            finally:
                stopping.cancel()
                self.house = None
                self.drop()
        if house.hub.broken.done():
            _log.error("the host in memory broke", exc_info=house.hub.broken.exception())
            house.hub.broken.result()

    async def _end(self) -> None:
        life, self._life = self._life, None
        if life is not None:
            self._stop.set()
            await life
