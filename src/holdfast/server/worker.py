"""One thread for what may keep the disk busy: synced commits, checkpoints. It never touches the host's state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from holdfast.ports.journal import JournalFailed

__all__ = ["Worker"]


class Worker:
    """Does one piece of work after the other. Made in the thread of the loop that is called back."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    def run(self, work: Callable[[], None], done: Callable[[JournalFailed | None], None]) -> None:
        """Begin `work`; `done` is called in the loop, with the failure if it failed."""
        future = self._loop.run_in_executor(self._pool, work)
        future.add_done_callback(partial(_report, done))

    def close(self) -> None:
        """Wait for what was begun."""
        self._pool.shutdown()


def _report(done: Callable[[JournalFailed | None], None], future: asyncio.Future[None]) -> None:
    error = future.exception()
    if error is not None and not isinstance(error, JournalFailed):
        raise error
    done(error)
