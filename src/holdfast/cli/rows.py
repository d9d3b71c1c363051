"""The protocol's values in the shapes that commands print. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from holdfast.cli import shapes
from holdfast.cli.render.blocks import input_words, plain
from holdfast.protocol import status
from holdfast.protocol.chat.inputs import ChatInputMultiSelectQuestion, ChatInputSingleSelectQuestion
from holdfast.protocol.chat.messages import PendingMessage
from holdfast.protocol.chat.state import ChatState, Turn
from holdfast.protocol.chat.tools import ToolCallAuthRequiredState, ToolCallPendingConfirmationState
from holdfast.protocol.codec import Unknown, to_json
from holdfast.protocol.common import URI
from holdfast.protocol.root.state import AgentInfo, SessionModelInfo
from holdfast.protocol.session.state import (
    SessionChatInputRequest,
    SessionInputRequest,
    SessionState,
    SessionSummary,
    SessionToolAuthenticationRequest,
    SessionToolClientExecutionRequest,
    SessionToolConfirmationRequest,
)

__all__ = ["agent", "archived", "as_value", "model", "pending", "session", "shown", "state_of", "wait"]

_STATES: Final[dict[int, shapes.State]] = {
    status.IDLE: "idle",
    status.ERROR: "error",
    status.IN_PROGRESS: "in-progress",
    status.INPUT_NEEDED: "input-needed",
}


def state_of(bits: int) -> shapes.State:
    """What is going on; a combination nobody knows counts as something going on."""
    return _STATES.get(bits & status.ACTIVITY, "in-progress")


def archived(bits: int) -> bool:
    """Whether a session or chat is archived."""
    return bool(bits & status.IS_ARCHIVED)


def agent(info: AgentInfo) -> shapes.Agent:
    """An agent in a list."""
    return shapes.Agent(
        agent=info.provider,
        name=info.display_name,
        description=info.description,
        models=tuple(each.id for each in info.models),
    )


def model(info: SessionModelInfo, agent: str) -> shapes.Model:
    """A model of an agent in a list."""
    return shapes.Model(
        model=info.id,
        agent=agent,
        name=info.name,
        max_context_window=info.max_context_window,
        max_output_tokens=info.max_output_tokens,
        vision=info.supports_vision,
    )


def session(summary: SessionSummary) -> shapes.Session:
    """A session in a list."""
    return shapes.Session(
        session=summary.resource,
        chat=summary.default_chat,
        created_at=summary.created_at,
        modified_at=summary.modified_at,
        chats=_chats(summary) or None,
        **_facts(summary),
    )


def shown(session_uri: URI, state: SessionState, chat: ChatState, turns: Sequence[Turn]) -> shapes.Shown:
    """A session with a chat of it and these of its turns."""
    waits = tuple(wait(session_uri, request) for request in state.input_needed or ())
    return shapes.Shown(
        session=session_uri,
        chat=chat.resource,
        modified_at=chat.modified_at,
        chats=_chats(state),
        turns=tuple(as_value(turn) for turn in turns),
        is_whole=chat.turns_next_cursor is None and len(turns) == len(chat.turns),
        active_turn=None if chat.active_turn is None else as_value(chat.active_turn),
        queue=tuple(pending(each) for each in chat.queued_messages or ()) or None,
        waits=waits or None,
        config=None if state.config is None else state.config.values,
        **_facts(state),
    )


def _facts(session: SessionSummary | SessionState) -> dict[str, Any]:
    return {
        "title": session.title,
        "agent": session.provider,
        "state": state_of(session.status),
        "read": bool(session.status & status.IS_READ),
        "archived": archived(session.status),
        "activity": session.activity or None,
        "directories": session.working_directories,
    }


def _chats(session: SessionSummary | SessionState) -> tuple[shapes.Chat, ...]:
    return tuple(
        shapes.Chat(
            chat=each.resource, title=each.title, state=None if each.status is None else state_of(each.status)
        )
        for each in session.chats or ()
    )


def pending(message: PendingMessage) -> shapes.Pending:
    """A message that waits."""
    return shapes.Pending(id=message.id, text=message.message.text)


# What waits for a person


def wait(session_uri: URI, request: SessionInputRequest) -> shapes.Wait:
    """One entry of a session's `inputNeeded`."""
    if isinstance(request, Unknown):
        raw = request.raw
        return shapes.Wait(
            id=str(raw.get("id", "")),
            session=session_uri,
            chat=str(raw.get("chat", "")),
            kind="unknown",
            message=f"something this version does not know: {raw.get('kind')}",
        )
    facts = _form(request) if isinstance(request, SessionChatInputRequest) else _call(request)
    return shapes.Wait(id=request.id, session=session_uri, chat=request.chat, **facts)


def _form(request: SessionChatInputRequest) -> dict[str, Any]:
    form = request.request
    known = (question for question in form.questions or () if not isinstance(question, Unknown))
    questions = tuple(
        shapes.Question(
            id=question.id,
            kind=str(question.__struct_config__.tag),
            message=question.message,
            required=bool(question.required),
            options=_options(question),
            default=getattr(question, "default_value", None),
        )
        for question in known
    )
    return {
        "kind": "question",
        "message": form.message or "A question",
        "questions": questions or None,
        "url": form.url,
    }


def _options(question: Any) -> tuple[str, ...] | None:
    if isinstance(question, ChatInputSingleSelectQuestion | ChatInputMultiSelectQuestion):
        return tuple(option.id for option in question.options)
    return None


def _call(
    request: SessionToolConfirmationRequest | SessionToolClientExecutionRequest | SessionToolAuthenticationRequest,
) -> dict[str, Any]:
    call = request.tool_call
    if isinstance(call, Unknown):
        return {"kind": "unknown", "message": "a tool call in a state this version does not know"}
    message = getattr(call, "invocation_message", None) or call.display_name
    facts = {"message": plain(message), "tool": call.tool_name, "input": input_words(call)}
    if isinstance(request, SessionToolClientExecutionRequest):
        return facts | {"kind": "client-tool"}
    if isinstance(call, ToolCallAuthRequiredState):
        return facts | {"kind": "authentication", "url": call.auth.resource.resource}
    if isinstance(call, ToolCallPendingConfirmationState):
        title = call.confirmation_title
        options = tuple(option.id for option in call.options or ())
        return facts | {
            "kind": "approval",
            "message": plain(title) if title else facts["message"],
            "options": options or None,
        }
    return facts | {"kind": "result", "message": plain(call.past_tense_message)}  # type: ignore[union-attr]  # the other state


def as_value(wire: Any) -> shapes.Value:
    """A value of the protocol as the JSON it is."""
    value: shapes.Value = to_json(wire)
    return value
