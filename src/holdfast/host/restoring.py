"""Second thoughts: the sessions that were disposed of and can still come back. Extensions (`protocol.extensions`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.host import loading, lookup, paging, presence
from holdfast.host.connection import Connection
from holdfast.host.mirror import Extra, announce
from holdfast.ports.journal import DisposedPage, ListDisposed, LoadUnit, RestoreSession
from holdfast.ports.journal import DisposedSession as Row
from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import decode
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.extensions import (
    DisposedSession,
    ListDisposedParams,
    ListDisposedResult,
    RestoreSessionParams,
)
from holdfast.protocol.session.state import SessionSummary
from holdfast.protocol.timestamps import from_milliseconds

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["list_disposed", "restore"]


def restore(host: Host, connection: Connection, request: jsonrpc.Request, params: RestoreSessionParams) -> None:
    """Bring back a session that was disposed of not too long ago."""
    if lookup.channel(host, params.channel) is not None:
        raise RpcError(ErrorCode.SESSION_ALREADY_EXISTS, f"{params.channel[:200]!r} is in use")
    stored: Any = host.ask(LoadUnit(params.channel, disposed=True))
    if stored is None:
        raise RpcError(ErrorCode.SESSION_NOT_FOUND, "this session cannot be restored (any more)")
    host.batch.write(RestoreSession(params.channel))
    unit = loading.adopt(host, stored)
    host.batch.on_undo(lambda: host.let_go(unit))
    unit.listed = False
    unit.published = None
    announce(host, unit)
    for client in unit.session.state.active_clients:
        presence.start_grace(host, unit, client.client_id)
    host.reply(connection, request, None)


def list_disposed(host: Host, connection: Connection, request: jsonrpc.Request, params: ListDisposedParams) -> None:
    """A page of what can be restored, most recently disposed of first."""
    limit = paging.limit(host, params.limit)
    after = None if params.cursor is None else paging.key(params.cursor, tuple[int, int])
    page: DisposedPage = host.ask(ListDisposed(after, limit))
    now = host.clock.wall()
    items = tuple(_shown(host, row) for row in page.sessions if row.until > now)
    # Those whose time has run out come last.
    following = page.next if len(items) == len(page.sessions) else None
    host.reply(connection, request, ListDisposedResult(items=items, next_cursor=paging.cursor(following)))


def _shown(host: Host, row: Row) -> DisposedSession:
    summary = decode(SessionSummary, row.summary)
    at = decode(Extra, row.extra).disposed_at or from_milliseconds(row.until - host.settings.undo_window)
    return DisposedSession(
        resource=row.uri,
        provider=summary.provider,
        title=summary.title,
        modified_at=summary.modified_at,
        disposed_at=at,
        until=from_milliseconds(row.until),
    )
