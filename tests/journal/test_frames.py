"""Units, heads, frames: what a state is rebuilt from, what a replay finds, what may be trimmed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from holdfast.journal.settings import JournalSettings
from holdfast.ports.journal import (
    ROOT_UNIT,
    AppendFrame,
    DisposeSession,
    DropChannel,
    FindUnit,
    Frame,
    Journal,
    JournalFailed,
    LoadUnit,
    MoveChannel,
    ReadFrames,
    ReadTurns,
    StoredChannel,
    StoredUnit,
    TurnPage,
)
from journal.builders import (
    CHAT,
    NOW,
    OTHER,
    SESSION,
    SETTINGS,
    commit,
    envelope,
    frame,
    head,
    row,
    seqs,
    session,
    stored,
    turns,
)

DAY = SETTINGS.replay_age_ms


def replay(journal: Journal, *units: str, after: int = 0, budget: int | None = None) -> list[int] | None:
    return seqs(journal.read(ReadFrames(units, after, budget)))


def tail(journal: Journal, unit: str) -> list[int] | None:
    loaded = journal.read(LoadUnit(unit))
    assert isinstance(loaded, StoredUnit)
    return seqs(loaded.tail)


def test_unit_is_loaded_as_it_was_committed(journal: Journal) -> None:
    written = Frame(SESSION, NOW, (envelope(8, SESSION, b"one"), envelope(12, CHAT, b"two")))
    commit(
        journal,
        session(SESSION, attention=True),
        head(SESSION, CHAT, 4, b"chat", position=1),
        head(SESSION, SESSION, 4, b"session"),
        *turns(CHAT, "t1", "t2"),
        AppendFrame(written),
    )
    assert journal.read(LoadUnit(SESSION)) == StoredUnit(
        SESSION,
        row(SESSION, attention=True),
        (
            StoredChannel(SESSION, "session", 4, b"session", 0, 4),
            StoredChannel(CHAT, "chat", 4, b"chat", 2, 4),
        ),
        written.envelopes,
    )


def test_root_is_a_unit_without_a_catalogue_row(journal: Journal) -> None:
    commit(journal, head(ROOT_UNIT, ROOT_UNIT, 4), frame(ROOT_UNIT, 8))
    channel = StoredChannel(ROOT_UNIT, "session", 4, b"{}", 0, 4)
    assert journal.read(LoadUnit(ROOT_UNIT)) == StoredUnit(ROOT_UNIT, None, (channel,), (envelope(8, ROOT_UNIT),))


def test_unknown_unit_is_not_there(journal: Journal) -> None:
    assert journal.read(LoadUnit(SESSION)) is None
    assert journal.read(FindUnit(SESSION)) is None
    assert replay(journal, SESSION) == []


def test_tail_begins_after_the_oldest_head(journal: Journal) -> None:
    commit(journal, frame(SESSION, 4, 8), frame(SESSION, 12), head(SESSION, SESSION, 4), head(SESSION, CHAT, 12))
    assert tail(journal, SESSION) == [8, 12]
    commit(journal, head(SESSION, SESSION, 12))
    assert tail(journal, SESSION) == []


def test_head_replaces_the_last_one(journal: Journal) -> None:
    commit(journal, head(SESSION, SESSION, 4, b"old", position=7))
    commit(journal, head(SESSION, SESSION, 8, b"new"))
    loaded = journal.read(LoadUnit(SESSION))
    assert loaded.channels == (StoredChannel(SESSION, "session", 8, b"new", 0, 4),)


def test_channels_come_in_the_order_of_their_positions(journal: Journal) -> None:
    commit(journal, *(head(SESSION, f"chat-{position}", 4, position=position) for position in (3, 1, 2)))
    assert [channel.uri for channel in journal.read(LoadUnit(SESSION)).channels] == ["chat-1", "chat-2", "chat-3"]
    commit(journal, head(SESSION, "chat-3", 8, position=0))
    assert [channel.uri for channel in journal.read(LoadUnit(SESSION)).channels] == ["chat-3", "chat-1", "chat-2"]


def test_dropped_channel_is_forgotten_with_its_turns(journal: Journal) -> None:
    commit(journal, head(SESSION, SESSION, 8), head(SESSION, CHAT, 4), *turns(CHAT, "t1"), frame(SESSION, 8))
    commit(journal, DropChannel(CHAT), DropChannel("ahp-chat:/unknown"))
    assert journal.read(FindUnit(CHAT)) is None
    assert journal.read(ReadTurns(CHAT, None, None, None)) == TurnPage((), 0)
    assert [channel.uri for channel in journal.read(LoadUnit(SESSION)).channels] == [SESSION]
    assert tail(journal, SESSION) == []
    assert replay(journal, SESSION) == [8]
    journal.maintain(NOW)
    commit(journal, head(SESSION, CHAT, 12))
    assert journal.read(LoadUnit(SESSION)).channels[1] == StoredChannel(CHAT, "chat", 12, b"{}", 0, 12)


def test_moved_channel_keeps_its_turns_and_says_since_when(journal: Journal) -> None:
    commit(journal, head(SESSION, CHAT, 4), *turns(CHAT, "t1", "t2"), frame(SESSION, 8))
    commit(journal, MoveChannel(CHAT, OTHER), head(OTHER, CHAT, 12, b"moved"), MoveChannel("unknown", OTHER))
    commit(journal, head(OTHER, CHAT, 20, b"later"), frame(OTHER, 24))
    assert journal.read(FindUnit(CHAT)) == OTHER
    assert journal.read(LoadUnit(SESSION)).channels == ()
    assert journal.read(LoadUnit(OTHER)).channels == (StoredChannel(CHAT, "chat", 20, b"later", 2, 12),)
    assert journal.read(ReadTurns(CHAT, None, None, None)).turns == (stored(0, "t1"), stored(1, "t2"))
    assert replay(journal, SESSION) == [8]
    assert replay(journal, OTHER) == [24]


# Replay


def test_replay_of_several_units_is_in_order(journal: Journal) -> None:
    commit(journal, frame(SESSION, 4, 16), frame(OTHER, 8, 12), frame(ROOT_UNIT, 20))
    commit(journal, frame(OTHER, 24))
    assert replay(journal, SESSION, OTHER, ROOT_UNIT, SESSION) == [4, 8, 12, 16, 20, 24]
    assert replay(journal, OTHER, after=8) == [12, 24]
    assert replay(journal, SESSION, OTHER, after=24) == []
    assert replay(journal) == []


def test_replay_within_its_budget_or_not_at_all(journal: Journal) -> None:
    commit(journal, frame(SESSION, 4, 8, size=10), frame(OTHER, 12, size=10))
    assert replay(journal, SESSION, OTHER, budget=30) == [4, 8, 12]
    assert replay(journal, SESSION, OTHER, budget=29) is None
    assert replay(journal, SESSION, OTHER, after=4, budget=20) == [8, 12]
    assert replay(journal, SESSION, OTHER, after=12, budget=0) == []


# Trimming


def test_old_frames_are_trimmed_once_no_head_needs_them(journal: Journal) -> None:
    commit(journal, frame(SESSION, 4, 8), frame(SESSION, 12), frame(SESSION, 16), frame(SESSION, 20, at=NOW + DAY))
    commit(journal, head(SESSION, SESSION, 16), head(SESSION, CHAT, 12))
    journal.maintain(NOW + DAY)
    assert replay(journal, SESSION) == [4, 8, 12, 16, 20]
    journal.maintain(NOW + DAY + 1)
    assert replay(journal, SESSION, after=11) is None
    assert replay(journal, SESSION, after=12) == [16, 20]
    assert tail(journal, SESSION) == [16, 20]
    commit(journal, head(SESSION, CHAT, 20))
    journal.maintain(NOW + DAY + 1)
    assert replay(journal, SESSION, after=12) is None
    assert replay(journal, SESSION, after=16) == [20]
    assert tail(journal, SESSION) == [20]


def test_frame_that_a_head_has_seen_in_part_is_kept(journal: Journal) -> None:
    commit(journal, frame(SESSION, 4, 8), head(SESSION, SESSION, 4))
    journal.maintain(NOW + 2 * DAY)
    assert tail(journal, SESSION) == [8]
    assert replay(journal, SESSION) == [4, 8]


def test_one_trimmed_unit_makes_the_replay_of_several_impossible(journal: Journal) -> None:
    commit(journal, head(SESSION, SESSION, 8), head(OTHER, OTHER, 0), frame(SESSION, 4), frame(OTHER, 8))
    journal.maintain(NOW + 2 * DAY)
    assert replay(journal, OTHER) == [8]
    assert replay(journal, SESSION, OTHER) is None
    assert replay(journal, SESSION, OTHER, after=4) == [8]


def test_noisy_unit_evicts_only_itself(make: Callable[[JournalSettings], Journal]) -> None:
    journal = make(replace(SETTINGS, replay_bytes=100))
    journal.open(NOW)
    commit(journal, head(SESSION, SESSION, 1000), head(OTHER, OTHER, 1000), frame(OTHER, 4, size=60))
    commit(journal, *(frame(SESSION, seq, size=30) for seq in range(8, 48, 4)))
    journal.maintain(NOW)
    assert replay(journal, OTHER) == [4]
    assert replay(journal, SESSION, after=31) is None
    assert replay(journal, SESSION, after=32) == [36, 40, 44]
    commit(journal, frame(SESSION, 48, size=30), frame(OTHER, 52, size=40))
    journal.maintain(NOW)
    assert replay(journal, OTHER) == [4, 52]
    assert replay(journal, SESSION, after=36) == [40, 44, 48]


def test_unit_over_its_bytes_keeps_what_is_needed_until_its_heads_move_on(
    make: Callable[[JournalSettings], Journal],
) -> None:
    journal = make(replace(SETTINGS, replay_bytes=100))
    journal.open(NOW)
    commit(journal, head(SESSION, SESSION, 0), *(frame(SESSION, seq, size=30) for seq in range(4, 44, 4)))
    journal.maintain(NOW)
    assert replay(journal, SESSION) == list(range(4, 44, 4))
    commit(journal, head(SESSION, SESSION, 1000))
    journal.maintain(NOW)
    assert replay(journal, SESSION, after=28) == [32, 36, 40]
    assert replay(journal, SESSION, after=27) is None


def test_trimmed_stays_trimmed_after_reopening(journal: Journal) -> None:
    commit(journal, head(SESSION, SESSION, 4), frame(SESSION, 4))
    journal.maintain(NOW + 2 * DAY)
    journal.close()
    journal.open(NOW + 2 * DAY)
    assert replay(journal, SESSION) is None
    assert replay(journal, SESSION, after=4) == []


# All or nothing


def test_failed_commit_keeps_nothing(journal: Journal) -> None:
    commit(journal, session(SESSION), head(SESSION, SESSION, 4), DisposeSession(SESSION, NOW + DAY))
    with pytest.raises(JournalFailed, match="disposed of"):
        commit(journal, session(OTHER), head(OTHER, CHAT, 8), frame(OTHER, 8), frame(SESSION, 12))
    assert journal.read(LoadUnit(OTHER)) is None
    assert journal.read(FindUnit(CHAT)) is None
    commit(journal, frame(OTHER, 8))
    assert replay(journal, OTHER) == [8]


@pytest.mark.parametrize(
    "uri", ["ahp-session:/" + "x" * 8192, "a'b\"; DROP TABLE units; --", "a\0b", "日本 %_?", "1"]
)
def test_names_may_be_any_text(journal: Journal, uri: str) -> None:
    commit(journal, session(uri, summary=b"s"), head(uri, uri, 4), frame(uri, 8))
    journal.close()
    journal.open(NOW)
    assert journal.read(FindUnit(uri)) == uri
    assert journal.read(LoadUnit(uri)) == StoredUnit(
        uri, row(uri, summary=b"s"), (StoredChannel(uri, "session", 4, b"{}", 0, 4),), (envelope(8, uri),)
    )
    assert journal.read(FindUnit(uri + "\0")) is None


def test_not_open_is_said_so(make: Callable[[JournalSettings], Journal]) -> None:
    journal = make(SETTINGS)
    journal.close()
    for action in (lambda: commit(journal), lambda: journal.read(FindUnit(CHAT)), journal.reserve):
        with pytest.raises(JournalFailed, match="is not open"):
            action()
