"""Keeping messages small where they are made (`--frame-budget`).

Text that streams goes on in a new part once a part is long; large tool input and output becomes content that
clients read when they want it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from holdfast.host import content
from holdfast.host.units import Chat
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.parts import MarkdownResponsePart, ReasoningResponsePart
from holdfast.protocol.chat.tools import (
    ToolResultContent,
    ToolResultEmbeddedResourceContent,
    ToolResultResourceContent,
    ToolResultTextContent,
)
from holdfast.protocol.codec import Wire

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["forget", "shaped"]

_Streamed: TypeAlias = actions.Delta | actions.Reasoning


def shaped(host: Host, chat: Chat, action: Wire) -> Iterator[Wire]:
    """What is to be said instead of an agent's action."""
    if host.settings.frame_budget is None:
        yield action
        return
    match action:
        case actions.Delta() | actions.Reasoning():
            yield from _streamed(host, chat, action)
        case actions.ResponsePart(part=MarkdownResponsePart() | ReasoningResponsePart()):
            yield from _text_part(host, chat, action)
        case actions.ToolCallReady(tool_input=str() as text) if _size(text) > host.settings.inline_limit:
            kept = content.put_text(host, chat, text)
            yield replace(action, tool_input=kept)
        case actions.ToolCallContentChanged():
            yield replace(action, content=tuple(_kept(host, chat, block) for block in action.content))
        case actions.ToolCallComplete() if action.result.content:
            blocks = tuple(_kept(host, chat, block) for block in action.result.content)
            yield replace(action, result=replace(action.result, content=blocks))
        case _:
            yield action


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


# Streams


def _text_part(host: Host, chat: Chat, action: actions.ResponsePart) -> Iterator[Wire]:
    part: Any = action.part
    text = str(part.content)
    if _size(text) <= host.settings.text_part_limit:
        host.batch.put(chat.streams, part.id, (part.id, _size(text)))
        yield action
        return
    yield replace(action, part=replace(part, content=""))
    host.batch.put(chat.streams, part.id, (part.id, 0))
    kind = actions.Delta if isinstance(part, MarkdownResponsePart) else actions.Reasoning
    yield from _streamed(host, chat, kind(turn_id=action.turn_id, part_id=part.id, content=text))


def _streamed(host: Host, chat: Chat, action: _Streamed) -> Iterator[Wire]:
    """A delta, in a new part when the old one is long enough; a giant one in several."""
    part, length = chat.streams.get(action.part_id, (action.part_id, 0))
    limit = host.settings.text_part_limit
    rest = action.content
    while rest:
        if length >= limit:
            part, length = host.ids.new(), 0
            kind = MarkdownResponsePart if isinstance(action, actions.Delta) else ReasoningResponsePart
            yield actions.ResponsePart(turn_id=action.turn_id, part=kind(id=part, content=""))
        room = limit - length
        # A character takes four bytes at the most.
        piece = rest if _size(rest) <= room else rest[: max(1, room // 4)]
        rest = rest[len(piece) :]
        length += _size(piece)
        yield (
            action
            if piece is action.content and part == action.part_id
            else replace(action, part_id=part, content=piece)
        )
    host.batch.put(chat.streams, action.part_id, (part, length))


def forget(host: Host, chat: Chat) -> None:
    """The turn is over."""
    host.batch.assign(chat, "streams", {})


# Tool output


def _kept(host: Host, chat: Chat, block: ToolResultContent) -> ToolResultContent:
    limit = host.settings.inline_limit
    match block:
        case ToolResultTextContent(text=text) if _size(text) > limit:
            return _reference(host, chat, text.encode(), "text/plain; charset=utf-8")
        case ToolResultEmbeddedResourceContent(data=data, content_type=kind) if len(data) > limit:
            try:
                return _reference(host, chat, base64.b64decode(data, validate=True), kind)
            except binascii.Error:
                return block
    return block


def _reference(host: Host, chat: Chat, data: bytes, content_type: str) -> ToolResultResourceContent:
    kept = content.put(host, chat, data, content_type)
    return ToolResultResourceContent(
        uri=kept.uri, size_hint=kept.size_hint, content_type=kept.content_type, nonce=kept.nonce
    )
