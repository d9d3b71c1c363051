"""Timestamps as people say them. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Final

__all__ = ["ago"]

# From how many seconds on a unit is used, and how many it has.
_UNITS: Final = ((86_400 * 365, "y"), (86_400, "d"), (3600, "h"), (60, "min"))


def ago(then: str, now: datetime) -> str:
    """`3 min ago`, `now`; a timestamp that cannot be read, or is of the future, as it is."""
    try:
        seconds = (now - datetime.fromisoformat(then)).total_seconds()
    except (ValueError, TypeError):
        return then
    if seconds < -1:
        return then
    for size, name in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {name} ago"
    return "now"
