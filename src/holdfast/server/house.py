"""One host, put together: journal, core, agents and traffic, wired and ready to be given links.

Owns no socket: `serve` opens the doors, tests bring links of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final

from holdfast import __version__
from holdfast.agents.port import Agent
from holdfast.host import loading, startup
from holdfast.host.core import Host
from holdfast.host.environment import Clock, Ids
from holdfast.host.settings import HostSettings
from holdfast.host.units import Root
from holdfast.journal.settings import JournalSettings
from holdfast.ports.journal import Journal, JournalFailed, Opening
from holdfast.server.engine import Engine
from holdfast.server.hub import Hub, HubLimits
from holdfast.server.metrics import SECONDS, Registry
from holdfast.server.runner import Runner
from holdfast.server.settings import Settings
from holdfast.server.worker import Worker

__all__ = ["House", "host_settings", "hub_limits", "journal_settings"]

logger: Final = logging.getLogger(__name__)

# How often what is old is forgotten and what is idle leaves memory, in seconds.
_CHORES: Final = 1.0

# How long a host that stops waits for a journal that may be full, in seconds.
_LAST_COMMIT: Final = 2.0


def host_settings(settings: Settings) -> HostSettings:
    """What the core has to know."""
    return HostSettings(
        frame_budget=settings.frame_budget or None,
        grace=_milliseconds(settings.grace),
        client_tool_timeout=_milliseconds(settings.client_tool_timeout),
        undo_window=_milliseconds(settings.undo_window),
        keep_sessions=_milliseconds(settings.keep_sessions) or None,
        idle_unload=_milliseconds(settings.idle_unload),
    )


def journal_settings(settings: Settings) -> JournalSettings:
    """What the journal has to know."""
    return JournalSettings(
        durability=settings.durability,
        replay_age_ms=_milliseconds(settings.replay_age),
        replay_bytes=settings.replay_bytes,
    )


def hub_limits(settings: Settings) -> HubLimits:
    """How much one client may ask for."""
    return HubLimits(
        high_water=settings.outbox_high_water,
        hard_limit=settings.outbox_limit,
        patience=settings.outbox_time,
        rate=settings.rate_limit or math.inf,
        burst=settings.rate_burst,
    )


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


class House:
    """The parts of one host. `running` makes them move."""

    def __init__(
        self, journal: Journal, opening: Opening, agents: Iterable[Agent], settings: Settings, clock: Clock, ids: Ids
    ) -> None:
        kept = tuple(agents)
        infos = [agent.info for agent in kept]
        root = Root(startup.root_state({info.provider: info for info in infos}, __version__))
        self.host = Host(clock, ids, host_settings(settings), infos, root)
        self.journal = journal
        self.runner = Runner(kept, ids, journal)
        self.hub = Hub(self.host, hub_limits(settings), self.runner.perform)
        self.metrics = Registry()
        self._worker = Worker("journal")
        commits = self.metrics.histogram("holdfast_commit_seconds", "How long a commit took.", SECONDS)
        self.hub.engine = self._engine = Engine(
            self.host,
            journal,
            self.hub.deliver,
            self.runner.ask,
            observe=commits.observe,
            elsewhere=self._elsewhere if settings.durability == "power" else None,
        )
        self.runner.hub = self.hub
        self._opening = opening
        self._checkpointing = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Agents run and time passes. Leaving the block stops both and writes down what is decided."""
        try:
            async with self._moving():
                yield
        except BaseExceptionGroup as group:
            # A task group wraps what is raised in its block, be it a port that is taken: whoever runs us knows that
            # by its own type.
            if len(group.exceptions) > 1:
                raise
            raise group.exceptions[0] from group.exceptions[0].__cause__

    @asynccontextmanager
    async def _moving(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.runner.run(), name="agents")
            chores = tasks.create_task(self._do_chores(), name="chores")
            await asyncio.sleep(0)  # so that the runner has its tasks
            startup.start(self.host, self._opening)
            self.hub.tick()
            try:
                yield
            finally:
                self.runner.stop()
                chores.cancel()
                await asyncio.wait((running, chores))
                await self._settle()
                self.hub.stop()
                self._worker.close()

    async def drain(self, seconds: float) -> None:
        """Take no new turns, and give those that run so long to end."""
        self.host.draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.runner.idle()
        await self._settle()

    def tidy(self) -> None:
        """Let go of what is idle or old by now."""
        loading.sweep(self.host)
        self._engine.maintain(self.host.clock.wall())

    async def _settle(self) -> None:
        """Write down what is decided, unless the journal does not work."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_COMMIT):
                await self.hub.settled()

    def _elsewhere(self, work: Callable[[], None], done: Callable[[JournalFailed | None], None]) -> None:
        def then(error: JournalFailed | None) -> None:
            done(error)
            self.hub.tick()

        self._worker.run(work, then)

    async def _do_chores(self) -> None:
        while True:
            await asyncio.sleep(_CHORES)
            self.tidy()
            if not self._checkpointing:
                self._checkpointing = True
                self._worker.run(self.journal.checkpoint, self._checkpointed)

    def _checkpointed(self, error: JournalFailed | None) -> None:
        self._checkpointing = False
        if error is not None:
            logger.error("the journal could not be tidied up: %s", error)
