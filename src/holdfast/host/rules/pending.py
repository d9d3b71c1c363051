"""What clients may do beside the turn: pending messages, the draft, directories and flags of a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from holdfast.host import queue
from holdfast.host.permits import attachments, directory_capability, from_user, writable
from holdfast.host.verdict import Allowed, Refused, Rules, Verdict
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.actions import PendingMessageKind

if TYPE_CHECKING:
    from holdfast.host.core import Host
    from holdfast.host.dispatch import Dispatched

__all__ = ["RULES"]


def pending_message_set(host: Host, sent: Dispatched, action: actions.PendingMessageSet) -> Verdict:
    chat: Any = sent.channel
    if not action.kind.is_known:
        return Refused(f"there is no kind of pending message {str(action.kind)[:100]!r}")
    refused = writable(chat) or from_user(action.message) or attachments(host, action.message)
    if isinstance(refused, Refused):
        return refused
    if action.kind == PendingMessageKind.STEERING:
        return Allowed(after=(lambda: queue.offer_steering(host, chat),))
    return Allowed(after=(lambda: queue.start_next(host, chat),))


def pending_message_removed(host: Host, sent: Dispatched, action: actions.PendingMessageRemoved) -> Verdict:
    chat: Any = sent.channel
    state = chat.state
    slot = (state.steering_message,) if state.steering_message else ()
    waiting = slot if action.kind == PendingMessageKind.STEERING else state.queued_messages or ()
    if not any(message.id == action.id for message in waiting):
        return Refused("there is no such pending message")
    if action.kind == PendingMessageKind.STEERING:
        return Allowed(after=(lambda: queue.withdraw_steering(host, chat, action.id),))
    return Allowed()


def queued_messages_reordered(host: Host, sent: Dispatched, action: actions.QueuedMessagesReordered) -> Verdict:  # noqa: ARG001
    return Allowed()


def draft_changed(host: Host, sent: Dispatched, action: actions.DraftChanged) -> Verdict:  # noqa: ARG001
    return (from_user(action.draft) if action.draft is not None else None) or Allowed()


def working_directory_set(host: Host, sent: Dispatched, action: actions.WorkingDirectorySet) -> Verdict:
    chat: Any = sent.channel
    if directory_capability(host, chat.unit) is None:
        return Refused("this agent works in one directory")
    if action.directory not in (chat.unit.session.state.working_directories or ()):
        return Refused("a chat works in directories of its session")
    return Allowed()


def working_directory_removed(host: Host, sent: Dispatched, action: actions.WorkingDirectoryRemoved) -> Verdict:  # noqa: ARG001
    chat: Any = sent.channel
    if directory_capability(host, chat.unit) is None:
        return Refused("this agent works in one directory")
    return Allowed()


def is_read_changed(host: Host, sent: Dispatched, action: actions.IsReadChanged) -> Verdict:  # noqa: ARG001
    return Allowed()


def is_archived_changed(host: Host, sent: Dispatched, action: actions.IsArchivedChanged) -> Verdict:  # noqa: ARG001
    chat: Any = sent.channel
    return Refused("the default chat is archived with its session") if chat.default else Allowed()


RULES: Final[Rules] = {
    actions.PendingMessageSet: pending_message_set,
    actions.PendingMessageRemoved: pending_message_removed,
    actions.QueuedMessagesReordered: queued_messages_reordered,
    actions.DraftChanged: draft_changed,
    actions.WorkingDirectorySet: working_directory_set,
    actions.WorkingDirectoryRemoved: working_directory_removed,
    actions.IsReadChanged: is_read_changed,
    actions.IsArchivedChanged: is_archived_changed,
}
