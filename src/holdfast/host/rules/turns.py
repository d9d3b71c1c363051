"""What clients may do about turns: start, cancel, resume, cut back (04-chat, sections 6 and 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from holdfast.host import history, lookup, turns
from holdfast.host.permits import attachments, from_user, writable
from holdfast.host.units import Chat
from holdfast.host.verdict import Allowed, Refused, Rules, Verdict
from holdfast.ports.journal import ReadTurns
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.messages import Message, MessageChatAttachment
from holdfast.protocol.chat.parts import ErrorResponsePart
from holdfast.protocol.chat.reducer import reduce
from holdfast.protocol.chat.state import Turn, TurnState
from holdfast.protocol.codec import decode, encode
from holdfast.protocol.session.state import SessionLifecycle
from holdfast.protocol.timestamps import from_milliseconds

if TYPE_CHECKING:
    from holdfast.host.core import Host
    from holdfast.host.dispatch import Dispatched

__all__ = ["RULES", "duration_so_far", "started_now"]


# What a sender may leave to the host


def started_now(host: Host, sent: Dispatched) -> dict[str, Any]:  # noqa: ARG001
    return {"startedAt": from_milliseconds(host.clock.wall())}


def duration_so_far(host: Host, sent: Dispatched) -> dict[str, Any]:
    turn = getattr(sent.channel.state, "active_turn", None)
    return {"duration": turns.elapsed(host, turn.started_at) if turn else 0}


# The rules


def turn_started(host: Host, sent: Dispatched, action: actions.TurnStarted) -> Verdict:
    chat: Any = sent.channel
    refused = _startable(host, chat) or writable(chat) or from_user(action.message)
    if refused is None and not action.turn_id:
        refused = Refused("a turn has an id")
    if refused is None and lookup.find_turn(host, chat, action.turn_id) is not None:
        refused = Refused("this chat has a turn with that id")
    if refused is not None:
        return refused
    message = attachments(host, action.message)
    if isinstance(message, Refused):
        return message
    refused = turns.unauthenticated(host, chat.unit, sent.client)
    if refused is not None:
        return refused
    pinned = replace(action, message=message) if message is not None else None
    transcripts = history.transcripts(host, message or action.message)
    context = history.context(host, chat)
    return Allowed(
        raw=_with_message(sent.raw, message) if message is not None else None,
        action=pinned,
        after=(lambda: turns.begin(host, chat, pinned or action, transcripts, context),),
    )


def _with_message(raw: bytes, message: Message) -> bytes:
    """The sent action with attached chats pinned; everything else stays as it was sent."""
    untyped = msgspec.json.decode(raw)
    for sent, pinned in zip(untyped["message"]["attachments"], message.attachments or (), strict=True):
        if isinstance(pinned, MessageChatAttachment) and pinned.end_turn is not None:
            sent["endTurn"] = pinned.end_turn
    return encode(untyped)


def _startable(host: Host, chat: Chat) -> Refused | None:
    if host.draining:
        return Refused("the host is shutting down")
    if chat.state.active_turn is not None:
        return Refused("a turn is running; queue the message instead")
    if chat.unit.session.state.lifecycle == SessionLifecycle.FAILED:
        return Refused("the session could not be created")
    return None


def turn_cancelled(host: Host, sent: Dispatched, action: actions.TurnCancelled) -> Verdict:
    chat: Any = sent.channel
    turn = chat.state.active_turn
    if turn is None:
        return Refused("no turn is running")
    if turn.id != action.turn_id:
        return Refused("another turn is running")
    return Allowed(before=(lambda: turns.stop(host, chat),))


def turn_resume(host: Host, sent: Dispatched, action: actions.TurnResume) -> Verdict:
    chat: Any = sent.channel
    refused = _startable(host, chat) or writable(chat) or turns.unauthenticated(host, chat.unit, sent.client)
    if refused is not None:
        return refused
    page = lookup.turns(host, chat, ReadTurns(chat.uri, None, 1, None))
    last = decode(Turn, page.turns[-1].data) if page.turns else None
    if last is None or last.id != action.turn_id or last.state != TurnState.ERROR:
        return Refused("only the last turn can be resumed, and only if it failed")
    part = last.response_parts[-1] if last.response_parts else None
    if not (isinstance(part, ErrorResponsePart) and part.resumable):
        return Refused("this turn cannot be resumed")
    context = history.context(host, chat)
    return Allowed(
        state=lambda: reduce(replace(chat.state, turns=(last,)), action),
        before=(lambda: history.drop_rows(host, chat, chat.turns - 1),),
        after=(lambda: turns.resume(host, chat, last.message, context),),
    )


def truncated(host: Host, sent: Dispatched, action: actions.Truncated) -> Verdict:
    chat: Any = sent.channel
    refused = writable(chat)
    if refused is not None:
        return refused
    keep = 0
    if action.turn_id is not None:
        position = lookup.find_turn(host, chat, action.turn_id)
        if position is None:
            return Refused("this chat has no such completed turn")
        keep = position + 1
    page = history.page_for_windows(host, chat, keep)
    return Allowed(
        state=lambda: history.cut(chat),
        before=(
            lambda: turns.stop(host, chat),
            lambda: history.show_windows(host, chat, keep, page),
            lambda: history.drop_rows(host, chat, keep),
        ),
        after=(lambda: turns.forget_after(host, chat, keep),),
    )


RULES: Final[Rules] = {
    actions.TurnStarted: turn_started,
    actions.TurnCancelled: turn_cancelled,
    actions.TurnResume: turn_resume,
    actions.Truncated: truncated,
}
