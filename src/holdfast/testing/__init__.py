"""For people who test what they build on Holdfast: time and ids under control, states to compare."""

from __future__ import annotations

from holdfast.testing.environment import CountingIds, ManualClock
from holdfast.testing.states import comparable

__all__ = ["CountingIds", "ManualClock", "comparable"]
