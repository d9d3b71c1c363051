"""The numbers the core goes by. Durations are milliseconds, sizes bytes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HostSettings"]

_MINUTE = 60_000
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


@dataclass(frozen=True, slots=True)
class HostSettings:
    frame_budget: int | None = 900_000
    """Largest message the host makes on its own account; None switches paging and references off."""
    text_part_limit: int = 128_000
    """A streamed part that has grown so far is closed and a new one begun."""
    inline_limit: int = 64_000
    """Larger tool input and output is kept as content and referred to."""
    list_limit: int = 2_000
    """Sessions in one page of `listSessions` at the most: real clients never ask for the next page."""
    turn_page: int = 50
    """Turns in one page of history."""
    grace: int = 30_000
    """How long an active client may be away before its tools are withdrawn."""
    client_tool_timeout: int = 10 * _MINUTE
    """How long a client may take to run its own tool."""
    provisional_age: int = _DAY
    """How long a session that nobody used is kept after its creator left."""
    undo_window: int = 7 * _DAY
    """How long a disposed session can be restored."""
    keep_sessions: int | None = None
    """How long a session in which nothing happens is kept; None: for ever."""
    idle_unload: int = 5 * _MINUTE
    """How long a session nobody looks at stays in memory."""
    client_age: int = 30 * _DAY
    """How long a client that left may come back by `reconnect`."""
    default_directory: str | None = None
    """Where clients should start browsing for a directory, as a URI."""
