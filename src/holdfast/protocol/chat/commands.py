"""Commands that create, read and dispose of chats (04-chat, section 12)."""

from __future__ import annotations

from typing import TypeAlias

from holdfast.protocol.chat.messages import Message, MessageAttachment
from holdfast.protocol.chat.state import SideChatSelection
from holdfast.protocol.codec import OpenEnum, OpenUnion, Wire
from holdfast.protocol.common import URI
from holdfast.protocol.params import Empty, Params

__all__ = [
    "ChatSource",
    "CompletionItem",
    "CompletionItemKind",
    "CompletionsParams",
    "CompletionsResult",
    "CreateChatParams",
    "DisposeChatParams",
    "FetchTurnsParams",
    "FetchTurnsResult",
    "ForkChatSource",
    "SideChatSource",
]


class ForkChatSource(Wire, frozen=True, kw_only=True, tag_field="kind", tag="fork"):
    """Copy the history through a completed turn."""

    chat: URI
    turn_id: str


class SideChatSource(Wire, frozen=True, kw_only=True, tag_field="kind", tag="sideChat"):
    """Give the model the source's history, show none of it."""

    chat: URI
    turn_id: str
    selection: SideChatSelection | None = None


ChatSource: TypeAlias = OpenUnion[ForkChatSource | SideChatSource]


class CreateChatParams(Params, frozen=True, kw_only=True):
    """`channel` is the session, `chat` the new chat's URI."""

    chat: URI
    initial_message: Message | None = None
    source: ChatSource | None = None
    working_directories: tuple[URI, ...] | None = None


class DisposeChatParams(Params, frozen=True, kw_only=True):
    pass


class FetchTurnsParams(Params, frozen=True, kw_only=True):
    cursor: str | None = None


class FetchTurnsResult(Empty, frozen=True, kw_only=True):
    """The turns come as a `chat/turnsLoaded` action before this answer."""


class CompletionItemKind(OpenEnum):
    USER_MESSAGE = "userMessage"


class CompletionsParams(Params, frozen=True, kw_only=True):
    """`offset` counts UTF-16 code units of `text`."""

    kind: CompletionItemKind
    text: str
    offset: int


class CompletionItem(Wire, frozen=True, kw_only=True):
    """Replace the half-open UTF-16 range, or insert at the cursor, and attach `attachment`."""

    insert_text: str
    attachment: MessageAttachment
    range_start: int | None = None
    range_end: int | None = None


class CompletionsResult(Wire, frozen=True, kw_only=True):
    items: tuple[CompletionItem, ...]
