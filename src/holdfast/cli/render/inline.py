"""Turns with the content they refer to put into them, for documents that are to stand alone. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from holdfast.protocol.chat.parts import ResourceResponsePart, ToolCallResponsePart
from holdfast.protocol.chat.state import ActiveTurn, Turn
from holdfast.protocol.chat.tools import (
    ToolResultEmbeddedResourceContent,
    ToolResultResourceContent,
    ToolResultTextContent,
)
from holdfast.protocol.common import URI, ContentRef

__all__ = ["Inline", "inlined"]

Inline = Mapping[URI, tuple[str, str]]
"""URI -> content type, and the content as base64."""

T = TypeVar("T", Turn, ActiveTurn)


def inlined(turn: T, contents: Inline) -> T:
    """The turn, with whatever `contents` has in the place of the references to it."""
    return replace(turn, response_parts=tuple(_part(part, contents) for part in turn.response_parts))


def _part(part: Any, contents: Inline) -> Any:
    match part:
        case ResourceResponsePart(uri=uri) if uri in contents:
            kind, data = contents[uri]
            return replace(part, uri=f"data:{kind};base64,{data}", content_type=kind)
        case ToolCallResponsePart(tool_call=call):
            return replace(part, tool_call=_call(call, contents))
        case _:
            return part


def _call(call: Any, contents: Inline) -> Any:
    given = getattr(call, "tool_input", None)
    if isinstance(given, ContentRef) and given.uri in contents:
        text = _text(contents[given.uri][1])
        call = call if text is None else replace(call, tool_input=text)
    if getattr(call, "content", None):
        call = replace(call, content=tuple(_content(each, contents) for each in call.content))
    return call


def _content(content: Any, contents: Inline) -> Any:
    if not isinstance(content, ToolResultResourceContent) or content.uri not in contents:
        return content
    kind, data = contents[content.uri]
    text = _text(data) if kind.startswith("text/") or kind.endswith("json") else None
    if text is not None:
        return ToolResultTextContent(text=text)
    return ToolResultEmbeddedResourceContent(data=data, content_type=kind)


def _text(data: str) -> str | None:
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
