"""TCP sockets that listen on the addresses of a name."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from typing import Final

from holdfast.protocol.errors import EnvironmentFailure

__all__ = ["bind_tcp"]

_BACKLOG: Final = 256

# An address of that name that this machine does not have, such as `::1` where there is no IPv6.
_NOT_HERE: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


async def bind_tcp(host: str, port: int) -> list[socket.socket]:
    """Listen on every address of `host`, IPv4 first, all on the same port; 0 picks one. The sockets do not block.

    Raises `EnvironmentFailure` if an address is taken or none of them belongs to this machine.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise EnvironmentFailure(f"cannot listen on {host}: {error.strerror}") from error
    listening: list[socket.socket] = []
    try:
        for family, address in sorted({(family, str(address[0])) for family, _, _, _, address in found}):
            try:
                listening.append(_bind(family, address, port))
                port = listening[0].getsockname()[1]
            except OSError as error:
                if error.errno not in _NOT_HERE:
                    raise EnvironmentFailure(_sentence(error, address, port)) from error
    except EnvironmentFailure:
        for bound in listening:
            bound.close()
        raise
    if not listening:
        raise EnvironmentFailure(f"cannot listen on {host}: it is no address of this machine")
    return listening


def _bind(family: int, address: str, port: int) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setblocking(False)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind((address, port))
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _sentence(error: OSError, address: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"somebody listens on port {port} of {address} already; choose another with --port, or 0 for any"
    if error.errno == errno.EACCES:
        return f"port {port} of {address} is reserved for the administrator; choose another with --port"
    return f"cannot listen on port {port} of {address}: {os.strerror(error.errno or 0)}"
