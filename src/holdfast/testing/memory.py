"""A connection in memory: the link a host has, and the transport a client has, without a socket between them.

What one end sends is with the other at once, in order. Everything else is as on a socket: what waits for a slow
reader is counted, a link that is closed still delivers what was written, one that is aborted does not.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final

from holdfast.client.transports import Transport, TransportClosed
from holdfast.server.joiner import RuleBroken, check_text
from holdfast.server.limits import Limits
from holdfast.server.links import Framing, Link, LinkOwner

__all__ = ["MemoryLink", "MemoryTransport"]

_LIMITS: Final = Limits()


class _AsItIs(Framing):
    """A message is its own frame."""

    def frame(self, text: bytes) -> bytes:
        return text

    def pieces(self, text: Sequence[bytes]) -> list[bytes]:
        return [b"".join(text)]

    def __hash__(self) -> int:
        return hash(_AsItIs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _AsItIs)


_AS_IT_IS: Final = _AsItIs()


class MemoryLink(Link):
    """The host's end. `transport` is the client's."""

    def __init__(self, owner: LinkOwner) -> None:
        self.transport = MemoryTransport(self)
        self.is_over = False
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._inbox: deque[bytes] = deque()
        self._is_paused = False
        self._is_above_mark = False
        owner.opened(self)

    # What the host does

    @property
    def framing(self) -> Framing:
        return _AS_IT_IS

    @property
    def peer(self) -> str:
        return "memory"

    @property
    def buffered(self) -> int:
        return self.transport.unread

    def write(self, frames: Sequence[bytes]) -> bool:
        if not self.is_over:
            self.transport.deliver(frames)
            self._is_above_mark = self._is_above_mark or self.buffered > _LIMITS.drained
        return self.buffered <= _LIMITS.drained

    def write_long(self, pieces: Sequence[bytes]) -> bool:
        return self.write(pieces)

    def close(self, code: int, reason: str) -> None:
        self._end(f"the connection was closed ({code}{f': {reason}' if reason else ''})")

    def abort(self) -> None:
        self.transport.lose()
        self._end("the connection was lost")

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        while self._inbox and not self._is_paused:
            self._owner.received(self, self._inbox.popleft())

    # What the client does

    def take(self, message: bytes) -> None:
        """One message of the client."""
        try:
            check_text(message, _LIMITS.max_message)
        except RuleBroken as broken:
            self.close(broken.code, broken.reason)
            return
        if self._is_paused:
            self._inbox.append(message)
        else:
            self._owner.received(self, message)

    def was_read(self) -> None:
        """The client has taken something."""
        if self._is_above_mark and self.buffered <= _LIMITS.drained:
            self._is_above_mark = False
            self._loop.call_soon(self._drained)

    def _drained(self) -> None:
        if not self.is_over:
            self._owner.drained(self)

    def left(self) -> None:
        """The client has closed its end."""
        self._end("the connection was closed")

    def _end(self, why: str) -> None:
        if not self.is_over:
            self.is_over = True
            self._inbox.clear()
            self.transport.end(why)
            self._loop.call_soon(self._owner.closed, self)


class MemoryTransport(Transport):
    """The client's end."""

    def __init__(self, link: MemoryLink) -> None:
        self.unread = 0
        """Bytes that wait to be received."""
        self._link = link
        self._waiting: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._ended: str | None = None

    async def send(self, message: bytes) -> None:
        if self._ended is not None:
            raise TransportClosed(self._ended)
        self._link.take(message)

    async def receive(self) -> bytes:
        while not self._waiting:
            if self._ended is not None:
                raise TransportClosed(self._ended)
            self._wake.clear()
            await self._wake.wait()
        message = self._waiting.popleft()
        self.unread -= len(message)
        self._link.was_read()
        return message

    async def close(self) -> None:
        self._link.left()

    # Called by the link

    def deliver(self, messages: Sequence[bytes]) -> None:
        """These are to be received."""
        self._waiting.extend(messages)
        self.unread += sum(map(len, messages))
        self._wake.set()

    def lose(self) -> None:
        """Drop what was not received."""
        self._waiting.clear()
        self.unread = 0

    def end(self, why: str) -> None:
        """Nothing comes after what was delivered."""
        self._ended = why
        self._wake.set()
