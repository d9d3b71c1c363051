"""Completions: when to ask for them, and what accepting one makes of the text.

The protocol counts UTF-16 code units, Python characters; the difference lives here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from holdfast.protocol.chat.commands import CompletionItem
from holdfast.protocol.chat.messages import MessageAttachment
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import TextPosition, TextRange

__all__ = ["Completed", "accept", "from_utf16", "kept", "to_utf16", "wants"]


def to_utf16(text: str, offset: int) -> int:
    """The UTF-16 code units before a character."""
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


def from_utf16(text: str, units: int) -> int:
    """The character at so many UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore"))


def wants(text: str, cursor: int, triggers: Sequence[str]) -> bool:
    """Whether the word at the cursor begins with a character that completions are offered for."""
    before = text[:cursor]
    word = before.split()[-1] if before and not before[-1].isspace() else ""
    return bool(word) and word[0] in triggers


class Completed(NamedTuple):
    """The text after accepting an item, where the cursor is, and what is attached for it."""

    text: str
    cursor: int
    attachment: MessageAttachment


def accept(text: str, cursor: int, item: CompletionItem) -> Completed:
    """Put an item into the text, in place of its range or at the cursor."""
    start = cursor if item.range_start is None else from_utf16(text, item.range_start)
    end = cursor if item.range_end is None else from_utf16(text, item.range_end)
    whole = text[:start] + item.insert_text + text[end:]
    stop = start + len(item.insert_text)
    return Completed(whole, stop, _placed(item.attachment, whole, start, stop))


def _position(text: str, offset: int) -> TextPosition:
    before = text[:offset]
    line_start = before.rfind("\n") + 1
    return TextPosition(line=before.count("\n"), character=to_utf16(before[line_start:], len(before) - line_start))


def kept(text: str, attached: Sequence[tuple[str, MessageAttachment]]) -> tuple[MessageAttachment, ...]:
    """The attachments whose words still stand in the text, where they stand now. Each word counts once."""
    found: list[MessageAttachment] = []
    used: set[int] = set()
    for inserted, attachment in attached:
        word = inserted.strip()
        start = text.find(word)
        while start in used:
            start = text.find(word, start + 1)
        if not word or start < 0:
            continue
        used.add(start)
        found.append(_placed(attachment, text, start, start + len(word)))
    return tuple(found)


def _placed(attachment: MessageAttachment, text: str, start: int, end: int) -> MessageAttachment:
    """The attachment with the span of the text that mentions it; everything else as it came."""
    if isinstance(attachment, Unknown):
        return attachment
    return replace(attachment, range=TextRange(start=_position(text, start), end=_position(text, end)))
