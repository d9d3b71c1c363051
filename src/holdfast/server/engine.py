"""The cycle of the host: decide, commit, tell; read what was asked for; again, until nothing is left.

Still without an event loop: it is driven by whoever owns one, and by tests.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, get_args

from holdfast.host.core import Host
from holdfast.host.jobs import Job, Need
from holdfast.host.sealing import Release, Sealed
from holdfast.ports.agent import AgentQuery
from holdfast.ports.journal import Journal, JournalFailed, JournalFull
from holdfast.protocol.errors import ErrorCode, RpcError

__all__ = ["Elsewhere", "Engine"]

logger: Final = logging.getLogger(__name__)

_AGENT_QUERIES: Final = get_args(AgentQuery)

_READING: Final = 0.001
"""Seconds for which one pass goes on reading what comes in pieces."""

Elsewhere = Callable[[Callable[[], None], Callable[[JournalFailed | None], None]], None]
"""Has work done in another thread and calls back, in this one, when it is done, with the failure if it failed.

Then it settles the engine.
"""


class Engine:
    """Turns a host and a journal into something that makes progress."""

    def __init__(
        self,
        host: Host,
        journal: Journal,
        deliver: Callable[[Release], None],
        ask_agent: Callable[[Job, AgentQuery], None],
        *,
        observe: Callable[[float], object] = float,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        """`observe` is told how many seconds each commit took. Without `elsewhere` commits are done here."""
        self.host = host
        self.journal = journal
        self._deliver = deliver
        self._ask_agent = ask_agent
        self._observe = observe
        self._elsewhere = elsewhere
        self._settling = False
        self._maintaining = False

    def settle(self) -> bool:
        """Do everything there is to do now. What a commit elsewhere keeps waiting is done when that is over.

        False: somebody needs much more to be read, which can wait until others were seen to.
        """
        if self._settling:
            return True
        self._settling = True
        try:
            until = time.perf_counter() + _READING
            while self._commit() or self._read(self.host.needs) or self._read(self.host.pieces):
                if self.host.pieces and not self.host.needs and time.perf_counter() > until:
                    return False
        finally:
            self._settling = False
        return True

    def maintain(self, now: int) -> None:
        """Have the journal forget a piece of what it need not keep, between two commits."""
        if self.host.in_flight is not None or self._maintaining:
            return
        work = partial(self.journal.maintain, now)
        if self._elsewhere is not None:
            self._maintaining = True
            self._elsewhere(work, self._maintained)
        else:
            self._maintained(_attempt(work))

    def _maintained(self, error: JournalFailed | None) -> None:
        if error is not None:
            logger.error("the journal could not be maintained: %s", error)
        if self._maintaining:
            self._maintaining = False

    def _commit(self) -> bool:
        if self.host.in_flight is not None or self._maintaining:
            return False
        try:
            sealed = self.host.flush(self.journal.reserve)
        except JournalFailed as failure:
            logger.error("the journal failed: %s", failure)
            self._deliver(self.host.lost(_reason(failure)))
            return True
        if sealed is None:
            return False
        work = partial(self.journal.commit, sealed.commit)
        if not sealed.commit.writes:
            self._committed(sealed, 0, None)
        elif self._elsewhere is not None:
            self._elsewhere(work, partial(self._later, sealed, time.perf_counter()))
        else:
            before = time.perf_counter()
            error = _attempt(work)
            self._committed(sealed, time.perf_counter() - before, error)
        return True

    def _later(self, sealed: Sealed, before: float, error: JournalFailed | None) -> None:
        self._committed(sealed, time.perf_counter() - before, error)

    def _committed(self, sealed: Sealed, seconds: float, error: JournalFailed | None) -> None:
        if error is None:
            if seconds:
                self._observe(seconds)
            self._deliver(self.host.committed(sealed))
        else:
            logger.error("the journal failed: %s", error)
            self._deliver(self.host.failed(sealed, _reason(error)))

    def _read(self, waiting: deque[tuple[Job, tuple[Need, ...]]]) -> bool:
        """Answer what one job asks. Everything decided is committed by then, so answers are never behind."""
        if not waiting or self.host.in_flight is not None:
            return False
        job, needs = waiting.popleft()
        if isinstance(needs[0], _AGENT_QUERIES):
            assert len(needs) == 1, "agents are asked one thing at a time"
            self._ask_agent(job, needs[0])
        else:
            job.answers.update((need, self._answer(need)) for need in needs)
            self.host.resume(job)
        return True

    def _answer(self, need: Any) -> Any:
        try:
            return self.journal.read(need)
        except JournalFailed as error:
            logger.error("the journal could not be read: %s", error)
            return RpcError(ErrorCode.INTERNAL_ERROR, "the host's journal could not be read; its log says why")


def _reason(error: JournalFailed) -> str:
    """What clients are told. Where the journal is and what exactly went wrong is in the host's log."""
    if isinstance(error, JournalFull):
        return "this could not be kept: the host has no disk space left; make room and try again"
    return "this could not be kept: the host's journal does not work; its log says why"


def _attempt(work: Callable[[], None]) -> JournalFailed | None:
    try:
        work()
    except JournalFailed as error:
        return error
    return None
