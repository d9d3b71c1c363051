"""Messages that wait: queued ones become turns, a steering one goes to the running turn (04-chat, section 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.host import history, turns
from holdfast.host.permits import attachments
from holdfast.host.units import Chat
from holdfast.host.verdict import Refused
from holdfast.ports.agent import Steered, SteeringWithdrawn
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.actions import PendingMessageKind
from holdfast.protocol.session.state import SessionLifecycle
from holdfast.protocol.timestamps import from_milliseconds

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["offer_steering", "start_next", "withdraw_steering"]


def start_next(host: Host, chat: Chat) -> None:
    """If the chat is idle, the first queued message becomes a turn, right after this."""
    host.later(lambda: _start_next(host, chat))


def _start_next(host: Host, chat: Chat) -> None:
    state = chat.state
    gone = host.channels.get(chat.uri) is not chat
    if gone or state.active_turn is not None or not state.queued_messages:
        return
    if host.draining:
        # The next start has to know of it.
        host.batch.dirty[chat.unit.uri] = chat.unit
        return
    if chat.unit.session.state.lifecycle == SessionLifecycle.FAILED:
        return
    first = state.queued_messages[0]
    pinned = attachments(host, first.message)
    # A chat that went away since the message was queued stays behind as a reference.
    message = first.message if pinned is None or isinstance(pinned, Refused) else pinned
    transcripts = history.transcripts(host, message)
    context = history.context(host, chat)
    host.emit(chat, actions.PendingMessageRemoved(kind=PendingMessageKind.QUEUED, id=first.id))
    started = actions.TurnStarted(
        turn_id=host.ids.new(),
        started_at=from_milliseconds(host.clock.wall()),
        message=message,
        queued_message_id=first.id,
    )
    host.emit(chat, started)
    turns.begin(host, chat, started, transcripts, context)


def offer_steering(host: Host, chat: Chat) -> None:
    """Show the steering message to the agent that works on the chat."""
    steering = chat.state.steering_message
    if steering is not None:
        turns.deliver(host, chat, Steered(steering.id, steering.message))


def withdraw_steering(host: Host, chat: Chat, id: str) -> None:
    """Whoever works on the chat is not to use the steering message any more."""
    turns.deliver(host, chat, SteeringWithdrawn(id))
