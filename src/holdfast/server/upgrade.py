"""From a connection to an open link, at the host's end: one HTTP request, answered or upgraded."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from websockets.exceptions import InvalidMessage
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol

from holdfast.server import access
from holdfast.server.framing import PLAIN, DeflateFraming
from holdfast.server.gate import Gate
from holdfast.server.limits import Limits
from holdfast.server.links import Framing, LinkOwner
from holdfast.server.websocket import WIRE_LOG, WebSocketLink

__all__ = ["ServerLink"]

# Without context takeover a compressed message depends on nothing before it: it is compressed once for all links,
# and an idle link keeps no window in memory.
_DEFLATE: Final = ServerPerMessageDeflateFactory(server_no_context_takeover=True, client_no_context_takeover=True)

_UNSENT: Final = 128 * 1024

_USER_AGENT_LENGTH: Final = 200  # what of it goes to the log


class ServerLink(WebSocketLink[ServerProtocol]):
    """A connection that a client made to us. `upgraded` is called, with the link, when it opens."""

    def __init__(
        self,
        gate: Gate,
        owner: LinkOwner,
        limits: Limits,
        *,
        deflate: bool,
        upgraded: Callable[[ServerLink], None],
        gone: Callable[[ServerLink], None],
    ) -> None:
        extensions = [_DEFLATE] if deflate else None
        protocol = ServerProtocol(extensions=extensions, max_size=limits.max_message, logger=WIRE_LOG)
        super().__init__(protocol, owner, limits, gone)
        self._gate = gate
        self._upgraded = upgraded
        self._answered = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected."""
        super().connection_made(transport)
        _tune(self._transport.get_extra_info("socket"))

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        if not self._is_answered and self.visit.bytes_in + len(data) > self._limits.handshake_bytes:
            self._respond(self._protocol.reject(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "Too many headers.\n"))
        super().data_received(data)

    def _name_peer(self) -> str:
        connection: socket.socket = self._transport.get_extra_info("socket")
        if connection.family == socket.AF_UNIX:
            return _unix_peer(connection)
        address = self._transport.get_extra_info("peername")
        if address is None:
            return "somebody who has left again"
        host, port = address[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def _is_answered(self) -> bool:
        return self._answered or self._protocol.eof_sent

    def _dialled(self) -> str | None:
        address = self._transport.get_extra_info("sockname")
        return address[0] if isinstance(address, tuple) else None

    def _handshake(self, event: Any) -> None:
        if self._is_answered or not isinstance(event, Request):
            return
        self.visit.user_agent = ", ".join(event.headers.get_all("User-Agent"))[:_USER_AGENT_LENGTH]
        answer = self._gate.answer(event.method, event.path, event.headers, self._dialled())
        if answer is None:
            self._respond(self._protocol.accept(event))
            if self._protocol.state is State.OPEN:
                self._upgraded(self)
                self._open(self._chosen_framing())
            return
        response = self._protocol.reject(answer.status, answer.text)
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = answer.content_type
        if event.method == "HEAD":
            response.body = b""  # its length stays in the headers
        self._respond(response)

    def _respond(self, response: Response) -> None:
        self._answered = True
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            access.refused(self.peer, response.status_code, bytes(response.body).decode().strip())
        self._protocol.send_response(response)
        self._send_protocol_data()

    def _chosen_framing(self) -> Framing:
        for extension in self._protocol.extensions:
            if isinstance(extension, PerMessageDeflate):
                return DeflateFraming(extension.local_max_window_bits)
        return PLAIN

    def _send_protocol_data(self) -> None:
        error = self._protocol.handshake_exc
        if error is not None and not self._answered:
            self._answered = True
            response = self._protocol.reject(HTTPStatus.BAD_REQUEST, "This is not an HTTP request.\n")
            access.refused(self.peer, response.status_code, str(error))
            if isinstance(error, InvalidMessage):  # which the library ends without a word
                self._outbox.put([response.serialize()])
        super()._send_protocol_data()


def _tune(connection: socket.socket) -> None:
    """Send at once, and have the system take no more than it can send soon.

    Otherwise megabytes wait in the kernel's half of a slow client's connection, where nobody sees that it lags, and
    where a ping is behind them.
    """
    if connection.family == socket.AF_UNIX:
        return
    with contextlib.suppress(OSError):  # macOS says so if the client has left already
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)


def _unix_peer(connection: socket.socket) -> str:
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return "unix"
    pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return f"unix:{pid}"
