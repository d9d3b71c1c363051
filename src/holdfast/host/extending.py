"""What this host can beyond the protocol, and on which connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from holdfast.host import importing, restoring
from holdfast.host.connection import Connection
from holdfast.protocol import extensions, jsonrpc

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["METHODS", "offered"]

METHODS: Final[dict[str, Callable[[Host, Connection, jsonrpc.Request, Any], None]]] = {
    extensions.RESTORE_SESSION: restoring.restore,
    extensions.LIST_DISPOSED: restoring.list_disposed,
    extensions.IMPORT_SESSION: importing.begin,
    extensions.IMPORT_CONTENT: importing.take_content,
    extensions.IMPORT_TURNS: importing.take_turns,
    extensions.COMMIT_IMPORT: importing.commit,
    extensions.ABORT_IMPORT: importing.abort,
}

# Those in whose params and results nothing has ever looked different.
_FOR_OLDER: Final = (extensions.RESTORE_SESSION, extensions.LIST_DISPOSED)
_FOR_ALL: Final = tuple(METHODS)


def offered(connection: Connection) -> tuple[str, ...]:
    """The extensions of a connection: with older versions only those that need no translation."""
    return _FOR_ALL if connection.bridge is None else _FOR_OLDER
