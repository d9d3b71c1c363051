"""Edits as diffs, and content by reference."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.attach.model.contents import LARGEST, Unread, known
from holdfast.attach.model.diff import DiffKind, DiffLine, EditView, edit_view, lines
from holdfast.protocol.common import ContentRef, FileEdit, FileEditDiffStats, FileEditSide

SAME, ADDED, REMOVED, GAP = DiffKind.SAME, DiffKind.ADDED, DiffKind.REMOVED, DiffKind.GAP


def ref(text: str) -> ContentRef:
    return ContentRef(uri="data:text/plain;base64," + base64.b64encode(text.encode()).decode())


def side(uri: str, text: str) -> FileEditSide:
    return FileEditSide(uri=uri, content=ref(text))


def test_a_change_has_its_context_and_gaps_say_what_is_left_out() -> None:
    before = "".join(f"{number}\n" for number in range(1, 21))
    after = before.replace("10\n", "ten\n")
    assert lines(before, after) == (
        DiffLine(GAP, None, "6 lines"),
        *(DiffLine(SAME, number, str(number)) for number in (7, 8, 9)),
        DiffLine(REMOVED, 10, "10"),
        DiffLine(ADDED, 10, "ten"),
        *(DiffLine(SAME, number, str(number)) for number in (11, 12, 13)),
        DiffLine(GAP, None, "7 lines"),
    )


documents = st.lists(st.sampled_from(("a", "b", "c", "")), max_size=12).map("\n".join)


@given(documents, documents)
def test_a_diff_tells_the_whole_change(before: str, after: str) -> None:
    shown = lines(before, after)
    old, new = before.splitlines(), after.splitlines()
    removed = [line.number for line in shown if line.kind is REMOVED]
    added = [line.number for line in shown if line.kind is ADDED]
    assert [old[number - 1] for number in removed if number] == [line.text for line in shown if line.kind is REMOVED]
    kept = [line for index, line in enumerate(old, 1) if index not in removed]
    assert kept == [line for index, line in enumerate(new, 1) if index not in added]
    assert bool(shown) == (old != new)


def test_an_edit_names_its_file_and_counts_its_lines() -> None:
    edit = FileEdit(before=side("file:///code/a.py", "x\n"), after=side("file:///code/a.py", "y\nz\n"))
    assert edit_view(edit, {}) == EditView(
        verb="edit",
        name="a.py",
        path="/code/a.py",
        added=2,
        removed=1,
        lines=(DiffLine(REMOVED, 1, "x"), DiffLine(ADDED, 1, "y"), DiffLine(ADDED, 2, "z")),
    )


def test_files_are_created_deleted_and_moved() -> None:
    one, other = side("file:///a", "x"), side("file:///b", "x")
    assert [
        edit_view(edit, {})[:2]
        for edit in (
            FileEdit(after=one),
            FileEdit(before=one),
            FileEdit(before=one, after=other),
        )
    ] == [("create", "a"), ("delete", "a"), ("move", "a → b")]


def test_an_edit_whose_content_is_not_here_yet_says_so_and_keeps_the_count_it_was_given() -> None:
    away = FileEditSide(uri="file:///a", content=ContentRef(uri="ahp-content:/1", nonce="n"))
    edit = FileEdit(before=away, after=side("file:///a", "y"), diff=FileEditDiffStats(added=5, removed=4))
    view = edit_view(edit, {})
    assert (view.missing, view.added, view.removed, view.lines) == ("reading …", 5, 4, ())
    assert edit_view(edit, {("ahp-content:/1", "n"): Unread("not found")}).missing == "not found"
    assert edit_view(edit, {("ahp-content:/1", "n"): "x"}).lines


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        (ContentRef(uri="data:text/plain;base64,aGk="), "hi"),
        (ContentRef(uri="data:,a%20b"), "a b"),
        (ContentRef(uri="data:image/png;base64,AAAA"), Unread("image/png")),
        (ContentRef(uri="data:text/plain;base64,!"), Unread("not text")),
        (ContentRef(uri="data:text/plain;base64,/w=="), Unread("not text")),
        (ContentRef(uri="data:nothing"), Unread("nothing")),
        (ContentRef(uri="x:/1", size_hint=LARGEST + 1), Unread("too large to show")),
        (ContentRef(uri="x:/1", content_type="image/png"), Unread("image/png")),
        (ContentRef(uri="x:/1"), None),
        (ContentRef(uri="x:/2", nonce="1"), "read"),
        (ContentRef(uri="x:/2", nonce="2"), None),
    ],
)
def test_what_is_known_of_content(ref: ContentRef, found: str | Unread | None) -> None:
    assert known(ref, {("x:/2", "1"): "read"}) == found
