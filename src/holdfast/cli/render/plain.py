"""Turns in plain text, for terminals and pipes. Pure.

Messages are indented under who sent them, the agent's words stand as they are, everything else begins with a mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from holdfast.cli.render.blocks import (
    Asked,
    Block,
    Ended,
    Failed,
    File,
    Notice,
    Prose,
    Said,
    Thought,
    Tool,
    plain,
    speaker,
)

__all__ = ["text_of", "tool_line"]


def text_of(blocks: Iterable[Block]) -> str:
    """Blocks with an empty line between them."""
    written = (_WRITERS[type(block)](block).rstrip("\n") for block in blocks)
    return "".join(f"{each}\n\n" for each in written if each)


def indented(text: str, by: str = "  ") -> str:
    """Every line that has something on it, moved to the right."""
    return "".join(f"{by}{line}".rstrip() + "\n" for line in text.rstrip("\n").split("\n"))


def _said(block: Said) -> str:
    return f"{speaker(block.by)}:\n{indented(block.text)}" + "".join(
        f"  [attached: {label}]\n" for label in block.attachments
    )


def _prose(block: Prose) -> str:
    return block.markdown


def _thought(block: Thought) -> str:
    return "* Thought\n" + indented(block.markdown, "  | ")


def tool_line(block: Tool) -> str:
    """A tool call in one line."""
    message = plain(block.message)
    named = message if block.name in message else f"{block.name}: {message}"
    return f"* {named} [{block.status}]"


def _tool(block: Tool) -> str:
    parts = [f"{tool_line(block)}\n"]
    if block.input and not block.output:
        parts.append(indented(block.input, "  > "))
    if block.output:
        parts.append(indented(block.output, "  | "))
    parts += [f"  {note}\n" for note in (*(file.name for file in block.files), *block.notes)]
    return "".join(parts)


def _asked(block: Asked) -> str:
    url = f"  {block.url}\n" if block.url else ""
    answers = "".join(f"  {question}: {answer or '-'}\n" for question, answer in block.answers)
    return f"? {block.message} [{block.response or 'open'}]\n{url}{answers}"


def _notice(block: Notice) -> str:
    return f"* {plain(block.text)}"


def _file(block: File) -> str:
    return f"* {block.name}"


def _failed(block: Failed) -> str:
    return f"! {block.message}"


def _ended(block: Ended) -> str:
    if block.state == "complete":
        return ""
    return f"[{block.state}]"


_WRITERS: Final[dict[type, Callable[[Any], str]]] = {
    Said: _said,
    Prose: _prose,
    Thought: _thought,
    Tool: _tool,
    Asked: _asked,
    Notice: _notice,
    File: _file,
    Failed: _failed,
    Ended: _ended,
}
