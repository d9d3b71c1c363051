"""Which actions may be said again when the connection broke before the host answered them.

Pure. What was never sent is said now. After a replay everything it does not contain was lost; after a snapshot nobody
knows. There an action is repeated where that does no harm: it sets what it says, or the state shows that its effect
is not there yet.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final

from holdfast.protocol.annotations import actions as remarks
from holdfast.protocol.changeset import actions as changeset
from holdfast.protocol.chat import actions as chat
from holdfast.protocol.chat.parts import InputRequestResponsePart, ToolCallResponsePart
from holdfast.protocol.chat.state import TurnState
from holdfast.protocol.chat.tools import (
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
    ToolCallRunningState,
)
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.root import actions as root
from holdfast.protocol.session import actions as session

__all__ = ["Fate", "may_repeat"]

_Check = Callable[[Any, Any], bool]


class Fate(Enum):
    """What became of an action before the break."""

    UNSENT = auto()
    LOST = auto()
    """Sent, and the host has not accepted it."""
    UNKNOWN = auto()


def may_repeat(action: StateAction, state: Any, fate: Fate) -> bool:
    """Whether to dispatch an action to a channel whose state is this now; None if that is not known."""
    if fate is Fate.UNSENT:
        # Whoever begins a turn may want to wait for one that began meanwhile.
        return state is None or not isinstance(action, chat.TurnStarted) or _starts(state, action)
    check = _IF_LOST.get(type(action)) if fate is Fate.LOST else None
    check = check or _ALWAYS.get(type(action))
    return check is not None and state is not None and check(state, action)


def _sets(state: Any, action: Any) -> bool:  # noqa: ARG001 - the shape of a check
    return True


def _starts(state: Any, action: chat.TurnStarted) -> bool:
    """The turn is not there, and none runs that the host would refuse it for."""
    return state.active_turn is None and all(turn.id != action.turn_id for turn in state.turns)


def _ends(state: Any, action: chat.TurnCancelled) -> bool:
    return state.active_turn is not None and state.active_turn.id == action.turn_id


def _failed(state: Any, action: chat.TurnResume) -> bool:
    last = state.turns[-1] if state.turns and state.active_turn is None else None
    return last is not None and last.id == action.turn_id and last.state == TurnState.ERROR


def _call_is(status: type) -> _Check:
    def check(state: Any, action: Any) -> bool:
        turn = state.active_turn
        if turn is None or turn.id != action.turn_id:
            return False
        calls = (part.tool_call for part in turn.response_parts if isinstance(part, ToolCallResponsePart))
        ids = (getattr(call, "tool_call_id", None) for call in calls if isinstance(call, status))
        return action.tool_call_id in ids

    return check


def _asks(state: Any, action: chat.InputCompleted | chat.InputAnswerChanged) -> bool:
    parts = state.active_turn.response_parts if state.active_turn else ()
    questions = (part for part in parts if isinstance(part, InputRequestResponsePart))
    return any(part.request.id == action.request_id and part.response is None for part in questions)


def _holds(state: Any, action: chat.PendingMessageRemoved) -> bool:
    if action.kind == chat.PendingMessageKind.STEERING:
        return state.steering_message is not None and state.steering_message.id == action.id
    return any(entry.id == action.id for entry in state.queued_messages or ())


_ALWAYS: Final[dict[type, _Check]] = {
    **dict.fromkeys(
        (
            root.ConfigChanged,
            session.TitleChanged,
            session.IsReadChanged,
            session.IsArchivedChanged,
            session.ActiveClientSet,
            session.ActiveClientRemoved,
            session.ConfigChanged,
            session.CustomizationToggled,
            session.WorkingDirectorySet,
            session.WorkingDirectoryRemoved,
            chat.DraftChanged,
            chat.IsReadChanged,
            chat.IsArchivedChanged,
            chat.WorkingDirectorySet,
            chat.WorkingDirectoryRemoved,
            chat.QueuedMessagesReordered,
            remarks.Set,
            remarks.Updated,
            remarks.EntrySet,
            remarks.Removed,
            remarks.EntryRemoved,
            changeset.FilesReviewChanged,
        ),
        _sets,
    ),
    chat.TurnStarted: _starts,
    chat.TurnCancelled: _ends,
    chat.ToolCallConfirmed: _call_is(ToolCallPendingConfirmationState),
    chat.ToolCallResultConfirmed: _call_is(ToolCallPendingResultConfirmationState),
    chat.ToolCallComplete: _call_is(ToolCallRunningState),
    chat.ToolCallContentChanged: _call_is(ToolCallRunningState),
    chat.InputCompleted: _asks,
    chat.InputAnswerChanged: _asks,
    chat.PendingMessageRemoved: _holds,
}

# A message that was consumed is in no list any more: only if it is known to be lost may it be queued again.
_IF_LOST: Final[dict[type, _Check]] = {chat.PendingMessageSet: _sets, chat.TurnResume: _failed}
