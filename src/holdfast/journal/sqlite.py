"""The journal in one SQLite file, in WAL mode.

Owns the file and its connections: one writes, one reads (perhaps from another thread), one checkpoints. What a
write does and how a query is answered is in `writes` and `queries`; when something is forgotten, in `upkeep`.

In WAL mode a commit survives the end of the process at once, and a power cut after the next sync: its own
(`power`), or that of the next checkpoint or reservation (`process`). A reservation of numbers is always synced
before it returns, so that none is given out twice.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from holdfast.journal import numbers
from holdfast.journal.failures import translated
from holdfast.journal.files import claim_file, sync_directory
from holdfast.journal.queries import QUERIES, opening
from holdfast.journal.schema import check, migrate
from holdfast.journal.settings import Durability, JournalSettings
from holdfast.journal.upkeep import Upkeep
from holdfast.journal.writes import WRITES
from holdfast.ports.journal import Commit, JournalFailed, Opening, Query

__all__ = ["SqliteJournal", "back_up"]

_BUSY_SECONDS: Final = 5.0
"""How long a lock of another process is waited for. There should be none, but people do look into their files."""

_WAL_KEPT: Final = 64 * 1024 * 1024
"""The log file shrinks to this many bytes when it begins anew: one huge commit does not stay for ever."""

_SYNCHRONOUS: Final[dict[Durability, str]] = {"process": "NORMAL", "power": "FULL"}


@dataclass(frozen=True, slots=True)
class _Opened:
    """What there is between `open` and `close`."""

    writer: sqlite3.Connection
    reader: sqlite3.Connection
    checkpointer: sqlite3.Connection
    upkeep: Upkeep
    resources: ExitStack


class SqliteJournal:
    """A `Journal` in a file. Nobody else opens it meanwhile; the host's lock on its data directory sees to that."""

    def __init__(self, path: str | os.PathLike[str], settings: JournalSettings | None = None) -> None:
        # Absolute, so that no name is read as a `file:` URI or as `:memory:`.
        self._path = Path(path).absolute()
        self._settings = settings or JournalSettings()
        self._opened: _Opened | None = None

    def open(self, now: int) -> Opening:
        """Open the file, or make it; then as the port says. May be called again after `close`."""
        self.close()
        with translated(str(self._path)), ExitStack() as resources:
            claim_file(self._path)
            writer = resources.enter_context(closing(_connect(self._path)))
            self._prepare(writer, now)
            # Entered later, closed earlier: the writer is last, and with it SQLite checkpoints and removes the log.
            reader = resources.enter_context(closing(_connect(self._path)))
            reader.execute("PRAGMA query_only = ON")
            checkpointer = resources.enter_context(closing(_connect(self._path)))
            found = opening(reader)
            upkeep = Upkeep(writer, self._settings)
            self._opened = _Opened(writer, reader, checkpointer, upkeep, resources.pop_all())
            return found

    def _prepare(self, writer: sqlite3.Connection, now: int) -> None:
        check(writer, str(self._path))
        (mode,) = writer.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise JournalFailed(
                f"the file system of {self._path} cannot share memory between processes, which a journal needs; "
                "choose another --data-dir"
            )
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute(f"PRAGMA journal_size_limit = {_WAL_KEPT}")
        with self._synced(writer):
            migrate(writer)
            numbers.begin_epoch(writer, now, self._settings.block)

    def reserve(self) -> int:
        """See the port. Synced, whatever the durability of commits."""
        opened = self._require_open()
        with translated(str(self._path)), self._synced(opened.writer):
            return numbers.reserve(opened.writer, self._settings.block)

    def commit(self, commit: Commit) -> None:
        """See the port."""
        writer = self._require_open().writer
        with translated(str(self._path)), _Transaction(writer):
            for write in commit.writes:
                WRITES[type(write)](writer, write)

    def read(self, query: Query) -> Any:
        """See the port. One thread at a time, which may be another than that of `commit`."""
        reader = self._require_open().reader
        with translated(str(self._path)), _Transaction(reader, "BEGIN"):
            return QUERIES[type(query)](reader, query)

    def maintain(self, now: int) -> None:
        """See the port. Forgets for a few milliseconds at most."""
        opened = self._require_open()
        with translated(str(self._path)):
            try:
                with _Transaction(opened.writer):
                    opened.upkeep.work(now)
            except BaseException:
                opened.upkeep.start_over()
                raise

    def checkpoint(self) -> None:
        """See the port. Copies the log into the file, without waiting for anybody."""
        opened = self._require_open()
        with translated(str(self._path)):
            opened.checkpointer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def backup(self, path: str) -> None:
        """See the port."""
        self._require_open()
        back_up(self._path, Path(path))

    def close(self) -> None:
        """See the port."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.resources.close()

    def _require_open(self) -> _Opened:
        if self._opened is None:
            raise JournalFailed(f"the journal at {self._path} is not open")
        return self._opened

    @contextmanager
    def _synced(self, writer: sqlite3.Connection) -> Iterator[None]:
        """A transaction that survives a power cut, whatever the settings say of others."""
        writer.execute("PRAGMA synchronous = FULL")
        try:
            with _Transaction(writer):
                yield
        finally:
            writer.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[self._settings.durability]}")


def back_up(journal: Path, target: Path) -> None:
    """Copy a journal that may be in use, also by another process, to a new file. Raises `JournalFailed`.

    The copy is made beside its place and takes its name when it is complete.
    """
    target = target.absolute()
    if os.path.lexists(target):
        raise JournalFailed(f"{target} exists already; choose another name for the backup")
    if not journal.exists():
        raise JournalFailed(f"there is no journal {journal}")
    with translated(str(target)):
        handle, partial = tempfile.mkstemp(prefix="holdfast-", suffix=".partial", dir=target.parent)
        os.close(handle)
        try:
            with closing(_connect(journal)) as source, closing(_connect(Path(partial))) as copy:
                check(source, str(journal))
                source.backup(copy)
            Path(partial).rename(target)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
        sync_directory(target.parent)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=128
    )
    connection.execute("PRAGMA fullfsync = ON")  # macOS keeps a plain fsync in the drive's cache
    connection.execute("PRAGMA checkpoint_fullfsync = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    # Pages that become free are not overwritten: forgetting a session would write it all once more.
    connection.execute("PRAGMA secure_delete = FAST")
    return connection


class _Transaction:
    """Commit at the end, or undo everything. After some failures SQLite has done so already."""

    __slots__ = ("_begin", "_database")

    def __init__(self, database: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> None:
        self._database = database
        self._begin = begin

    def __enter__(self) -> None:
        self._database.execute(self._begin)

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is None:
            try:
                self._database.execute("COMMIT")
            except BaseException:
                self._undo()
                raise
        else:
            self._undo()

    def _undo(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")
