"""The tool calls that an action is about: every one of the active turn that has its id."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from msgspec.structs import replace

from holdfast.protocol.chat.actions import ToolCallAction
from holdfast.protocol.chat.activity import WAITING_CALLS, activity_of, refresh
from holdfast.protocol.chat.parts import ResponsePart, ToolCallResponsePart
from holdfast.protocol.chat.places import Places, claim_places, hold_places
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.chat.tools import ToolCallState
from holdfast.protocol.codec import Unknown
from holdfast.protocol.reducing import exchanged, put
from holdfast.protocol.status import with_activity

__all__ = ["with_call", "with_call_refreshed"]

Parts: TypeAlias = tuple[ResponsePart, ...]
A = TypeVar("A", bound=ToolCallAction)
Change: TypeAlias = Callable[[ToolCallState, A], ToolCallState]
"""What an action makes of one call; the same object if nothing."""


def with_call(state: ChatState, action: A, change: Change[A]) -> ChatState:
    """Change every call of the active turn that has the action's id; the same state if none changes."""
    turn = state.active_turn
    if turn is None or turn.id != action.turn_id:
        return state
    places = claim_places(turn.response_parts)
    parts = _changed(turn.response_parts, places, action, change)
    hold_places(parts, places)
    return state if parts is turn.response_parts else replace(state, active_turn=replace(turn, response_parts=parts))


def with_call_refreshed(state: ChatState, action: A, change: Change[A]) -> ChatState:
    """As `with_call`, and the status that fits then, at once: this is every second step of a call."""
    turn = state.active_turn
    if turn is None or turn.id != action.turn_id:
        return refresh(state)
    places = claim_places(turn.response_parts)
    parts = _changed(turn.response_parts, places, action, change)
    status = with_activity(state.status, activity_of(parts, places))
    hold_places(parts, places)
    if parts is turn.response_parts:
        return put(state, status=status)
    return replace(state, active_turn=replace(turn, response_parts=parts), status=status)


def _changed(parts: Parts, places: Places, action: A, change: Change[A]) -> Parts:
    for index in places.all(action.tool_call_id):
        part = parts[index]
        if type(part) is not ToolCallResponsePart or type(part.tool_call) is Unknown:
            continue
        call = part.tool_call
        changed = change(call, action)
        if changed is not call:
            parts = exchanged(parts, index, ToolCallResponsePart(tool_call=changed))
            if places.waiting is not None and type(changed) is not type(call):
                places.waiting += (type(changed) in WAITING_CALLS) - (type(call) in WAITING_CALLS)
    return parts
