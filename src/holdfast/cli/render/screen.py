"""Turns on a terminal: Markdown set as text, what matters less in grey. Pure, except that Rich draws it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from rich.console import RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from holdfast.cli.output import clean
from holdfast.cli.render import plain
from holdfast.cli.render.blocks import Asked, Block, Ended, Failed, File, Notice, Prose, Said, Thought, Tool

__all__ = ["drawn"]

_STYLES: Final[dict[type, str]] = {
    Said: "bold cyan",
    Thought: "dim italic",
    Tool: "dim",
    Asked: "yellow",
    Notice: "dim",
    File: "dim",
    Failed: "bold red",
    Ended: "dim",
}


def drawn(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Blocks with an empty line between them."""
    for block in blocks:
        if isinstance(block, Prose):
            # Links are shown with where they lead: a terminal that hides that invites tricks.
            yield Padding(Markdown(clean(block.markdown), hyperlinks=False), (0, 0, 1, 0))
            continue
        written: Any = plain.text_of([block])
        if written:
            yield Text(clean(written).rstrip("\n") + "\n", style=_STYLES[type(block)])
