"""A session on its way in from an export: what is made of the states it was exported with, and of their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from holdfast.host import config, mirror
from holdfast.host.connection import Connection
from holdfast.host.renaming import renamed
from holdfast.host.units import AnnotationsChannel, Chat, Session
from holdfast.ports.agent import ResolvedConfig
from holdfast.protocol.annotations.state import AnnotationsState, AnnotationsSummary
from holdfast.protocol.chat.state import ChatState, Turn
from holdfast.protocol.codec import convert, encode, to_json
from holdfast.protocol.common import URI, JsonObject, Timestamp
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.extensions import ImportSessionParams
from holdfast.protocol.root.state import AgentInfo
from holdfast.protocol.session.state import SessionConfigState, SessionLifecycle, SessionState
from holdfast.protocol.status import ACTIVITY, ERROR, IDLE, with_activity
from holdfast.protocol.timestamps import from_milliseconds, to_milliseconds
from holdfast.protocol.uris import annotations_of, default_chat, default_chat_owner

__all__ = ["Import", "Parcel", "fitting", "furnish", "invalid", "named"]


@dataclass(slots=True)
class Parcel:
    """Content that has not arrived whole."""

    uri: URI
    content_type: str
    pieces: tuple[bytes, ...] = ()

    @property
    def size(self) -> int:
        return sum(map(len, self.pieces))


@dataclass(slots=True)
class Import:
    """A session that nobody sees yet. It is journalled as it comes, and belongs to the connection that began it."""

    unit: Session
    connection: Connection
    names: dict[URI, URI]
    """What was called otherwise where the session comes from -> what it is called here."""
    chats: dict[URI, Chat]
    """By what they were called."""
    turn_ids: dict[URI, set[str]] = field(default_factory=dict)
    parcel: Parcel | None = None

    @property
    def uris(self) -> set[URI]:
        """Every name that is taken."""
        return {channel.uri for channel in self.unit.channels()}

    def turn(self, turn: Turn) -> bytes:
        """A turn as it is kept: with the names of this host."""
        if not self.names:
            return encode(turn)
        return encode(renamed(to_json(turn), self.names))


def invalid(reason: str) -> RpcError:
    return RpcError(ErrorCode.INVALID_PARAMS, reason)


# Names


def named(params: ImportSessionParams, is_taken: Callable[[URI], bool], fresh: Callable[[], URI]) -> dict[URI, URI]:
    """What each chat was called -> what it is called here: the same, unless that is taken.

    The default chat of one session becomes that of the other.
    """
    sources = [chat.resource for chat in params.chats]
    if not sources or len(set(sources)) < len(sources):
        raise invalid("params.chats: one chat or more, each under a URI of its own")
    names: dict[URI, URI] = {}
    for source in sources:
        wanted = source
        if default_chat_owner(source) is not None:
            # Such a name belongs to one session's default chat.
            wanted = default_chat(params.channel) if source == _default(params) else ""
        keeps = wanted and wanted not in names.values() and not is_taken(wanted)
        names[source] = wanted if keeps else fresh()
    return names


def _default(params: ImportSessionParams) -> URI:
    """The default chat, as it was called."""
    wanted = params.session.default_chat
    sources = [chat.resource for chat in params.chats]
    return wanted if wanted in sources else sources[0]


# States


def fitting(resolved: ResolvedConfig, given: JsonObject) -> JsonObject:
    """The options of an import: those given that the agent still has so, and its own for the rest."""
    properties = resolved.schema.properties
    kept = {
        name: value
        for name, value in given.items()
        if name not in properties or config.contradiction(properties[name], value) is None
    }
    return {**resolved.values, **kept}


def furnish(
    params: ImportSessionParams,
    chats: dict[URI, URI],
    agent: AgentInfo,
    directories: tuple[URI, ...] | None,
    resolved: ResolvedConfig,
    connection: Connection,
) -> Import:
    """The session with its chats and remarks, at rest. `chats` are the names from `named`."""
    source = params.source or params.channel
    names = {source: params.channel, annotations_of(source): annotations_of(params.channel), **chats}
    names = {old: new for old, new in names.items() if old != new}
    states = {chat.resource: _chat_state(chat, names, directories) for chat in params.chats}
    created = _time(params.created_at, "createdAt") or min(state.modified_at for state in states.values())
    remarks = convert(
        AnnotationsState, renamed(to_json(params.annotations or AnnotationsState(annotations=())), names)
    )
    default = chats[_default(params)]
    state = _session_state(params, agent, directories, resolved)
    state = replace(
        state,
        chats=tuple(mirror.chat_summary(each) for each in states.values()),
        default_chat=default,
        annotations=AnnotationsSummary(
            resource=annotations_of(params.channel),
            annotation_count=len(remarks.annotations),
            entry_count=sum(len(each.entries) for each in remarks.annotations),
        ),
    )
    unit = Session(params.channel, state, created)
    unit.title_chosen = bool(state.title)
    unit.importing = True
    arriving = Import(unit, connection, names, {})
    for old, each in states.items():
        arriving.chats[old] = unit.chats[each.resource] = Chat(each.resource, unit, each)
    if remarks.annotations:
        unit.annotations = AnnotationsChannel(annotations_of(unit.uri), unit, remarks)
    mirror.derive_activity(unit)
    return arriving


def _session_state(
    params: ImportSessionParams, agent: AgentInfo, directories: tuple[URI, ...] | None, resolved: ResolvedConfig
) -> SessionState:
    given = params.session
    values = fitting(resolved, given.config.values if given.config else {})
    return SessionState(
        provider=agent.provider,
        title=given.title,
        status=with_activity(given.status, IDLE),
        lifecycle=SessionLifecycle.READY,
        active_clients=(),
        chats=(),
        origin=given.origin,
        project=given.project,
        working_directories=directories,
        config=SessionConfigState(schema=resolved.schema, values=values)
        if resolved.schema.properties or values
        else None,
        customizations=agent.customizations,
        meta=given.meta,
    )


def _chat_state(given: ChatState, names: dict[URI, URI], directories: tuple[URI, ...] | None) -> ChatState:
    if given.turns:
        raise invalid("params.chats.turns: turns come afterwards, in pages")
    chat = convert(ChatState, renamed(to_json(given), names))
    return ChatState(
        resource=names.get(given.resource, given.resource),
        title=chat.title,
        status=with_activity(chat.status, ERROR if chat.status & ACTIVITY == ERROR else IDLE),
        modified_at=_time(chat.modified_at, "chats.modifiedAt") or "",
        origin=chat.origin,
        movable=chat.movable,
        interactivity=chat.interactivity,
        working_directories=_among(chat.working_directories, directories),
        turns=(),
        draft=chat.draft,
        meta=chat.meta,
    )


def _among(wanted: tuple[URI, ...] | None, directories: tuple[URI, ...] | None) -> tuple[URI, ...] | None:
    """A chat works in directories of its session; those that were left out are left out here."""
    if wanted is None:
        return None
    return tuple(each for each in wanted if each in (directories or ())) or None


def _time(given: Timestamp | None, name: str) -> Timestamp | None:
    """A timestamp in the form this host writes, which sorts."""
    if given is None:
        return None
    try:
        return from_milliseconds(to_milliseconds(given))
    except ValueError:
        raise invalid(f"params.{name}: not a timestamp") from None
