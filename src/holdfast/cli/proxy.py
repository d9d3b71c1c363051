"""A door to a host that writes down what goes through it.

Every client that comes gets a connection of its own to the host. What the one says is passed on to the other as it
is, message by message, and so is how a connection ends.
"""

from __future__ import annotations

import asyncio
import hmac
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import quote

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from holdfast.cli.wire_log import Direction, Redactor
from holdfast.client.errors import NoHost
from holdfast.client.targets import Dial
from holdfast.client.transports import MOST, Transport, TransportClosed
from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server.gate import Gate

__all__ = ["Proxy"]

_UNREACHABLE: Final = 1013
"""WebSocket close code where there is no host behind the door: try again later."""

_FORBIDDEN_TO_SEND: Final = frozenset({1005, 1006, 1015})
"""Codes that say how a connection ended without one."""


class Proxy:
    """Listens on loopback and connects to whom `dial` leads. Each line of the log is given to `write`."""

    def __init__(self, dial: Dial, token: str, redactor: Redactor, write: Callable[[bytes], object]) -> None:
        self._dial = dial
        self._token = token
        self._gate = Gate(is_token=self._is_token)
        self._redactor = redactor
        self._write = write
        self._numbers = itertools.count(1)
        self.connections = 0
        self.messages = 0

    @asynccontextmanager
    async def listening(self, port: int) -> AsyncIterator[str]:
        """Clients may come to the URL that is given. Raises `EnvironmentFailure` if the port is taken."""
        options = {"max_size": MOST, "compression": None, "ping_interval": None, "server_header": None}
        try:
            server: Server = await serve(self._served, "127.0.0.1", port, process_request=self._answer, **options)  # type: ignore[arg-type]
        except OSError as error:
            raise EnvironmentFailure(f"cannot listen at 127.0.0.1:{port}: {error.strerror}") from error
        async with server:
            actual = next(iter(server.sockets)).getsockname()[1]
            yield f"ws://127.0.0.1:{actual}/?tkn={quote(self._token)}"

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The rules are those of a host: other users, and any page, can reach this address."""
        answer = self._gate.answer("GET", request.path, request.headers, "127.0.0.1")
        return None if answer is None else connection.respond(answer.status, answer.text)

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), self._token.encode())

    async def _served(self, client: ServerConnection) -> None:
        number = next(self._numbers)
        self.connections += 1
        self._write(self._redactor.opened(number))
        try:
            host = await self._dial()
        except NoHost as error:
            await self._end(client, number, "s2c", _UNREACHABLE, str(error))
            return
        try:
            await self._passed_on(client, host, number)
        finally:
            await host.close()

    async def _passed_on(self, client: ServerConnection, host: Transport, number: int) -> None:
        """Both directions, until one side has enough."""
        asking = asyncio.create_task(self._to_host(client, host, number))
        answering = asyncio.create_task(self._to_client(client, host, number))
        try:
            done, _ = await asyncio.wait((asking, answering), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (asking, answering):
                task.cancel()
            await asyncio.gather(asking, answering, return_exceptions=True)
        by, code, reason = (answering if answering in done else asking).result()
        await self._end(client, number, by, code, reason)

    async def _to_host(self, client: ServerConnection, host: Transport, number: int) -> _End:
        try:
            while True:
                data = await client.recv(decode=False)
                self._log(data, "c2s", number)
                await host.send(data)
        except ConnectionClosed:
            return "c2s", client.close_code, client.close_reason or ""
        except TransportClosed as closed:
            return "s2c", closed.code, closed.reason

    async def _to_client(self, client: ServerConnection, host: Transport, number: int) -> _End:
        try:
            while True:
                data = await host.receive()
                self._log(data, "s2c", number)
                await client.send(data, text=True)
        except ConnectionClosed:
            return "c2s", client.close_code, client.close_reason or ""
        except TransportClosed as closed:
            return "s2c", closed.code, closed.reason

    def _log(self, data: bytes | str, direction: Direction, number: int) -> None:
        self.messages += 1
        self._write(self._redactor.line(data, direction, number))

    async def _end(self, client: ServerConnection, number: int, by: Direction, code: int | None, reason: str) -> None:
        self._write(self._redactor.closed(number, by, code, reason))
        if by == "c2s":
            return
        if code is None or code in _FORBIDDEN_TO_SEND:
            # As the host did it: without a word.
            client.transport.abort()
        else:
            await client.close(code, reason[:120])


_End = tuple[Direction, int | None, str]
