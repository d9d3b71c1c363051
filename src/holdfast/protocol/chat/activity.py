"""What a chat is doing, read off its active turn (04-chat, section 2)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.protocol.chat.parts import InputRequestResponsePart, ResponsePart, ToolCallResponsePart
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

__all__ = ["is_blocking", "refresh", "refresh_unread"]

_WAITING_CALLS: frozenset[object] = frozenset(
    {ToolCallPendingConfirmationState, ToolCallPendingResultConfirmationState, ToolCallAuthRequiredState}
)


def is_blocking(part: ResponsePart) -> bool:
    """Whether a person must act on this part: an open question, or a tool call that waits."""
    if isinstance(part, ToolCallResponsePart):
        return type(part.tool_call) in _WAITING_CALLS
    return isinstance(part, InputRequestResponsePart) and part.response is None


def _activity(turn: ActiveTurn | None) -> int:
    """`is_blocking` of each part, written out: turns are long, and this is asked after every step of a tool call."""
    if turn is None:
        return IDLE
    for part in turn.response_parts:
        kind = type(part)
        if kind is ToolCallResponsePart:
            if type(part.tool_call) in _WAITING_CALLS:  # type: ignore[union-attr]  # exact type
                return INPUT_NEEDED
        elif kind is InputRequestResponsePart and part.response is None:  # type: ignore[union-attr]  # exact type
            return INPUT_NEEDED
    return IN_PROGRESS


def refresh(state: ChatState) -> ChatState:
    """The status that fits the active turn; the same object if it fits already."""
    status = with_activity(state.status, _activity(state.active_turn))
    return state if status == state.status else replace(state, status=status)


def refresh_unread(state: ChatState) -> ChatState:
    """As `refresh`, and unread: something happened that somebody should see."""
    return replace(state, status=with_activity(state.status, _activity(state.active_turn)) & ~IS_READ)
