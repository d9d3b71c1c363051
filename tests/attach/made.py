"""Protocol values made by hand, for tests of what is shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from holdfast.protocol import status
from holdfast.protocol.chat import tools
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.chat.parts import MarkdownResponsePart, ToolCallResponsePart
from holdfast.protocol.chat.state import ActiveTurn, ChatState, Turn, TurnState
from holdfast.protocol.common import Markdown
from holdfast.protocol.session.state import SessionLifecycle, SessionState, SessionSummary

NOW: Final = datetime(2026, 10, 2, 9, 0, tzinfo=UTC)
SESSION: Final = "ahp-session:/s"
CHAT: Final = "ahp-chat:/c"


def message(text: str, **changes: Any) -> Message:
    return Message(text=text, origin=MessageOrigin(kind=MessageKind.USER), **changes)


def prose(text: str, id: str = "p") -> MarkdownResponsePart:
    return MarkdownResponsePart(id=id, content=text)


def turn(id: str, text: str, *parts: Any, **changes: Any) -> Turn:
    fields = {"state": TurnState.COMPLETE, "duration": 1200, **changes}
    return Turn(id=id, message=message(text), response_parts=parts, **fields)


def active(id: str, text: str, *parts: Any) -> ActiveTurn:
    return ActiveTurn(id=id, started_at="2026-10-02T09:00:00.000Z", message=message(text), response_parts=parts)


def chat(*turns: Turn, **changes: Any) -> ChatState:
    fields = {"title": "A chat", "status": status.IDLE, "modified_at": "2026-10-02T08:00:00.000Z", **changes}
    return ChatState(resource=CHAT, turns=turns, **fields)


def session(**changes: Any) -> SessionState:
    fields = {
        "provider": "demo",
        "title": "A session",
        "status": status.IDLE,
        "lifecycle": SessionLifecycle.READY,
        "active_clients": (),
        "chats": (),
        "default_chat": CHAT,
        **changes,
    }
    return SessionState(**fields)


def summary(id: str, bits: int = status.IDLE | status.IS_READ, hour: int = 8, **changes: Any) -> SessionSummary:
    fields = {
        "provider": "demo",
        "title": f"Session {id}",
        "created_at": "2026-10-01T00:00:00.000Z",
        "modified_at": f"2026-10-02T{hour:02d}:00:00.000Z",
        **changes,
    }
    return SessionSummary(resource=f"ahp-session:/{id}", status=bits, **fields)


BASE: Final = {"tool_call_id": "k", "tool_name": "run_command", "display_name": "Run command"}
SAYS: Final = Markdown(markdown="Run `rm -r build`")


def call(kind: type = tools.ToolCallCompletedState, **changes: Any) -> Any:
    """A tool call in a state, with what that state has to have."""
    fields: dict[str, Any] = {**BASE}
    if kind is not tools.ToolCallStreamingState:
        fields |= {"invocation_message": SAYS, "tool_input": "rm -r build"}
    if issubclass(kind, tools.ToolCallConfirmed):
        fields["confirmed"] = tools.ToolCallConfirmationReason.USER_ACTION
    if issubclass(kind, tools.ToolCallFinished):
        fields |= {"success": True, "past_tense_message": Markdown(markdown="Ran `rm -r build`")}
    if kind is tools.ToolCallCancelledState:
        fields["reason"] = tools.ToolCallCancellationReason.DENIED
    return kind(**{**fields, **changes})


def pending(options: Sequence[tools.ConfirmationOption] | None = None, **changes: Any) -> Any:
    return call(tools.ToolCallPendingConfirmationState, options=tuple(options) if options else None, **changes)


def tool(state: Any) -> ToolCallResponsePart:
    return ToolCallResponsePart(tool_call=state)
