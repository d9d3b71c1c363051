"""The transcript: thousands of blocks on a few lines of terminal.

What is drawn is the `Sheet`'s business. Here is where people look, what is marked, and which lines of the screen have
to be painted: those that differ from what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from holdfast.attach.model.contents import Contents
from holdfast.attach.model.folding import Fold
from holdfast.attach.model.transcript import Block, Older
from holdfast.attach.widgets.sheet import Sheet

__all__ = ["Transcript"]

_MORE: Final = " ▼ more "

_MARGIN: Final = 2
"""Columns at the left, where the mark of the selected block stands."""

_PAUSE: Final = 0.005
"""Seconds for keys and other work before more is drawn."""


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
        Binding("enter,space", "fold", "fold", show=False),
        Binding("f", "fold_all", "fold all", show=False),
    ]

    class NearTop(Message):
        """Older turns are wanted."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sheet = Sheet()
        self.selected: str | None = None
        self._keeps_end = True
        self._goes_to: str | None = None
        self._shown: list[Strip] = []
        self._drawing: Timer | None = None

    # What is shown

    def show(self, blocks: Sequence[Block], contents: Contents) -> None:
        """Show these blocks."""
        self.sheet.show(blocks, contents)
        self._arrange()

    def forget(self) -> None:
        """Another chat is shown: nothing of this one matters any more."""
        self.sheet, self.selected, self._keeps_end = Sheet(), None, True

    def _arrange(self) -> None:
        """Keep on the screen what people look at: the end, or the block at the top."""
        width = self.scrollable_content_region.width
        if width <= _MARGIN:
            return  # not on the screen: there is nothing to draw for
        anchor = None if self._keeps_end else self._anchor()
        is_done = self.sheet.arrange(width - _MARGIN, self.size.height, anchor[0] if anchor is not None else None)
        size = Size(width, self.sheet.height)
        if size != self.virtual_size:
            self.virtual_size = size
        self._scroll_to_anchor(anchor)
        self._paint_changes()
        if not is_done and self._drawing is None:
            self._drawing = self.set_timer(_PAUSE, self._draw_more)

    def _draw_more(self) -> None:
        self._drawing = None
        self._arrange()

    def on_resize(self) -> None:
        self._arrange()

    # Where people look

    def _anchor(self) -> tuple[str, int] | None:
        """The block at the top of the screen, and how far into it the screen begins."""
        if self._goes_to is not None:
            key, self._goes_to = self._goes_to, None
            return key, 0
        entries = self.sheet.entries
        index = self.sheet.at(self.scroll_offset.y)
        if index is None:
            return None
        if isinstance(entries[index].block, Older) and index + 1 < len(entries):
            # Older turns come in between: stay with what follows them.
            index += 1
        return entries[index].block.key, self.scroll_offset.y - self.sheet.tops[index]

    def _scroll_to_anchor(self, anchor: tuple[str, int] | None) -> None:
        if anchor is not None:
            index = self.sheet.index(anchor[0])
            if index is not None:
                self.scroll_to(y=self.sheet.tops[index] + anchor[1], animate=False)
        elif self._keeps_end:
            self.scroll_to(y=self.max_scroll_y, animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value:
            self._keeps_end = new_value >= self.max_scroll_y
            if round(new_value) <= 0:
                self._want_older()
        elif new_value >= self.max_scroll_y:
            self._keeps_end = True

    def _want_older(self) -> None:
        if self.sheet.is_whole:
            self.post_message(self.NearTop())

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
        index = self.sheet.at(line)
        if index is None:
            return Strip.blank(self.size.width)
        entry = self.sheet.entries[index]
        within = line - self.sheet.tops[index] - entry.gap
        if within < 0:
            return Strip.blank(self.size.width)
        is_selected = self.has_focus and entry.block.key == self.selected
        mark = Segment("▌ ", Style(color="cyan")) if is_selected else Segment(" " * _MARGIN)
        return Strip([mark, *entry.strips[within]]).adjust_cell_length(self.size.width)

    def _paint_changes(self) -> None:
        """Have those lines of the screen painted that differ from what is there."""
        height = self.size.height
        changed = [y for y in range(height) if y >= len(self._shown) or self._shown[y] != self._row(y)]
        if changed:
            first, last = changed[0], changed[-1]
            self.refresh(Region(0, first, self.size.width, last - first + 1))

    def on_focus(self) -> None:
        if self.sheet.index(self.selected) is None:
            self._select(self._last_visible())
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # Moving

    def _last_visible(self) -> int | None:
        return self.sheet.at(min(self.scroll_offset.y + self.size.height, self.sheet.height) - 1)

    def _is_visible(self, index: int) -> bool:
        top = self.sheet.tops[index]
        return top < self.scroll_offset.y + self.size.height and self._bottom(index) > self.scroll_offset.y

    def _bottom(self, index: int) -> int:
        """The line after an entry."""
        return self.sheet.tops[index] + self.sheet.entries[index].height

    def _select(self, index: int | None) -> None:
        self.selected = self.sheet.entries[index].block.key if index is not None else None
        self.refresh()

    def action_next(self) -> None:
        """To the next block; through one that is higher than the screen by halves of it."""
        index = self.sheet.index(self.selected)
        if index is None or not self._is_visible(index):
            self._select(self._last_visible())
            return
        screen_end = self.scroll_offset.y + self.size.height
        below = self._bottom(index) - screen_end
        if below > 0:
            self._scroll_by(min(below, max(self.size.height // 2, 1)))
        elif index + 1 < len(self.sheet.entries):
            self._select(index + 1)
            over = self._bottom(index + 1) - screen_end
            self._scroll_by(max(min(over, self.sheet.tops[index + 1] - self.scroll_offset.y), 0))

    def action_previous(self) -> None:
        """To the block before."""
        index = self.sheet.index(self.selected)
        if index is None or not self._is_visible(index):
            self._select(self.sheet.at(self.scroll_offset.y))
            return
        above = self.scroll_offset.y - self.sheet.tops[index]
        if above > 0:
            self._scroll_by(-min(above, max(self.size.height // 2, 1)))
        elif index > 0:
            self._select(index - 1)
            over = self.scroll_offset.y - self.sheet.tops[index - 1]
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
        was_there = self.sheet.is_whole and self.scroll_offset.y <= 0
        self._keeps_end, self._goes_to = False, self.sheet.first
        self._arrange()
        self._select(0 if self.sheet.entries else None)
        if was_there:
            self._want_older()

    def action_bottom(self) -> None:
        """To the end, and stay there."""
        self._keeps_end = True
        self._arrange()
        self._select(len(self.sheet.entries) - 1 if self.sheet.entries else None)

    # Folding

    @property
    def selected_block(self) -> Block | None:
        index = self.sheet.index(self.selected)
        return self.sheet.entries[index].block if index is not None else None

    def action_fold(self) -> None:
        """Unfold or fold the selected block; what unfolds stays where it is."""
        if self.selected is not None:
            fold = self.sheet.toggle(self.selected)
            self._keeps_end = self._keeps_end and fold is not Fold.OPEN
            self._arrange()

    def action_fold_all(self) -> None:
        """Unfold everything, or fold everything if nothing is folded."""
        self.sheet.toggle_all()
        self._arrange()
