"""Sessions taken in from an export: begun, filled page by page, committed or given up. An extension.

Everything that arrives is journalled at once, so that its size does not matter, in a session that nobody finds.
What is left of an import when its connection ends, or the host, is thrown away.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from msgspec import Raw

from holdfast.host import content, history, imports, lookup, mirror, sealing, sessions
from holdfast.host.connection import Connection
from holdfast.host.imports import Import, Parcel, invalid
from holdfast.host.units import Chat
from holdfast.ports.agent import ResolveConfig, ResolvedConfig
from holdfast.ports.journal import (
    AppendTurn,
    Content,
    DisposeSession,
    FindUnit,
    MoveChannel,
    PutContent,
    ReadTurns,
)
from holdfast.protocol import jsonrpc, uris
from holdfast.protocol.chat.state import SideChatOrigin
from holdfast.protocol.codec import encode
from holdfast.protocol.common import URI
from holdfast.protocol.errors import ErrorCode, InvalidValue, RpcError
from holdfast.protocol.extensions import (
    AbortImportParams,
    CommitImportParams,
    ImportContentParams,
    ImportContentResult,
    ImportedChat,
    ImportSessionParams,
    ImportSessionResult,
    ImportTurnsParams,
    ImportTurnsResult,
)

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["abandoned", "abort", "begin", "commit", "take_content", "take_turns"]


def begin(host: Host, connection: Connection, request: jsonrpc.Request, params: ImportSessionParams) -> None:
    """Make the session, for nobody to see. Its names are taken from now on."""
    sessions.check_uri(host, params.channel)
    if host.ask(FindUnit(params.channel, disposed=True)) is not None:
        reason = f"{params.channel[:200]!r} was disposed of: restore it, or import under another URI"
        raise RpcError(ErrorCode.SESSION_ALREADY_EXISTS, reason)
    agent = sessions.agent_for(host, params.session.provider)
    directories = sessions.directories_for(agent, params.session.working_directories)
    given = params.session.config.values if params.session.config else {}
    need = ResolveConfig(agent.provider, directories[0] if directories else None, encode(given).decode())
    resolved: ResolvedConfig = host.ask(need)
    chats = imports.named(params, lambda uri: _is_taken(host, uri), lambda: uris.chat(host.ids.new()))
    arriving = imports.furnish(params, chats, agent, directories, resolved, connection)
    unit = arriving.unit
    host.batch.put(host.imports, unit.uri, arriving)
    mirror.keep_row(host, unit)
    for channel in unit.channels():
        host.batch.write(lambda seq, channel=channel: sealing.head(channel, seq))  # type: ignore[misc]
    names = tuple(ImportedChat(source=source, resource=here) for source, here in chats.items())
    host.reply(connection, request, ImportSessionResult(chats=names))


def _is_taken(host: Host, uri: URI) -> bool:
    try:
        uris.parse(uri)
    except InvalidValue as error:
        raise invalid(f"params.chats: {error}") from None
    return uris.is_root(uri) or lookup.is_taken(host, uri)


def _found(host: Host, connection: Connection, channel: URI) -> Import:
    found = host.imports.get(channel)
    if found is None or found.connection is not connection:
        raise RpcError(ErrorCode.SESSION_NOT_FOUND, f"this connection imports no session {channel[:200]!r}")
    return found


# What comes in


def take_turns(host: Host, connection: Connection, request: jsonrpc.Request, params: ImportTurnsParams) -> None:
    """Add completed turns to a chat."""
    arriving = _found(host, connection, params.channel)
    chat = arriving.chats.get(params.chat)
    if chat is None:
        raise RpcError(ErrorCode.NOT_FOUND, f"the import has no chat {params.chat[:200]!r}")
    known = arriving.turn_ids.setdefault(chat.uri, set())
    new = {turn.id for turn in params.turns}
    if len(new) < len(params.turns) or new & known:
        raise invalid("params.turns: a chat has one turn of an id")
    known |= new
    host.batch.on_undo(lambda: known.difference_update(new))
    host.batch.write(*(AppendTurn(chat.uri, turn.id, arriving.turn(turn)) for turn in params.turns))
    host.batch.rows.add(chat.uri)
    host.batch.assign(chat, "turns", chat.turns + len(params.turns))
    host.reply(connection, request, ImportTurnsResult(total=chat.turns))


_MOST: Final = 256 * 2**20
"""Bytes of one content. It is read whole by whoever wants it."""


def take_content(host: Host, connection: Connection, request: jsonrpc.Request, params: ImportContentParams) -> None:
    """Take content, or a piece of it. It gets a name of this host's; turns that come later refer to that."""
    arriving = _found(host, connection, params.channel)
    parcel = arriving.parcel or Parcel(params.uri, params.content_type)
    if parcel.uri != params.uri:
        raise invalid(f"params.uri: {parcel.uri[:200]!r} is not complete")
    if params.uri in arriving.names:
        raise invalid("params.uri: this content is complete")
    try:
        piece = base64.b64decode(params.data, validate=True)
    except (binascii.Error, ValueError):
        raise invalid("params.data: not base64") from None
    if parcel.size + len(piece) > _MOST:
        raise invalid(f"params.data: content has at most {_MOST} bytes")
    pieces = (*parcel.pieces, piece)
    if params.more:
        host.batch.assign(arriving, "parcel", replace(parcel, pieces=pieces))
        host.reply(connection, request, ImportContentResult(uri=params.uri))
        return
    host.batch.assign(arriving, "parcel", None)
    uri = f"{content.SCHEME}:/{host.ids.new()}"
    host.batch.put(arriving.names, params.uri, uri)
    host.batch.write(PutContent(Content(uri, arriving.unit.uri, parcel.content_type, b"".join(pieces))))
    host.reply(connection, request, ImportContentResult(uri=uri))


# The end


def commit(host: Host, connection: Connection, request: jsonrpc.Request, params: CommitImportParams) -> None:
    """Show the session to everybody. From now on it is like any other."""
    arriving = _found(host, connection, params.channel)
    if arriving.parcel is not None:
        raise invalid(f"the content {arriving.parcel.uri[:200]!r} is not complete")
    unit = arriving.unit
    contexts = [context for chat in unit.chats.values() if (context := _context(host, chat)) is not None]
    host.batch.remove(host.imports, unit.uri)
    host.batch.assign(unit, "importing", False)
    host.batch.put(host.sessions, unit.uri, unit)
    unit.used_at = host.clock.monotonic()
    for channel in unit.channels():
        # It begins now: nobody is replayed what was here before.
        host.batch.write(MoveChannel(channel.uri, unit.uri))
        host.add(channel)
    host.batch.write(*map(PutContent, contexts))
    mirror.announce(host, unit)
    host.reply(connection, request, None)


def _context(host: Host, chat: Chat) -> Content | None:
    """What a side chat was opened about, as far as that came along: the other's history at that time."""
    origin = chat.state.origin
    source = chat.unit.chats.get(origin.chat) if isinstance(origin, SideChatOrigin) else None
    if source is None or not isinstance(origin, SideChatOrigin):
        return None
    position = lookup.find_turn(host, source, origin.turn_id)
    if position is None:
        return None
    page = lookup.turns(host, source, ReadTurns(source.uri, position + 1, None, history.MOST))
    data = encode([Raw(turn.data) for turn in page.turns])
    return Content(history.context_uri(chat.uri), chat.unit.uri, "application/json", data)


def abort(host: Host, connection: Connection, request: jsonrpc.Request, params: AbortImportParams) -> None:
    """Forget an import."""
    _forget(host, _found(host, connection, params.channel))
    host.reply(connection, request, None)


def abandoned(host: Host, connection: Connection) -> None:
    """The connection is gone, and its imports with it."""
    for arriving in tuple(host.imports.values()):
        if arriving.connection is connection:
            _forget(host, arriving)


def _forget(host: Host, arriving: Import) -> None:
    host.batch.remove(host.imports, arriving.unit.uri)
    host.batch.write(DisposeSession(arriving.unit.uri, 0))
