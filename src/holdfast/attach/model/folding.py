"""How much of a block is shown: what runs shows its end, what has ended folds away, what was changed stays."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from holdfast.attach.model.tools import Standing
from holdfast.attach.model.transcript import Block, Thinking, Tool

__all__ = ["Fold", "can_fold", "fold_of", "toggled"]


class Fold(Enum):
    """`PEEK` shows the end of what grows."""

    FOLDED = "folded"
    PEEK = "peek"
    OPEN = "open"


# What asks a person is folded: what it asks stands below the transcript, in full.
_TOOLS: Final = {
    Standing.RUNNING: Fold.PEEK,
    Standing.PREPARING: Fold.PEEK,
    Standing.FAILED: Fold.PEEK,
}


def can_fold(block: Block) -> bool:
    """Whether there is something to fold away."""
    return isinstance(block, Thinking) or (isinstance(block, Tool) and bool(block.view.sections))


def fold_of(block: Block, chosen: Mapping[str, Fold]) -> Fold:
    """How much is shown: what a person chose for the block, else what fits how it stands."""
    if not can_fold(block):
        return Fold.OPEN
    if block.key in chosen:
        return chosen[block.key]
    if isinstance(block, Thinking):
        return Fold.PEEK if block.grows else Fold.FOLDED
    assert isinstance(block, Tool), "only thoughts and tools fold"
    if block.view.has_edits and block.view.standing is Standing.DONE:
        return Fold.OPEN
    return _TOOLS.get(block.view.standing, Fold.FOLDED)


def toggled(fold: Fold) -> Fold:
    """What a person wants who toggles: more, until there is no more, then nothing."""
    return Fold.FOLDED if fold is Fold.OPEN else Fold.OPEN
