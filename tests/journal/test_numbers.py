"""Numbers are reserved before they are used, rise for ever, and every start is on record."""

from __future__ import annotations

from holdfast.ports.journal import DisposeSession, DropChannel, Epoch, Journal, Opening
from journal.builders import CHAT, NOW, SESSION, SETTINGS, commit, frame, head, session

SECOND = 1000


def restart(journal: Journal, now: int) -> Opening:
    journal.close()
    return journal.open(now)


def test_start_begins_at_its_time(journal: Journal) -> None:
    opening = restart(journal, NOW + SECOND)
    first = (NOW + SECOND) * 1024
    assert opening == Opening((Epoch(0, NOW * 1024), Epoch(0, first)), first + SETTINGS.block - 1, None, 0, (), {})


def test_blocks_follow_each_other_and_are_never_given_out_again(journal: Journal) -> None:
    assert journal.reserve() == NOW * 1024 + 2 * SETTINGS.block - 1
    end = journal.reserve()
    assert end == NOW * 1024 + 3 * SETTINGS.block - 1
    opening = restart(journal, NOW - 1_000_000)
    assert opening.epochs[-1] == Epoch(0, end + 1)
    assert opening.reserved == end + SETTINGS.block


def test_epoch_tells_the_highest_number_of_frames_and_heads(journal: Journal) -> None:
    first = NOW * 1024
    commit(journal, frame(SESSION, first + 8, first + 12), head(SESSION, SESSION, first + 4))
    assert restart(journal, NOW + SECOND).epochs[-1] == Epoch(first + 12, (NOW + SECOND) * 1024)
    commit(journal, head(SESSION, SESSION, first + 20))
    assert restart(journal, NOW + 2 * SECOND).epochs[-1] == Epoch(first + 20, (NOW + 2 * SECOND) * 1024)


def test_highest_number_outlives_its_frame(journal: Journal) -> None:
    commit(journal, session(SESSION), head(SESSION, SESSION, 0), frame(SESSION, 40), DropChannel(SESSION))
    journal.maintain(NOW + 2 * SETTINGS.replay_age_ms)
    assert restart(journal, NOW).epochs[-1].head_before == 40


def test_highest_number_outlives_its_session(journal: Journal) -> None:
    commit(journal, session(SESSION), head(SESSION, SESSION, 4), head(SESSION, CHAT, 44), frame(SESSION, 40))
    commit(journal, DisposeSession(SESSION, 0))
    journal.maintain(NOW)
    assert restart(journal, NOW).epochs[-1].head_before == 44


def test_every_start_is_on_record(journal: Journal) -> None:
    times = [NOW + number * SECOND for number in range(1, 6)]
    openings = [restart(journal, time) for time in times]
    assert openings[-1].epochs == tuple(Epoch(0, time * 1024) for time in (NOW, *times))
