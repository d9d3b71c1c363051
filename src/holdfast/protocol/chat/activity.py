"""What a chat is doing, read off its active turn (04-chat, section 2)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from holdfast.protocol.chat.parts import InputRequestResponsePart, ResponsePart, ToolCallResponsePart
from holdfast.protocol.chat.places import Places, claim_places, hold_places
from holdfast.protocol.chat.state import ActiveTurn, ChatState
from holdfast.protocol.chat.tools import (
    ToolCallAuthRequiredState,
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
)
from holdfast.protocol.status import (
    IDLE,
    IN_PROGRESS,
    INPUT_NEEDED,
    IS_READ,
    with_activity,
)

__all__ = ["WAITING_CALLS", "activity_of", "appended", "is_blocking", "refresh", "refresh_unread"]

WAITING_CALLS: Final[frozenset[object]] = frozenset(
    {ToolCallPendingConfirmationState, ToolCallPendingResultConfirmationState, ToolCallAuthRequiredState}
)


def is_blocking(part: ResponsePart) -> bool:
    """Whether a person must act on this part: an open question, or a tool call that waits."""
    kind = type(part)  # exact types: in a long turn this is asked of very many
    if kind is ToolCallResponsePart:
        return type(part.tool_call) in WAITING_CALLS  # type: ignore[union-attr]
    return kind is InputRequestResponsePart and part.response is None  # type: ignore[union-attr]


def appended(turn: ActiveTurn, part: ResponsePart) -> ActiveTurn:
    """The turn with one more part."""
    before = turn.response_parts
    places = claim_places(before)
    places.append(part, waits=is_blocking(part))
    parts = (*before, part)
    hold_places(parts, places)
    return replace(turn, response_parts=parts)


def activity_of(parts: tuple[ResponsePart, ...], places: Places) -> int:
    """What a chat does whose active turn has these parts."""
    if places.waiting is None:
        places.waiting = sum(map(is_blocking, parts))
    return INPUT_NEEDED if places.waiting else IN_PROGRESS


def _activity(turn: ActiveTurn | None) -> int:
    if turn is None:
        return IDLE
    parts = turn.response_parts
    places = claim_places(parts)
    activity = activity_of(parts, places)
    hold_places(parts, places)
    return activity


def refresh(state: ChatState) -> ChatState:
    """The status that fits the active turn; the same object if it fits already."""
    status = with_activity(state.status, _activity(state.active_turn))
    return state if status == state.status else replace(state, status=status)


def refresh_unread(state: ChatState) -> ChatState:
    """As `refresh`, and unread: something happened that somebody should see."""
    return replace(state, status=with_activity(state.status, _activity(state.active_turn)) & ~IS_READ)
