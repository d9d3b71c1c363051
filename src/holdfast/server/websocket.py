"""A WebSocket connection that is a `Link`: messages in, framed bytes out, and an end that comes for certain.

`websockets` decides what bytes mean (sans-I/O); the transport, the limits and the dates are ours. The same class
serves TCP, TLS and unix sockets. How a connection gets to be open is the business of its two kinds:
`upgrade.ServerLink` at this end, `pipe.ClientLink` at the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar, cast

from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import SEND_EOF, Protocol, State

from holdfast.server import logs
from holdfast.server.access import Visit
from holdfast.server.framing import PLAIN
from holdfast.server.joiner import Joiner, RuleBroken
from holdfast.server.limits import Limits
from holdfast.server.links import Framing, LinkOwner
from holdfast.server.outbox import Outbox
from holdfast.server.watch import Watch

__all__ = ["WIRE_LOG", "WebSocketLink"]

_log: Final = logs.logger("holdfast.websocket")

# The library shows whole frames and headers at debug level, tokens and conversations included.
WIRE_LOG: Final = logging.getLogger("holdfast.wire")
WIRE_LOG.setLevel(logging.WARNING)

# Parsed before the owner hears of it. 16 kB of compressed data are 16 MB of messages at the worst.
_PIECE: Final = 16 * 1024

_PONG: Final = 0x80 | Opcode.PONG

_REASON_BYTES: Final = 123  # RFC 6455, section 5.5: a control frame has 125 bytes, two are the code

P = TypeVar("P", bound=Protocol)


class WebSocketLink(asyncio.Protocol, Generic[P]):
    """One WebSocket connection. Subclasses bring it from connected to open.

    `gone` is called once, with the link, when the connection is lost, whether it ever opened or not.
    """

    def __init__(self, protocol: P, owner: LinkOwner, limits: Limits, gone: Callable[[Any], None]) -> None:
        self._protocol = protocol
        self._owner = owner
        self._limits = limits
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._framing: Framing = PLAIN
        self._joiner = Joiner(limits.max_message)
        self._unread: deque[bytes] = deque()
        self._events: deque[Any] = deque()
        self._late_pong: bytes | None = None
        self._opened = False  # the owner knows of this link
        self._paused = False  # the owner wants nothing at the moment
        self._closing = False  # nothing more is taken from the other end
        self._takes = False  # messages can be sent: open, and neither end has said that it closes
        self._dead = False  # nothing can be sent any more

    @property
    def has_opened(self) -> bool:
        """Whether the owner has been told of this link."""
        return self._opened

    # The connection as its owner sees it.

    @property
    def framing(self) -> Framing:
        """How messages on this link are framed."""
        return self._framing

    @property
    def peer(self) -> str:
        """Who is at the other end."""
        return self.visit.peer

    @property
    def buffered(self) -> int:
        """Bytes that were written and that the system has not taken yet."""
        return 0 if self._dead else self._outbox.size

    def write(self, frames: Sequence[bytes]) -> bool:
        """Send framed messages in one go; dropped once the connection is closing."""
        if not self._takes:
            return True
        self.visit.messages_out += len(frames)
        return self._outbox.put(frames)

    def write_long(self, pieces: Sequence[bytes]) -> bool:
        """The same for one framed message in pieces."""
        if not self._takes:
            return True
        self.visit.messages_out += 1
        return self._outbox.put(pieces)

    def close(self, code: int, reason: str) -> None:
        """Close after what was written has left. Nothing more is taken from the client."""
        self._closing = True
        if self._protocol.state is State.OPEN and not self._dead:
            self.visit.end(f"closed {code} {reason}")
            self._protocol.send_close(code, reason.encode()[:_REASON_BYTES].decode(errors="ignore"))
            self._send_protocol_data()

    def abort(self) -> None:
        """Close at once and drop what was written."""
        self._give_up("aborted")

    def pause(self) -> None:
        """Take nothing more from the client for now."""
        if not self._paused and not self._dead:
            self._paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        """Go on taking."""
        if self._paused and not self._dead:
            self._paused = False
            self._transport.resume_reading()
            self._loop.call_soon(self._take)

    # The connection as the event loop sees it.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The system has a connection; nothing has been said yet."""
        self._transport = cast(asyncio.Transport, transport)
        self._outbox = Outbox(self._transport, self._loop, mark=self._limits.drained, drained=self._drained)
        self._watch = Watch(
            self._limits,
            self._outbox,
            ping=self._ping,
            is_deaf=lambda: self._paused,
            give_up=self._give_up,
        )
        self._watch.opening()
        self.visit = Visit(self._name_peer())

    def data_received(self, data: bytes) -> None:
        """Bytes from the other end."""
        self._watch.heard = True
        self.visit.bytes_in += len(data)
        if len(data) <= _PIECE:
            self._unread.append(data)
        else:
            self._unread.extend(data[start : start + _PIECE] for start in range(0, len(data), _PIECE))
        self._take()

    def eof_received(self) -> None:
        """The other end says no more: the end in both directions, the transport closes itself."""
        self._protocol.receive_eof()
        self._protocol.data_to_send()
        self._takes = False
        self._outbox.clear()
        self._watch.ending()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._die()
        if self._opened:
            self.visit.end(self._how_it_ended(exc))
            self.visit.closed()
            self._tell(self._owner.closed, self)
        self._gone(self)

    def pause_writing(self) -> None:
        """The transport is full."""
        self._outbox.pause()

    def resume_writing(self) -> None:
        """The transport takes more."""
        self._outbox.resume()

    # What the two kinds of links add.

    def _name_peer(self) -> str:
        raise NotImplementedError

    def _handshake(self, event: Any) -> None:
        """Handle what the library saw of the handshake; call `_open` if it succeeded."""
        raise NotImplementedError

    def _open(self, framing: Framing) -> None:
        """The handshake is done: tell the owner, begin to watch."""
        self._framing = framing
        self._opened = True
        self._watch.open()
        self.visit.opened()
        self._tell(self._owner.opened, self)

    # Taking.

    def _take(self) -> None:
        """Parse what came and tell the owner, in order, until nothing is left or the owner wants a pause."""
        while not self._paused:
            if self._events:
                self._on_event(self._events.popleft())
            elif self._unread:
                self._protocol.receive_data(self._unread.popleft())
                self._send_protocol_data()
                self._events.extend(self._protocol.events_received())
            else:
                return

    def _on_event(self, event: Any) -> None:
        if not isinstance(event, Frame):
            self._handshake(event)
        elif self._opened and not self._closing:
            try:
                text = self._joiner.feed(event)
            except RuleBroken as broken:
                self._fail(broken)
                return
            if text is not None:
                self.visit.messages_in += 1
                self._tell(self._owner.received, self, text)

    def _tell(self, tell: Callable[..., None], *arguments: object) -> None:
        """Tell the owner something. What goes wrong there costs this connection, not the host."""
        try:
            tell(*arguments)
        except Exception:  # noqa: BLE001 - the boundary: what one client sent must not end the others
            _log.exception("the owner of a link failed", peer=self.peer)
            self.close(CloseCode.INTERNAL_ERROR, "internal error")

    def _fail(self, broken: RuleBroken) -> None:
        """The client broke a rule: say so, and stop listening at once."""
        self._closing = True
        self.visit.end(f"failed {broken.code.value} {broken.reason}")
        self._protocol.fail(broken.code, broken.reason)
        self._send_protocol_data()

    # Sending.

    def _send_protocol_data(self) -> None:
        """Send what the library wants to say: control frames, answers to the handshake, the end."""
        chunks = []
        is_last = False
        for chunk in self._protocol.data_to_send():
            if chunk == SEND_EOF:
                is_last = True
            elif chunk[0] == _PONG and self._outbox.is_above_mark:
                # RFC 6455, section 5.5.3: only the latest ping needs its pong. A client that sends pings and
                # reads nothing does not fill our memory.
                self._late_pong = chunk
            else:
                chunks.append(chunk)
        if self._dead:
            return
        self._takes = self._protocol.state is State.OPEN
        if chunks:
            self._outbox.put(chunks)
        if is_last:
            self._outbox.finish(self._send_eof)
        if self._protocol.close_expected():
            self._watch.ending()

    def _send_eof(self) -> None:
        if not self._transport.can_write_eof():
            self._transport.close()  # TLS has no half
        elif not self._transport.is_closing():
            # The other end may have reset the connection in this very moment; we shall hear of it.
            with contextlib.suppress(OSError):
                self._transport.write_eof()

    def _drained(self) -> None:
        pong, self._late_pong = self._late_pong, None
        if pong is not None and self._protocol.state is State.OPEN:
            self._outbox.put([pong])
        if self._opened and not self._closing:
            self._tell(self._owner.drained, self)

    def _ping(self) -> None:
        self._protocol.send_ping(b"")
        self._send_protocol_data()

    # Ending.

    def _give_up(self, why: str) -> None:
        if not self._dead:
            self.visit.end(why)
            self._die()
            self._transport.abort()

    def _die(self) -> None:
        if not self._dead:
            self._dead = self._closing = True
            self._takes = False
            self._watch.stop()
            self.visit.bytes_out = self._outbox.taken
            self._outbox.clear()
            self._unread.clear()
            self._events.clear()

    def _how_it_ended(self, exc: Exception | None) -> str:
        sent, received = self._protocol.close_sent, self._protocol.close_rcvd
        if received is not None:
            return f"left {received.code} {received.reason}"
        if sent is not None:
            return f"failed {sent.code} {sent.reason}"
        return f"lost: {exc}" if exc else "left without a close frame"
