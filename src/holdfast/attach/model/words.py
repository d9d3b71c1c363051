"""Text as people may see it: harmless to a terminal, short, in human units.

Everything that comes from a host passes through `safe` before it reaches a terminal: agents and tools say what they
like, and a terminal would obey.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt

from holdfast.protocol.common import URI, Markdown, Number, StringOrMarkdown, Timestamp
from holdfast.protocol.timestamps import to_milliseconds

__all__ = [
    "age",
    "count",
    "duration",
    "file",
    "one_line",
    "place",
    "plain",
    "safe",
    "shorten",
    "size",
    "span",
    "wall",
]

# What programs send to colour or move: CSI, OSC and the other sequences. They are dropped, not shown. None takes a
# line break with it.
_SEQUENCES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")

# Other controls, and the characters that turn the direction of text around: what a person approves must read as
# it will run. They are shown as a symbol that nobody can miss.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def safe(text: str) -> str:
    """The text with nothing in it that a terminal would obey. Line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    return _CONTROLS.sub(_symbol, text)


def _symbol(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code == 0x0D:
        return "\n"
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


_MARKDOWN: Final = MarkdownIt("commonmark")


def plain(text: StringOrMarkdown | None) -> str:
    """The words of a text, without the marks of Markdown."""
    if text is None:
        return ""
    if isinstance(text, Markdown):
        return safe("\n".join(_words(token) for token in _MARKDOWN.parse(text.markdown) if token.content))
    return safe(text)


def _words(token: Any) -> str:
    if token.children is None:
        return str(token.content).rstrip("\n")
    return "".join("\n" if child.type in ("softbreak", "hardbreak") else child.content for child in token.children)


def one_line(text: StringOrMarkdown | None) -> str:
    """The words of a text on a single line."""
    return " ".join(plain(text).split())


def shorten(text: str, width: int) -> str:
    """At most `width` characters; what was cut is a `…`."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def count(number: int, noun: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_STEPS: Final = ((60, "s"), (60, "m"), (24, "h"), (7, "d"), (52, "w"))


def span(seconds: float) -> str:
    """How long, in one unit: `3s`, `12m`, `5h`, `2d`, `7w`, `1y`."""
    value = max(int(seconds), 0)
    for most, unit in _STEPS:
        if value < most:
            return f"{value}{unit}"
        value //= most
    return f"{value}y"


def age(then: Timestamp | None, now: datetime) -> str:
    """How long ago; empty if nobody says when."""
    moment = wall(then)
    if moment is None:
        return ""
    seconds = (now - moment).total_seconds()
    return "now" if seconds < 60 else span(seconds)


def wall(timestamp: Timestamp | None) -> datetime | None:
    """A timestamp as a moment; None if it is none."""
    if timestamp is None:
        return None
    try:
        return datetime.fromtimestamp(to_milliseconds(timestamp) / 1000, UTC)
    except (ValueError, OverflowError):
        return None


def duration(milliseconds: Number | None) -> str:
    """How long something took: `0.4 s`, `12 s`, `3 min 5 s`."""
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def size(number: Number | None) -> str:
    """An amount of bytes."""
    if number is None:
        return ""
    value = float(number)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def place(uri: URI) -> str:
    """The last name in a URI: of a file or directory, what people call it."""
    path = unquote(urlsplit(uri).path).rstrip("/")
    return safe(path.rpartition("/")[2] or path or uri)


def file(uri: URI) -> str:
    """A file or directory as people write it: its path, or the URI where it has none."""
    parts = urlsplit(uri)
    return safe(unquote(parts.path)) if parts.scheme == "file" else safe(uri)
