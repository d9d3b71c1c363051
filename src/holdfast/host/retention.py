"""Sessions that nobody needs any more: deleted after the time that was chosen, if one was (`--keep-sessions`).

Deleted as by somebody: everybody hears of it, and for a while it can be taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from holdfast.host import loading, lookup, sessions
from holdfast.ports.journal import OldSessions
from holdfast.protocol.timestamps import from_milliseconds

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["begin"]

_INTERVAL: Final = 60_000
"""Milliseconds between two looks."""

_AT_ONCE: Final = 50
"""Sessions that are looked at; the rest wait for the next time."""


def begin(host: Host) -> None:
    """Look now and then, from now on."""
    if host.settings.keep_sessions is not None:
        host.timers.set("retention", host.clock.monotonic() + _INTERVAL, lambda: _look(host))


def _look(host: Host) -> None:
    assert host.settings.keep_sessions is not None, "only then it is looked"
    before = from_milliseconds(host.clock.wall() - host.settings.keep_sessions)
    found = host.ask(OldSessions(before, _AT_ONCE))
    lookup.bring(host, found)
    for uri in found:
        unit = host.sessions.get(uri)
        # One that was taken back has its time once more.
        is_back = unit is not None and unit.disposed_at is not None and unit.disposed_at >= before
        if unit is not None and not is_back and loading.is_idle(host, unit):
            sessions.put_away(host, unit)
    begin(host)
