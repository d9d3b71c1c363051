"""One source, any number of readers, each at its own pace and each with everything since it began to read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Final, Generic, TypeVar

from holdfast.protocol.errors import UsageError

__all__ = ["MOST", "Broadcast", "Feed"]

T = TypeVar("T")

MOST: Final = 100_000
"""How many items may wait for one reader. One that falls further behind is told so instead of eating memory."""


class Feed(Generic[T]):
    """What one reader has still to read. Iterate over it; it ends when its source does, or when it is closed."""

    def __init__(self, ended: Callable[[Feed[T]], None] | None = None) -> None:
        self._items: deque[T] = deque()
        self._wake = asyncio.Event()
        self._ended = ended
        self._is_over = False
        self._error: Exception | None = None

    def put(self, item: T) -> None:
        """Have an item read."""
        if self._is_over:
            return
        if len(self._items) >= MOST:
            self.end(UsageError(f"a reader fell {MOST} items behind and was left"))
            return
        self._items.append(item)
        self._wake.set()

    def join(self, joined: Callable[[T, T], T | None], item: T) -> None:
        """Put an item, or replace the newest one that waits by what `joined` makes of both."""
        together = joined(self._items[-1], item) if self._items else None
        if together is None:
            self.put(item)
        else:
            self._items[-1] = together

    def end(self, error: Exception | None = None) -> None:
        """What waits is still read; then iteration stops, or the error is raised."""
        if not self._is_over:
            self._is_over = True
            self._error = error
            self._wake.set()
            if self._ended is not None:
                self._ended(self)

    def close(self) -> None:
        """Read no more."""
        self.end()
        self._items.clear()

    def __aiter__(self) -> Feed[T]:
        return self

    async def __anext__(self) -> T:
        while not self._items:
            if self._is_over:
                if self._error is not None:
                    raise self._error
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._items.popleft()

    async def __aenter__(self) -> Feed[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Broadcast(Generic[T]):
    """The source."""

    def __init__(self) -> None:
        self._feeds: set[Feed[T]] = set()

    def feed(self) -> Feed[T]:
        """A reader of everything from now on."""
        feed: Feed[T] = Feed(self._feeds.discard)
        self._feeds.add(feed)
        return feed

    def put(self, item: T) -> None:
        for feed in tuple(self._feeds):
            feed.put(item)

    def end(self, error: Exception | None = None) -> None:
        for feed in tuple(self._feeds):
            feed.end(error)
