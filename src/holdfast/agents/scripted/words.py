"""Small helpers for the words of a scenario: quoting, shortening, counting, reading plain text."""

from __future__ import annotations

import re
from typing import Final

from holdfast.protocol.common import Markdown, StringOrMarkdown

__all__ = ["count", "first_words", "plain", "quoted", "tokens"]

_TOKEN: Final = re.compile(r"\s*\S+\s*")


def tokens(text: str) -> list[str]:
    """Cut a text into what streams at a time: a word with the space around it. Joined, they are the text."""
    return _TOKEN.findall(text) or ([text] if text else [])


def plain(text: StringOrMarkdown) -> str:
    """The characters of a text, whatever its form."""
    return text.markdown if isinstance(text, Markdown) else text


def quoted(text: str) -> str:
    """Somebody else's words as a Markdown quotation, with a blank line after it."""
    lines = text.strip().splitlines() or [""]
    return "".join(f"> {line}\n" for line in lines) + "\n"


def first_words(text: str, most: int = 8) -> str:
    """The beginning of a text, on one line."""
    words = text.split()
    return " ".join(words[:most]) + (" …" if len(words) > most else "")


def count(number: int, thing: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
