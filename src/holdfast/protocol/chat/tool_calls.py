"""The tool call state machine: what every `chat/toolCall*` action does (04-chat, section 7).

A call moves between statuses, each a struct of its own, so that a field which a status does not have cannot
be left over from the one before:

    streaming ──ready──> pending-confirmation ──confirmed──> running ──complete──> completed
        └─────ready (confirmed)─────────────────────────────────┘  │      └──> pending-result-confirmation
                                                  auth-required <──┘

`ready` decides between waiting and running; a denial, a denied result or the end of the turn cancels.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec.structs import replace

from holdfast.protocol import text
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.activity import appended
from holdfast.protocol.chat.addressed import with_call, with_call_refreshed
from holdfast.protocol.chat.parts import ResponsePart, ToolCallResponsePart
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.chat.tools import (
    ConfirmationOption,
    ToolCallAuthRequiredState,
    ToolCallCancellationReason,
    ToolCallCancelledState,
    ToolCallClientContributor,
    ToolCallCompletedState,
    ToolCallConfirmationReason,
    ToolCallContributor,
    ToolCallMcpContributor,
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
    ToolCallRunningState,
    ToolCallState,
    ToolCallStreamingState,
)
from holdfast.protocol.codec import Unknown, convert
from holdfast.protocol.errors import InvalidValue

__all__ = [
    "auth_required",
    "auth_resolved",
    "complete",
    "confirmed",
    "content_changed",
    "delta",
    "ready",
    "result_confirmed",
    "skipped",
    "start",
]

Call: TypeAlias = ToolCallState


def start(state: ChatState, action: actions.ToolCallStart) -> ChatState:
    """Append a call that streams its input."""
    turn = state.active_turn
    if turn is None or turn.id != action.turn_id:
        return state
    call = ToolCallStreamingState(
        tool_call_id=action.tool_call_id,
        tool_name=action.tool_name,
        display_name=action.display_name,
        intention=action.intention,
        contributor=action.contributor,
        meta=action.meta,
    )
    return replace(state, active_turn=appended(turn, ToolCallResponsePart(tool_call=call)))


def delta(state: ChatState, action: actions.ToolCallDelta) -> ChatState:
    """Append to the input of a streaming call."""
    return with_call(state, action, _streamed)


def _streamed(call: Call, action: actions.ToolCallDelta) -> Call:
    if not isinstance(call, ToolCallStreamingState):
        return call
    if action.content is not None and action.meta is None and action.invocation_message is None:
        return replace(call, partial_input=text.append(call.partial_input, action.content))
    changes: dict[str, Any] = {}
    if action.meta is not None:
        changes["meta"] = action.meta
    if action.content is not None:
        changes["partial_input"] = text.append(call.partial_input, action.content)
    if action.invocation_message is not None:
        changes["invocation_message"] = action.invocation_message
    return replace(call, **changes) if changes else call


def ready(state: ChatState, action: actions.ToolCallReady) -> ChatState:
    """Decide whether a call waits for a person or runs: `confirmed` is there, or it is not.

    Sent again to a waiting call it refines it, and what it omits stays; sent to a running one it asks anew.
    """
    return with_call_refreshed(state, action, _readied)


_READIABLE = (ToolCallStreamingState, ToolCallPendingConfirmationState, ToolCallRunningState)
_CONFIRMATION_FIELDS = ("confirmation_title", "risk_assessment", "edits", "editable", "options")


def _readied(call: Call, action: actions.ToolCallReady) -> Call:
    if not isinstance(call, _READIABLE):
        return call
    contributor = _refined(call.contributor, action.contributor)
    intention = call.intention if action.intention is None else action.intention
    tool_input = action.tool_input
    if tool_input is None and not isinstance(call, ToolCallStreamingState):
        tool_input = call.tool_input
    if action.confirmed:
        return ToolCallRunningState(
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            display_name=call.display_name,
            intention=intention,
            contributor=contributor,
            meta=call.meta if action.meta is None else action.meta,
            invocation_message=action.invocation_message,
            tool_input=tool_input,
            confirmed=action.confirmed,
        )
    ready = ToolCallPendingConfirmationState(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        display_name=call.display_name,
        intention=intention,
        contributor=contributor,
        meta=call.meta if action.meta is None else action.meta,
        invocation_message=action.invocation_message,
        tool_input=tool_input,
        confirmation_title=action.confirmation_title,
        risk_assessment=action.risk_assessment,
        edits=action.edits,
        editable=action.editable,
        options=action.options,
    )
    return _keeping(call, ready) if isinstance(call, ToolCallPendingConfirmationState) else ready


def _keeping(call: ToolCallPendingConfirmationState, ready: ToolCallPendingConfirmationState) -> Call:
    """What is asked anew, with what it omits as it was asked before."""
    omitted = {name: getattr(call, name) for name in _CONFIRMATION_FIELDS if getattr(ready, name) is None}
    return replace(ready, **omitted)


def _refined(current: ToolCallContributor | None, given: ToolCallContributor | None) -> ToolCallContributor | None:
    """Who executes a call never changes: a client stays itself, and nobody becomes one."""
    if given is None or isinstance(current, ToolCallClientContributor):
        return current
    return current if isinstance(given, ToolCallClientContributor) else given


def confirmed(state: ChatState, action: actions.ToolCallConfirmed) -> ChatState:
    """Run or cancel a waiting call."""
    return with_call_refreshed(state, action, _decided)


def _decided(call: Call, action: actions.ToolCallConfirmed) -> Call:
    if not isinstance(call, ToolCallPendingConfirmationState):
        return call
    option = _option(call, action.selected_option_id)
    if not action.approved:
        return ToolCallCancelledState(
            **_base(call, action),
            invocation_message=call.invocation_message,
            tool_input=call.tool_input,
            reason=action.reason or ToolCallCancellationReason.DENIED,
            reason_message=action.reason_message,
            user_suggestion=action.user_suggestion,
            selected_option=option,
        )
    tool_input = call.tool_input
    if action.edited_tool_input is not None and isinstance(tool_input, str):
        tool_input = action.edited_tool_input
    return ToolCallRunningState(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        display_name=call.display_name,
        intention=call.intention,
        contributor=call.contributor,
        meta=call.meta if action.meta is None else action.meta,
        invocation_message=call.invocation_message,
        tool_input=tool_input,
        confirmed=action.confirmed or ToolCallConfirmationReason.USER_ACTION,
        selected_option=option,
    )


def _option(call: ToolCallPendingConfirmationState, id: str | None) -> ConfirmationOption | None:
    if not id or not call.options:
        return None
    return next((option for option in call.options if option.id == id), None)


def complete(state: ChatState, action: actions.ToolCallComplete) -> ChatState:
    """Finish a call, or have its result confirmed. A call that waits for a token can only fail."""
    return with_call_refreshed(state, action, _completed)


def _completed(call: Call, action: actions.ToolCallComplete) -> Call:
    result = action.result
    kind: type[ToolCallCompletedState | ToolCallPendingResultConfirmationState] = ToolCallCompletedState
    reason: ToolCallConfirmationReason = ToolCallConfirmationReason.NOT_NEEDED
    option, content = None, result.content
    match call:
        case ToolCallRunningState():
            reason, option = call.confirmed, call.selected_option
        case ToolCallAuthRequiredState() if not result.success:
            reason, option = call.confirmed, call.selected_option
            content = call.content if content is None else content
        case ToolCallPendingConfirmationState():
            pass
        case _:
            return call
    if action.requires_result_confirmation and not isinstance(call, ToolCallAuthRequiredState):
        kind = ToolCallPendingResultConfirmationState
    return kind(
        tool_call_id=call.tool_call_id,
        tool_name=call.tool_name,
        display_name=call.display_name,
        intention=call.intention,
        contributor=call.contributor,
        meta=call.meta if action.meta is None else action.meta,
        invocation_message=call.invocation_message,
        tool_input=call.tool_input,
        confirmed=reason,
        selected_option=option,
        success=result.success,
        past_tense_message=result.past_tense_message,
        content=content,
        structured_content=result.structured_content,
        error=result.error,
    )


def result_confirmed(state: ChatState, action: actions.ToolCallResultConfirmed) -> ChatState:
    """Accept or withhold a result."""
    return with_call_refreshed(state, action, _result_decided)


def _result_decided(call: Call, action: actions.ToolCallResultConfirmed) -> Call:
    if not isinstance(call, ToolCallPendingResultConfirmationState):
        return call
    if not action.approved:
        return ToolCallCancelledState(
            **_base(call, action),
            invocation_message=call.invocation_message,
            tool_input=call.tool_input,
            reason=ToolCallCancellationReason.RESULT_DENIED,
            selected_option=call.selected_option,
        )
    return ToolCallCompletedState(
        **_base(call, action),
        invocation_message=call.invocation_message,
        tool_input=call.tool_input,
        confirmed=call.confirmed,
        selected_option=call.selected_option,
        success=call.success,
        past_tense_message=call.past_tense_message,
        content=call.content,
        structured_content=call.structured_content,
        error=call.error,
    )


def content_changed(state: ChatState, action: actions.ToolCallContentChanged) -> ChatState:
    """Show what a running call has to show so far, complete."""
    return with_call(state, action, _shown)


def _shown(call: Call, action: actions.ToolCallContentChanged) -> Call:
    if not isinstance(call, ToolCallRunningState):
        return call
    return replace(call, content=action.content, meta=call.meta if action.meta is None else action.meta)


def auth_required(state: ChatState, action: actions.ToolCallAuthRequired) -> ChatState:
    """Hold a running call of an MCP server until a token arrives."""
    return with_call_refreshed(state, action, _held)


def _held(call: Call, action: actions.ToolCallAuthRequired) -> Call:
    if not isinstance(call, ToolCallRunningState):
        return call
    if not isinstance(call.contributor, ToolCallMcpContributor):
        return call
    return ToolCallAuthRequiredState(
        **_base(call, action),
        invocation_message=call.invocation_message,
        tool_input=call.tool_input,
        confirmed=call.confirmed,
        selected_option=call.selected_option,
        content=call.content,
        auth=action.auth,
    )


def auth_resolved(state: ChatState, action: actions.ToolCallAuthResolved) -> ChatState:
    """Let a call go on that waited for a token."""
    return with_call_refreshed(state, action, _resumed)


def _resumed(call: Call, action: actions.ToolCallAuthResolved) -> Call:
    if not isinstance(call, ToolCallAuthRequiredState):
        return call
    return ToolCallRunningState(
        **_base(call, action),
        invocation_message=call.invocation_message,
        tool_input=call.tool_input,
        confirmed=call.confirmed,
        selected_option=call.selected_option,
        content=call.content,
    )


def skipped(part: ResponsePart) -> ResponsePart:
    """The part as the end of its turn leaves it: an unfinished tool call is cancelled."""
    if not isinstance(part, ToolCallResponsePart):
        return part
    call = part.tool_call
    if isinstance(call, _FINAL):
        return part
    if isinstance(call, Unknown):
        return _skipped_unknown(part, call)
    cancelled = ToolCallCancelledState(
        **_base(call),
        invocation_message=call.invocation_message or "",
        tool_input=None if isinstance(call, ToolCallStreamingState) else call.tool_input,
        reason=ToolCallCancellationReason.SKIPPED,
    )
    return ToolCallResponsePart(tool_call=cancelled)


_FINAL = (ToolCallCompletedState, ToolCallCancelledState)
_KEPT_KEYS = ("toolCallId", "toolName", "displayName", "intention", "contributor", "_meta", "toolInput")


def _skipped_unknown(part: ToolCallResponsePart, call: Unknown) -> ToolCallResponsePart:
    """Cancel a call in a status this version does not know, unless not even its basics are there."""
    kept = {key: call.raw[key] for key in _KEPT_KEYS if key in call.raw}
    message = call.raw.get("invocationMessage") or ""
    cancelled = {**kept, "invocationMessage": message, "status": "cancelled", "reason": "skipped"}
    try:
        return ToolCallResponsePart(tool_call=convert(ToolCallCancelledState, cancelled))
    except InvalidValue:
        return part


def _base(call: Any, action: actions.ToolCallAction | None = None) -> dict[str, Any]:
    """What every status keeps; metadata of the action replaces that of the call.

    The steps of every call's life write it out instead: unpacking takes longer than all else that they do.
    """
    given = None if action is None else action.meta
    return {
        "tool_call_id": call.tool_call_id,
        "tool_name": call.tool_name,
        "display_name": call.display_name,
        "intention": call.intention,
        "contributor": call.contributor,
        "meta": call.meta if given is None else given,
    }
