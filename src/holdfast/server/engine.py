"""The cycle of the host: decide, commit, tell; read what was asked for; again, until nothing is left.

Still without an event loop: it is driven by whoever owns one, and by tests.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, get_args

from holdfast.host.core import Host
from holdfast.host.jobs import Job
from holdfast.host.sealing import Release, Sealed
from holdfast.ports.agent import AgentQuery
from holdfast.ports.journal import Commit, Journal, JournalFailed

__all__ = ["CommitElsewhere", "Engine"]

logger: Final = logging.getLogger(__name__)

_AGENT_QUERIES: Final = get_args(AgentQuery)

CommitElsewhere = Callable[[Commit, Callable[[JournalFailed | None], None]], None]
"""Begins a commit and calls back when it is done, with the failure if it failed."""


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
        commit_elsewhere: CommitElsewhere | None = None,
    ) -> None:
        """`observe` is told how many seconds each commit took."""
        self.host = host
        self.journal = journal
        self._deliver = deliver
        self._ask_agent = ask_agent
        self._observe = observe
        self._commit_elsewhere = commit_elsewhere
        self._settling = False

    def settle(self) -> None:
        """Do everything there is to do now. What a commit elsewhere keeps waiting is done when that is over."""
        if self._settling:
            return
        self._settling = True
        try:
            while self._commit() or self._read():
                pass
        finally:
            self._settling = False

    def _commit(self) -> bool:
        if self.host.in_flight is not None:
            return False
        sealed = self.host.flush(self.journal.reserve)
        if sealed is None:
            return False
        if not sealed.commit.writes:
            self._committed(sealed, 0, None)
        elif self._commit_elsewhere is not None:
            self._commit_elsewhere(sealed.commit, partial(self._later, sealed, time.perf_counter()))
        else:
            self._commit_here(sealed)
        return True

    def _commit_here(self, sealed: Sealed) -> None:
        before = time.perf_counter()
        try:
            self.journal.commit(sealed.commit)
        except JournalFailed as error:
            self._committed(sealed, time.perf_counter() - before, error)
        else:
            self._committed(sealed, time.perf_counter() - before, None)

    def _later(self, sealed: Sealed, before: float, error: JournalFailed | None) -> None:
        self._committed(sealed, time.perf_counter() - before, error)
        self.settle()

    def _committed(self, sealed: Sealed, seconds: float, error: JournalFailed | None) -> None:
        if error is None:
            if seconds:
                self._observe(seconds)
            self._deliver(self.host.committed(sealed))
        else:
            logger.error("the journal failed: %s", error)
            self._deliver(self.host.failed(sealed, f"this could not be kept: {error}"))

    def _read(self) -> bool:
        """Answer one question. Everything decided is committed by then, so answers are never behind."""
        if not self.host.needs or self.host.in_flight is not None:
            return False
        job, need = self.host.needs.popleft()
        if isinstance(need, _AGENT_QUERIES):
            self._ask_agent(job, need)
        else:
            self.host.answered(job, need, self._answer(need))
        return True

    def _answer(self, need: Any) -> Any:
        try:
            return self.journal.read(need)
        except JournalFailed as error:
            logger.error("the journal could not be read: %s", error)
            return error
