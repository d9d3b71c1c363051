"""What every transport gives the host, and what it wants from it.

A link carries whole JSON texts both ways. What many links send alike is framed once: a `Framing` turns a text
into the bytes that go on the wire, and links that share a framing share those bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Framing", "Link", "LinkOwner"]


class Framing(Protocol):
    """Turns a JSON text into what goes on the wire. Equal framings give equal bytes."""

    def frame(self, text: bytes) -> bytes:
        """The bytes for one message."""

    def pieces(self, text: Sequence[bytes]) -> list[bytes]:
        """The bytes for one long message that comes in pieces. None of them is copied if that can be helped."""

    def __hash__(self) -> int: ...

    def __eq__(self, other: object) -> bool: ...


class Link(Protocol):
    """One client's connection."""

    @property
    def framing(self) -> Framing:
        """How messages on this link are framed; fixed once it is open."""

    @property
    def peer(self) -> str:
        """Who is at the other end, for logs: an address, a socket, `stdio`."""

    @property
    def buffered(self) -> int:
        """Bytes given to `write` that the system has not taken yet."""

    def write(self, frames: Sequence[bytes]) -> bool:
        """Send framed messages in one go. Never blocks; what the system does not take is buffered.

        True: next to nothing is buffered. False: see `buffered`.
        """

    def write_long(self, pieces: Sequence[bytes]) -> bool:
        """The same for one framed message in pieces."""

    def close(self, code: int, reason: str) -> None:
        """Close after what was written has left, with a WebSocket close code. Harmless when repeated."""

    def abort(self) -> None:
        """Close at once and drop what was written."""

    def pause(self) -> None:
        """Take nothing more from the client for now."""

    def resume(self) -> None:
        """Go on taking."""


class LinkOwner(Protocol):
    """Who is told what happens on links. All calls come from the event loop; none may block."""

    def opened(self, link: Link) -> None:
        """A client may talk from now on. Authenticated, its upgrade accepted."""

    def received(self, link: Link, text: bytes) -> None:
        """One message arrived, complete and valid UTF-8."""

    def drained(self, link: Link) -> None:
        """What was buffered has left, after `buffered` had been above the low-water mark."""

    def closed(self, link: Link) -> None:
        """The link is gone, whoever closed it. Told exactly once for each link that was opened."""
