"""Clients, their accepted dispatches, and the host's own small values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from holdfast.journal.settings import JournalSettings
from holdfast.ports.journal import (
    ClearDispatches,
    ClientRecord,
    FindClient,
    Journal,
    KnownDispatches,
    PutClient,
    PutDispatch,
    PutMeta,
)
from journal.builders import NOW, SETTINGS, commit


def known(journal: Journal, *names: str) -> list[str]:
    return [name for name in names if journal.read(FindClient(name)) is not None]


def test_client_is_found_as_last_put(journal: Journal) -> None:
    assert journal.read(FindClient("a")) is None
    commit(journal, PutClient(ClientRecord("a", "0.9.0", NOW)))
    commit(journal, PutClient(ClientRecord("a", "1.0.0", NOW + 1)))
    assert journal.read(FindClient("a")) == ClientRecord("a", "1.0.0", NOW + 1)
    commit(journal, PutClient(ClientRecord("a", "1.0.0", NOW + 2, resync=True)))
    assert journal.read(FindClient("a")) == ClientRecord("a", "1.0.0", NOW + 2, resync=True)


def test_client_is_forgotten_after_its_time(journal: Journal) -> None:
    commit(journal, PutClient(ClientRecord("a", "1.0.0", NOW)), PutClient(ClientRecord("b", "1.0.0", NOW + 1)))
    journal.maintain(NOW + SETTINGS.client_age_ms)
    assert known(journal, "a", "b") == ["a", "b"]
    journal.maintain(NOW + SETTINGS.client_age_ms + 1)
    assert known(journal, "a", "b") == ["b"]


def test_least_recently_seen_clients_make_room(make: Callable[[JournalSettings], Journal]) -> None:
    journal = make(replace(SETTINGS, client_count=3))
    journal.open(NOW)
    commit(journal, *(PutClient(ClientRecord(name, "1.0.0", NOW + at)) for at, name in enumerate("abcde")))
    commit(journal, PutClient(ClientRecord("a", "1.0.0", NOW + 9)))
    journal.maintain(NOW)
    assert known(journal, *"abcde") == ["a", "d", "e"]


def test_dispatches_are_known_until_cleared(journal: Journal) -> None:
    assert journal.read(KnownDispatches("a")) == frozenset()
    commit(
        journal,
        PutDispatch("a", 1, b"x", NOW),
        PutDispatch("a", 1, b"y", NOW),
        PutDispatch("a", 2, b"x", NOW),
        PutDispatch("a", 2, b"x", NOW),
        PutDispatch("b", 1, b"x", NOW),
    )
    assert journal.read(KnownDispatches("a")) == {(1, b"x"), (1, b"y"), (2, b"x")}
    commit(journal, ClearDispatches("a"), PutDispatch("a", 3, b"z", NOW), ClearDispatches("unknown"))
    assert journal.read(KnownDispatches("a")) == {(3, b"z")}
    assert journal.read(KnownDispatches("b")) == {(1, b"x")}


def test_dispatches_are_forgotten_after_their_time(journal: Journal) -> None:
    commit(
        journal, PutDispatch("a", 1, b"x", NOW), PutDispatch("a", 2, b"x", NOW), PutDispatch("a", 3, b"x", NOW + 1)
    )
    commit(journal, PutDispatch("a", 2, b"x", NOW + 1))
    journal.maintain(NOW + SETTINGS.dispatch_age_ms)
    assert len(journal.read(KnownDispatches("a"))) == 3
    journal.maintain(NOW + SETTINGS.dispatch_age_ms + 1)
    assert journal.read(KnownDispatches("a")) == {(2, b"x"), (3, b"x")}


def test_meta_is_there_at_the_next_start(journal: Journal) -> None:
    commit(journal, PutMeta("config", b"old"), PutMeta("other", b"\0"))
    commit(journal, PutMeta("config", b"new"))
    journal.close()
    assert journal.open(NOW).meta == {"config": b"new", "other": b"\0"}
