"""Questions several rules and commands ask before they allow something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.host import lookup
from holdfast.host.units import Chat, Session
from holdfast.host.verdict import Refused
from holdfast.ports.journal import ReadTurns
from holdfast.protocol.chat.messages import Message, MessageChatAttachment, MessageKind
from holdfast.protocol.chat.state import ChatInteractivity
from holdfast.protocol.root.state import MultipleWorkingDirectoriesCapability

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["attachments", "directory_capability", "from_user", "writable"]


def writable(chat: Chat) -> Refused | None:
    """Whether clients may write in a chat at all."""
    interactivity = chat.state.interactivity
    if interactivity not in (None, ChatInteractivity.FULL):
        return Refused(f"this chat is {interactivity}")
    return None


def from_user(message: Message) -> Refused | None:
    """Clients speak for users only."""
    if message.origin.kind != MessageKind.USER:
        return Refused("clients send messages of origin user")
    return None


def directory_capability(host: Host, unit: Session) -> MultipleWorkingDirectoriesCapability | None:
    """What the session's agent permits about directories; None: it works in one."""
    agent = host.agents.get(unit.session.state.provider)
    capabilities = agent.capabilities if agent else None
    return capabilities.multiple_working_directories if capabilities else None


def attachments(host: Host, message: Message) -> Refused | Message | None:
    """Check the chats that come with a message; one without an end is pinned to what is there now.

    None: the message is fine as it is.
    """
    pinned = []
    for attachment in message.attachments or ():
        found = _pinned(host, attachment) if isinstance(attachment, MessageChatAttachment) else attachment
        if isinstance(found, Refused):
            return found
        pinned.append(found)
    if message.attachments is None or tuple(pinned) == message.attachments:
        return None
    return replace(message, attachments=tuple(pinned))


def _pinned(host: Host, attachment: MessageChatAttachment) -> Refused | MessageChatAttachment:
    source = lookup.channel(host, attachment.resource)
    if not isinstance(source, Chat):
        return Refused(f"there is no chat {attachment.resource[:200]!r} to attach")
    if attachment.end_turn is None:
        page = lookup.turns(host, source, ReadTurns(source.uri, None, 1, None))
        return replace(attachment, end_turn=page.turns[-1].turn_id if page.turns else None)
    if lookup.find_turn(host, source, attachment.end_turn) is None:
        return Refused(f"the attached chat has no completed turn {attachment.end_turn[:100]!r}")
    return attachment
