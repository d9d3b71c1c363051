"""Whatever is committed, in whatever order, both journals answer every query alike."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.journal.memory import MemoryJournal
from holdfast.journal.settings import JournalSettings
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports.journal import (
    ROOT_UNIT,
    AppendFrame,
    AppendTurn,
    ClearDispatches,
    ClientRecord,
    Commit,
    Content,
    CopyTurns,
    DisposeSession,
    DropChannel,
    DropTurns,
    FindClient,
    FindTurn,
    FindUnit,
    Frame,
    Journal,
    JournalFailed,
    KnownDispatches,
    ListDisposed,
    ListSessions,
    LoadUnit,
    MoveChannel,
    OldSessions,
    PutClient,
    PutContent,
    PutDispatch,
    PutHead,
    PutMeta,
    PutSession,
    Query,
    ReadContent,
    ReadFrames,
    ReadTurns,
    ReadTurnsFrom,
    RestoreSession,
    SessionRow,
    ShareContents,
    StoredEnvelope,
    Write,
)
from journal.builders import NOW

SETTINGS = JournalSettings(
    replay_age_ms=50,
    replay_bytes=40,
    dispatch_age_ms=50,
    client_age_ms=80,
    client_count=2,
    block=7,
    upkeep_ms=60_000,
)

UNITS = [ROOT_UNIT, "s1", "s2", "s3"]
CHATS = ["c1", "c2", "c3"]
CHANNELS = [*UNITS, *CHATS]
TURNS = ["t1", "t2"]
CLIENTS = ["a", "b", "c"]
CONTENTS = ["x1", "x2"]

_unit = st.sampled_from(UNITS)
_session = st.sampled_from(UNITS[1:])
_chat = st.sampled_from(CHATS)
_channel = st.sampled_from(CHANNELS)
_client = st.sampled_from(CLIENTS)
_small = st.integers(0, 3)
_data = st.binary(max_size=12)
_time = st.sampled_from(["2026-01-01", "2026-01-02", "2026-01-03"])

# A write is made when it is its turn: it may take numbers, and knows the time.
Made = Callable[["Program"], Write]


class Program:
    """Runs the same steps on both journals. Numbers and the time rise, as a host promises."""

    def __init__(self, path: Path) -> None:
        self.journals: tuple[Journal, Journal] = (SqliteJournal(path, SETTINGS), MemoryJournal(SETTINGS))
        self.now = NOW
        self.number = 0
        self.restart()

    def next_number(self) -> int:
        self.number += 4
        return self.number

    def both(self, step: Callable[[Journal], Any]) -> None:
        """The outcome of a step, result or failure, is the same."""
        assert _outcome(step, self.journals[0]) == _outcome(step, self.journals[1])

    def restart(self) -> None:
        for journal in self.journals:
            journal.close()
        self.both(lambda journal: journal.open(self.now))

    def close(self) -> None:
        for journal in self.journals:
            journal.close()

    def compare(self) -> None:
        for query in self.queries():
            self.both(lambda journal, query=query: journal.read(query))  # type: ignore[misc]  # a lambda's default
        self.both(_pages)

    def queries(self) -> list[Query]:
        return [
            *(LoadUnit(unit, disposed) for unit in UNITS for disposed in (False, True)),
            *(FindUnit(channel) for channel in CHANNELS),
            *(ReadTurns(chat, None, None, None) for chat in CHATS),
            *(ReadTurns(chat, before, limit, 10) for chat in CHATS for before in (None, 2) for limit in (None, 1, 2)),
            *(
                ReadTurnsFrom(chat, position, limit, 10)
                for chat in CHATS
                for position in (0, 2)
                for limit in (None, 1)
            ),
            *(FindTurn(chat, turn) for chat in CHATS for turn in TURNS),
            *(ReadFrames((unit,), after, None) for unit in UNITS for after in range(0, self.number + 8, 4)),
            *(ReadFrames((*UNITS, "unknown"), self.number - back, 20) for back in (8, 20, 40)),
            ListSessions(None, 2, 10),
            OldSessions("2026-01-02", 3),
            OldSessions("2026-01-04", 2),
            ListDisposed(None, 2),
            *(FindUnit(channel, disposed=True) for channel in CHANNELS),
            *(FindClient(client) for client in CLIENTS),
            *(KnownDispatches(client) for client in CLIENTS),
            *(ReadContent(content) for content in CONTENTS),
        ]


def _outcome(step: Callable[[Journal], Any], journal: Journal) -> Any:
    try:
        return step(journal)
    except JournalFailed as failed:
        return str(failed)


def _pages(journal: Journal) -> list[Any]:
    return [
        *_all_of(journal, lambda key: ListSessions(key, 1, None)),
        *_all_of(journal, lambda key: ListDisposed(key, 1)),
    ]


def _all_of(journal: Journal, query: Callable[[Any], Query]) -> list[Any]:
    pages = [journal.read(query(None))]
    while pages[-1].next is not None:
        pages.append(journal.read(query(pages[-1].next)))
    return pages


def _appended(unit: str, channels: list[str], data: bytes) -> Made:
    def make(program: Program) -> Write:
        envelopes = tuple(StoredEnvelope(channel, program.next_number(), data) for channel in channels)
        return AppendFrame(Frame(unit, program.now, envelopes))

    return make


def _head(unit: str, channel: str, behind: int, state: bytes, position: int) -> Made:
    return lambda program: PutHead(unit, channel, "kind", max(0, program.number - behind), state, position)


def _at_now(write: Callable[..., Write], *values: Any) -> Made:
    return lambda program: write(*values, program.now)


def _known(write: Callable[..., Write], *values: Any) -> Made:
    return lambda program: write(*values)


_writes: st.SearchStrategy[Made] = st.one_of(
    st.builds(_appended, _unit, st.lists(_channel, min_size=1, max_size=3), _data),
    st.builds(_head, _unit, _channel, st.sampled_from([0, 2, 4, 8]), _data, _small),
    st.builds(_known, st.just(DropChannel), _channel),
    st.builds(_known, st.just(MoveChannel), _channel, _unit),
    st.builds(_known, st.just(AppendTurn), _chat, st.sampled_from(TURNS), _data),
    st.builds(_known, st.just(DropTurns), _chat, _small),
    st.permutations(CHATS).flatmap(
        lambda chats: st.builds(_known, st.just(CopyTurns), *map(st.just, chats[:2]), _small)
    ),
    st.builds(
        _known,
        st.just(PutSession),
        st.builds(SessionRow, _session, _time, _data, st.booleans(), st.booleans(), _data),
    ),
    st.builds(
        lambda uri, until: lambda p: DisposeSession(uri, until and p.now + until),
        _session,
        st.sampled_from([0, 10, 100]),
    ),
    st.builds(_known, st.just(RestoreSession), _session),
    st.permutations(UNITS[1:]).flatmap(
        lambda units: st.builds(_known, st.just(ShareContents), *map(st.just, units[:2]))
    ),
    st.builds(lambda client: lambda p: PutClient(ClientRecord(client, "1.0.0", p.now)), _client),
    st.builds(_at_now, st.just(PutDispatch), _client, _small, _data),
    st.builds(_known, st.just(ClearDispatches), _client),
    st.builds(_known, st.just(PutMeta), st.sampled_from(["k", "l"]), _data),
    st.builds(_known, st.just(PutContent), st.builds(Content, st.sampled_from(CONTENTS), _unit, st.just("t"), _data)),
)


def _committed(makers: list[Made]) -> Callable[[Program], None]:
    def step(program: Program) -> None:
        commit = Commit(tuple(make(program) for make in makers))
        program.both(lambda journal: journal.commit(commit))

    return step


def _maintained(passed: int) -> Callable[[Program], None]:
    def step(program: Program) -> None:
        program.now += passed
        program.both(lambda journal: journal.maintain(program.now))

    return step


_steps = st.one_of(
    st.builds(_committed, st.lists(_writes, max_size=6)),
    st.builds(_committed, st.lists(_writes, max_size=6)),
    st.builds(_maintained, st.integers(0, 40)),
    st.just(Program.restart),
    st.just(lambda program: program.both(Journal.reserve)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_steps, max_size=12))
def test_sqlite_and_memory_answer_alike(steps: list[Callable[[Program], None]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        program = Program(Path(directory) / "journal.db")
        try:
            for step in steps:
                step(program)
                program.now += 1
                program.compare()
        finally:
            program.close()
