"""An event loop in a thread of its own, for callers that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, ParamSpec, TypeVar

from holdfast.protocol.errors import UsageError

__all__ = ["LoopThread"]

P = ParamSpec("P")
T = TypeVar("T")


class LoopThread:
    """Runs from the start to `close`. Ctrl-C while somebody waits ends the wait and what was waited for."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="holdfast.sync", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there, and return what it does."""
        if self._loop.is_closed():
            work.close()
            raise UsageError("the connection was closed")
        if threading.current_thread() is self._thread:
            work.close()
            raise UsageError("holdfast.sync cannot be used by code that it runs itself; use the asynchronous names")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function there, and return what it does."""

        async def called() -> T:
            return function(*args, **kwargs)

        return self.run(called())

    def iterate(self, source: AsyncIterator[T]) -> Iterator[T]:
        """What an asynchronous iterator there gives, one by one."""
        end = object()

        async def following() -> T | object:
            return await anext(source, end)

        while (item := self.run(following())) is not end:
            yield item  # type: ignore[misc]  # whatever is not the end came from the source

    def close(self) -> None:
        """Stop, once nothing is left to do there; again is harmless."""
        if self._loop.is_closed():
            return
        self.run(_leave_nothing())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _leave_nothing() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()
