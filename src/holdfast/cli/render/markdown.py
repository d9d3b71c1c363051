"""A session as one Markdown document, for people to keep and to share. Pure.

The agent's own Markdown stands as it is, messages are quoted, and what is no Markdown (input, output, names) is
fenced or escaped so that it does not become any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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
    ended_words,
    speaker,
)
from holdfast.protocol.common import Markdown, StringOrMarkdown

__all__ = ["document", "escaped", "fenced", "markdown_of"]


def document(title: str, facts: Sequence[tuple[str, str]], chats: Iterable[tuple[str, Iterable[Block]]]) -> str:
    """A heading, a list of facts, and the blocks of each chat; several chats have headings of their own."""
    listed = list(chats)
    parts = [f"# {escaped(title)}\n", "".join(f"- {name}: {escaped(value)}\n" for name, value in facts)]
    for chat_title, blocks in listed:
        if len(listed) > 1:
            parts.append(f"## {escaped(chat_title)}\n")
        parts.append(markdown_of(blocks))
    return "\n".join(part for part in parts if part)


def markdown_of(blocks: Iterable[Block]) -> str:
    """Blocks with an empty line between them."""
    return "\n".join(f"{_WRITERS[type(block)](block).rstrip()}\n" for block in blocks if _is_there(block))


def _is_there(block: Block) -> bool:
    return not (isinstance(block, Ended) and not _WRITERS[Ended](block))


_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~!])")
_LIST_MARK: Final = re.compile(r"^(\s*)(?:([-+=])|(\d+)([.)]))", re.MULTILINE)


def escaped(text: str) -> str:
    """Text that shows as it is written."""
    return _LIST_MARK.sub(
        lambda match: match[1] + (f"\\{match[2]}" if match[2] else f"{match[3]}\\{match[4]}"),
        _SPECIAL.sub(r"\\\1", text),
    )


def fenced(text: str, language: str = "text") -> str:
    """A code block, with a fence longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def _either(text: StringOrMarkdown) -> str:
    return text.markdown if isinstance(text, Markdown) else escaped(text)


def _quoted(text: str) -> str:
    return "".join(f"> {line}".rstrip() + "\n" for line in text.rstrip("\n").split("\n"))


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _details(summary: str, body: str) -> str:
    return f"<details>\n<summary>{_html(summary)}</summary>\n\n{body.rstrip()}\n\n</details>\n"


def _said(block: Said) -> str:
    when = f" · {block.when}" if block.when else ""
    files = "".join(f"\n- attached: {escaped(label)}" for label in block.attachments)
    return f"**{speaker(block.by)}**{when}\n\n{_quoted(block.text)}{files}"


def _prose(block: Prose) -> str:
    return block.markdown


def _thought(block: Thought) -> str:
    return _details("Reasoning", block.markdown)


def _tool(block: Tool) -> str:
    parts = [f"{_either(block.message)}\n"]
    if block.input:
        parts.append(fenced(block.input))
    if block.output:
        parts.append(fenced(block.output))
    parts.append("".join(f"- {escaped(note)}\n" for note in (*(file.name for file in block.files), *block.notes)))
    return _details(f"{block.name}: {block.status}", "\n".join(part for part in parts if part))


def _asked(block: Asked) -> str:
    answers = "".join(f"- {escaped(question)}: {escaped(answer) or '(none)'}\n" for question, answer in block.answers)
    url = "\n<" + re.sub(r"[<>\s]", "", block.url) + ">\n" if block.url else ""
    return f"**Question** ({block.response or 'open'}): {escaped(block.message)}\n{url}\n{answers}"


def _notice(block: Notice) -> str:
    return f"*Note:* {_either(block.text)}"


def _file(block: File) -> str:
    return f"- {escaped(block.name)}"


def _failed(block: Failed) -> str:
    return f"**Failed:** {escaped(block.message)}"


def _ended(block: Ended) -> str:
    facts = ended_words(block)
    return f"*{facts}*" if facts else ""


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
