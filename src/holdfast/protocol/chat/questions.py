"""Questions to the user: what every `chat/input*` action does (04-chat, section 8).

A question lives in the active turn's parts from the moment it is asked; without a `response` it is open.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.protocol.chat import actions
from holdfast.protocol.chat.activity import appended, refresh, refresh_unread
from holdfast.protocol.chat.parts import InputRequestResponsePart
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.reducing import exchanged

__all__ = ["input_answer_changed", "input_completed", "input_requested"]


def input_requested(state: ChatState, action: actions.InputRequested) -> ChatState:
    """Ask, or ask an open question anew, which keeps its answers unless new ones come with it."""
    turn = state.active_turn
    if turn is None:
        return state
    place = _open_question(state, action.request.id)
    if place is None:
        part = InputRequestResponsePart(request=action.request)
        return refresh_unread(replace(state, active_turn=appended(turn, part)))
    index, before = place
    answers = before.request.answers if action.request.answers is None else action.request.answers
    part = InputRequestResponsePart(request=replace(action.request, answers=answers))
    return refresh_unread(_with_part(state, index, part))


def input_answer_changed(state: ChatState, action: actions.InputAnswerChanged) -> ChatState:
    """Set or clear one answer of an open question."""
    place = _open_question(state, action.request_id)
    if place is None:
        return state
    index, part = place
    answers = dict(part.request.answers or {})
    if action.answer is None:
        answers.pop(action.question_id, None)
    else:
        answers[action.question_id] = action.answer
    return _with_part(state, index, replace(part, request=replace(part.request, answers=answers or None)))


def input_completed(state: ChatState, action: actions.InputCompleted) -> ChatState:
    """Close an open question; answers that come with it overlay those that were there."""
    place = _open_question(state, action.request_id)
    if place is None:
        return state
    index, part = place
    answers = {**(part.request.answers or {}), **(action.answers or {})}
    request = replace(part.request, answers=answers or None)
    return refresh(_with_part(state, index, replace(part, request=request, response=action.response)))


def _open_question(state: ChatState, wanted: str) -> tuple[int, InputRequestResponsePart] | None:
    for index, part in enumerate(state.active_turn.response_parts if state.active_turn else ()):
        if isinstance(part, InputRequestResponsePart) and part.response is None and part.request.id == wanted:
            return index, part
    return None


def _with_part(state: ChatState, index: int, part: InputRequestResponsePart) -> ChatState:
    turn = state.active_turn
    assert turn is not None, "a question was found in the active turn"
    parts = turn.response_parts
    return replace(
        state,
        active_turn=replace(turn, response_parts=exchanged(parts, index, part)),
    )
