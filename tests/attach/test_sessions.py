"""The list of sessions: what needs a person is on top."""

from __future__ import annotations

from attach import made
from holdfast.attach.model.sessions import Group, Row, listing, need_you, next_that_needs_you
from holdfast.protocol import status
from holdfast.protocol.common import ChangesSummary, ProjectInfo

WAITS = status.INPUT_NEEDED
WORKS = status.IN_PROGRESS | status.IS_READ
ARCHIVED = status.IDLE | status.IS_READ | status.IS_ARCHIVED

SESSIONS = (
    made.summary("old", hour=1),
    made.summary("works", WORKS, hour=2, activity="Step 2 of 5"),
    made.summary("waits-old", WAITS, hour=3),
    made.summary("new", hour=8),
    made.summary("waits-new", WAITS, hour=4),
    made.summary("archived", ARCHIVED, hour=7),
    made.summary("failed", status.ERROR, hour=6),
)


def ids(rows: tuple[Row, ...]) -> list[str]:
    return [row.uri.removeprefix("ahp-session:/") for row in rows]


def test_what_needs_you_is_first_then_what_works_then_the_newest() -> None:
    shown = listing(SESSIONS, made.NOW)
    assert ids(shown.rows) == ["waits-new", "waits-old", "works", "new", "failed", "old"]
    assert shown.hidden == 1
    assert need_you(SESSIONS) == 2


def test_archived_sessions_are_shown_last_when_asked_for() -> None:
    shown = listing(SESSIONS, made.NOW, archived=True)
    assert ids(shown.rows)[-1] == "archived"
    assert shown.hidden == 0


def test_an_archived_session_that_waits_needs_you_all_the_same() -> None:
    waiting = made.summary("a", WAITS | status.IS_ARCHIVED)
    assert listing((waiting,), made.NOW).rows[0].group is Group.NEEDS_YOU


def test_every_word_of_a_search_has_to_be_there_and_the_archive_is_searched_too() -> None:
    assert ids(listing(SESSIONS, made.NOW, search="session WAITS").rows) == ["waits-new", "waits-old"]
    assert ids(listing(SESSIONS, made.NOW, search="archived").rows) == ["archived"]
    assert listing(SESSIONS, made.NOW, search="nothing of this").rows == ()


def test_a_row_says_what_a_person_wants_to_know() -> None:
    (row,) = listing(
        (
            made.summary(
                "x",
                status.IDLE,
                title="Two\nlines \x1b[1m",
                project=ProjectInfo(uri="file:///code/app", display_name="app"),
                changes=ChangesSummary(additions=3, deletions=2),
            ),
        ),
        made.NOW,
    ).rows
    assert row == Row("ahp-session:/x", "Two lines", Group.RECENT, "demo", "app +3 −2", "1h", True, False)


def test_a_row_names_the_directory_or_what_is_going_on() -> None:
    (row,) = listing((made.summary("x", working_directories=("file:///code/my%20app",)),), made.NOW).rows
    assert row.detail == "my app"
    details = {row.uri: row.detail for row in listing(SESSIONS, made.NOW).rows}
    assert details["ahp-session:/works"] == "Step 2 of 5"
    assert details["ahp-session:/waits-new"] == ""
    assert details["ahp-session:/failed"] == "failed"


def test_a_session_without_a_title_has_a_name() -> None:
    assert listing((made.summary("x", title=""),), made.NOW).rows[0].title == "Untitled"


def test_going_to_what_needs_you_goes_around() -> None:
    first = next_that_needs_you(SESSIONS, None)
    assert first == "ahp-session:/waits-new"
    second = next_that_needs_you(SESSIONS, first)
    assert second == "ahp-session:/waits-old"
    assert next_that_needs_you(SESSIONS, second) == first
    assert next_that_needs_you(SESSIONS[:1], None) is None
    assert next_that_needs_you(SESSIONS[2:3], "ahp-session:/waits-old") is None
