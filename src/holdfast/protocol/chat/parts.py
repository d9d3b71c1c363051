"""Response parts (04-chat, section 5): what a turn is made of, in stream order."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from holdfast.protocol.chat.inputs import ChatInputRequest, ChatInputResponseKind
from holdfast.protocol.chat.tools import ToolCallState
from holdfast.protocol.codec import OpenUnion, Wire
from holdfast.protocol.common import ContentRef, ErrorInfo, JsonObject, StringOrMarkdown
from holdfast.protocol.text import StreamedText

__all__ = [
    "ErrorResponsePart",
    "InputRequestResponsePart",
    "MarkdownResponsePart",
    "ReasoningResponsePart",
    "ResourceResponsePart",
    "ResponsePart",
    "SystemNotificationResponsePart",
    "ToolCallResponsePart",
]


class TextPart(Wire, frozen=True, kw_only=True):
    """A part that grows; `text` is its content as a plain string."""

    id: str
    content: StreamedText

    @property
    def text(self) -> str:
        return str(self.content)


class MarkdownResponsePart(TextPart, frozen=True, kw_only=True, tag_field="kind", tag="markdown"):
    pass


class ReasoningResponsePart(TextPart, frozen=True, kw_only=True, tag_field="kind", tag="reasoning"):
    pass


class ResourceResponsePart(ContentRef, frozen=True, kw_only=True, tag_field="kind", tag="contentRef"):
    pass


class ToolCallResponsePart(Wire, frozen=True, kw_only=True, tag_field="kind", tag="toolCall"):
    """Its id is the `tool_call_id`."""

    tool_call: ToolCallState


class SystemNotificationResponsePart(Wire, frozen=True, kw_only=True, tag_field="kind", tag="systemNotification"):
    content: StringOrMarkdown
    meta: JsonObject | None = field(default=None, name="_meta")


class InputRequestResponsePart(Wire, frozen=True, kw_only=True, tag_field="kind", tag="inputRequest"):
    """`response` absent: the question is open."""

    request: ChatInputRequest
    response: ChatInputResponseKind | None = None


class ErrorResponsePart(Wire, frozen=True, kw_only=True, tag_field="kind", tag="error"):
    """Why the turn ended in error; `resumable` true if the provider can go on. Made by `chat/error` only."""

    error: ErrorInfo
    resumable: bool | None = None


ResponsePart: TypeAlias = OpenUnion[
    MarkdownResponsePart
    | ReasoningResponsePart
    | ResourceResponsePart
    | ToolCallResponsePart
    | SystemNotificationResponsePart
    | InputRequestResponsePart
    | ErrorResponsePart
]
