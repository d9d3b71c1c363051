"""What follows from a change: a chat is mirrored in its session's catalogue, a session in the root's.

    chat  ──chatUpdated──>  session  ──sessionSummaryChanged──>  root
          ──inputNeeded──>

A session's activity is derived from its chats, never said by an action; whoever watches sees it in the summary
(03-session, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from holdfast.host import outgoing
from holdfast.host.units import AnnotationsChannel, Channel, Chat, Session, SessionChannel
from holdfast.ports.journal import PutSession, SessionRow
from holdfast.protocol.annotations.state import AnnotationsSummary
from holdfast.protocol.chat import actions as chat_actions
from holdfast.protocol.chat.parts import InputRequestResponsePart, ToolCallResponsePart
from holdfast.protocol.chat.state import ChatState, ChatSummary
from holdfast.protocol.chat.tools import (
    ToolCallAuthRequiredState,
    ToolCallClientContributor,
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
    ToolCallRunningState,
)
from holdfast.protocol.codec import Unknown, Wire, encode
from holdfast.protocol.common import URI, JsonObject, Timestamp
from holdfast.protocol.reducing import put
from holdfast.protocol.root import actions as root_actions
from holdfast.protocol.root.commands import (
    PartialSessionSummary,
    SessionAddedParams,
    SessionRemovedParams,
    SessionSummaryChangedParams,
)
from holdfast.protocol.session import actions as session_actions
from holdfast.protocol.session.actions import PartialChatSummary
from holdfast.protocol.session.state import (
    SessionChatInputRequest,
    SessionChatSummary,
    SessionInputRequest,
    SessionLifecycle,
    SessionState,
    SessionSummary,
    SessionToolAuthenticationRequest,
    SessionToolClientExecutionRequest,
    SessionToolConfirmationRequest,
)
from holdfast.protocol.status import ACTIVITY, ERROR, IDLE, INPUT_NEEDED, IS_READ, with_activity
from holdfast.protocol.uris import ROOT

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["after", "aggregate", "chat_summary", "keep_row", "publish", "summary_of", "waits"]

# Actions that change nothing a catalogue shows and nothing that waits for somebody: most of a running turn.
_QUIET: Final = frozenset(
    {
        chat_actions.Delta,
        chat_actions.Reasoning,
        chat_actions.ResponsePart,
        chat_actions.Usage,
        chat_actions.ToolCallStart,
        chat_actions.ToolCallDelta,
        chat_actions.PendingMessageSet,
        chat_actions.PendingMessageRemoved,
        chat_actions.QueuedMessagesReordered,
        chat_actions.DraftChanged,
        chat_actions.TurnsLoaded,
        chat_actions.ChangesetsChanged,
        chat_actions.CanvasesChanged,
    }
)

# What somebody should see makes the session unread.
_NEWS: Final = frozenset({chat_actions.TurnStarted, chat_actions.InputRequested})


def after(host: Host, channel: Channel, before: Wire, action: Wire | Unknown) -> None:
    """Carry a change of one channel to where it shows. Called for everything that happens."""
    if isinstance(channel, Chat):
        if type(action) in _QUIET:
            return
        mirror_chat(host, channel)
        if type(action) in _NEWS and channel.unit.session.state.status & IS_READ:
            host.emit(channel.unit.session, session_actions.IsReadChanged(is_read=False))
    elif isinstance(channel, SessionChannel):
        host.batch.dirty[channel.uri] = channel.unit
    elif isinstance(channel, AnnotationsChannel) and channel.state is not before:
        _count_annotations(host, channel)


def mirror_chat(host: Host, chat: Chat) -> None:
    """Bring the session's entry for a chat, what waits in it, and the session's own activity up to date."""
    _sync_entry(host, chat)
    _sync_waits(host, chat)
    aggregate(host, chat.unit)
    host.batch.dirty[chat.unit.uri] = chat.unit


def silently(host: Host, channel: Channel, state: Any) -> None:
    """Change a state in a way no action says; those who watch learn it otherwise."""
    host.batch.assign(channel, "state", state)
    host.batch.touched[channel.uri] = channel


# Chat to session


def chat_summary(state: ChatState) -> ChatSummary:
    """The catalogue's copy of a chat."""
    return ChatSummary(**{name: getattr(state, name) for name in ChatSummary.__struct_fields__})


def _sync_entry(host: Host, chat: Chat) -> None:
    session = chat.unit.session
    entry = next((each for each in session.state.chats if each.resource == chat.uri), None)
    if entry is None:
        return
    now = chat_summary(chat.state)
    changes = {
        name: getattr(now, name)
        for name in ChatSummary.__struct_fields__
        if getattr(now, name) != getattr(entry, name)
    }
    if not changes:
        return
    if None in changes.values():
        # A merge cannot remove a key; setting the whole entry can.
        host.emit(session, session_actions.ChatAdded(summary=now))
    else:
        host.emit(session, session_actions.ChatUpdated(chat=chat.uri, changes=PartialChatSummary(**changes)))


def waits(chat: Chat) -> Iterator[SessionInputRequest]:
    """Everything in a chat that waits for a client (03-session, section 10)."""
    turn = chat.state.active_turn
    if turn is None:
        return
    for part in turn.response_parts:
        if isinstance(part, InputRequestResponsePart) and part.response is None:
            yield SessionChatInputRequest(id=f"{chat.uri}#{part.request.id}", chat=chat.uri, request=part.request)
        elif isinstance(part, ToolCallResponsePart):
            waiting = _tool_wait(chat.uri, turn.id, part.tool_call)
            if waiting is not None:
                yield waiting


def _tool_wait(chat: URI, turn_id: str, call: Any) -> SessionInputRequest | None:
    if isinstance(call, Unknown):
        return None
    id = f"{chat}#{call.tool_call_id}"
    match call:
        case ToolCallPendingConfirmationState() | ToolCallPendingResultConfirmationState():
            return SessionToolConfirmationRequest(id=id, chat=chat, turn_id=turn_id, tool_call=call)
        case ToolCallAuthRequiredState():
            return SessionToolAuthenticationRequest(id=id, chat=chat, turn_id=turn_id, tool_call=call)
        case ToolCallRunningState(contributor=ToolCallClientContributor(client_id=client_id)):
            return SessionToolClientExecutionRequest(
                id=id, chat=chat, turn_id=turn_id, client_id=client_id, tool_call=call
            )
    return None


def _sync_waits(host: Host, chat: Chat) -> None:
    session = chat.unit.session
    wanted = {_wait_id(request): request for request in waits(chat)}
    for request in session.state.input_needed or ():
        id = _wait_id(request)
        if getattr(request, "chat", None) == chat.uri and id not in wanted:
            host.emit(session, session_actions.InputNeededRemoved(id=id))
    present = {_wait_id(request): request for request in session.state.input_needed or ()}
    for id, request in wanted.items():
        if present.get(id) != request:
            host.emit(session, session_actions.InputNeededSet(request=request))


def _wait_id(request: Any) -> str:
    return str(request.raw.get("id") if isinstance(request, Unknown) else request.id)


def aggregate(host: Host, unit: Session) -> None:
    """Bring the session's own activity up to date with its chats."""
    state = derived(unit)
    if state is not unit.session.state:
        silently(host, unit.session, state)


def derive_activity(unit: Session) -> None:
    """As `aggregate`, for a session that was just read: no action ever says these fields."""
    unit.session.state = derived(unit)


def derived(unit: Session) -> SessionState:
    """A session's state with the activity its chats give it (03-session, section 4)."""
    chats = [chat.state for chat in unit.chats.values()]
    if not chats:
        return unit.session.state
    default = unit.chats.get(unit.session.state.default_chat or "")
    speaker = default.state if default is not None else max(chats, key=lambda chat: chat.modified_at)
    activity = speaker.status & ACTIVITY
    if any(chat.status & INPUT_NEEDED == INPUT_NEEDED for chat in chats):
        activity = INPUT_NEEDED
    elif any(chat.status & ACTIVITY == ERROR for chat in chats):
        activity = ERROR
    state = unit.session.state
    status = with_activity(state.status, activity or IDLE)
    return put(state, status=status, activity=speaker.activity)


def _count_annotations(host: Host, channel: AnnotationsChannel) -> None:
    annotations = channel.state.annotations
    summary = AnnotationsSummary(
        resource=channel.uri,
        annotation_count=len(annotations),
        entry_count=sum(len(annotation.entries) for annotation in annotations),
    )
    session = channel.unit.session
    if session.state.annotations != summary:
        silently(host, session, replace(session.state, annotations=summary))
        host.batch.assign(session, "unsaved", True)
    host.batch.dirty[channel.unit.uri] = channel.unit


# Session to root


def summary_of(unit: Session) -> SessionSummary:
    """A session as lists show it."""
    state = unit.session.state
    modified = max((chat.state.modified_at for chat in unit.chats.values()), default=unit.created_at)
    return SessionSummary(
        resource=unit.uri,
        provider=state.provider,
        title=state.title,
        status=state.status,
        activity=state.activity,
        origin=state.origin,
        project=state.project,
        working_directories=state.working_directories,
        annotations=state.annotations,
        created_at=unit.created_at,
        modified_at=modified,
        chats=tuple(_listed_chat(entry) for entry in state.chats),
        default_chat=state.default_chat,
    )


def _listed_chat(entry: ChatSummary) -> SessionChatSummary:
    return SessionChatSummary(**{name: getattr(entry, name) for name in SessionChatSummary.__struct_fields__})


_IDENTITY: Final = frozenset({"resource", "provider", "created_at"})


def publish(host: Host) -> None:
    """Tell the journal and the root's subscribers what changed in the catalogue. Before sealing, once."""
    for unit in host.batch.dirty.values():
        if host.sessions.get(unit.uri) is unit:
            _publish(host, unit)
    if host.root.root.state.active_sessions != host.listed:
        host.emit(host.root.root, root_actions.ActiveSessionsChanged(active_sessions=host.listed))


def _publish(host: Host, unit: Session) -> None:
    summary = keep_row(host, unit)
    before = unit.published
    host.batch.assign(unit, "published", summary if unit.listed else None)
    if not unit.listed:
        return
    if before is None:
        params: Wire = SessionAddedParams(channel=ROOT, summary=summary)
        host.note(host.recipients(ROOT), outgoing.notification("root/sessionAdded", params))
        return
    changes = _changes(before, summary)
    if changes is not None:
        params = SessionSummaryChangedParams(channel=ROOT, session=unit.uri, changes=changes)
        host.note(host.recipients(ROOT), outgoing.notification("root/sessionSummaryChanged", params))


def keep_row(host: Host, unit: Session) -> SessionSummary:
    """Have the journal list a session as it is now; that summary is returned."""
    summary = summary_of(unit)
    row = SessionRow(
        uri=unit.uri,
        modified_at=summary.modified_at,
        summary=encode(summary),
        listed=unit.listed,
        attention=_needs_attention(unit),
        extra=extra_of(unit),
    )
    if row != unit.row:
        host.batch.assign(unit, "row", row)
        host.batch.write(PutSession(row))
    return summary


def _changes(before: SessionSummary, now: SessionSummary) -> PartialSessionSummary | None:
    """What differs; a cleared activity is the empty string, any other cleared field waits for the next list."""
    changed = {
        name: getattr(now, name)
        for name in SessionSummary.__struct_fields__
        if name not in _IDENTITY and getattr(before, name) != getattr(now, name)
    }
    if "activity" in changed and changed["activity"] is None:
        changed["activity"] = ""
    changed = {name: value for name, value in changed.items() if value is not None}
    return PartialSessionSummary(**changed) if changed else None


def announce(host: Host, unit: Session) -> None:
    """Show a session to everybody: it is listed, counted, and its changes are told. Once."""
    if not unit.listed:
        host.batch.assign(unit, "listed", True)
        host.batch.assign(host, "listed", host.listed + 1)
        host.batch.dirty[unit.uri] = unit


def withdraw(host: Host, unit: Session) -> None:
    """A session is gone from the catalogue."""
    if unit.listed:
        host.batch.assign(host, "listed", host.listed - 1)
    if unit.published is not None:
        params = SessionRemovedParams(channel=ROOT, session=unit.uri)
        host.note(host.recipients(ROOT), outgoing.notification("root/sessionRemoved", params))


def _needs_attention(unit: Session) -> bool:
    """Whether the session is to be looked at when the host starts again."""
    state = unit.session.state
    creating = state.lifecycle == SessionLifecycle.CREATING
    waits = any(chat.state.queued_messages for chat in unit.chats.values())
    return unit.busy or unit.works_beside or waits or creating or bool(state.active_clients) or unit.provisional


class Extra(Wire, frozen=True, kw_only=True):
    """What the host keeps of a session beside the protocol's state."""

    created_at: str
    creator: str | None = None
    title_chosen: bool
    legacy: JsonObject | None = None
    disposed_at: Timestamp | None = None
    importing: bool | None = None


def extra_of(unit: Session) -> bytes:
    """What of a session is no protocol state, encoded."""
    return encode(
        Extra(
            created_at=unit.created_at,
            creator=unit.creator,
            title_chosen=unit.title_chosen,
            legacy=unit.legacy or None,
            disposed_at=unit.disposed_at,
            importing=unit.importing or None,
        )
    )
