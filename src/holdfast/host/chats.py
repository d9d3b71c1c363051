"""Chats: created, forked, opened beside another, spawned, moved, disposed of (04-chat section 12, 03-session 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.host import history, lookup, mirror, sealing, turns
from holdfast.host.connection import Connection
from holdfast.host.mirror import chat_summary
from holdfast.host.permits import attachments, directory_capability, from_user
from holdfast.host.units import Chat, Session
from holdfast.host.verdict import Refused
from holdfast.ports.agent import ChatGone, SpawnChat, Transcript
from holdfast.ports.journal import Content, CopyTurns, DropChannel, PutContent, ReadTurns
from holdfast.protocol import jsonrpc
from holdfast.protocol.chat import actions as chat_actions
from holdfast.protocol.chat.commands import (
    CreateChatParams,
    DisposeChatParams,
    ForkChatSource,
    SideChatSource,
)
from holdfast.protocol.chat.messages import Message
from holdfast.protocol.chat.state import (
    ActiveTurn,
    ChatInteractivity,
    ChatState,
    ForkOrigin,
    SideChatOrigin,
    ToolOrigin,
    Turn,
    TurnState,
    UserOrigin,
)
from holdfast.protocol.codec import Unknown, encode
from holdfast.protocol.common import URI, Timestamp
from holdfast.protocol.errors import ErrorCode, InvalidValue, RpcError
from holdfast.protocol.root.state import MultipleChatsCapability
from holdfast.protocol.session import actions
from holdfast.protocol.session.state import SessionLifecycle
from holdfast.protocol.status import IDLE
from holdfast.protocol.timestamps import from_milliseconds
from holdfast.protocol.uris import default_chat, is_root, parse

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["add_default", "create", "dispose", "spawn"]


def _invalid(reason: str) -> RpcError:
    return RpcError(ErrorCode.INVALID_PARAMS, reason)


def _empty(uri: URI, now: Timestamp) -> ChatState:
    return ChatState(resource=uri, title="", status=IDLE, modified_at=now, turns=())


def add_default(host: Host, unit: Session, now: Timestamp) -> None:
    """The chat a new session begins with; it is in the very first snapshot."""
    uri = default_chat(unit.uri)
    chat = Chat(uri, unit, replace(_empty(uri, now), origin=UserOrigin()))
    host.batch.put(unit.chats, uri, chat)
    host.add(chat)
    state = unit.session.state
    host.batch.assign(
        unit.session, "state", replace(state, chats=(*state.chats, chat_summary(chat.state)), default_chat=uri)
    )


def _add(host: Host, unit: Session, chat: Chat) -> None:
    """A chat joins a session, at the end of the catalogue."""
    host.batch.put(unit.chats, chat.uri, chat)
    host.add(chat)
    host.emit(unit.session, actions.ChatAdded(summary=chat_summary(chat.state)))
    mirror.aggregate(host, unit)


# Creating


@dataclass(slots=True)
class _Plan:
    """A chat to be: its state, the turns it gets copied, and what its model knows beforehand."""

    state: ChatState
    copied: tuple[Chat, int] | None = None
    context: Transcript | None = None


def create(host: Host, connection: Connection, request: jsonrpc.Request, params: CreateChatParams) -> None:
    """Make a further chat: empty, as a copy of another's history, or beside another."""
    unit = lookup.session(host, params.channel)
    permitted = _capability(host, unit)
    _check_uri(host, params.chat)
    missing = turns.missing_tokens(host, unit.session.state.provider, connection.client)
    if missing:
        raise RpcError(ErrorCode.AUTH_REQUIRED, "this agent needs a token", {"resources": missing})
    if unit.session.state.lifecycle == SessionLifecycle.FAILED:
        raise _invalid("the session could not be created")
    message = _first_message(host, params.initial_message)
    transcripts = history.transcripts(host, message) if message is not None else ()
    plan = _planned(host, unit, permitted, params)
    chat = _realised(host, unit, plan)
    mirror.announce(host, unit)
    if message is not None:
        now = from_milliseconds(host.clock.wall())
        started = chat_actions.TurnStarted(turn_id=host.ids.new(), started_at=now, message=message)
        host.emit(chat, started)
        turns.begin(host, chat, started, transcripts, plan.context)
    host.reply(connection, request, None)


def _capability(host: Host, unit: Session) -> MultipleChatsCapability:
    agent = host.agents.get(unit.session.state.provider)
    capabilities = agent.capabilities if agent else None
    if capabilities is None or capabilities.multiple_chats is None:
        raise _invalid("this agent has one chat per session")
    return capabilities.multiple_chats


def _check_uri(host: Host, uri: URI) -> None:
    try:
        parse(uri)
    except InvalidValue as error:
        raise _invalid(f"params.chat: {error}") from None
    if is_root(uri) or lookup.is_taken(host, uri):
        raise RpcError(ErrorCode.ALREADY_EXISTS, f"{uri[:200]!r} is in use")


def _first_message(host: Host, message: Message | None) -> Message | None:
    if message is None:
        return None
    if host.draining:
        raise _invalid("the host is shutting down")
    if isinstance(refused := from_user(message), Refused):
        raise _invalid(f"params.initialMessage: {refused.reason}")
    pinned = attachments(host, message)
    if isinstance(pinned, Refused):
        raise _invalid(f"params.initialMessage: {pinned.reason}")
    return pinned or message


def _planned(host: Host, unit: Session, permitted: MultipleChatsCapability, params: CreateChatParams) -> _Plan:
    now = from_milliseconds(host.clock.wall())
    state = replace(_empty(params.chat, now), movable=True)
    match params.source:
        case None:
            directories = _subset(host, unit, params.working_directories)
            return _Plan(replace(state, origin=UserOrigin(), working_directories=directories))
        case ForkChatSource() as source:
            if not permitted.fork:
                raise _invalid("params.source: this agent cannot fork chats")
            return _fork(host, unit, source, state)
        case SideChatSource() as source:
            if not permitted.side_chat:
                raise _invalid("params.source: this agent cannot open side chats")
            directories = _subset(host, unit, params.working_directories)
            return _side_chat(host, unit, source, replace(state, working_directories=directories))
        case Unknown():
            raise _invalid("params.source: a chat comes from a fork or a side chat")


def _subset(host: Host, unit: Session, directories: tuple[URI, ...] | None) -> tuple[URI, ...] | None:
    if directories is None:
        return None
    if directory_capability(host, unit) is None:
        raise _invalid("params.workingDirectories: this agent works in one directory")
    if not set(directories) <= set(unit.session.state.working_directories or ()):
        raise _invalid("params.workingDirectories: a chat works in directories of its session")
    return directories


def _source(unit: Session, uri: URI, new: URI) -> Chat:
    found = unit.chats.get(uri)
    if found is None or uri == new:
        raise _invalid("params.source.chat: not another chat of this session")
    return found


def _fork(host: Host, unit: Session, source: ForkChatSource, state: ChatState) -> _Plan:
    """A copy of the history through a completed turn. Turn ids are kept: they are unique per chat only."""
    chat = _source(unit, source.chat, state.resource)
    position = lookup.find_turn(host, chat, source.turn_id)
    if position is None:
        raise _invalid("params.source.turnId: not a completed turn of that chat")
    origin = ForkOrigin(chat=chat.uri, turn_id=source.turn_id)
    forked = replace(state, title=chat.state.title, origin=origin, working_directories=chat.state.working_directories)
    return _Plan(forked, copied=(chat, position + 1))


def _side_chat(host: Host, unit: Session, source: SideChatSource, state: ChatState) -> _Plan:
    """An empty chat whose model knows the other's history, as it is now, and never more of it."""
    chat = _source(unit, source.chat, state.resource)
    if source.selection is not None and not source.selection.text:
        raise _invalid("params.source.selection.text: a quotation is not empty")
    active = chat.state.active_turn
    running = active is not None and active.id == source.turn_id
    position = None if running else lookup.find_turn(host, chat, source.turn_id)
    if position is None and not running:
        raise _invalid("params.source.turnId: not a turn of that chat")
    until = None if position is None else position + 1
    page = lookup.turns(host, chat, ReadTurns(chat.uri, until, None, history.MOST))
    known = [turn.data for turn in page.turns]
    if active is not None and running:
        known.append(_as_it_stands(active))
    origin = SideChatOrigin(chat=chat.uri, turn_id=source.turn_id, selection=source.selection)
    return _Plan(replace(state, origin=origin), context=Transcript(chat.uri, tuple(known)))


def _as_it_stands(turn: ActiveTurn) -> bytes:
    return encode(
        Turn(
            id=turn.id,
            message=turn.message,
            response_parts=turn.response_parts,
            state=TurnState.COMPLETE,
            started_at=turn.started_at,
        )
    )


def _realised(host: Host, unit: Session, plan: _Plan) -> Chat:
    uri = plan.state.resource
    chat = Chat(uri, unit, plan.state)
    host.batch.write(lambda seq: sealing.head(chat, seq))
    if plan.copied is not None:
        source, count = plan.copied
        host.batch.write(CopyTurns(source.uri, uri, count))
        host.batch.rows.add(uri)
        chat.turns = count
    if plan.context is not None:
        data = b"[" + b",".join(plan.context.turns) + b"]"
        kept = Content(history.context_uri(uri), unit.uri, "application/json", data)
        host.batch.write(PutContent(kept))
    _add(host, unit, chat)
    return chat


def spawn(host: Host, parent: Chat, event: SpawnChat) -> None:
    """A tool call hands work to a chat of its own, which people may watch but not write in."""
    if host.channels.get(event.chat) is not None:
        return
    state = replace(
        _empty(event.chat, from_milliseconds(host.clock.wall())),
        title=event.title,
        origin=ToolOrigin(chat=parent.uri, tool_call_id=event.tool_call_id),
        interactivity=ChatInteractivity.HIDDEN if event.hidden else ChatInteractivity.READ_ONLY,
    )
    _realised(host, parent.unit, _Plan(state))


# Disposing


def dispose(host: Host, connection: Connection, request: jsonrpc.Request, params: DisposeChatParams) -> None:
    """End a chat. The default chat goes with its session only."""
    channel = lookup.channel(host, params.channel)
    if not isinstance(channel, Chat):
        raise RpcError(ErrorCode.NOT_FOUND, f"there is no chat {params.channel[:200]!r}")
    if channel.default:
        raise _invalid("the default chat goes with its session: dispose of that")
    unit = channel.unit
    turns.cancel(host, channel)
    host.emit(unit.session, actions.ChatRemoved(chat=channel.uri))
    host.batch.remove(unit.chats, channel.uri)
    host.batch.write(DropChannel(channel.uri))
    host.drop(channel)
    host.batch.tell(ChatGone(unit.session.state.provider, unit.uri, channel.uri))
    mirror.aggregate(host, unit)
    host.reply(connection, request, None)
