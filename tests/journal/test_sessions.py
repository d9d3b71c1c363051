"""The catalogue: lists, counts, attention; disposing, restoring and running out; content."""

from __future__ import annotations

from random import Random

import pytest

from holdfast.ports.journal import (
    ROOT_UNIT,
    Content,
    DisposedPage,
    DisposedSession,
    DisposeSession,
    FindTurn,
    FindUnit,
    Journal,
    JournalFailed,
    ListDisposed,
    ListSessions,
    LoadUnit,
    MoveChannel,
    OldSessions,
    PutContent,
    ReadContent,
    ReadFrames,
    ReadTurns,
    RestoreSession,
    SessionPage,
    ShareContents,
    StoredChannel,
    TurnPage,
)
from journal.builders import CHAT, NOW, OTHER, SESSION, commit, frame, head, row, seqs, session, turns

LATER = NOW + 1_000_000
CONTENT = Content("ahp-content:/1", SESSION, "text/plain", b"text")


def listed(
    journal: Journal, limit: int = 100, budget: int | None = None, after: tuple[str, int] | None = None
) -> SessionPage:
    found = journal.read(ListSessions(after, limit, budget))
    assert isinstance(found, SessionPage)
    return found


def day(number: int) -> str:
    return f"2026-01-{number:02}T00:00:00.000Z"


def reopened(journal: Journal) -> tuple[int, tuple[str, ...]]:
    """How many sessions are listed and which want attention, as a new start finds it."""
    journal.close()
    opening = journal.open(NOW)
    return opening.sessions, opening.attention


# Lists and counts


def test_most_recently_modified_come_first(journal: Journal) -> None:
    assert listed(journal) == SessionPage((), None)
    commit(journal, session("a", day(1)), session("b", day(3)), session("c", day(2)), session("d", listed=False))
    assert listed(journal) == SessionPage((b"b", b"c", b"a"), None)
    commit(journal, session("a", day(4), summary=b"a again"), session("b", day(3), listed=False))
    assert listed(journal) == SessionPage((b"a again", b"c"), None)


def test_old_ones_are_found_oldest_first(journal: Journal) -> None:
    commit(journal, session("a", day(3)), session("b", day(1)), session("c", day(2)), session("d", listed=False))
    commit(journal, session("e", day(1)), DisposeSession("e", LATER))
    assert journal.read(OldSessions(day(3), 9)) == ("b", "c")
    assert journal.read(OldSessions(day(4), 2)) == ("b", "c")
    assert journal.read(OldSessions(day(1), 9)) == ()


def test_pages_follow_each_other(journal: Journal) -> None:
    commit(journal, *(session(name, day(1)) for name in "abcde"))
    first = listed(journal, limit=2)
    second = listed(journal, limit=2, after=first.next)
    third = listed(journal, limit=2, after=second.next)
    assert [first.summaries, second.summaries, third.summaries] == [(b"e", b"d"), (b"c", b"b"), (b"a",)]
    assert third.next is None
    assert listed(journal, limit=5).next is None


def test_page_of_sessions_keeps_to_its_budget_but_has_at_least_one(journal: Journal) -> None:
    commit(journal, *(session(name, summary=name.encode() * 10) for name in "abc"))
    assert listed(journal, budget=20).summaries == (b"c" * 10, b"b" * 10)
    assert listed(journal, budget=19).summaries == (b"c" * 10,)
    page = listed(journal, budget=1)
    assert page.summaries == (b"c" * 10,)
    assert listed(journal, after=page.next, budget=20) == SessionPage((b"b" * 10, b"a" * 10), None)


@pytest.mark.parametrize("seed", range(5))
def test_paging_meets_every_session_once_while_others_change(journal: Journal, seed: int) -> None:
    random = Random(seed)
    still = [f"still-{number}" for number in range(40)]
    busy = [f"busy-{number}" for number in range(40)]
    commit(journal, *(session(name, day(random.randint(1, 9))) for name in random.sample(still + busy, 80)))
    seen: list[bytes] = []
    after = None
    while True:
        page = listed(journal, limit=random.randint(1, 7), after=after)
        seen += page.summaries
        after = page.next
        if after is None:
            break
        changed, gone, made = random.choice(busy), random.choice(busy), f"new-{len(seen)}"
        commit(journal, DisposeSession(gone, 0), session(changed, day(random.randint(1, 9))), session(made, day(5)))
    assert sorted(name for name in seen if name.startswith(b"still")) == sorted(name.encode() for name in still)


def test_opening_counts_the_listed_and_names_those_in_need_of_attention(journal: Journal) -> None:
    assert reopened(journal) == (0, ())
    commit(journal, session("a"), session("b", attention=True), session("c", listed=False, attention=True))
    assert reopened(journal) == (2, ("b", "c"))
    commit(journal, session("c", listed=True), session("a"), DisposeSession("b", LATER))
    assert reopened(journal) == (2, ())
    commit(journal, RestoreSession("b"))
    assert reopened(journal) == (3, ("b",))
    commit(journal, DisposeSession("a", 0), DisposeSession("b", LATER), DisposeSession("c", LATER))
    assert reopened(journal) == (0, ())
    commit(journal, session("b"), RestoreSession("c"))
    journal.maintain(LATER)
    assert reopened(journal) == (2, ())


def test_summary_follows_the_row(journal: Journal) -> None:
    commit(journal, session(SESSION, day(1)))
    commit(journal, session(SESSION, day(2), summary=b"new", attention=True, listed=False))
    loaded = journal.read(LoadUnit(SESSION))
    assert loaded.row == row(SESSION, day(2), summary=b"new", attention=True, listed=False)


# Disposing and restoring


@pytest.fixture
def full(journal: Journal) -> Journal:
    """A journal with a session that has something of everything."""
    commit(
        journal,
        session(SESSION),
        head(SESSION, SESSION, 4, b"session"),
        head(SESSION, CHAT, 8, b"chat", position=1),
        *turns(CHAT, "t0", "t1"),
        frame(SESSION, 4),
        frame(SESSION, 8, 12),
        PutContent(CONTENT),
        session(OTHER),
        head(OTHER, OTHER, 16),
        frame(OTHER, 16),
    )
    return journal


def everything(journal: Journal) -> list[object]:
    return [
        journal.read(LoadUnit(SESSION)),
        journal.read(FindUnit(SESSION)),
        journal.read(FindUnit(CHAT)),
        journal.read(ReadTurns(CHAT, None, None, None)),
        journal.read(FindTurn(CHAT, "t1")),
        journal.read(ReadFrames((SESSION,), 0, None)),
        journal.read(ReadContent(CONTENT.uri)),
        listed(journal).summaries,
    ]


NOTHING = [None, None, None, TurnPage((), 0), None, (), None, (OTHER.encode(),)]


def test_disposed_session_is_found_by_nothing_and_comes_back_whole(full: Journal) -> None:
    before = everything(full)
    unit = full.read(LoadUnit(SESSION))
    commit(full, DisposeSession(SESSION, LATER))
    assert everything(full) == NOTHING
    assert full.read(LoadUnit(SESSION, disposed=True)) == unit
    assert full.read(LoadUnit(OTHER, disposed=True)) is None
    full.maintain(LATER - 1)
    commit(full, RestoreSession(SESSION))
    assert everything(full) == before
    assert full.read(LoadUnit(SESSION, disposed=True)) is None


def test_what_two_sessions_hold_stays_with_the_one_that_is_left(journal: Journal) -> None:
    commit(journal, session(SESSION), session("b"), session("c"), PutContent(CONTENT))
    commit(journal, ShareContents(SESSION, "b"), ShareContents("b", "c"))
    assert journal.read(ReadContent(CONTENT.uri)) == CONTENT
    commit(journal, DisposeSession(SESSION, LATER))
    held = journal.read(ReadContent(CONTENT.uri))
    assert (held.unit, held.data) == ("b", CONTENT.data)
    commit(journal, RestoreSession(SESSION))
    assert journal.read(ReadContent(CONTENT.uri)) == CONTENT
    commit(journal, DisposeSession(SESSION, 0), DisposeSession("b", 0))
    for _ in range(2):
        held = journal.read(ReadContent(CONTENT.uri))
        assert (held.unit, held.data) == ("c", CONTENT.data)
        journal.maintain(LATER)
    commit(journal, DisposeSession("c", 0))
    journal.maintain(LATER)
    assert journal.read(ReadContent(CONTENT.uri)) is None
    commit(journal, session(SESSION), session("b"))
    assert journal.read(ReadContent(CONTENT.uri)) is None


def test_session_disposed_of_at_once_is_gone(full: Journal) -> None:
    commit(full, DisposeSession(SESSION, 0))
    assert everything(full) == NOTHING
    commit(full, RestoreSession(SESSION))
    full.maintain(NOW)
    assert everything(full) == NOTHING
    assert full.read(LoadUnit(SESSION, disposed=True)) is None
    assert seqs(full.read(ReadFrames((OTHER,), 0, None))) == [16]


def test_session_whose_time_has_run_out_is_gone(full: Journal) -> None:
    commit(full, DisposeSession(SESSION, LATER))
    full.maintain(LATER)
    assert full.read(LoadUnit(SESSION, disposed=True)) is None
    commit(full, RestoreSession(SESSION))
    assert everything(full) == NOTHING


@pytest.mark.parametrize("until", [0, LATER])
@pytest.mark.parametrize("is_maintained", [False, True])
def test_new_session_in_the_place_of_a_disposed_one_has_nothing_of_it(
    full: Journal, until: int, is_maintained: bool
) -> None:
    commit(full, DisposeSession(SESSION, until))
    commit(full, session(SESSION, summary=b"new"), head(SESSION, CHAT, 20, b"new"), frame(SESSION, 24))
    if is_maintained:
        full.maintain(NOW)
    loaded = full.read(LoadUnit(SESSION))
    assert loaded.row == row(SESSION, summary=b"new")
    assert loaded.channels == (StoredChannel(CHAT, "chat", 20, b"new", 0, 20),)
    assert seqs(full.read(ReadFrames((SESSION,), 0, None))) == [24]
    assert full.read(ReadTurns(CHAT, None, None, None)) == TurnPage((), 0)
    assert full.read(ReadContent(CONTENT.uri)) is None
    assert full.read(FindUnit(SESSION)) is None
    assert full.read(LoadUnit(SESSION, disposed=True)) is None


def test_disposed_session_takes_no_writes(full: Journal) -> None:
    commit(full, DisposeSession(SESSION, LATER))
    for write in (frame(SESSION, 20), head(SESSION, CHAT, 20), PutContent(CONTENT), MoveChannel(OTHER, SESSION)):
        with pytest.raises(JournalFailed, match="disposed of"):
            commit(full, write)
    commit(full, RestoreSession(SESSION), frame(SESSION, 20), session(SESSION))
    assert seqs(full.read(LoadUnit(SESSION)).tail) == [8, 12, 20]


def disposed(journal: Journal, limit: int = 100, after: tuple[int, int] | None = None) -> DisposedPage:
    found = journal.read(ListDisposed(after, limit))
    assert isinstance(found, DisposedPage)
    return found


def test_disposed_sessions_are_listed_as_long_as_they_are_kept(journal: Journal) -> None:
    commit(journal, *(session(name) for name in "abcd"), session("hidden", listed=False))
    assert disposed(journal) == DisposedPage((), None)
    kept = {"a": LATER, "b": LATER + 2, "c": LATER + 1, "hidden": LATER + 3}
    commit(journal, *(DisposeSession(name, until) for name, until in kept.items()), DisposeSession("d", 0))
    expected = [DisposedSession(name, kept[name], name.encode(), b"extra") for name in "bca"]
    assert disposed(journal) == DisposedPage(tuple(expected), None)
    first = disposed(journal, 2)
    assert (first.sessions, disposed(journal, 2, first.next)) == (
        tuple(expected[:2]),
        DisposedPage((expected[2],), None),
    )
    commit(journal, RestoreSession("b"), session("c"))
    assert disposed(journal).sessions == (expected[2],)
    journal.maintain(LATER)
    assert disposed(journal).sessions == ()


def test_a_disposed_unit_is_found_by_its_channels_when_asked_for(full: Journal) -> None:
    assert full.read(FindUnit(CHAT, disposed=True)) is None
    commit(full, DisposeSession(SESSION, LATER))
    assert [full.read(FindUnit(uri, disposed=True)) for uri in (CHAT, SESSION, OTHER)] == [SESSION, SESSION, None]
    commit(full, session(SESSION))
    assert full.read(FindUnit(CHAT, disposed=True)) is None


def test_disposing_of_and_restoring_the_unknown_does_nothing(journal: Journal) -> None:
    commit(journal, DisposeSession(SESSION, 0), DisposeSession(SESSION, LATER), RestoreSession(SESSION))
    assert journal.read(LoadUnit(SESSION)) is None
    assert journal.read(LoadUnit(SESSION, disposed=True)) is None


# Content


def test_content_is_read_by_its_uri_and_replaced(journal: Journal) -> None:
    assert journal.read(ReadContent(CONTENT.uri)) is None
    commit(journal, PutContent(CONTENT))
    assert journal.read(ReadContent(CONTENT.uri)) == CONTENT
    replaced = Content(CONTENT.uri, ROOT_UNIT, "image/png", b"\0" * 3_000_000)
    commit(journal, PutContent(replaced), DisposeSession(SESSION, 0))
    journal.maintain(NOW)
    assert journal.read(ReadContent(CONTENT.uri)) == replaced
