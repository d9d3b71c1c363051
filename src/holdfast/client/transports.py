"""Ways to exchange whole messages with a host: WebSocket over TCP or a unix socket, and the pipes of a command.

What the host and what the world did wrong ends as `TransportClosed`; who connects again is `connection`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from holdfast.client.errors import NoHost
from holdfast.protocol.errors import HoldfastError

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

__all__ = ["MOST", "PipeTransport", "Transport", "TransportClosed", "WebSocketTransport", "spawn", "web_socket"]

MOST: Final = 256 * 1024 * 1024
"""The largest message that is taken, in bytes: hosts of old versions send a whole history in one."""

# How often silence is broken, and how long the answer may take, in seconds: a laptop that slept notices.
_PING: Final = 15.0

# How long a command may take to end once its stdin is closed, and again once it was told to, in seconds.
_ENDING: Final = 5.0


class TransportClosed(HoldfastError):
    """The connection is over; the message says why. A WebSocket that was closed has a code and a reason."""

    def __init__(self, message: str, code: int | None = None, reason: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason


class Transport(Protocol):
    """Whole messages, in order, in both directions."""

    async def send(self, message: bytes) -> None:
        """Send one message. Raises `TransportClosed`."""

    async def receive(self) -> bytes | str:
        """The next message. Raises `TransportClosed`."""

    async def close(self) -> None:
        """Close; again is harmless."""


class WebSocketTransport:
    """A WebSocket connection."""

    def __init__(self, connection: ClientConnection) -> None:
        from websockets.exceptions import ConnectionClosed

        self._connection = connection
        self._closed = ConnectionClosed

    async def send(self, message: bytes) -> None:
        try:
            await self._connection.send(message, text=True)
        except self._closed as error:
            raise self._over() from error

    async def receive(self) -> bytes | str:
        try:
            return await self._connection.recv(decode=False)
        except self._closed as error:
            raise self._over() from error

    async def close(self) -> None:
        await self._connection.close()

    def _over(self) -> TransportClosed:
        code, reason = self._connection.close_code, self._connection.close_reason
        if code is None or code == 1006:
            return TransportClosed("the connection was lost")
        said = f"the connection was closed ({code}{f': {reason}' if reason else ''})"
        return TransportClosed(said, code, reason or "")


async def web_socket(
    address: str, *, unix: str | None = None, headers: Mapping[str, str] | None = None, patience: float
) -> WebSocketTransport:
    """Connect to a `ws:` or `wss:` address, or over a unix socket. Raises `NoHost`."""
    from websockets.asyncio.client import connect, unix_connect
    from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI

    shown = f"unix:{unix}" if unix else address.partition("?")[0]
    options: dict[str, Any] = {
        "additional_headers": dict(headers or {}),
        "max_size": MOST,
        "open_timeout": patience,
        "ping_interval": _PING,
        "ping_timeout": _PING,
        "close_timeout": 1,
        "compression": None,
        "user_agent_header": None,
    }
    try:
        if unix is not None:
            return WebSocketTransport(await unix_connect(unix, "ws://localhost/", **options))
        return WebSocketTransport(await connect(address, proxy=_proxy(address), **options))
    except InvalidStatus as error:
        raise NoHost(_refusal(shown, error.response.status_code)) from error
    except InvalidURI as error:
        raise NoHost(f"{shown} is not an address of a host; one looks like ws://127.0.0.1:7447/?tkn=…") from error
    except (InvalidHandshake, EOFError) as error:
        raise NoHost(f"what answers at {shown} is not a host: {error}") from error
    except TimeoutError as error:
        raise NoHost(f"nobody answered at {shown} within {patience:g} seconds") from error
    except OSError as error:
        raise NoHost(f"cannot connect to {shown}: {error.strerror or error}") from error


def _proxy(address: str) -> Literal[True] | None:
    """No proxy leads to this machine; others may be behind the one of the environment."""
    from urllib.parse import urlsplit

    name = urlsplit(address).hostname or ""
    return None if name in ("localhost", "::1") or name.startswith("127.") else True


def _refusal(shown: str, status: int) -> str:
    if status in (401, 403):
        return (
            f"the host at {shown} lets us not in ({status}): it wants its token, which `holdfast token` prints there"
        )
    return f"what answers at {shown} is not a host: it said {status}"


class PipeTransport:
    """The stdin and stdout of a command, one message per line. The command ends with the connection."""

    def __init__(self, process: asyncio.subprocess.Process, shown: str) -> None:
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        self._process = process
        self._stdin, self._stdout = process.stdin, process.stdout
        self._shown = shown

    async def send(self, message: bytes) -> None:
        try:
            self._stdin.write(message + b"\n")
            await self._stdin.drain()
        except (ConnectionError, RuntimeError) as error:
            raise TransportClosed(f"{self._shown} has ended") from error

    async def receive(self) -> bytes | str:
        while True:
            try:
                line = await self._stdout.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                raise TransportClosed(f"{self._shown} sent a message of more than {MOST} bytes") from error
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                raise TransportClosed(f"{self._shown} has ended") from error
            if line.strip():
                return line

    async def close(self) -> None:
        """Close stdin, wait, terminate, kill; each step bounded."""
        with contextlib.suppress(ConnectionError, RuntimeError):
            self._stdin.close()
        for end in (self._process.terminate, self._process.kill):
            try:
                async with asyncio.timeout(_ENDING):
                    await self._process.wait()
                    return
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    end()
        await self._process.wait()


async def spawn(command: Sequence[str]) -> PipeTransport:
    """Start a command that talks over its stdin and stdout. Its stderr is ours. Raises `NoHost`."""
    shown = command[0]
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MOST,
        )
    except OSError as error:
        raise NoHost(f"cannot start {shown}: {error.strerror or error}") from error
    return PipeTransport(process, shown)
