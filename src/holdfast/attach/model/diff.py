"""What an edit changes, line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from holdfast.attach.model import words
from holdfast.attach.model.contents import Contents, Unread, known
from holdfast.protocol.common import FileEdit, FileEditSide

__all__ = ["DiffKind", "DiffLine", "EditView", "edit_view", "lines"]

# Lines of context around a change, as everybody's `diff -u` has them.
_CONTEXT: Final = 3

# Lines beyond which exact comparing takes longer than a person waits for.
_MANY: Final = 2000


class DiffKind(Enum):
    SAME = " "
    ADDED = "+"
    REMOVED = "-"
    GAP = "@"


class DiffLine(NamedTuple):
    """A line with its number in the new file, or in the old one if it is removed."""

    kind: DiffKind
    number: int | None
    text: str


class EditView(NamedTuple):
    """An edit of one file: what happens to which file, how much, and the lines as far as they are known."""

    verb: str
    name: str
    path: str
    added: int | None
    removed: int | None
    lines: tuple[DiffLine, ...]
    missing: str = ""


def edit_view(edit: FileEdit, contents: Contents) -> EditView:
    """An edit as it is shown. While content is not there, `missing` says so and there are no lines."""
    before, after = _side(edit.before, contents), _side(edit.after, contents)
    stats = edit.diff
    name, path = _names(edit)
    view = EditView(
        verb=_verb(edit),
        name=name,
        path=path,
        added=int(stats.added) if stats and stats.added is not None else None,
        removed=int(stats.removed) if stats and stats.removed is not None else None,
        lines=(),
    )
    for side in (before, after):
        if isinstance(side, Unread):
            return view._replace(missing=side.reason)
    if not isinstance(before, str) or not isinstance(after, str):
        return view._replace(missing="reading …")
    found = lines(before, after)
    added = sum(line.kind is DiffKind.ADDED for line in found)
    removed = sum(line.kind is DiffKind.REMOVED for line in found)
    return view._replace(lines=found, added=added, removed=removed)


def _side(side: FileEditSide | None, contents: Contents) -> str | Unread | None:
    return "" if side is None else known(side.content, contents)


def _verb(edit: FileEdit) -> str:
    if edit.before is None:
        return "create"
    if edit.after is None:
        return "delete"
    return "edit" if edit.before.uri == edit.after.uri else "move"


def _names(edit: FileEdit) -> tuple[str, str]:
    old, new = (words.place(side.uri) if side else "" for side in (edit.before, edit.after))
    side = edit.after or edit.before
    path = words.safe(side.uri.removeprefix("file://")) if side else ""
    return (f"{old} → {new}" if _verb(edit) == "move" and old != new else new or old), path


def lines(before: str, after: str) -> tuple[DiffLine, ...]:
    """The changed lines with some context; a gap stands for what is left out."""
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=max(len(old), len(new)) > _MANY)
    shown: list[DiffLine] = []
    end = 0
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        if group[0][3] > end:
            shown.append(DiffLine(DiffKind.GAP, None, words.count(group[0][3] - end, "line")))
        for change in group:
            shown += _of(change, old, new)
        end = group[-1][4]
    if shown and end < len(new):
        shown.append(DiffLine(DiffKind.GAP, None, words.count(len(new) - end, "line")))
    return tuple(shown)


def _of(change: tuple[str, int, int, int, int], old: list[str], new: list[str]) -> Iterator[DiffLine]:
    tag, old_start, old_end, new_start, new_end = change
    if tag == "equal":
        for number in range(new_start, new_end):
            yield DiffLine(DiffKind.SAME, number + 1, words.safe(new[number]))
        return
    for number in range(old_start, old_end):
        yield DiffLine(DiffKind.REMOVED, number + 1, words.safe(old[number]))
    for number in range(new_start, new_end):
        yield DiffLine(DiffKind.ADDED, number + 1, words.safe(new[number]))
