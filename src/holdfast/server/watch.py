"""The dates of one connection: when its handshake must be done, when it is pinged, when it must be gone.

One timer at a time; what it means changes with the connection's life: opening, open, ending.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from holdfast.server.limits import Limits
from holdfast.server.outbox import Outbox

__all__ = ["Watch"]

# A client that slowly takes what waits for it may take so many close timeouts until it has everything.
_CLOSE_TIMEOUTS: Final = 6


class Watch:
    """Calls `give_up`, with the reason, once a connection missed a date; `ping` to hear whether it lives.

    `is_deaf` says that nothing is read from the connection at the moment, so that silence means nothing.
    """

    def __init__(
        self,
        limits: Limits,
        outbox: Outbox,
        *,
        ping: Callable[[], None],
        is_deaf: Callable[[], bool],
        give_up: Callable[[str], None],
    ) -> None:
        self._limits = limits
        self._outbox = outbox
        self._ping = ping
        self._is_deaf = is_deaf
        self._give_up = give_up
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._taken = 0
        self._pinged = False
        self._ending = 0
        self.heard = False
        """Set by the connection whenever a byte arrives."""

    def opening(self) -> None:
        """The handshake has to be done in time."""
        self._after(self._limits.handshake_timeout, lambda: self._give_up("the handshake took too long"))

    def open(self) -> None:
        """The handshake is done: from now on the other end has to be heard now and then."""
        self.heard = True
        self._keep_alive()

    def ending(self) -> None:
        """From now on there is a date by which the connection is gone. Harmless when repeated."""
        if not self._ending:
            self._ending = _CLOSE_TIMEOUTS
            self._wait_for_end()

    def stop(self) -> None:
        """The connection is gone."""
        if self._timer is not None:
            self._timer.cancel()
        self._ending = self._ending or 1

    def _keep_alive(self) -> None:
        if self.heard or self._is_deaf():
            self.heard = self._pinged = False
            self._after(self._limits.keepalive, self._keep_alive)
        elif not self._pinged:
            self._pinged = True
            self._ping()
            self._after(self._limits.keepalive_timeout, self._keep_alive)
        elif self._is_taking():
            # It lives, it is slow: our ping is behind what it has not read yet.
            self._after(self._limits.keepalive_timeout, self._keep_alive)
        else:
            self._give_up("silent")

    def _wait_for_end(self) -> None:
        if self._ending == _CLOSE_TIMEOUTS or (self._ending and self._is_taking()):
            self._ending -= 1
            self._after(self._limits.close_timeout, self._wait_for_end)
        else:
            self._give_up("the close handshake took too long")

    def _is_taking(self) -> bool:
        """Whether something waits for the other end, and less than when the timer was set."""
        return self._outbox.size > 0 and self._outbox.taken > self._taken

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._taken = self._outbox.taken
        self._timer = self._loop.call_later(seconds, then)
