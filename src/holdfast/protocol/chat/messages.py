"""Messages and their attachments (04-chat, section 4)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from holdfast.protocol.codec import OpenEnum, OpenUnion, Wire
from holdfast.protocol.common import (
    URI,
    AgentSelection,
    JsonObject,
    ModelSelection,
    Number,
    TextRange,
    TextSelection,
)

__all__ = [
    "Message",
    "MessageAnnotationsAttachment",
    "MessageAttachment",
    "MessageChatAttachment",
    "MessageEmbeddedResourceAttachment",
    "MessageKind",
    "MessageOrigin",
    "MessageResourceAttachment",
    "PendingMessage",
    "SimpleMessageAttachment",
]


class MessageKind(OpenEnum):
    """Who wrote a message. Clients may only send `user`."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    SYSTEM_NOTIFICATION = "systemNotification"
    AUTOMATION = "automation"


class MessageOrigin(Wire, frozen=True, kw_only=True):
    kind: MessageKind


class AttachmentBase(Wire, frozen=True, kw_only=True):
    """`range` is the span of the message text that mentions the attachment."""

    label: str
    range: TextRange | None = None
    display_kind: str | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class SimpleMessageAttachment(AttachmentBase, frozen=True, kw_only=True, tag_field="type", tag="simple"):
    model_representation: str | None = None


class MessageEmbeddedResourceAttachment(
    AttachmentBase, frozen=True, kw_only=True, tag_field="type", tag="embeddedResource"
):
    """`data` is base64."""

    data: str
    content_type: str
    selection: TextSelection | None = None


class MessageResourceAttachment(AttachmentBase, frozen=True, kw_only=True, tag_field="type", tag="resource"):
    """A `ContentRef`, read when needed."""

    uri: URI
    size_hint: Number | None = None
    content_type: str | None = None
    nonce: str | None = None
    selection: TextSelection | None = None


class MessageAnnotationsAttachment(AttachmentBase, frozen=True, kw_only=True, tag_field="type", tag="annotations"):
    """Absent ids mean all."""

    resource: URI
    annotation_ids: tuple[str, ...] | None = None


class MessageChatAttachment(AttachmentBase, frozen=True, kw_only=True, tag_field="type", tag="chat"):
    """The transcript of another chat through `end_turn`."""

    resource: URI
    end_turn: str | None = None


MessageAttachment: TypeAlias = OpenUnion[
    SimpleMessageAttachment
    | MessageEmbeddedResourceAttachment
    | MessageResourceAttachment
    | MessageAnnotationsAttachment
    | MessageChatAttachment
]


class Message(Wire, frozen=True, kw_only=True):
    text: str
    origin: MessageOrigin
    attachments: tuple[MessageAttachment, ...] | None = None
    model: ModelSelection | None = None
    agent: AgentSelection | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class PendingMessage(Wire, frozen=True, kw_only=True):
    """A message that waits: to steer the running turn, or in the queue."""

    id: str
    message: Message
