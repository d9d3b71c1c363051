"""The doors of a host: sockets that listen, connections that are not open yet, links that are.

    async with Listener(gate, owner, limits) as listener:
        port = await listener.tcp("127.0.0.1", 7447)
        listener.unix(path)
        ...
        await listener.close(1001, "the host stops")

Leaving the block leaves no task, connection or socket file behind.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import ssl
from collections.abc import Callable, Coroutine
from pathlib import Path
from socket import socket
from types import TracebackType
from typing import Any, Final, Self

from holdfast.server import logs
from holdfast.server.gate import Gate
from holdfast.server.limits import Limits
from holdfast.server.links import LinkOwner
from holdfast.server.tcp import bind_tcp
from holdfast.server.unix import bind_unix
from holdfast.server.upgrade import ServerLink

__all__ = ["Listener"]

_log: Final = logs.logger("holdfast.listener")

# No file handles, no memory: accepting again at once would fail again, as fast as the loop runs.
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_REST: Final = 0.5  # seconds


class Listener:
    """Accepts connections and brings them to `owner` as links. An asynchronous context manager."""

    def __init__(self, gate: Gate, owner: LinkOwner, limits: Limits, *, compression: bool = True) -> None:
        self._gate = gate
        self._owner = owner
        self._limits = limits
        self._compression = compression
        self._doors: list[Callable[[], None]] = []  # each closes one
        self._accepting: list[asyncio.Task[None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[ServerLink, Callable[[], object]] = {}  # not upgraded, oldest first -> how to drop it
        self._dropped: set[ServerLink] = set()
        self._links: set[ServerLink] = set()
        self._closing = False
        self._someone_left = asyncio.Event()
        self.accepted = 0
        """Connections accepted so far, upgraded or not."""

    @property
    def waiting(self) -> int:
        """Connections that are not upgraded yet."""
        return len(self._waiting)

    @property
    def links(self) -> int:
        """Links that are open."""
        return len(self._links)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close(1001, "the host stops")

    async def tcp(self, host: str, port: int, context: ssl.SSLContext | None = None) -> int:
        """Listen on every address of `host`; 0 picks a port. Returns the port. Raises `EnvironmentFailure`."""
        for listening in await bind_tcp(host, port):
            port = listening.getsockname()[1]
            self._doors.append(listening.close)
            self._accepting.append(self._spawn(self._accept(listening, context)))
        return port

    def unix(self, path: Path) -> None:
        """Listen on a unix socket that only its owner can reach. Raises `EnvironmentFailure`."""
        listening = bind_unix(path)
        self._doors.append(listening.close)
        self._accepting.append(self._spawn(self._accept(listening.socket, None)))

    async def empty(self) -> None:
        """Wait until no link is open."""
        while self._links:
            self._someone_left.clear()
            await self._someone_left.wait()

    async def stop_accepting(self) -> None:
        """Close the doors; links that are open stay open."""
        for task in self._accepting:
            task.cancel()
        if self._accepting:
            await asyncio.wait(self._accepting)
        self._accepting.clear()
        while self._doors:
            self._doors.pop()()

    async def close(self, code: int, reason: str) -> None:
        """Accept no more, close every link, wait until all are gone. Links bound how long they take for that."""
        self._closing = True
        await self.stop_accepting()
        for drop in list(self._waiting.values()):
            drop()
        for link in list(self._links):
            link.close(code, reason)
        while self._waiting or self._dropped or self._links:
            self._someone_left.clear()
            await self._someone_left.wait()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _accept(self, listening: socket, context: ssl.SSLContext | None) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(listening)
            except OSError as error:
                # Anything else is about a client that has left before it was let in.
                if error.errno in _EXHAUSTED:
                    _log.error("cannot accept connections", why=error.strerror)
                    await asyncio.sleep(_REST)
                continue
            self.accepted += 1
            self._make_room()
            self._spawn(self._welcome(connection, _is_remote(address), context))

    async def _welcome(self, connection: socket, is_remote: bool, context: ssl.SSLContext | None) -> None:
        """Give an accepted connection its transport, after the TLS handshake if there is one."""
        if self._closing:
            connection.close()
            return
        link = ServerLink(
            self._gate,
            self._owner,
            self._limits,
            deflate=self._compression and is_remote,
            upgraded=self._upgraded,
            gone=self._gone,
        )
        task = asyncio.current_task()
        assert task is not None
        self._waiting[link] = task.cancel
        is_connected = False
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: link,
                connection,
                ssl=context,
                ssl_handshake_timeout=self._limits.handshake_timeout if context else None,
                ssl_shutdown_timeout=self._limits.close_timeout if context else None,
            )
            is_connected = True
        except OSError as error:
            _log.debug("a connection failed", why=str(error))
        finally:
            if not is_connected:
                self._gone(link)
            elif link in self._waiting:
                self._waiting[link] = link.abort

    def _make_room(self) -> None:
        while len(self._waiting) >= self._limits.handshakes:
            link = next(iter(self._waiting))
            drop = self._waiting.pop(link)
            self._dropped.add(link)
            drop()

    def _upgraded(self, link: ServerLink) -> None:
        self._waiting.pop(link, None)
        self._links.add(link)

    def _gone(self, link: ServerLink) -> None:
        self._waiting.pop(link, None)
        self._dropped.discard(link)
        self._links.discard(link)
        self._someone_left.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("accepting connections failed", why=repr(error))


def _is_remote(address: Any) -> bool:
    """Whether a connection comes from another machine, where compressing may be worth its time."""
    if not isinstance(address, tuple):
        return False  # a unix socket
    peer = ipaddress.ip_address(address[0])
    return not (getattr(peer, "ipv4_mapped", None) or peer).is_loopback
