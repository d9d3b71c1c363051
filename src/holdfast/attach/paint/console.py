"""How things look: the styles by name, and the console that turns renderables into lines."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Final, TypeAlias

from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.theme import Theme

__all__ = ["CONSOLE", "Line", "indented", "lines_of"]

Line: TypeAlias = list[Segment]

_THEME: Final = Theme(
    {
        "quiet": "dim",
        "strong": "bold",
        "person": "bold cyan",
        "good": "green",
        "bad": "red",
        "attention": "bold yellow",
        "working": "cyan",
        "added": "green",
        "removed": "red",
        "markdown.paragraph": "none",
        "markdown.code": "cyan",
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "italic",
        "markdown.block_quote": "dim",
        "markdown.item.bullet": "cyan",
        "markdown.item.number": "cyan",
        "markdown.link": "underline",
        "markdown.link_url": "dim",
        "markdown.hr": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)

CONSOLE: Final = Console(
    file=io.StringIO(),
    force_terminal=True,
    color_system="truecolor",
    legacy_windows=False,
    theme=_THEME,
    emoji=False,
    markup=False,
    highlight=False,
    width=80,
)
"""Never prints. Nothing here depends on the terminal: the screen maps colours to what it can show."""


def lines_of(renderable: RenderableType, width: int) -> list[Line]:
    """The lines of a renderable at a width."""
    options = CONSOLE.options.update(width=max(width, 1), highlight=False)
    return [_trimmed(line) for line in CONSOLE.render_lines(renderable, options, pad=False)]


def _trimmed(line: Line) -> Line:
    """The line without the blanks that fill it up."""
    end = len(line)
    while end and _is_blank(line[end - 1]):
        end -= 1
    if not end:
        return []
    last = line[end - 1]
    return [*line[: end - 1], Segment(last.text.rstrip(), last.style)]


def _is_blank(segment: Segment) -> bool:
    return not segment.text.strip() and (segment.style is None or segment.style.bgcolor is None)


def indented(lines: Iterable[Line], first: str, rest: str, style: str = "quiet") -> list[Line]:
    """The lines behind a margin: one for the first, another for the others."""
    look = CONSOLE.get_style(style)
    return [[Segment(rest if index else first, look), *line] for index, line in enumerate(lines)]
