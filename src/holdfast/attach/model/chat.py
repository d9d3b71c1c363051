"""What a person may do in a chat, read off its state."""

from __future__ import annotations

from holdfast.protocol.chat.messages import PendingMessage
from holdfast.protocol.chat.parts import ErrorResponsePart
from holdfast.protocol.chat.state import ChatInteractivity, ChatState, TurnState
from holdfast.protocol.common import AgentSelection, ModelSelection

__all__ = ["can_resume", "can_write", "newest_waiting", "selection"]


def can_write(state: ChatState) -> bool:
    """Whether people may say something here."""
    return state.interactivity in (None, ChatInteractivity.FULL)


def can_resume(state: ChatState) -> bool:
    """Whether the last turn failed in a way that can be mended."""
    last = state.turns[-1] if state.turns and state.active_turn is None else None
    if last is None or last.state is not TurnState.ERROR or not last.response_parts:
        return False
    part = last.response_parts[-1]
    return isinstance(part, ErrorResponsePart) and bool(part.resumable)


def newest_waiting(state: ChatState) -> PendingMessage | None:
    """The message that was put in last and nobody has taken: of the queue, else the one that is to steer."""
    return state.queued_messages[-1] if state.queued_messages else state.steering_message


def selection(state: ChatState) -> tuple[ModelSelection | None, AgentSelection | None]:
    """The model and agent of what is sent next: those chosen in the draft, else those of what was sent last."""
    last = state.active_turn or (state.turns[-1] if state.turns else None)
    queued = state.queued_messages[-1].message if state.queued_messages else None
    for message in (state.draft, queued, last.message if last else None):
        if message is not None and (message.model or message.agent):
            return message.model, message.agent
    return None, None
