"""What a run raises when a promise was broken."""

from __future__ import annotations

__all__ = ["Lost"]


class Lost(AssertionError):
    """A promise was broken."""
