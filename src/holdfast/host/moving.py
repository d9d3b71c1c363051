"""Moving a chat: to another place in its session, to another session, to a session of its own (03-session, 7.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.host import lookup, mirror, sealing, sessions
from holdfast.host.connection import Connection
from holdfast.host.mirror import chat_summary
from holdfast.host.units import Chat, Session
from holdfast.ports.journal import MoveChannel, PutHead, ShareContents
from holdfast.protocol import jsonrpc
from holdfast.protocol.annotations.state import AnnotationsSummary
from holdfast.protocol.chat import actions as chat_actions
from holdfast.protocol.chat.state import ToolOrigin
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import URI
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.session import actions
from holdfast.protocol.session.commands import (
    MoveChatParams,
    MoveChatResult,
    MoveToNewSession,
    MoveToSession,
)
from holdfast.protocol.session.customizations import Customization
from holdfast.protocol.session.state import SessionLifecycle
from holdfast.protocol.timestamps import from_milliseconds
from holdfast.protocol.uris import annotations_of, session

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["move"]


def move(host: Host, connection: Connection, request: jsonrpc.Request, params: MoveChatParams) -> None:
    """Move a chat with everything it spawned. Its URI, history and subscribers stay."""
    chat = lookup.channel(host, params.channel)
    if not isinstance(chat, Chat):
        raise RpcError(ErrorCode.NOT_FOUND, f"there is no chat {params.channel[:200]!r}")
    if not chat.state.movable:
        raise _invalid("this chat cannot be moved")
    destination = params.destination
    if isinstance(destination, Unknown):
        raise _invalid("params.destination: a chat moves to a session or to a new one")
    if isinstance(destination, MoveToNewSession):
        target = _own_session(host, chat)
        _hand_over(host, chat, target)
        _make_default(host, target, chat)
    else:
        target = _into_session(host, chat, destination)
    host.reply(connection, request, MoveChatResult(session=target.uri))


def _into_session(host: Host, chat: Chat, destination: MoveToSession) -> Session:
    target = lookup.session(host, destination.session)
    _check_place(chat, target, destination.after)
    if target is chat.unit:
        _reorder(host, target, (chat.uri,), destination.after)
        return target
    family = _family(chat)
    _check_kinship(chat.unit, target)
    _check_directories(chat.unit, family, target)
    _hand_over(host, chat, target)
    _reorder(host, target, family, destination.after)
    return target


def _invalid(reason: str) -> RpcError:
    return RpcError(ErrorCode.INVALID_PARAMS, reason)


def _check_place(chat: Chat, target: Session, after: URI | None) -> None:
    if after is not None and (after == chat.uri or after not in target.chats):
        raise _invalid("params.destination.after: not another chat of that session")


def _check_kinship(source: Session, target: Session) -> None:
    if source.session.state.provider != target.session.state.provider:
        raise _invalid("params.destination: that session has another agent")
    if target.session.state.lifecycle == SessionLifecycle.FAILED:
        raise _invalid("params.destination: that session could not be created")


def _check_directories(source: Session, family: tuple[URI, ...], target: Session) -> None:
    """A chat that works in some directories of its session only finds them where it goes."""
    there = set(target.session.state.working_directories or ())
    for uri in family:
        if not set(source.chats[uri].state.working_directories or ()) <= there:
            raise _invalid("params.destination: that session lacks a directory of the chat")


def _family(chat: Chat) -> tuple[URI, ...]:
    """A chat and the chats its tool calls spawned, and theirs. Links may be missing or go in circles."""
    family = [chat.uri]
    for uri in family:
        for other in chat.unit.chats.values():
            origin = other.state.origin
            if isinstance(origin, ToolOrigin) and origin.chat == uri and other.uri not in family:
                family.append(other.uri)
    return tuple(family)


def _reorder(host: Host, unit: Session, moved: tuple[URI, ...], after: URI | None) -> None:
    """Put chats directly behind another, or first."""
    rest = [entry.resource for entry in unit.session.state.chats if entry.resource not in moved]
    at = rest.index(after) + 1 if after is not None else 0
    order = (*rest[:at], *moved, *rest[at:])
    host.emit(unit.session, actions.ChatsReordered(chats=order))
    host.batch.assign(unit, "chats", {uri: unit.chats[uri] for uri in order})


def _hand_over(host: Host, chat: Chat, target: Session) -> None:
    """Take a chat and its family out of one session and into another, in one commit."""
    source = chat.unit
    # What its turns refer to is needed in both sessions: a copy of the chat may have stayed.
    host.batch.write(ShareContents(source.uri, target.uri))
    for uri in _family(chat):
        member = source.chats[uri]
        for request in source.session.state.input_needed or ():
            if not isinstance(request, Unknown) and request.chat == uri:
                host.emit(source.session, actions.InputNeededRemoved(id=request.id))
        host.emit(source.session, actions.ChatRemoved(chat=uri))
        host.batch.remove(source.chats, uri)
        host.batch.put(target.chats, uri, member)
        host.batch.assign(member, "unit", target)
        host.batch.write(MoveChannel(uri, target.uri))
        host.batch.write(_head_after_move(host, member))
        host.emit(target.session, actions.ChatAdded(summary=chat_summary(member.state)))
        mirror.mirror_chat(host, member)
    mirror.aggregate(host, source)
    host.batch.dirty[source.uri] = source


def _head_after_move(host: Host, chat: Chat) -> Callable[[int], PutHead]:
    """Replay does not cross a move: from this number on the chat belongs elsewhere."""
    host.batch.assign(chat, "moved_at", chat.moved_at)

    def put(seq: int) -> PutHead:
        chat.moved_at = seq
        return sealing.head(chat, seq)

    return put


def _own_session(host: Host, chat: Chat) -> Session:
    """A session like the one the chat is in, without chats, clients or remarks."""
    uri = session(host.ids.new())
    state = chat.unit.session.state
    like = replace(
        state,
        title=chat.state.title or state.title,
        chats=(),
        default_chat=None,
        active_clients=(),
        input_needed=None,
        changesets=None,
        creation_error=None,
        lifecycle=SessionLifecycle.READY,
        annotations=AnnotationsSummary(resource=annotations_of(uri), annotation_count=0, entry_count=0),
        customizations=_of_nobody(state.customizations),
    )
    unit = sessions.add(host, uri, like, from_milliseconds(host.clock.wall()))
    unit.title_chosen = bool(chat.state.title) or chat.unit.title_chosen
    mirror.announce(host, unit)
    return unit


def _of_nobody(customizations: tuple[Customization, ...] | None) -> tuple[Customization, ...] | None:
    """What no client contributed."""
    if customizations is None:
        return None
    return tuple(entry for entry in customizations if getattr(entry, "client_id", None) is None)


def _make_default(host: Host, unit: Session, chat: Chat) -> None:
    """The default chat of a session stays in it."""
    host.emit(unit.session, actions.DefaultChatChanged(default_chat=chat.uri))
    host.emit(chat, chat_actions.MovableChanged(movable=False))
    mirror.aggregate(host, unit)
