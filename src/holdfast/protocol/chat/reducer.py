"""What each action does to a chat's state (04-chat): turns, streamed text, pending messages, flags.

Tool calls are decided in `chat.tool_calls`, questions in `chat.questions`; the table at the end names all.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from holdfast.protocol import text, timestamps
from holdfast.protocol.chat import actions, questions, tool_calls
from holdfast.protocol.chat.activity import appended, refresh, refresh_unread
from holdfast.protocol.chat.messages import PendingMessage
from holdfast.protocol.chat.parts import (
    ErrorResponsePart,
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResponsePart,
)
from holdfast.protocol.chat.places import claim_places, hold_places, release_places
from holdfast.protocol.chat.state import ActiveTurn, ChatState, Turn, TurnState
from holdfast.protocol.codec import Unknown, Wire
from holdfast.protocol.common import Number, Timestamp
from holdfast.protocol.reducing import (
    Handler,
    by_table,
    entry_id,
    exchanged,
    find,
    put,
    upsert,
    with_directory,
    without,
    without_directory,
)
from holdfast.protocol.status import ERROR, IS_ARCHIVED, IS_READ, with_activity, with_flag

__all__ = ["reduce"]

_id = attrgetter("id")


# The life of a turn


def turn_started(state: ChatState, action: actions.TurnStarted) -> ChatState:
    """Begin a turn. One that runs already is overwritten: the host refuses before it comes to that."""
    turn = ActiveTurn(id=action.turn_id, started_at=action.started_at, message=action.message, response_parts=())
    state = replace(state, active_turn=turn, modified_at=action.started_at)
    return _consumed(refresh_unread(state), action.queued_message_id)


def _consumed(state: ChatState, message_id: str | None) -> ChatState:
    """Take a pending message that became a turn out of the slot and the queue."""
    if not message_id:
        return state
    steering = state.steering_message
    if steering is not None and steering.id == message_id:
        steering = None
    queue = tuple(entry for entry in state.queued_messages or () if entry.id != message_id)
    return put(state, steering_message=steering, queued_messages=queue or None)


def turn_complete(state: ChatState, action: actions.TurnComplete) -> ChatState:
    return _end_turn(state, action.turn_id, action.duration, TurnState.COMPLETE)


def turn_cancelled(state: ChatState, action: actions.TurnCancelled) -> ChatState:
    return _end_turn(state, action.turn_id, action.duration, TurnState.CANCELLED)


def error(state: ChatState, action: actions.Error) -> ChatState:
    return _end_turn(state, action.turn_id, action.duration, TurnState.ERROR, (action.part,))


def _end_turn(
    state: ChatState,
    turn_id: str,
    duration: Number,
    how: TurnState,
    last_parts: tuple[ResponsePart, ...] = (),
) -> ChatState:
    """Move the active turn to the history: unfinished tool calls are skipped, open questions stay open."""
    active = state.active_turn
    if active is None or active.id != turn_id:
        return state
    release_places(active.response_parts)
    duration = max(0, duration)
    turn = Turn(
        id=active.id,
        started_at=active.started_at,
        duration=duration,
        message=active.message,
        response_parts=(*map(tool_calls.skipped, active.response_parts), *last_parts),
        usage=active.usage,
        state=how,
    )
    ended = replace(
        state,
        turns=(*state.turns, turn),
        active_turn=None,
        modified_at=_ended_at(active.started_at, duration, state.modified_at),
    )
    if how is TurnState.ERROR:
        return replace(ended, status=with_activity(ended.status, ERROR))
    return refresh(ended)


def _ended_at(started_at: Timestamp, duration: Number, otherwise: Timestamp) -> Timestamp:
    try:
        return timestamps.plus(started_at, duration)
    except ValueError:
        return otherwise


def turn_resume(state: ChatState, action: actions.TurnResume) -> ChatState:
    """Open the last turn again, if it failed and its last part says that it can go on."""
    turn = state.turns[-1] if state.turns else None
    if state.active_turn is not None or turn is None or turn.id != action.turn_id:
        return state
    last = turn.response_parts[-1] if turn.response_parts else None
    if turn.state != TurnState.ERROR or not (isinstance(last, ErrorResponsePart) and last.resumable):
        return state
    active = ActiveTurn(
        id=turn.id,
        started_at=turn.started_at or state.modified_at,
        message=turn.message,
        response_parts=turn.response_parts,
        usage=turn.usage,
    )
    return refresh_unread(replace(state, turns=state.turns[:-1], active_turn=active))


def truncated(state: ChatState, action: actions.Truncated) -> ChatState:
    """Keep the turns through one; an active turn is dropped."""
    if action.turn_id is None:
        return refresh(replace(state, turns=(), turns_next_cursor=None, active_turn=None))
    index = find(state.turns, _id, action.turn_id)
    if index < 0:
        return state
    return refresh(replace(state, turns=state.turns[: index + 1], active_turn=None))


def turns_loaded(state: ChatState, action: actions.TurnsLoaded) -> ChatState:
    """Put older turns in front, except those that are there already; the cursor is always replaced."""
    present = {turn.id for turn in state.turns}
    older = tuple(turn for turn in action.turns if turn.id not in present)
    turns = (*older, *state.turns) if older else state.turns
    return put(state, turns=turns, turns_next_cursor=action.turns_next_cursor)


# What streams into a turn


def delta(state: ChatState, action: actions.Delta) -> ChatState:
    """Append text to a markdown part of the active turn; anything else is a no-op."""
    return _stream(state, action, MarkdownResponsePart)


def reasoning(state: ChatState, action: actions.Reasoning) -> ChatState:
    """Append text to a reasoning part of the active turn; anything else is a no-op."""
    return _stream(state, action, ReasoningResponsePart)


def _stream(
    state: ChatState,
    action: actions.Delta | actions.Reasoning,
    kind: type[MarkdownResponsePart | ReasoningResponsePart],
) -> ChatState:
    turn = state.active_turn
    if turn is None or turn.id != action.turn_id:
        return state
    parts = turn.response_parts
    places = claim_places(parts)
    index = places.first(action.part_id)
    part = parts[index] if index >= 0 else None
    if not isinstance(part, kind):
        return state
    grown = replace(part, content=text.append(part.content, action.content))
    parts = exchanged(parts, index, grown)
    hold_places(parts, places)
    return replace(state, active_turn=replace(turn, response_parts=parts))


def response_part(state: ChatState, action: actions.ResponsePart) -> ChatState:
    """Append a part. Error parts come with `chat/error` only."""
    turn = state.active_turn
    if turn is None or turn.id != action.turn_id or isinstance(action.part, ErrorResponsePart):
        return state
    return replace(state, active_turn=appended(turn, action.part))


def usage(state: ChatState, action: actions.Usage) -> ChatState:
    turn = state.active_turn
    if turn is None or turn.id != action.turn_id:
        return state
    return replace(state, active_turn=replace(turn, usage=action.usage))


# Pending messages and the draft


def pending_message_set(state: ChatState, action: actions.PendingMessageSet) -> ChatState:
    pending = PendingMessage(id=action.id, message=action.message)
    if action.kind == actions.PendingMessageKind.STEERING:
        return replace(state, steering_message=pending)
    return replace(state, queued_messages=upsert(state.queued_messages, pending, _id))


def pending_message_removed(state: ChatState, action: actions.PendingMessageRemoved) -> ChatState:
    if action.kind == actions.PendingMessageKind.STEERING:
        steering = state.steering_message
        return state if steering is None or steering.id != action.id else put(state, steering_message=None)
    queue = state.queued_messages
    index = find(queue, _id, action.id)
    if not queue or index < 0:
        return state
    return replace(state, queued_messages=without(queue, index) or None)


def queued_messages_reordered(state: ChatState, action: actions.QueuedMessagesReordered) -> ChatState:
    """Known ids first, in the order given; nothing is ever lost."""
    queue = state.queued_messages
    if not queue:
        return state
    by_id = {entry.id: entry for entry in reversed(queue)}
    first = [by_id[id] for id in dict.fromkeys(action.order) if id in by_id]
    named = set(action.order)
    ordered = (*first, *(entry for entry in queue if entry.id not in named))
    same = all(after is before for after, before in zip(ordered, queue, strict=False))
    return state if same and len(ordered) == len(queue) else replace(state, queued_messages=ordered)


def draft_changed(state: ChatState, action: actions.DraftChanged) -> ChatState:
    return put(state, draft=action.draft)


# Flags and catalogues


def activity_changed(state: ChatState, action: actions.ActivityChanged) -> ChatState:
    return put(state, activity=action.activity)


def is_read_changed(state: ChatState, action: actions.IsReadChanged) -> ChatState:
    return put(state, status=with_flag(state.status, IS_READ, action.is_read))


def is_archived_changed(state: ChatState, action: actions.IsArchivedChanged) -> ChatState:
    return put(state, status=with_flag(state.status, IS_ARCHIVED, action.is_archived))


def movable_changed(state: ChatState, action: actions.MovableChanged) -> ChatState:
    return put(state, movable=action.movable)


def changesets_changed(state: ChatState, action: actions.ChangesetsChanged) -> ChatState:
    return put(state, changesets=action.changesets)


def canvases_changed(state: ChatState, action: actions.CanvasesChanged) -> ChatState:
    return put(state, canvases=action.canvases)


def background_work_set(state: ChatState, action: actions.BackgroundWorkSet) -> ChatState:
    return replace(state, background_work=upsert(state.background_work, action.work, entry_id))


def background_work_removed(state: ChatState, action: actions.BackgroundWorkRemoved) -> ChatState:
    """The list may become empty but stays."""
    work = state.background_work or ()
    index = find(work, entry_id, action.id)
    return state if index < 0 else replace(state, background_work=without(work, index))


def working_directory_set(state: ChatState, action: actions.WorkingDirectorySet) -> ChatState:
    return put(state, working_directories=with_directory(state.working_directories, action.directory))


def working_directory_removed(state: ChatState, action: actions.WorkingDirectoryRemoved) -> ChatState:
    return put(state, working_directories=without_directory(state.working_directories, action.directory))


_TABLE: Final[dict[type, Handler]] = {
    actions.TurnStarted: turn_started,
    actions.TurnComplete: turn_complete,
    actions.TurnCancelled: turn_cancelled,
    actions.Error: error,
    actions.TurnResume: turn_resume,
    actions.Truncated: truncated,
    actions.TurnsLoaded: turns_loaded,
    actions.Delta: delta,
    actions.Reasoning: reasoning,
    actions.ResponsePart: response_part,
    actions.Usage: usage,
    actions.ToolCallStart: tool_calls.start,
    actions.ToolCallDelta: tool_calls.delta,
    actions.ToolCallReady: tool_calls.ready,
    actions.ToolCallConfirmed: tool_calls.confirmed,
    actions.ToolCallComplete: tool_calls.complete,
    actions.ToolCallResultConfirmed: tool_calls.result_confirmed,
    actions.ToolCallContentChanged: tool_calls.content_changed,
    actions.ToolCallAuthRequired: tool_calls.auth_required,
    actions.ToolCallAuthResolved: tool_calls.auth_resolved,
    actions.InputRequested: questions.input_requested,
    actions.InputAnswerChanged: questions.input_answer_changed,
    actions.InputCompleted: questions.input_completed,
    actions.PendingMessageSet: pending_message_set,
    actions.PendingMessageRemoved: pending_message_removed,
    actions.QueuedMessagesReordered: queued_messages_reordered,
    actions.DraftChanged: draft_changed,
    actions.ActivityChanged: activity_changed,
    actions.IsReadChanged: is_read_changed,
    actions.IsArchivedChanged: is_archived_changed,
    actions.MovableChanged: movable_changed,
    actions.ChangesetsChanged: changesets_changed,
    actions.CanvasesChanged: canvases_changed,
    actions.BackgroundWorkSet: background_work_set,
    actions.BackgroundWorkRemoved: background_work_removed,
    actions.WorkingDirectorySet: working_directory_set,
    actions.WorkingDirectoryRemoved: working_directory_removed,
}


reduce: Final[Callable[[ChatState, Wire | Unknown], ChatState]] = by_table(_TABLE)
"""The state after an action; the same object if it changes nothing."""
