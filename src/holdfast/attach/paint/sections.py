"""What a tool has to show: inputs, outputs, diffs, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.segment import Segment
from rich.text import Text

from holdfast.attach.model import words
from holdfast.attach.model.contents import Contents, Unread, known
from holdfast.attach.model.diff import DiffKind, DiffLine, EditView, edit_view
from holdfast.attach.model.tools import Section
from holdfast.attach.paint.console import CONSOLE, Line, lines_of
from holdfast.attach.paint.markdown import markdown_lines
from holdfast.protocol.common import ContentRef, FileEdit, Markdown

__all__ = ["diff_lines", "edit_title", "section_lines", "sections_lines"]


def sections_lines(sections: Sequence[Section], width: int, contents: Contents, most: int | None) -> list[Line]:
    """All sections, each cut after `most` lines."""
    return [line for section in sections for line in section_lines(section, width, contents, most)]


def section_lines(section: Section, width: int, contents: Contents, most: int | None) -> list[Line]:
    """A section: on one line with its label if that is enough."""
    body = _body(section, width, contents)
    if not section.label:
        return _cut(body, most)
    label = words.one_line(section.label)
    first = body[0] if body else []
    if len(body) <= 1 and len(label) + 2 + sum(segment.cell_length for segment in first) <= width:
        return [[Segment(f"{label}: ", CONSOLE.get_style("quiet")), *first]]
    return [[Segment(f"{label}:", CONSOLE.get_style("quiet"))], *_cut(body, most)]


def _body(section: Section, width: int, contents: Contents) -> list[Line]:
    match section.body:
        case FileEdit() as edit:
            return _edit(edit_view(edit, contents), width)
        case ContentRef() as reference:
            return _reference(reference, width, contents)
        case Markdown() as text:
            return markdown_lines(text.markdown, width)
        case text:
            return _verbatim(text, width)


def _verbatim(text: str, width: int) -> list[Line]:
    return lines_of(Text(words.safe(text).rstrip("\n"), overflow="fold", tab_size=4), width) if text else []


def _reference(reference: ContentRef, width: int, contents: Contents) -> list[Line]:
    found = known(reference, contents)
    if isinstance(found, str):
        return _verbatim(found, width)
    about = ", ".join(filter(None, (reference.content_type or "", words.size(reference.size_hint))))
    name = "" if reference.uri.startswith("data:") else f"{words.place(reference.uri)} "
    why = found.reason if isinstance(found, Unread) and found.reason != reference.content_type else ""
    state = "reading …" if found is None else why
    return _verbatim(" ".join(filter(None, (f"{name}[{about or 'content'}]", state))), width)


def _cut(lines: list[Line], most: int | None) -> list[Line]:
    if most is None or len(lines) <= most + 1:
        return lines
    more = f"… {words.count(len(lines) - most, 'more line')}"
    return [*lines[:most], [Segment(more, CONSOLE.get_style("quiet"))]]


# Edits


def edit_title(view: EditView) -> Text:
    """`edit greeting.py  +3 −2`."""
    title = Text.assemble((f"{view.verb} ", "quiet"), (view.name, "strong"))
    if view.added is not None:
        title.append(f"  +{view.added}", "added")
    if view.removed is not None:
        title.append(f" −{view.removed}", "removed")
    return title


def _edit(view: EditView, width: int) -> list[Line]:
    title = edit_title(view)
    if view.missing:
        title.append(f"  {view.missing}", "quiet")
    return [*lines_of(title, width), *diff_lines(view.lines, width)]


_LOOKS: Final = {
    DiffKind.SAME: "none",
    DiffKind.ADDED: "added",
    DiffKind.REMOVED: "removed",
    DiffKind.GAP: "quiet",
}


def diff_lines(lines: Sequence[DiffLine], width: int) -> list[Line]:
    """The lines of a diff, numbered; what is too long for the width goes on below."""
    digits = max((len(str(line.number)) for line in lines if line.number is not None), default=1)
    shown: list[Line] = []
    for line in lines:
        style = _LOOKS[line.kind]
        if line.kind is DiffKind.GAP:
            shown.append([Segment(f"{'⋯':>{digits}} {line.text}", CONSOLE.get_style(style))])
            continue
        margin = Segment(f"{line.number:>{digits}} ", CONSOLE.get_style("quiet"))
        look = CONSOLE.get_style(style)
        text = Text(f"{line.kind.value} {line.text}", style=look, overflow="fold", tab_size=4)
        pieces = lines_of(text, width - digits - 1)
        blank = Segment(" " * (digits + 1))
        shown += [[blank if index else margin, *piece] for index, piece in enumerate(pieces)]
    return shown
