"""One connection as the access log and the metrics see it: who, for how long, how much."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from holdfast.server import logs

__all__ = ["Visit", "refused"]

_log: Final = logs.logger("holdfast.access")


@dataclass(slots=True, eq=False)
class Visit:
    """Counts what one connection carries; a line when it opens, a line when it is gone."""

    peer: str
    user_agent: str = ""
    messages_in: int = 0
    messages_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    why: str = ""
    """How it came to an end, once somebody knows."""

    _started: float = field(default_factory=time.monotonic)

    def opened(self) -> None:
        """Log that the client may talk from now on."""
        _log.info("opened", **self._who())

    def end(self, why: str) -> None:
        """It ends because of `why`; what was said first is kept."""
        self.why = self.why or why.rstrip()

    def closed(self) -> None:
        """Log that it is gone, and what it carried."""
        _log.info(
            "closed",
            **self._who(),
            seconds=round(time.monotonic() - self._started, 3),
            messages_in=self.messages_in,
            messages_out=self.messages_out,
            bytes_in=self.bytes_in,
            bytes_out=self.bytes_out,
            why=self.why,
        )

    def _who(self) -> dict[str, str]:
        return {"peer": self.peer, **({"user_agent": self.user_agent} if self.user_agent else {})}


def refused(peer: str, status: int, why: str) -> None:
    """Log a connection that got an HTTP answer instead of an upgrade."""
    _log.info("refused", peer=peer, status=status, why=why)
