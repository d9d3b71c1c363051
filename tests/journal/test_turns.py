"""Completed turns: appending, paging from the end, finding, truncating, copying."""

from __future__ import annotations

import pytest

from holdfast.ports.journal import (
    AppendTurn,
    CopyTurns,
    DropTurns,
    FindTurn,
    Journal,
    ReadTurns,
    ReadTurnsFrom,
    StoredTurn,
    TurnPage,
)
from journal.builders import CHAT, SESSION, commit, head, stored, turns

FORK = "ahp-chat:/fork"


def page(
    journal: Journal, before: int | None = None, limit: int | None = None, budget: int | None = None, chat: str = CHAT
) -> TurnPage:
    found = journal.read(ReadTurns(chat, before, limit, budget))
    assert isinstance(found, TurnPage)
    return found


@pytest.fixture
def chat(journal: Journal) -> Journal:
    """A journal with a chat of five turns, of 20 bytes each."""
    commit(journal, head(SESSION, CHAT, 4), *turns(CHAT, "t0", "t1", "t2", "t3", "t4"))
    return journal


def test_all_turns_come_oldest_first(chat: Journal) -> None:
    assert page(chat) == TurnPage(tuple(stored(position, f"t{position}") for position in range(5)), 5)


def test_unknown_chat_has_an_empty_page(journal: Journal) -> None:
    assert page(journal) == TurnPage((), 0)
    assert journal.read(FindTurn(CHAT, "t0")) is None


def test_newest_turns_before_a_position(chat: Journal) -> None:
    assert page(chat, limit=2) == TurnPage((stored(3, "t3"), stored(4, "t4")), 5)
    assert page(chat, before=3, limit=2) == TurnPage((stored(1, "t1"), stored(2, "t2")), 5)
    assert page(chat, before=1, limit=2) == TurnPage((stored(0, "t0"),), 5)
    assert page(chat, before=0, limit=2) == TurnPage((), 5)
    assert page(chat, before=99, limit=1) == TurnPage((stored(4, "t4"),), 5)


def test_turns_from_a_position_on(chat: Journal) -> None:
    def ids(position: int, limit: int | None = None, budget: int | None = None) -> list[tuple[int, str]]:
        found = chat.read(ReadTurnsFrom(CHAT, position, limit, budget))
        assert found.total == 5
        return [(turn.position, turn.turn_id) for turn in found.turns]

    assert ids(0) == [(position, f"t{position}") for position in range(5)]
    assert ids(3, limit=2) == [(3, "t3"), (4, "t4")]
    assert ids(1, limit=2) == [(1, "t1"), (2, "t2")]
    assert ids(1, budget=60) == [(1, "t1"), (2, "t2"), (3, "t3")]
    assert ids(1, budget=1) == [(1, "t1")]
    assert ids(5) == ids(9) == []


def test_page_keeps_to_its_budget_but_has_at_least_one(chat: Journal) -> None:
    assert [turn.turn_id for turn in page(chat, budget=60).turns] == ["t2", "t3", "t4"]
    assert [turn.turn_id for turn in page(chat, budget=59).turns] == ["t3", "t4"]
    assert [turn.turn_id for turn in page(chat, budget=1).turns] == ["t4"]
    assert [turn.turn_id for turn in page(chat, limit=0).turns] == ["t4"]


def test_turn_is_found_by_its_id(chat: Journal) -> None:
    assert chat.read(FindTurn(CHAT, "t3")) == 3
    assert chat.read(FindTurn(CHAT, "t9")) is None
    assert chat.read(FindTurn(FORK, "t3")) is None
    commit(chat, *turns(CHAT, "t3"))
    assert chat.read(FindTurn(CHAT, "t3")) == 3


def test_truncated_chat_goes_on_at_the_cut(chat: Journal) -> None:
    commit(chat, DropTurns(CHAT, 2), DropTurns(FORK, 0))
    assert page(chat) == TurnPage((stored(0, "t0"), stored(1, "t1")), 2)
    assert chat.read(FindTurn(CHAT, "t2")) is None
    commit(chat, *turns(CHAT, "again"))
    assert page(chat, limit=1) == TurnPage((stored(2, "again"),), 3)
    commit(chat, DropTurns(CHAT, 0))
    assert page(chat) == TurnPage((), 0)


def test_copy_keeps_ids_and_is_independent(chat: Journal) -> None:
    commit(chat, CopyTurns(CHAT, FORK, 2), head(SESSION, FORK, 8))
    commit(chat, *turns(FORK, "own"), DropTurns(CHAT, 1))
    assert page(chat, chat=FORK) == TurnPage((stored(0, "t0"), stored(1, "t1"), stored(2, "own")), 3)
    assert page(chat) == TurnPage((stored(0, "t0"),), 1)
    assert chat.read(FindTurn(FORK, "t1")) == 1


def test_copy_replaces_what_was_there(chat: Journal) -> None:
    commit(chat, *turns(FORK, "x", "y", "z"))
    commit(chat, CopyTurns(CHAT, FORK, 1))
    assert page(chat, chat=FORK) == TurnPage((stored(0, "t0"),), 1)
    commit(chat, CopyTurns("ahp-chat:/unknown", FORK, 1))
    assert page(chat, chat=FORK) == TurnPage((), 0)


def test_turns_may_come_before_the_first_head(journal: Journal) -> None:
    commit(journal, *turns(CHAT, "t0"))
    assert page(journal) == TurnPage((stored(0, "t0"),), 1)
    commit(journal, head(SESSION, CHAT, 4), *turns(CHAT, "t1"))
    assert page(journal) == TurnPage((stored(0, "t0"), stored(1, "t1")), 2)


def test_large_turn_comes_back_whole(journal: Journal) -> None:
    data = bytes(range(256)) * 40_000
    commit(journal, head(SESSION, CHAT, 4), AppendTurn(CHAT, "large", data))
    assert page(journal, budget=900_000) == TurnPage((StoredTurn(0, "large", data),), 1)
