"""Journals of every implementation, closed after each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.journal.memory import MemoryJournal
from holdfast.journal.settings import JournalSettings
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports.journal import Journal
from journal.builders import NOW, SETTINGS


@pytest.fixture(params=["sqlite", "memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[JournalSettings], Journal]]:
    """Makes the journal of a test, not yet open. It keeps what it has over `close` and `open`."""
    made: list[Journal] = []

    def new(settings: JournalSettings) -> Journal:
        is_sqlite = request.param == "sqlite"
        made.append(SqliteJournal(tmp_path / "journal.db", settings) if is_sqlite else MemoryJournal(settings))
        return made[-1]

    yield new
    for journal in made:
        journal.close()


@pytest.fixture
def journal(make: Callable[[JournalSettings], Journal]) -> Journal:
    """Open since `NOW`, with nothing in it."""
    opened = make(SETTINGS)
    opened.open(NOW)
    return opened
