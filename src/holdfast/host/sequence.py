"""Sequence numbers: they grow for ever, are never used twice, and leave room for older versions.

Numbers advance by four, so that an envelope an older version needs as up to four can use the ones below its own.
"""

from __future__ import annotations

from collections.abc import Sequence as Series
from typing import Final

from holdfast.ports.journal import Epoch

__all__ = ["Numbers", "was_lost"]

STEP: Final = 4


class Numbers:
    """Gives out numbers from a block that was reserved durably."""

    def __init__(self, first: int, reserved: int) -> None:
        # The first number stands for the start itself, so that a snapshot taken at once lies inside this epoch.
        self.last = first
        self._reserved = reserved

    def suffice_for(self, count: int) -> bool:
        """Whether so many envelopes fit the present block."""
        return not count or self.last + count * STEP <= self._reserved

    def extend(self, reserved: int) -> None:
        """The block ends later now."""
        self._reserved = reserved

    def take(self) -> int:
        """The next number."""
        assert self.suffice_for(1), "a number must be reserved before it is used"
        return self.take_unreserved()

    def take_unreserved(self) -> int:
        """A number for what is kept nowhere, while a journal that is full reserves none.

        Nothing depends on it after this life of the host, and the next one begins far above it.
        """
        self.last += STEP
        return self.last


def was_lost(seen: int, head: int, epochs: Series[Epoch]) -> bool:
    """Whether a client has seen a number that this journal never gave out: its future was lost."""
    return seen > head or any(epoch.head_before < seen < epoch.first for epoch in epochs)
