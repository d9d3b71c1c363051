"""The transcript: thousands of blocks on a few lines of terminal.

Only what changed is drawn again: a block whose `source` is the same keeps its lines, text that grows keeps the lines
of what is finished, and of the screen only the lines that differ are painted.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from holdfast.attach.model import tools
from holdfast.attach.model.contents import Contents, known
from holdfast.attach.model.folding import Fold, can_fold, fold_of, toggled
from holdfast.attach.model.transcript import Block, Older, Prose, Tool, looks_same
from holdfast.attach.paint import blocks as paint
from holdfast.attach.paint.console import Line
from holdfast.attach.paint.markdown import Stream

__all__ = ["Transcript"]

_MORE: Final = " ▼ more "

_MARGIN: Final = 2
"""Columns at the left, where the mark of the selected block stands."""


_BUDGET: Final = 0.015
"""Seconds that drawing may take at a time: what is on the screen comes at once, the rest bit by bit."""

_PAUSE: Final = 0.005
"""Seconds for keys and other work before the next bit."""


@dataclass(slots=True)
class _Entry:
    """A block and its lines. `drawn` is what they were drawn of, `stamp` under which circumstances."""

    block: Block
    gap: int = 0
    lines: list[Line] = field(default_factory=list)
    strips: list[Strip] = field(default_factory=list)
    drawn: Block | None = None
    stamp: int = 0
    missed: int | None = None
    """How much content was known when something that it shows was not."""
    stream: Stream | None = None

    @property
    def height(self) -> int:
        return self.gap + len(self.strips) if self.strips else 0


class Transcript(ScrollView, can_focus=True):
    """Follows the end until somebody scrolls up, and then stands still whatever comes."""

    DEFAULT_CSS = """
    Transcript { height: 1fr; overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "previous", "up", show=False),
        Binding("down,j", "next", "down", show=False),
        Binding("pageup,b", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home,g", "top", "top", show=False),
        Binding("end,G", "bottom", "end", show=False),
        Binding("enter,space", "fold", "fold", key_display="⏎"),
        Binding("f", "fold_all", "fold all", show=False),
    ]

    class NearTop(Message):
        """Older turns are wanted."""

    class Focused(Message):
        """It was entered or left."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._all: list[_Entry] = []
        self._entries: list[_Entry] = []
        """Those that are drawn and have lines: neighbours, around what people look at."""
        self._tops: list[int] = []
        self._height = 0
        self.is_whole = True
        """Whether there is nothing above that is not drawn yet."""
        self._folds: dict[str, Fold] = {}
        self._contents: Contents = {}
        self._width = 0
        self._stamp = 0
        self._shown: list[Strip] = []
        self._keeps_end = True
        self._goes_to: str | None = None
        self.selected: str | None = None

    # What is shown

    def show(self, blocks: Sequence[Block], contents: Contents) -> None:
        """Show these blocks; what is the same as before costs next to nothing."""
        self._contents = contents
        same = 0
        for entry, block in zip(self._all, blocks, strict=False):
            if entry.block is not block:
                break
            same += 1
        by_key = {entry.block.key: entry for entry in self._all[same:]}
        entries = self._all[:same]
        for block in blocks[same:]:
            entry = by_key.get(block.key) or _Entry(block)
            entry.block = block
            entry.gap = 0 if not entries or paint.is_tight(entries[-1].block, block) else 1
            entries.append(entry)
        self._all = entries
        self._arrange()

    def forget(self) -> None:
        """Another chat is shown: nothing of this one matters any more."""
        self._all, self._folds, self.selected, self._keeps_end = [], {}, None, True

    def _arrange(self) -> None:
        """Draw what changed, and keep on the screen what people look at: the end, or the block at the top."""
        width = self.scrollable_content_region.width - _MARGIN
        if width <= 0:
            return  # not on the screen: there is nothing to draw for
        if width != self._width:
            self._width = width
            self._stamp += 1
        anchor = None if self._keeps_end else self._anchor()
        first, end = self._draw_around(anchor, width)
        self._entries = [entry for entry in self._all[first:end] if entry.strips]
        tops, top = [], 0
        for entry in self._entries:
            tops.append(top)
            top += entry.height
        self._tops, self._height, self.is_whole = tops, top, first == 0
        size = Size(self.scrollable_content_region.width, top)
        if size != self.virtual_size:
            self.virtual_size = size
        self._scroll_to_anchor(anchor)
        self._paint_changes()
        if first > 0 or end < len(self._all):
            self.set_timer(_PAUSE, self._arrange)

    def _draw_around(self, anchor: tuple[str, int] | None, width: int) -> tuple[int, int]:
        """Draw from where people look outwards, as much as time allows; which entries are drawn."""
        keys = [entry.block.key for entry in self._all] if anchor is not None else []
        middle = keys.index(anchor[0]) if anchor is not None and anchor[0] in keys else len(self._all)
        until = time.monotonic() + _BUDGET
        end, below = middle, 0
        while end < len(self._all) and self._drew(self._all[end], width, until, must=below < self.size.height):
            below += self._all[end].height
            end += 1
        first, above = middle, 0
        while first > 0 and self._drew(self._all[first - 1], width, until, must=below + above < self.size.height):
            first -= 1
            above += self._all[first].height
        return first, end

    def _drew(self, entry: _Entry, width: int, until: float, *, must: bool) -> bool:
        """Draw an entry if it is not, and there is time or it has to be; whether it is drawn."""
        if self._is_drawn(entry):
            return True
        if not must and time.monotonic() > until:
            return False
        self._draw(entry, width)
        return True

    def _is_drawn(self, entry: _Entry) -> bool:
        """Whether an entry looks as it should."""
        block, before = entry.block, entry.drawn
        if before is None or entry.stamp != self._stamp or entry.missed not in (None, len(self._contents)):
            return False
        if before is not block:
            if not looks_same(before, block):
                return False
            entry.drawn = block
        return True

    def _draw(self, entry: _Entry, width: int) -> None:
        block = entry.block
        if isinstance(block, Prose) and (entry.stream is None or entry.stream.width != width):
            entry.stream = Stream(width)
        fold = fold_of(block, self._folds)
        lines = paint.lines(block, paint.Drawing(width, fold, self._contents, entry.stream))
        # Of a text that grows the lines of what is finished are the same objects as before.
        same = 0
        for old, new in zip(entry.lines, lines, strict=False):
            if old is not new:
                break
            same += 1
        entry.strips = [*entry.strips[:same], *(Strip(line) for line in lines[same:])]
        entry.lines, entry.drawn, entry.stamp = lines, block, self._stamp
        references = tools.references(block.view.sections) if isinstance(block, Tool) else ()
        has_all = all(known(each, self._contents) is not None for each in references)
        entry.missed = None if has_all else len(self._contents)

    def on_resize(self) -> None:
        self._arrange()

    # Where people look

    def _anchor(self) -> tuple[str, int] | None:
        """The block at the top of the screen, and how far into it the screen begins."""
        if self._goes_to is not None:
            key, self._goes_to = self._goes_to, None
            return key, 0
        index = self._at(self.scroll_offset.y)
        if index is None:
            return None
        if isinstance(self._entries[index].block, Older) and index + 1 < len(self._entries):
            # Older turns come in between: stay with what follows them.
            index += 1
        return self._entries[index].block.key, self.scroll_offset.y - self._tops[index]

    def _scroll_to_anchor(self, anchor: tuple[str, int] | None) -> None:
        if anchor is None:
            if self._keeps_end:
                self.scroll_to(y=self.max_scroll_y, animate=False)
            return
        key, offset = anchor
        for entry, top in zip(self._entries, self._tops, strict=True):
            if entry.block.key == key:
                self.scroll_to(y=top + offset, animate=False)
                return

    def _at(self, line: int) -> int | None:
        """The entry that a line belongs to."""
        if not self._entries or line >= self._height:
            return None
        return bisect_right(self._tops, max(line, 0)) - 1

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value:
            self._keeps_end = new_value >= self.max_scroll_y
            if round(new_value) <= 0:
                self._want_older()
        elif new_value >= self.max_scroll_y:
            self._keeps_end = True

    def _want_older(self) -> None:
        if self.is_whole:
            self.post_message(self.NearTop())

    @property
    def keeps_end(self) -> bool:
        """Whether what comes is shown at once."""
        return self._keeps_end

    # Painting

    def render_line(self, y: int) -> Strip:
        strip = self._row(y)
        while len(self._shown) <= y:
            self._shown.append(Strip.blank(0))
        self._shown[y] = strip
        return strip.apply_style(self.rich_style)

    def _row(self, y: int) -> Strip:
        """A line of the screen. The last says that there is more below it."""
        strip = self._line(self.scroll_offset.y + y)
        if self._keeps_end or y != self.size.height - 1 or self.scroll_offset.y >= self.max_scroll_y:
            return strip
        return Strip([*strip.crop(0, strip.cell_length - len(_MORE)), Segment(_MORE, Style(color="cyan"))])

    def _line(self, line: int) -> Strip:
        width = self.size.width
        index = self._at(line)
        if index is None:
            return Strip.blank(width)
        entry = self._entries[index]
        within = line - self._tops[index] - entry.gap
        is_selected = self.has_focus and entry.block.key == self.selected and within >= 0
        mark = Segment("▌ ", Style(color="cyan")) if is_selected else Segment(" " * _MARGIN)
        if within < 0:
            return Strip.blank(width)
        return Strip([mark, *entry.strips[within]]).adjust_cell_length(width)

    def _paint_changes(self) -> None:
        """Have those lines of the screen painted that differ from what is there."""
        height = self.size.height
        changed = [y for y in range(height) if y >= len(self._shown) or self._shown[y] != self._row(y)]
        if changed:
            first, last = changed[0], changed[-1]
            self.refresh(Region(0, first, self.size.width, last - first + 1))

    def on_focus(self) -> None:
        if self.selected is None or self._index_of_selected() is None:
            self._select(self._last_visible())
        self.post_message(self.Focused())
        self.refresh()

    def on_blur(self) -> None:
        self.post_message(self.Focused())
        self.refresh()

    # Moving

    def _index_of_selected(self) -> int | None:
        keys = [entry.block.key for entry in self._entries]
        return keys.index(self.selected) if self.selected in keys else None

    def _last_visible(self) -> int | None:
        bottom = min(self.scroll_offset.y + self.size.height, self._height) - 1
        return self._at(bottom) if self._entries else None

    def _is_visible(self, index: int) -> bool:
        top = self.scroll_offset.y
        return self._tops[index] < top + self.size.height and self._tops[index] + self._entries[index].height > top

    def _select(self, index: int | None) -> None:
        self.selected = self._entries[index].block.key if index is not None else None
        self.refresh()

    def action_next(self) -> None:
        """To the next block; through one that is higher than the screen by halves of it."""
        index = self._index_of_selected()
        if index is None or not self._is_visible(index):
            self._select(self._last_visible())
            return
        below = self._tops[index] + self._entries[index].height - (self.scroll_offset.y + self.size.height)
        if below > 0:
            self._scroll_by(min(below, max(self.size.height // 2, 1)))
        elif index + 1 < len(self._entries):
            self._select(index + 1)
            over = self._tops[index + 1] + self._entries[index + 1].height - self.scroll_offset.y - self.size.height
            self._scroll_by(max(min(over, self._tops[index + 1] - self.scroll_offset.y), 0))

    def action_previous(self) -> None:
        """To the block before."""
        index = self._index_of_selected()
        if index is None or not self._is_visible(index):
            self._select(self._at(self.scroll_offset.y))
            return
        above = self.scroll_offset.y - self._tops[index]
        if above > 0:
            self._scroll_by(-min(above, max(self.size.height // 2, 1)))
        elif index > 0:
            self._select(index - 1)
            over = self.scroll_offset.y - self._tops[index - 1]
            self._scroll_by(-min(max(over, 0), max(self.size.height - 2, 1)))
        else:
            self._want_older()

    def _scroll_by(self, lines: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + lines, animate=False)

    def action_page(self, direction: int) -> None:
        """A screen up or down, two lines of it kept."""
        at_top = self.scroll_offset.y <= 0
        self._scroll_by(direction * max(self.size.height - 2, 1))
        if direction < 0 and at_top:
            self._want_older()

    def action_top(self) -> None:
        """To the beginning of what is here; once it is there already, to what is older."""
        was_there = self.is_whole and self.scroll_offset.y <= 0
        if self._all:
            self._keeps_end, self._goes_to = False, self._all[0].block.key
            self._arrange()
            self._select(0 if self._entries else None)
        if was_there:
            self._want_older()

    def action_bottom(self) -> None:
        self._keeps_end = True
        self._arrange()
        self._select(len(self._entries) - 1 if self._entries else None)

    def _forget_lines(self, key: str) -> None:
        for entry in self._all:
            if entry.block.key == key:
                entry.drawn = None

    # Folding

    @property
    def selected_block(self) -> Block | None:
        index = self._index_of_selected()
        return self._entries[index].block if index is not None else None

    def action_fold(self) -> None:
        """Unfold or fold the selected block."""
        block = self.selected_block
        if block is not None and can_fold(block):
            self._folds[block.key] = toggled(fold_of(block, self._folds))
            self._keeps_end = self._keeps_end and self._folds[block.key] is Fold.FOLDED
            self._forget_lines(block.key)
            self._arrange()

    def action_fold_all(self) -> None:
        """Unfold everything, or fold everything if nothing is folded."""
        blocks = [entry.block for entry in self._all if can_fold(entry.block)]
        is_open = all(fold_of(block, self._folds) is Fold.OPEN for block in blocks)
        self._folds = {block.key: Fold.FOLDED if is_open else Fold.OPEN for block in blocks}
        self._stamp += 1
        self._arrange()
