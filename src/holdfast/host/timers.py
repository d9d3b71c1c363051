"""What is to happen later: a heap of deadlines, each with a name by which it can be called off."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable

__all__ = ["Timers"]


class Timers:
    """Deadlines in monotonic milliseconds. Setting a name again replaces its deadline."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Hashable]] = []
        self._live: dict[Hashable, tuple[int, Callable[[], None]]] = {}
        self._count = 0

    def set(self, name: Hashable, at: int, action: Callable[[], None]) -> None:
        self._count += 1
        self._live[name] = (self._count, action)
        heapq.heappush(self._heap, (at, self._count, name))

    def cancel(self, name: Hashable) -> None:
        """Harmless if there is none."""
        self._live.pop(name, None)

    def __contains__(self, name: Hashable) -> bool:
        return name in self._live

    def next(self) -> int | None:
        """When the next one is due."""
        self._skip_cancelled()
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now: int) -> list[Callable[[], None]]:
        """Take the actions whose time has come, earliest first."""
        due: list[Callable[[], None]] = []
        while (at := self.next()) is not None and at <= now:
            _, _, name = heapq.heappop(self._heap)
            due.append(self._live.pop(name)[1])
        return due

    def _skip_cancelled(self) -> None:
        while self._heap:
            _, count, name = self._heap[0]
            live = self._live.get(name)
            if live is not None and live[0] == count:
                return
            heapq.heappop(self._heap)
