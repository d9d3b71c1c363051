"""Markdown as lines, block by block, so that what is finished is never rendered again while more arrives.

The law that everything here rests on: however a text arrives, its lines are those of the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import markdown as rich_markdown
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from holdfast.attach.model import words
from holdfast.attach.paint.console import Line, lines_of

__all__ = ["Stream", "inline", "markdown_lines"]

# Raw HTML is text: a terminal shows none, and dropping it would hide what an agent said.
_PARSER: Final = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)")
"""A line as the parser counts them."""


class _Code(rich_markdown.CodeBlock):
    """Code without the box: it can be copied as it stands."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        syntax = Syntax(code, self.lexer_name, theme="ansi_dark", word_wrap=True, background_color="default")
        highlighted = syntax.highlight(code)
        highlighted.rstrip()
        yield Padding(highlighted, (0, 0, 0, 2), expand=False)


class _Heading(rich_markdown.Heading):
    """All headings begin where the text does."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Rule(rich_markdown.HorizontalRule):
    """A thin line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Rule(style="markdown.hr", characters="─")


class _Markdown(rich_markdown.Markdown):
    """Rich's renderer, on tokens that are parsed already."""

    elements: ClassVar[dict[str, type[rich_markdown.MarkdownElement]]] = {
        **rich_markdown.Markdown.elements,
        "fence": _Code,
        "code_block": _Code,
        "heading_open": _Heading,
        "hr": _Rule,
    }

    def __init__(
        self, tokens: list[Token]
    ) -> None:  # not the one above: it makes a parser, which costs more than this
        self.markup = ""
        self.parsed = tokens
        self.justify = None
        self.style = "none"
        self.hyperlinks = False
        self.code_theme = self.inline_code_theme = "ansi_dark"
        self.inline_code_lexer = None


def markdown_lines(text: str, width: int) -> list[Line]:
    """The lines of a whole text."""
    return _Pieces(width).lines(words.safe(text))


def inline(text: str) -> Text:
    """A short text of Markdown on one line, for titles: code and emphasis, no blocks."""
    shown = Text()
    for token in _PARSER.parseInline(words.safe(text).replace("\n", " ")):
        styles: list[str] = []
        for child in token.children or ():
            _add_inline(shown, styles, child)
    return shown


_STYLES: Final = {"strong": "bold", "em": "italic", "s": "strike"}


def _add_inline(shown: Text, styles: list[str], token: Token) -> None:
    if token.nesting == 1:
        styles.append(_STYLES.get(token.type.removesuffix("_open"), ""))
    elif token.nesting == -1 and styles:
        styles.pop()
    elif token.type == "code_inline":
        shown.append(token.content, "markdown.code")
    else:
        content = " " if token.type in ("softbreak", "hardbreak") else token.content
        shown.append(content, " ".join(filter(None, styles)))


def _is_blank(line: Line) -> bool:
    return not any(segment.text.strip() for segment in line)


class _Pieces:
    """Renders top-level blocks one by one, a blank line between them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.environment: dict[str, Any] = {}
        """What the parser keeps: the links that were defined so far."""

    def lines(self, source: str) -> list[Line]:
        lines: list[Line] = []
        for tokens in self._blocks(source):
            self._add(lines, tokens)
        return lines

    def tail(self, source: str) -> list[Line]:
        """The lines of what may still change: what it defines is not kept, it may be half of a definition."""
        before = {**self.environment, "references": dict(self.environment.get("references", {}))}
        lines = self.lines(source)
        self.environment = before
        return lines

    def _add(self, lines: list[Line], tokens: list[Token]) -> None:
        rendered = lines_of(_Markdown(tokens), self.width)
        while rendered and _is_blank(rendered[-1]):
            rendered.pop()
        while rendered and _is_blank(rendered[0]):
            del rendered[0]
        if lines and rendered:
            lines.append([])
        lines += rendered

    def _blocks(self, source: str) -> Iterator[list[Token]]:
        block: list[Token] = []
        for token in _PARSER.parse(source, self.environment):
            block.append(token)
            if token.level == 0 and token.nesting <= 0:
                yield block
                block = []


def _settled(source: str) -> int:
    """How much of a text that grows will never be parsed differently: all blocks but the last that is complete.

    A line that is not complete can still turn into anything.
    """
    complete = source[: source.rfind("\n") + 1]
    starts = [token.map[0] for token in _PARSER.parse(words.safe(complete), {}) if token.level == 0 and token.map]
    if len(starts) < 2:
        return 0
    return sum(map(len, _LINE.findall(complete)[: starts[-1]]))


class Stream:
    """The lines of a text that grows. A text that does not continue the one before begins anew."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._pieces = _Pieces(width)
        self._settled = ""
        self._lines: list[Line] = []

    def lines(self, text: str, *, grows: bool = True) -> list[Line]:
        """The lines of the text as it is now."""
        if not grows and "]:" in text:
            return markdown_lines(text, self.width)  # what is defined at the end counts from the beginning
        if not text.startswith(self._settled):
            self._pieces = _Pieces(self.width)
            self._settled, self._lines = "", []
        tail = text[len(self._settled) :]
        end = _settled(tail)
        if end:
            self._keep(tail[:end])
            tail = tail[end:]
        rest = self._pieces.tail(words.safe(tail))
        return [*self._lines, *([[]] if self._lines and rest else []), *rest]

    def _keep(self, source: str) -> None:
        self._settled += source
        added = self._pieces.lines(words.safe(source))
        if self._lines and added:
            self._lines.append([])
        self._lines += added
