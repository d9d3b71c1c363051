"""A clock that stands still until it is told otherwise, and ids that count."""

from __future__ import annotations

from holdfast.host.environment import Clock, Ids

__all__ = ["CountingIds", "ManualClock"]


class ManualClock(Clock):
    """Time moves when `advance` is called."""

    def __init__(self, wall: int = 1_790_000_000_000) -> None:
        self._wall = wall
        self._monotonic = 0

    def wall(self) -> int:
        return self._wall

    def monotonic(self) -> int:
        return self._monotonic

    def advance(self, milliseconds: int) -> None:
        """Let time pass."""
        self._wall += milliseconds
        self._monotonic += milliseconds


class CountingIds(Ids):
    """`id-1`, `id-2`, and so on."""

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{self._prefix}-{self._count}"
