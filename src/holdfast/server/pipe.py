"""Pipe mode: stdin and stdout of this process, connected to a host that runs already.

A host owns its data directory; whoever starts a second one with `--stdio` is connected to the first, over its unix
socket. Messages pass as they are, in both directions, no faster than the slower side takes them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from websockets.client import ClientProtocol
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server.framing import MASKED
from holdfast.server.limits import Limits
from holdfast.server.links import Link, LinkOwner
from holdfast.server.stdio import StdioLink
from holdfast.server.websocket import WIRE_LOG, WebSocketLink

__all__ = ["ClientLink", "pipe"]


class ClientLink(WebSocketLink[ClientProtocol]):
    """A connection that we made to a host."""

    def __init__(self, uri: str, owner: LinkOwner, limits: Limits, gone: Callable[[ClientLink], None]) -> None:
        # What the host sends has been limited by the host.
        protocol = ClientProtocol(parse_uri(uri), max_size=None, logger=WIRE_LOG)
        super().__init__(protocol, owner, replace(limits, max_message=sys.maxsize), gone)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The host has let us in; ask it for an upgrade."""
        super().connection_made(transport)
        self._protocol.send_request(self._protocol.connect())
        self._send_protocol_data()

    def _name_peer(self) -> str:
        return "host"

    def _handshake(self, event: Any) -> None:
        if isinstance(event, Response) and self._protocol.state is State.OPEN:
            self._open(MASKED)
        else:
            self._give_up("the host refused the connection")


class _Joint:
    """The owner of both links: what one received the other sends."""

    def __init__(self, mark: int) -> None:
        self._mark = mark
        self._others: dict[Link, Link] = {}
        self.closed_first: Link | None = None

    def join(self, one: Link, other: Link) -> None:
        """From now on these two belong together."""
        self._others = {one: other, other: one}

    def opened(self, link: Link) -> None:
        """One of the two may talk; stdin is read once the host is there."""
        other = self._others[link]
        if isinstance(other, StdioLink):
            other.start()

    def received(self, link: Link, text: bytes) -> None:
        """Pass on a message; take no more while the other side is full."""
        other = self._others[link]
        other.write([other.framing.frame(text)])
        if other.buffered > self._mark:
            link.pause()

    def drained(self, link: Link) -> None:
        """Go on taking for it."""
        self._others[link].resume()

    def closed(self, link: Link) -> None:
        """The other one has nobody left to talk to."""
        self.closed_first = self.closed_first or link
        self._others[link].close(1000, "the other side is gone")


async def pipe(path: Path, stdin: int, stdout: int, limits: Limits) -> str | None:
    """Connect two descriptors to the host that listens on the unix socket at `path`, until either side ends.

    Returns None if the client did, or else how the connection to the host ended, in words. Raises
    `EnvironmentFailure` if there is no such host. The descriptors are closed in any case.
    """
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    joint = _Joint(limits.drained)
    stdio = StdioLink(joint, limits, stdin, stdout)
    host = ClientLink("ws://localhost/", joint, limits, lambda _: ended.set())
    joint.join(stdio, host)
    try:
        await loop.create_unix_connection(lambda: host, str(path))
        try:
            await ended.wait()
        finally:
            host.abort()
        if not host.has_opened:
            raise EnvironmentFailure(f"what listens on {path} is no host: {host.visit.why}")
        stdio.close(1000, "the host is gone")
        await stdio.wait_closed()
        return None if joint.closed_first is stdio else host.visit.why
    except OSError as error:
        raise EnvironmentFailure(f"no host listens on {path}: {error.strerror or error}") from error
    finally:
        stdio.abort()
        await stdio.wait_closed()
