"""Timestamps as people say them. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Final

__all__ = ["ago", "is_recent"]

# From how many seconds on a unit is used, and how many it has.
_UNITS: Final = ((86_400 * 365, "y"), (86_400, "d"), (3600, "h"), (60, "min"))


# Seconds. Two clocks may differ by so much and nobody notices.
_SKEW: Final = 5.0
_RECENT: Final = 60.0


def is_recent(then: str, now: datetime) -> bool:
    """Whether something happened a moment ago."""
    seconds = _since(then, now)
    return seconds is not None and -_SKEW <= seconds <= _RECENT


def _since(then: str, now: datetime) -> float | None:
    try:
        return (now - datetime.fromisoformat(then)).total_seconds()
    except (ValueError, TypeError):
        return None


def ago(then: str, now: datetime) -> str:
    """`3 min ago`, `now`; a timestamp that cannot be read, or is of the future, as it is."""
    seconds = _since(then, now)
    if seconds is None or seconds < -_SKEW:
        return then
    for size, name in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {name} ago"
    return "now"
