"""How long a link waits and how much it holds: every limit of the transports, with its unit and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["SLICE", "Limits"]

SLICE: Final = 128 * 1024
"""Bytes handed to the system in one go. 28 MB at once stalls the loop for 19 ms, in slices 1 ms."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    max_message: int = 16 * 1024 * 1024
    """One message from a client. A pasted image must not drop the connection."""

    handshake_timeout: float = 10
    """From the first byte of TLS to the accepted upgrade. Every honest client needs milliseconds."""

    handshake_bytes: int = 64 * 1024
    """All of a request for an upgrade: the library limits lines and their number, not their sum."""

    handshakes: int = 128
    """Connections that have not been upgraded yet. When one more comes, the oldest of them goes."""

    keepalive: float = 20
    """A client that was silent for so long is pinged."""

    keepalive_timeout: float = 20
    """A client that stays silent for so long after a ping is gone, whatever TCP believes."""

    close_timeout: float = 5
    """For the close handshake, as long as nothing leaves. What was written may take six times as long."""

    drained: int = 64 * 1024
    """Down to so many buffered bytes the owner hears `drained`; what is above is waiting for the client."""

    linger: float = 1
    """After the end of stdin: a client that sent its last request still gets answers until it is so long quiet."""
