"""Completions while a message is typed: scenarios after a slash, made-up files after an at sign.

Offsets on the wire count UTF-16 code units; Python counts code points. The two meet in `_split` and `_units`.
"""

from __future__ import annotations

import re
from typing import Final

from holdfast.agents.scripted import content
from holdfast.agents.scripted.play import Scenario
from holdfast.agents.scripted.table import SCENARIOS
from holdfast.protocol.chat.commands import CompletionItem
from holdfast.protocol.chat.messages import MessageResourceAttachment, SimpleMessageAttachment

__all__ = ["complete"]

# What is being typed: a slash at the very start, or an at sign at the start of a word; up to the cursor.
_COMMAND: Final = re.compile(r"/(?P<word>\S*)")
_FILE: Final = re.compile(r"(?:.*\s)?@(?P<word>\S*)", re.DOTALL)
_WORD: Final = re.compile(r"\S*")

_FILES: Final[dict[str, tuple[str, str]]] = {
    "README.md": ("text/markdown", "# Harbour\n\nA small program about boats.\n"),
    "greeting.py": ("text/x-python", 'def greet(name):\n    print("Hello " + name)\n'),
    "boats.csv": ("text/csv", "name,length\nHoldfast,12\nFairwind,9\n"),
    "notes/launch.md": ("text/markdown", "Launch: 3 May.\n"),
}


def complete(text: str, offset: int) -> tuple[CompletionItem, ...]:
    """What could be meant at the cursor; a chosen item replaces the whole word there."""
    before, after = _split(text, offset)
    rest = _WORD.match(after)
    assert rest is not None, "the pattern matches the empty string"
    end = _units(before + rest[0])
    if command := _COMMAND.fullmatch(before):
        typed = command["word"].lower()
        return tuple(_scenario(each, end) for each in SCENARIOS if _is_meant(each, typed))
    if file := _FILE.fullmatch(before):
        start = _units(before[: file.start("word") - 1])
        return tuple(_file(name, start, end) for name in _FILES if name.lower().startswith(file["word"].lower()))
    return ()


def _is_meant(scenario: Scenario, typed: str) -> bool:
    return scenario.name.startswith(typed) or (scenario.alias or "").startswith(typed or "\0")


def _scenario(scenario: Scenario, end: int) -> CompletionItem:
    return CompletionItem(
        insert_text=f"/{scenario.name} ",
        range_start=0,
        range_end=end,
        attachment=SimpleMessageAttachment(
            label=f"/{scenario.name}",
            meta={
                "command": scenario.name,
                "title": scenario.title,
                "description": scenario.description,
                **({"argumentHint": scenario.arguments} if scenario.arguments else {}),
            },
        ),
    )


def _file(name: str, start: int, end: int) -> CompletionItem:
    content_type, text = _FILES[name]
    reference = content.reference(text, content_type)
    return CompletionItem(
        insert_text=f"@{name} ",
        range_start=start,
        range_end=end,
        attachment=MessageResourceAttachment(
            label=name,
            display_kind="document",
            uri=reference.uri,
            size_hint=reference.size_hint,
            content_type=reference.content_type,
            nonce=reference.nonce,
            meta={"uri": reference.uri, "description": "A made-up file"},
        ),
    )


def _split(text: str, offset: int) -> tuple[str, str]:
    """The text before and after a UTF-16 offset. One inside a character counts as before it."""
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * offset]
    before = units.decode("utf-16-le", "ignore")
    return before, text[len(before) :]


def _units(text: str) -> int:
    """How many UTF-16 code units a text has."""
    return len(text) + sum(character > "\uffff" for character in text)
