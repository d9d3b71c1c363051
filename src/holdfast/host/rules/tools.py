"""What clients may do about tool calls: confirm, finish their own, let results through (04-chat, section 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from holdfast.host import client_tools, content, turns
from holdfast.host.verdict import Allowed, Refused, Rules, Verdict
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.parts import ToolCallResponsePart
from holdfast.protocol.chat.tools import (
    ConfirmationOption,
    ConfirmationOptionKind,
    ToolCallAuthRequiredState,
    ToolCallCancellationReason,
    ToolCallClientContributor,
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
    ToolCallRunningState,
    ToolCallState,
)
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import ContentRef

if TYPE_CHECKING:
    from holdfast.host.core import Host
    from holdfast.host.dispatch import Dispatched

__all__ = ["RULES"]


def _call(sent: Dispatched, action: actions.ToolCallAction) -> ToolCallState | None:
    """The call an action is about, in the turn it is about."""
    turn = sent.channel.state.active_turn
    if turn is None or turn.id != action.turn_id:
        return None
    for part in turn.response_parts:
        call = part.tool_call if isinstance(part, ToolCallResponsePart) else None
        if call is not None and not isinstance(call, Unknown) and call.tool_call_id == action.tool_call_id:
            return call
    return None


def tool_call_confirmed(host: Host, sent: Dispatched, action: actions.ToolCallConfirmed) -> Verdict:
    call = _call(sent, action)
    if not isinstance(call, ToolCallPendingConfirmationState):
        return Refused("this tool call does not wait for confirmation")
    if action.approved and action.confirmed is None:
        return Refused("an approval says how it was confirmed")
    if not action.approved and action.reason not in _DENIALS:
        return Refused("a denial has the reason denied or skipped")
    if action.edited_tool_input is not None and not (action.approved and call.editable):
        return Refused("the input of this tool call cannot be edited")
    option = _option(call, action.selected_option_id)
    if action.selected_option_id is not None and (option is None or not _matches(option, action.approved)):
        return Refused("this option is not offered for that decision")
    chat: Any = sent.channel
    edit = None
    if action.edited_tool_input is not None and isinstance(call.tool_input, ContentRef):
        edit = call.tool_input.uri, action.edited_tool_input
    return Allowed(
        before=(lambda: content.replace_text(host, chat, *edit),) if edit else (),
        after=(lambda: turns.tool_decided(host, chat, call, action, option),),
    )


_DENIALS: Final = frozenset({ToolCallCancellationReason.DENIED, ToolCallCancellationReason.SKIPPED})


def _option(call: ToolCallPendingConfirmationState, id: str | None) -> ConfirmationOption | None:
    return next((option for option in call.options or () if option.id == id), None)


def _matches(option: ConfirmationOption, approved: bool) -> bool:
    """Kinds this version does not know match either decision."""
    if not option.kind.is_known:
        return True
    return (option.kind == ConfirmationOptionKind.APPROVE) == approved


def tool_call_complete(host: Host, sent: Dispatched, action: actions.ToolCallComplete) -> Verdict:
    call = _call(sent, action)
    chat: Any = sent.channel
    if isinstance(call, ToolCallAuthRequiredState):
        if action.result.success:
            return Refused("this tool call waits for a token and can only be given up")
        return Allowed(after=(lambda: client_tools.done(host, chat, action),))
    if not isinstance(call, ToolCallRunningState | ToolCallPendingConfirmationState):
        return Refused("this tool call is not running")
    if not _owns(call, sent):
        return Refused("only the client that runs a tool may finish it")
    undecided = (
        (lambda: client_tools.ran(host, chat, call),) if isinstance(call, ToolCallPendingConfirmationState) else ()
    )
    return Allowed(after=(*undecided, lambda: client_tools.done(host, chat, action)))


def tool_call_content_changed(host: Host, sent: Dispatched, action: actions.ToolCallContentChanged) -> Verdict:  # noqa: ARG001
    call = _call(sent, action)
    if not isinstance(call, ToolCallRunningState):
        return Refused("this tool call is not running")
    return Allowed() if _owns(call, sent) else Refused("only the client that runs a tool may show its content")


def _owns(call: Any, sent: Dispatched) -> bool:
    contributor = call.contributor
    return isinstance(contributor, ToolCallClientContributor) and contributor.client_id == sent.client.id


def tool_call_result_confirmed(host: Host, sent: Dispatched, action: actions.ToolCallResultConfirmed) -> Verdict:
    call = _call(sent, action)
    if not isinstance(call, ToolCallPendingResultConfirmationState):
        return Refused("the result of this tool call does not wait for confirmation")
    chat: Any = sent.channel
    return Allowed(after=(lambda: turns.result_decided(host, chat, call, action),))


RULES: Final[Rules] = {
    actions.ToolCallConfirmed: tool_call_confirmed,
    actions.ToolCallComplete: tool_call_complete,
    actions.ToolCallContentChanged: tool_call_content_changed,
    actions.ToolCallResultConfirmed: tool_call_result_confirmed,
}
