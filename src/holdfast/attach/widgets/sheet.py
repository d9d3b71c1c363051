"""The lines of a transcript: which blocks are drawn, how high they are, and where each begins.

Only what changed is drawn again: a block whose value is the same keeps its lines, and a text that grows keeps those
of what is finished. A long chat is drawn bit by bit, outwards from what people look at.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from textual.strip import Strip

from holdfast.attach.model import tools
from holdfast.attach.model.contents import Contents, known
from holdfast.attach.model.folding import Fold, can_fold, fold_of, toggled
from holdfast.attach.model.transcript import Block, Prose, Tool, looks_same
from holdfast.attach.paint import blocks as paint
from holdfast.attach.paint.console import Line
from holdfast.attach.paint.markdown import Stream

__all__ = ["Entry", "Sheet"]

_BUDGET: Final = 0.015
"""Seconds that drawing may take at a time: what is on the screen comes at once, the rest bit by bit."""


@dataclass(slots=True)
class Entry:
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


class Sheet:
    """`entries` are those that are drawn and have lines: neighbours, each at its line in `tops`."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.tops: list[int] = []
        self.height = 0
        self.is_whole = True
        """Whether nothing above is still to be drawn."""
        self._all: list[Entry] = []
        self._folds: dict[str, Fold] = {}
        self._contents: Contents = {}
        self._width = 0
        self._stamp = 0

    def show(self, blocks: Sequence[Block], contents: Contents) -> None:
        """These are the blocks; what is the same as before costs next to nothing. Nothing is drawn yet."""
        self._contents = contents
        same = 0
        for entry, block in zip(self._all, blocks, strict=False):
            if entry.block is not block:
                break
            same += 1
        by_key = {entry.block.key: entry for entry in self._all[same:]}
        entries = self._all[:same]
        for block in blocks[same:]:
            entry = by_key.get(block.key) or Entry(block)
            entry.block = block
            entry.gap = 0 if not entries or paint.is_tight(entries[-1].block, block) else 1
            entries.append(entry)
        self._all = entries

    @property
    def first(self) -> str | None:
        """The key of the first block, drawn or not."""
        return self._all[0].block.key if self._all else None

    def index(self, key: str | None) -> int | None:
        """Where among the drawn entries a block is."""
        return next((index for index, entry in enumerate(self.entries) if entry.block.key == key), None)

    def at(self, line: int) -> int | None:
        """The drawn entry that a line belongs to."""
        if not self.entries or line >= self.height:
            return None
        return bisect_right(self.tops, max(line, 0)) - 1

    # Drawing

    def arrange(self, width: int, rows: int, around: str | None) -> bool:
        """Draw for a width: at least as much as `rows`, from the block `around` outwards or from the end upwards.

        Whether all is drawn; else there was no time, and this is to be called again.
        """
        if width != self._width:
            self._width = width
            self._stamp += 1
        first, end = self._draw_outwards(rows, around)
        self.entries = [entry for entry in self._all[first:end] if entry.strips]
        self.tops, top = [], 0
        for entry in self.entries:
            self.tops.append(top)
            top += entry.height
        self.height, self.is_whole = top, first == 0
        return first == 0 and end == len(self._all)

    def _draw_outwards(self, rows: int, around: str | None) -> tuple[int, int]:
        keys = [entry.block.key for entry in self._all] if around is not None else []
        middle = keys.index(around) if around is not None and around in keys else len(self._all)
        until = time.monotonic() + _BUDGET
        end, height = middle, 0
        while end < len(self._all) and self._drew(self._all[end], until, must=height < rows):
            height += self._all[end].height
            end += 1
        first = middle
        while first > 0 and self._drew(self._all[first - 1], until, must=height < rows):
            first -= 1
            height += self._all[first].height
        return first, end

    def _drew(self, entry: Entry, until: float, *, must: bool) -> bool:
        """Draw an entry if it is not, and there is time or it has to be; whether it is drawn."""
        if not self._is_drawn(entry):
            if not must and time.monotonic() > until:
                return False
            self._draw(entry)
        return True

    def _is_drawn(self, entry: Entry) -> bool:
        """Whether an entry looks as it should."""
        block, before = entry.block, entry.drawn
        if before is None or entry.stamp != self._stamp or entry.missed not in (None, len(self._contents)):
            return False
        if before is not block:
            if not looks_same(before, block):
                return False
            entry.drawn = block
        return True

    def _draw(self, entry: Entry) -> None:
        block = entry.block
        if isinstance(block, Prose) and (entry.stream is None or entry.stream.width != self._width):
            entry.stream = Stream(self._width)
        fold = fold_of(block, self._folds)
        lines = paint.lines(block, paint.Drawing(self._width, fold, self._contents, entry.stream))
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

    # Folding

    def toggle(self, key: str) -> Fold | None:
        """Unfold a block, or fold it; what it is now, None if there is nothing to fold."""
        for entry in self._all:
            if entry.block.key == key and can_fold(entry.block):
                self._folds[key] = toggled(fold_of(entry.block, self._folds))
                entry.drawn = None
                return self._folds[key]
        return None

    def toggle_all(self) -> None:
        """Unfold everything, or fold everything if nothing is folded."""
        blocks = [entry.block for entry in self._all if can_fold(entry.block)]
        is_open = all(fold_of(block, self._folds) is Fold.OPEN for block in blocks)
        self._folds = {block.key: Fold.FOLDED if is_open else Fold.OPEN for block in blocks}
        self._stamp += 1
