"""Tools that clients run: waited for, but not for ever; given up when their owner is gone (04-chat, section 7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from holdfast.host import turns
from holdfast.host.units import Chat, Session
from holdfast.ports.agent import ClientToolDone, ToolDecided
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.parts import ToolCallResponsePart
from holdfast.protocol.chat.tools import (
    ToolCallClientContributor,
    ToolCallConfirmationReason,
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
    ToolCallResult,
    ToolCallRunningState,
    ToolCallState,
    ToolCallStreamingState,
)
from holdfast.protocol.codec import Unknown

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["done", "fail", "looked_at", "ran", "watch"]


def _calls(chat: Chat) -> tuple[ToolCallState, ...]:
    """The tool calls of the running turn."""
    turn = chat.state.active_turn
    return tuple(
        part.tool_call for part in (turn.response_parts if turn else ()) if isinstance(part, ToolCallResponsePart)
    )


def _call(chat: Chat, call_id: str, kind: type) -> Any:
    """The call of a client with this id, if it is in this status."""
    for call in _calls(chat):
        if isinstance(call, kind) and call.tool_call_id == call_id:  # type: ignore[union-attr]  # not Unknown
            return call if isinstance(call.contributor, ToolCallClientContributor) else None  # type: ignore[union-attr]
    return None


def watch(host: Host, chat: Chat, call_id: str) -> None:
    """If a client's own tool runs now, wait for it, but not for ever."""
    if _call(chat, call_id, ToolCallRunningState) is None:
        return
    reason = "the client that runs this tool did not answer in time"
    at = host.clock.monotonic() + host.settings.client_tool_timeout
    host.timers.set(_timer(chat, call_id), at, lambda: _give_up(host, chat, call_id, reason))


def _timer(chat: Chat, call_id: str) -> tuple[str, str, str]:
    return ("client tool", chat.uri, call_id)


def _give_up(host: Host, chat: Chat, call_id: str, reason: str) -> None:
    call = _call(chat, call_id, ToolCallRunningState)
    turn = chat.state.active_turn
    if call is None or turn is None or host.channels.get(chat.uri) is not chat:
        return
    result = ToolCallResult(success=False, past_tense_message=f"{call.display_name} was given up: {reason}")
    action = actions.ToolCallComplete(turn_id=turn.id, tool_call_id=call_id, result=result)
    host.emit(chat, action)
    done(host, chat, action)


def ran(host: Host, chat: Chat, call: ToolCallStreamingState | ToolCallPendingConfirmationState) -> None:
    """A call goes on that nobody decided about: whoever waits for a decision waits no more."""
    tool_input = call.tool_input if isinstance(call, ToolCallPendingConfirmationState) else None
    turns.deliver(host, chat, ToolDecided(call.tool_call_id, approved=True, tool_input=tool_input))


def done(host: Host, chat: Chat, action: actions.ToolCallComplete) -> None:
    """A client finished its tool, or gave up a call that waited for a token.

    If somebody is to look at the result first, the agent has to wait for that.
    """
    host.timers.cancel(_timer(chat, action.tool_call_id))
    if _call(chat, action.tool_call_id, ToolCallPendingResultConfirmationState) is None:
        turns.deliver(host, chat, ClientToolDone(action.tool_call_id, action.result))


_WITHHELD: Final = ToolCallResult(success=False, past_tense_message="The result was withheld")


def looked_at(host: Host, chat: Chat, call: ToolCallPendingResultConfirmationState, *, approved: bool) -> None:
    """Somebody looked at what a client's tool came back with."""
    result = ToolCallResult(**{name: getattr(call, name) for name in ToolCallResult.__struct_fields__})
    turns.deliver(host, chat, ClientToolDone(call.tool_call_id, result if approved else _WITHHELD))


def fail(host: Host, unit: Session, client_id: str) -> None:
    """A client is gone: its unfinished calls, in every chat, end as failed."""
    for chat in unit.chats.values():
        for call in _calls(chat):
            owner = None if isinstance(call, Unknown) else call.contributor
            if isinstance(call, Unknown) or not isinstance(owner, ToolCallClientContributor):
                continue
            if owner.client_id != client_id:
                continue
            if isinstance(call, ToolCallStreamingState | ToolCallPendingConfirmationState):
                _force(host, chat, call)
            _give_up(host, chat, call.tool_call_id, "the client that runs this tool is gone")


def _force(host: Host, chat: Chat, call: ToolCallStreamingState | ToolCallPendingConfirmationState) -> None:
    """Only a call that is ready can be completed."""
    turn = chat.state.active_turn
    assert turn is not None, "calls are unfinished in running turns only"
    ready = actions.ToolCallReady(
        turn_id=turn.id,
        tool_call_id=call.tool_call_id,
        invocation_message=call.invocation_message or call.display_name,
        confirmed=ToolCallConfirmationReason.NOT_NEEDED,
    )
    host.emit(chat, ready)
    ran(host, chat, call)
