"""The lines of each kind of block. The table at the end is the index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from rich.segment import Segment
from rich.text import Text

from holdfast.attach.model import transcript, words
from holdfast.attach.model.contents import Contents
from holdfast.attach.model.folding import Fold
from holdfast.attach.model.tools import Standing, ToolView
from holdfast.attach.model.transcript import Block
from holdfast.attach.paint.console import CONSOLE, Line, indented, lines_of
from holdfast.attach.paint.markdown import Stream, inline, markdown_lines
from holdfast.attach.paint.sections import sections_lines
from holdfast.protocol.common import Markdown, StringOrMarkdown

__all__ = ["STANDING_LOOKS", "Drawing", "is_tight", "lines", "says", "tool_title"]

# Lines of a section that are shown in the transcript; a screen of its own shows all.
_MOST: Final = 20
# Lines of what grows, when only its end is shown.
_PEEK: Final = 4


class Drawing(NamedTuple):
    """What a block is drawn with. `stream` keeps the finished lines of a text that grows."""

    width: int
    fold: Fold
    contents: Contents
    stream: Stream | None = None


def lines(block: Block, drawing: Drawing) -> list[Line]:
    """The lines of a block."""
    return _TABLE[type(block)](block, drawing)


def is_tight(above: Block, below: Block) -> bool:
    """Whether no blank line parts two blocks: rows of tools and thoughts, and the end of a turn."""
    small = (transcript.Tool, transcript.Thinking)
    if isinstance(below, transcript.Ended):
        return not isinstance(above, transcript.Said)
    return isinstance(above, small) and isinstance(below, small)


def _text(text: Text | str, width: int) -> list[Line]:
    return lines_of(Text(text, overflow="fold", tab_size=4) if isinstance(text, str) else text, width)


def says(text: StringOrMarkdown) -> Text:
    """What a tool says of itself, in one line."""
    if isinstance(text, Markdown):
        return inline(text.markdown)
    return Text(words.one_line(text))


def _older(block: transcript.Older, drawing: Drawing) -> list[Line]:
    text = "loading older turns …" if block.is_loading else "↑ older turns: go on up to load them"
    return lines_of(Text(text, style="quiet", justify="center"), drawing.width)


def _said(block: transcript.Said, drawing: Drawing) -> list[Line]:
    body = Text(block.text, style="strong", overflow="fold", tab_size=4)
    shown = lines_of(body, drawing.width - 2) if block.text else []
    if block.attachments:
        shown += lines_of(Text("⎘ " + ", ".join(block.attachments), style="quiet"), drawing.width - 2)
    if block.who:
        shown = [*lines_of(Text(f"from {block.who}", style="quiet"), drawing.width - 2), *shown]
    if block.is_sending:
        shown += lines_of(Text("sending …", style="quiet"), drawing.width - 2)
    return indented(shown, "❯ ", "  ", "person")


def _prose(block: transcript.Prose, drawing: Drawing) -> list[Line]:
    stream = drawing.stream or Stream(drawing.width)
    return stream.lines(str(block.text), grows=block.grows)


def _thinking(block: transcript.Thinking, drawing: Drawing) -> list[Line]:
    text = words.safe(str(block.text)).strip()
    title = "thinking …" if block.grows else "thought"
    if drawing.fold is Fold.FOLDED:
        first = words.shorten(" ".join(text.split()), max(drawing.width - len(title) - 6, 8))
        return lines_of(_folding(drawing.fold, Text(f"{title}  {first}", style="quiet")), drawing.width)
    body = lines_of(Text(text, style="quiet", overflow="fold"), drawing.width - 4)
    if drawing.fold is Fold.PEEK:
        body = body[-_PEEK:]
    head = lines_of(_folding(drawing.fold, Text(title, style="quiet")), drawing.width)
    return [*head, *indented(body, "  │ ", "  │ ")]


def _folding(fold: Fold, text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return Text.assemble(("▸ " if fold is Fold.FOLDED else "▾ ", "quiet"), text, no_wrap=True, overflow="ellipsis")


STANDING_LOOKS: Final = {
    Standing.PREPARING: ("…", "working"),
    Standing.ASKS: ("?", "attention"),
    Standing.RUNNING: ("●", "working"),
    Standing.SIGN_IN: ("?", "attention"),
    Standing.REVIEW: ("?", "attention"),
    Standing.DONE: ("✓", "good"),
    Standing.FAILED: ("✗", "bad"),
    Standing.DENIED: ("⊘", "bad"),
    Standing.SKIPPED: ("–", "quiet"),
    Standing.WITHHELD: ("⊘", "bad"),
    Standing.UNKNOWN: ("?", "quiet"),
}
_UNSAID: Final = {Standing.ASKS, Standing.RUNNING, Standing.DONE, Standing.PREPARING}
"""The mark says these well enough."""


def tool_title(view: ToolView) -> Text:
    """`✓ Run command  Ran rm -r build`."""
    mark, style = STANDING_LOOKS[view.standing]
    title = Text.assemble((f"{mark} ", style), (view.name, "strong"))
    if view.standing not in _UNSAID:
        title.append(f"  {view.standing.value}", style)
    said = says(view.says)
    if said.plain:
        title.append("  ").append_text(said)
    title.no_wrap, title.overflow = True, "ellipsis"
    return title


def _tool(block: transcript.Tool, drawing: Drawing) -> list[Line]:
    view = block.view
    head = lines_of(tool_title(view), drawing.width)
    if drawing.fold is Fold.FOLDED or not view.sections:
        return head
    body = sections_lines(view.sections, drawing.width - 4, drawing.contents, _MOST)
    if drawing.fold is Fold.PEEK:
        body = body[-_PEEK:]
    return [*head, *indented(body, "  │ ", "  │ ")]


def _asked(block: transcript.Asked, drawing: Drawing) -> list[Line]:
    mark = ("? ", "attention") if not block.outcome else ("✓ ", "good") if block.lines else ("⊘ ", "quiet")
    head = Text.assemble(mark, (words.one_line(block.message), "strong"))
    head.append(f"  {block.outcome}" if block.outcome else "  waits for your answer", "quiet")
    answers = [line for answer in block.lines for line in _text(answer, drawing.width - 4)]
    return [*lines_of(head, drawing.width), *indented(answers, "  │ ", "  │ ")]


def _notice(block: transcript.Notice, drawing: Drawing) -> list[Line]:
    width = drawing.width - 2
    if isinstance(block.text, Markdown):
        return indented(markdown_lines(block.text.markdown, width), "ⓘ ", "  ", "working")
    return indented(_text(words.safe(block.text), width), "ⓘ ", "  ", "working")


def _linked(block: transcript.Linked, drawing: Drawing) -> list[Line]:
    text = " ".join(filter(None, (block.name, f"[{block.about}]" if block.about else "")))
    return indented(_text(text or "[content]", drawing.width - 2), "⎘ ", "  ")


def _failed(block: transcript.Failed, drawing: Drawing) -> list[Line]:
    shown = _text(Text(block.message, style="bad", overflow="fold"), drawing.width - 2)
    hint = "The agent can go on from here: ^r resumes." if block.is_resumable else block.kind
    return indented([*shown, *_text(Text(hint, style="quiet"), drawing.width - 2)], "✗ ", "  ", "bad")


def _ended(block: transcript.Ended, drawing: Drawing) -> list[Line]:
    if not block.text:
        return []
    return [[Segment(f"─ {words.shorten(block.text, drawing.width - 2)}", CONSOLE.get_style("quiet"))]]


def _strange(block: transcript.Strange, drawing: Drawing) -> list[Line]:
    return _text(Text(f"[a part this version does not know: {block.kind}]", style="quiet"), drawing.width)


_TABLE: Final[dict[type, Callable[[Any, Drawing], list[Line]]]] = {
    transcript.Older: _older,
    transcript.Said: _said,
    transcript.Prose: _prose,
    transcript.Thinking: _thinking,
    transcript.Tool: _tool,
    transcript.Asked: _asked,
    transcript.Notice: _notice,
    transcript.Linked: _linked,
    transcript.Failed: _failed,
    transcript.Ended: _ended,
    transcript.Strange: _strange,
}
