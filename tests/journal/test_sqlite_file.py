"""The file: how it is made, grown, refused, copied, and read while it is written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast.journal import schema
from holdfast.journal.packing import pack, unpack
from holdfast.journal.settings import Durability, JournalSettings
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports.journal import ClientRecord as Client
from holdfast.ports.journal import (
    Content,
    CopyTurns,
    DisposeSession,
    DropChannel,
    Epoch,
    FindClient,
    FindTurn,
    FindUnit,
    JournalFailed,
    KnownDispatches,
    ListDisposed,
    ListSessions,
    LoadUnit,
    OldSessions,
    PutClient,
    PutContent,
    PutDispatch,
    ReadContent,
    ReadFrames,
    ReadTurns,
    ReadTurnsFrom,
    RestoreSession,
    ShareContents,
    StoredEnvelope,
)
from journal.builders import CHAT, NOW, OTHER, SESSION, SETTINGS, commit, frame, head, seqs, session, turns

DAY = SETTINGS.replay_age_ms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    opened = SqliteJournal(path, SETTINGS)
    opened.open(NOW)
    yield opened
    opened.close()


def refused(path: Path) -> str:
    """The sentence with which opening is refused."""
    journal = SqliteJournal(path)
    with pytest.raises(JournalFailed) as caught:
        journal.open(NOW)
    journal.close()
    return str(caught.value)


# Made


def test_nobody_else_may_read_it(journal: SqliteJournal, path: Path) -> None:
    commit(journal, frame(SESSION, 4))
    files = sorted(path.parent.iterdir())
    assert [each.name for each in files] == ["journal.db", "journal.db-shm", "journal.db-wal"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}


def test_restored_copy_that_others_may_read_is_made_private(journal: SqliteJournal, path: Path) -> None:
    journal.close()
    path.chmod(0o644)
    journal.open(NOW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_closing_leaves_one_complete_file_and_may_be_repeated(journal: SqliteJournal, path: Path) -> None:
    commit(journal, frame(SESSION, 4))
    journal.close()
    journal.close()
    assert [each.name for each in path.parent.iterdir()] == ["journal.db"]
    journal.open(NOW)
    assert seqs(journal.read(ReadFrames((SESSION,), 0, None))) == [4]


def test_file_says_whose_it_is(journal: SqliteJournal, path: Path) -> None:
    journal.close()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA application_id").fetchone() == (0x484F4C44,)
        assert database.execute("PRAGMA user_version").fetchone() == (len(schema.STEPS),)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize(("durability", "level"), [("process", "NORMAL"), ("power", "FULL")])
def test_numbers_are_always_synced_and_commits_as_the_durability_says(
    path: Path, durability: Durability, level: str
) -> None:
    journal = SqliteJournal(path, JournalSettings(durability=durability))
    journal.open(NOW)
    executed: list[str] = []
    writer = journal._require_open().writer
    assert writer.execute("PRAGMA synchronous").fetchone() == ({"NORMAL": 1, "FULL": 2}[level],)
    writer.set_trace_callback(executed.append)
    journal.reserve()
    assert [executed[0], executed[-2], executed[-1]] == [
        "PRAGMA synchronous = FULL",
        "COMMIT",
        f"PRAGMA synchronous = {level}",
    ]
    journal.close()


def test_packed_frame_is_read_for_ever() -> None:
    packed = bytes.fromhex("9183a76368616e6e656ca363682da373657104a464617461c4027b7d")
    assert unpack(packed) == (StoredEnvelope("ch-", 4, b"{}"),)
    with_facts = bytes.fromhex("9184a76368616e6e656ca363682da373657104a464617461c4027b7da56661637473c4037b317d")
    envelope = StoredEnvelope("ch-", 4, b"{}", b"{1}")
    assert unpack(with_facts) == (envelope,)
    assert pack((envelope,)) == with_facts


# Migrations


def test_older_file_is_migrated(journal: SqliteJournal, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(journal, session(SESSION), frame(SESSION, 4))
    journal.close()
    step = ("ALTER TABLE units ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'", "UPDATE units SET colour = 'red'")
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, step))
    journal.open(NOW)
    assert seqs(journal.read(ReadFrames((SESSION,), 0, None))) == [4]
    journal.close()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT uri, colour FROM units").fetchall() == [(SESSION, "red")]
        assert database.execute("PRAGMA user_version").fetchone() == (len(schema.STEPS),)
    monkeypatch.undo()
    reads = len(schema.STEPS)
    assert f"newer Holdfast (format {reads + 1}, this one reads {reads}); upgrade Holdfast" in refused(path)


def test_migration_that_fails_leaves_the_file_as_it_was(
    journal: SqliteJournal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(journal, session(SESSION), frame(SESSION, 4))
    journal.close()
    step = ("ALTER TABLE units ADD COLUMN colour TEXT", "UPDATE units SET shape = 'round'")
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, step))
    assert "no such column: shape" in refused(path)
    monkeypatch.undo()
    assert len(journal.open(NOW).epochs) == 2
    assert seqs(journal.read(ReadFrames((SESSION,), 0, None))) == [4]


def test_opening_that_was_interrupted_at_the_very_start_is_begun_again(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    journal = SqliteJournal(path)
    assert journal.open(NOW).sessions == 0
    journal.close()


# Refusals


def test_what_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(b"not a database, but somebody's notes\n" * 100)
    before = path.read_bytes()
    assert refused(path) == f"{path} is not a Holdfast journal; move it away or choose another --data-dir"
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["journal.db"]


def test_database_of_another_application_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE notes (text)")
        database.execute("PRAGMA application_id = 42")
    before = path.read_bytes()
    assert refused(path) == f"{path} is not a Holdfast journal; move it away or choose another --data-dir"
    assert path.read_bytes() == before


@pytest.mark.parametrize("owner", [0, schema.APPLICATION_ID])
def test_tables_of_others_are_not_taken_over(path: Path, owner: int) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE units (text)")
        database.execute(f"PRAGMA application_id = {owner}")
    assert str(path) in refused(path)


def test_damaged_file_is_refused(journal: SqliteJournal, path: Path) -> None:
    commit(journal, session(SESSION), *(frame(SESSION, seq, size=4000) for seq in range(4, 400, 4)))
    journal.close()
    whole = path.read_bytes()
    damaged = f"{path} is damaged; restore a backup, or move it away, or choose another --data-dir"
    path.write_bytes(whole[: len(whole) // 2])
    assert refused(path) == damaged
    path.write_bytes(whole[:100] + b"\xff" * 3996 + whole[4096:])
    assert refused(path) == damaged


def test_damage_found_later_is_a_failure_of_that_query(journal: SqliteJournal, path: Path) -> None:
    commit(journal, session(SESSION), *(frame(SESSION, seq, size=4000) for seq in range(4, 400, 4)))
    commit(journal, session(OTHER), head(OTHER, OTHER, 4))
    journal.close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE frames SET data = x'01020304' WHERE seq = 200")
        database.commit()
    journal.open(NOW)
    with pytest.raises(JournalFailed, match="is damaged"):
        journal.read(ReadFrames((SESSION,), 0, None))
    assert journal.read(FindUnit(OTHER)) == OTHER


def test_directory_in_its_place_is_refused(path: Path) -> None:
    path.mkdir()
    assert refused(path) == f"{path} is not a file; move it away or choose another --data-dir"


def test_pipe_in_its_place_is_refused_without_waiting_for_it(path: Path) -> None:
    os.mkfifo(path)
    assert "is not a file" in refused(path)


def test_missing_directory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "journal.db"
    assert (
        refused(path)
        == f"{path} cannot be opened; see to its directory and permissions, or choose another --data-dir"
    )


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may read everything, so that the test becomes nobody for a moment."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("mode", [0o000, 0o400])
def test_file_that_may_not_be_read_and_written_is_refused(mode: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        path = Path(directory) / "journal.db"
        journal = SqliteJournal(path)
        journal.open(NOW)
        journal.close()
        path.chmod(mode)
        with without_privileges():
            assert "permissions, or choose another --data-dir" in refused(path)


def test_directory_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with without_privileges():
        assert "permissions or choose another --data-dir" in refused(tmp_path / "journal.db")


def test_file_in_use_by_another_program_is_refused(
    journal: SqliteJournal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.close()
    monkeypatch.setattr("holdfast.journal.sqlite._BUSY_SECONDS", 0.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        assert refused(path) == f"{path} is in use by another process; stop it or choose another --data-dir"


# Values that have no form in the file


def test_text_without_an_encoding_fails_and_nothing_is_kept(journal: SqliteJournal) -> None:
    with pytest.raises(JournalFailed):
        commit(journal, frame(SESSION, 4), head("\ud800", CHAT, 4))
    with pytest.raises(JournalFailed):
        commit(journal, frame(SESSION, 4), PutDispatch("a", 1 << 70, b"", NOW))
    with pytest.raises(JournalFailed):
        journal.read(FindUnit("\ud800"))
    commit(journal, frame(SESSION, 4))
    assert seqs(journal.read(ReadFrames((SESSION,), 0, None))) == [4]


# Upkeep in pieces


def test_upkeep_goes_on_where_it_stopped(path: Path) -> None:
    journal = SqliteJournal(path, JournalSettings(upkeep_ms=0, replay_bytes=1000))
    journal.open(NOW)
    for name, first in (("a", 4), ("b", 4004)):
        commit(journal, session(name), head(name, f"{name}-chat", 0), *turns(f"{name}-chat", *map(str, range(500))))
        commit(journal, *(frame(name, seq, size=10) for seq in range(first, first + 4000, 4)))
        commit(journal, *(PutContent(Content(f"{name}-{each}", name, "", b"")) for each in range(50)))
    commit(journal, DisposeSession("a", 0), DropChannel("b-chat"), head("b", "b", 9000))
    commit(journal, *(PutDispatch("c", each, b"", NOW - 2 * DAY) for each in range(500)))
    calls = 0
    while journal.read(ReadFrames(("b",), 7599, None)) is not None and calls < 1000:
        journal.maintain(NOW)
        calls += 1
    assert 10 < calls < 1000
    assert len(journal.read(ReadFrames(("b",), 7600, None))) == 100
    journal.close()
    with closing(sqlite3.connect(path)) as database:
        left = {
            table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("units", "channels", "frames", "turns", "contents", "dispatches")
        }
    assert left == {"units": 1, "channels": 1, "frames": 100, "turns": 0, "contents": 50, "dispatches": 0}


# Backups


def test_backup_is_a_journal_of_its_own(journal: SqliteJournal, tmp_path: Path) -> None:
    commit(journal, session(SESSION), head(SESSION, SESSION, 4), frame(SESSION, 8))
    target = tmp_path / "backup.db"
    journal.backup(str(target))
    commit(journal, frame(SESSION, 12))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.glob("*backup*")] == ["backup.db"]
    assert not list(tmp_path.glob("*.partial*"))
    copy = SqliteJournal(target, SETTINGS)
    opening = copy.open(NOW)
    assert (len(opening.epochs), opening.sessions) == (2, 1)
    assert seqs(copy.read(ReadFrames((SESSION,), 0, None))) == [8]
    copy.close()
    assert seqs(journal.read(ReadFrames((SESSION,), 0, None))) == [8, 12]


def test_numbers_after_a_restored_backup_are_new(journal: SqliteJournal, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    commit(journal, frame(SESSION, NOW * 1024 + 4))
    journal.backup(str(target))
    later = NOW + 60_000
    given_out = max([journal.reserve() for _ in range(50)])
    commit(journal, frame(SESSION, given_out))
    journal.close()
    shutil.copy(target, path)
    opening = journal.open(later)
    assert opening.epochs[-1] == Epoch(NOW * 1024 + 4, later * 1024)
    assert opening.epochs[-1].first > given_out


def test_backup_overwrites_nothing(journal: SqliteJournal, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    target.write_text("precious")
    with pytest.raises(JournalFailed, match="exists already; choose another name"):
        journal.backup(str(target))
    assert target.read_text() == "precious"
    with pytest.raises(JournalFailed, match="cannot be opened"):
        journal.backup(str(tmp_path / "missing" / "backup.db"))


# Reading while writing


def test_reader_sees_whole_commits(journal: SqliteJournal) -> None:
    commit(journal, session(SESSION), session(OTHER))
    is_done = threading.Event()
    torn: list[object] = []
    reads = 0

    def read() -> None:
        nonlocal reads
        while not is_done.is_set():
            found = seqs(journal.read(ReadFrames((SESSION, OTHER), 0, None)))
            reads += 1
            if found is None or found != list(range(4, 4 + 4 * len(found), 4)) or len(found) % 2:
                torn.append(found)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(4, 2404, 8):
        commit(journal, frame(SESSION, number), frame(OTHER, number + 4))
        if number % 400 == 4:
            journal.maintain(NOW)
            journal.checkpoint()
    is_done.set()
    reader.join(timeout=60)
    assert not reader.is_alive()
    assert reads > 0
    assert torn == []


# Plans

# What may be read from end to end: rows that are few by their nature, and indexes of exactly what is asked for.
SCANNED = {
    "SCAN ledger",
    "SCAN epochs",
    "SCAN meta",
    "SCAN units USING INDEX units_attention",
    "SCAN clients USING COVERING INDEX clients_by_contact",
    "SCAN channels USING COVERING INDEX channels_dropped",
    "SCAN CONSTANT ROW",
}


def test_nothing_is_searched_from_end_to_end(journal: SqliteJournal) -> None:
    executed: set[str] = set()
    opened = journal._require_open()
    for connection in (opened.writer, opened.reader):
        connection.set_trace_callback(executed.add)
    commit(
        journal,
        session(SESSION, attention=True),
        head(SESSION, CHAT, 4),
        *turns(CHAT, "t"),
        CopyTurns(CHAT, OTHER, 1),
        frame(SESSION, 8),
        PutClient(Client("a", "1.0.0", 0)),
        PutDispatch("a", 1, b"", 0),
        PutContent(Content("c", SESSION, "", b"")),
    )
    for query in (
        FindUnit(CHAT),
        LoadUnit(SESSION),
        ReadTurns(CHAT, None, None, None),
        ReadTurnsFrom(CHAT, 0, None, None),
        FindTurn(CHAT, "t"),
        ListSessions(None, 1, None),
        ListSessions(("2026", 1), 1, None),
        OldSessions("2026-01-02", 3),
        ListDisposed(None, 1),
        ListDisposed((5, 1), 1),
        ReadFrames((SESSION,), 0, None),
        FindClient("a"),
        KnownDispatches("a"),
        ReadContent("c"),
    ):
        journal.read(query)
    commit(
        journal, DisposeSession(SESSION, 5), RestoreSession(SESSION), DisposeSession(SESSION, 5), DropChannel(OTHER)
    )
    commit(
        journal,
        session("first"),
        session("second"),
        PutContent(Content("d", "first", "", b"")),
        ShareContents("first", "second"),
        DisposeSession("first", 5),
    )
    journal.read(ReadContent("d"))
    journal.maintain(NOW + 40 * DAY)
    statements = {each for each in executed if each.split()[0] in ("SELECT", "INSERT", "UPDATE", "DELETE")}
    assert len(statements) > 40
    plans = {
        (row[3], statement)
        for statement in statements
        for row in opened.checkpointer.execute(f"EXPLAIN QUERY PLAN {statement}")
    }
    assert [plan for plan in plans if plan[0].startswith("SCAN") and plan[0] not in SCANNED] == []
    assert [plan for plan in plans if "TEMP B-TREE" in plan[0] and "channels" not in plan[1]] == []
