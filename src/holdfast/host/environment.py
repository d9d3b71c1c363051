"""Time and ids come from outside, so that a test can say what they are."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Clock", "Ids"]


class Clock(Protocol):
    def wall(self) -> int:
        """Unix milliseconds, for timestamps. May jump."""

    def monotonic(self) -> int:
        """Milliseconds from some start, for timers. Never goes back."""


class Ids(Protocol):
    def new(self) -> str:
        """An id nobody has: a UUIDv7 in real life, so that ids sort by age."""
