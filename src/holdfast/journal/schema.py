"""The layout of the journal file: numbered steps from an empty file to the present version.

`user_version` says how many steps a file has had; `application_id` says that it is ours. A step, once released, is
never edited: a change is another step. JSON in the rows is that of protocol 1.0, whoever sent it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from holdfast.ports.journal import JournalFailed

__all__ = ["APPLICATION_ID", "STEPS", "check", "migrate"]

APPLICATION_ID: Final = 0x484F4C44
"""`HOLD`, where `file` and SQLite look for the owner of a database."""

_FIRST: Final = (
    # One row. `head` covers the numbers of heads and of frames that are gone; see `upkeep`. `sessions` counts the
    # listed ones.
    "CREATE TABLE ledger (reserved INTEGER NOT NULL, head INTEGER NOT NULL, sessions INTEGER NOT NULL)",
    "INSERT INTO ledger VALUES (0, 0, 0)",
    "CREATE TABLE epochs (id INTEGER PRIMARY KEY, head_before INTEGER NOT NULL, first INTEGER NOT NULL)",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    # A unit, and what the catalogue says of it if it is a session. In use: `until` is null. Disposed of and to be
    # restored: until then. Gone, and taken apart by `upkeep`: 0, without a name. Ids are never used again, since
    # they are part of paging keys.
    """CREATE TABLE units (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uri TEXT UNIQUE,
        until INTEGER,
        trimmed INTEGER NOT NULL DEFAULT 0,
        listed INTEGER NOT NULL DEFAULT 0,
        attention INTEGER NOT NULL DEFAULT 0,
        modified_at TEXT,
        summary BLOB,
        extra BLOB
    )""",
    "CREATE INDEX units_listed ON units (modified_at DESC, id DESC) WHERE listed = 1 AND until IS NULL",
    "CREATE INDEX units_attention ON units (id) WHERE attention = 1 AND until IS NULL",
    "CREATE INDEX units_disposed ON units (until) WHERE until IS NOT NULL",
    # Counting a hundred thousand sessions at every start would take longer than the start.
    """CREATE TRIGGER units_counted AFTER UPDATE OF listed, until ON units BEGIN
        UPDATE ledger SET sessions = sessions
            + (new.listed AND new.until IS NULL) - (old.listed AND old.until IS NULL)
        WHERE (new.listed AND new.until IS NULL) <> (old.listed AND old.until IS NULL);
    END""",
    # Without a unit: turns that came before their head. Without a name: dropped, and taken apart by `upkeep`.
    # `moved_at` is since when the channel is in its unit; -1 between a move and the head that follows it.
    """CREATE TABLE channels (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uri TEXT UNIQUE,
        unit INTEGER,
        seq INTEGER NOT NULL DEFAULT 0,
        position INTEGER NOT NULL DEFAULT 0,
        moved_at INTEGER NOT NULL DEFAULT 0,
        kind TEXT NOT NULL DEFAULT '',
        state BLOB NOT NULL DEFAULT x''
    )""",
    "CREATE INDEX channels_of_unit ON channels (unit, seq) WHERE unit IS NOT NULL",
    "CREATE INDEX channels_dropped ON channels (id) WHERE uri IS NULL",
    # A frame goes by its last number, which is unique and rises: appending is cheap and the greatest is at the end.
    """CREATE TABLE frames (
        seq INTEGER PRIMARY KEY,
        unit INTEGER NOT NULL,
        at INTEGER NOT NULL,
        size INTEGER NOT NULL,
        data BLOB NOT NULL
    )""",
    "CREATE INDEX frames_of_unit ON frames (unit, seq, size)",
    """CREATE TABLE turns (
        chat INTEGER NOT NULL,
        position INTEGER NOT NULL,
        turn_id TEXT NOT NULL,
        data BLOB NOT NULL
    )""",
    "CREATE UNIQUE INDEX turns_in_order ON turns (chat, position)",
    "CREATE INDEX turns_by_id ON turns (chat, turn_id, position)",
    """CREATE TABLE contents (
        uri TEXT UNIQUE NOT NULL,
        unit INTEGER NOT NULL,
        content_type TEXT NOT NULL,
        data BLOB NOT NULL
    )""",
    "CREATE INDEX contents_of_unit ON contents (unit)",
    """CREATE TABLE clients (
        client_id TEXT PRIMARY KEY,
        version TEXT NOT NULL,
        seen_at INTEGER NOT NULL,
        resync INTEGER NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX clients_by_contact ON clients (seen_at, client_id)",
    """CREATE TABLE dispatches (
        client_id TEXT NOT NULL,
        client_seq INTEGER NOT NULL,
        digest BLOB NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (client_id, client_seq, digest)
    ) WITHOUT ROWID""",
    "CREATE INDEX dispatches_by_age ON dispatches (at)",
)

# Units that hold a content beside the one it was made for, so that a chat keeps what its turns refer to when it
# leaves its session.
_SECOND: Final = (
    "CREATE TABLE holders (unit INTEGER NOT NULL, uri TEXT NOT NULL, PRIMARY KEY (unit, uri)) WITHOUT ROWID",
    "CREATE INDEX holders_of_content ON holders (uri, unit)",
)

STEPS: Sequence[Sequence[str]] = (_FIRST, _SECOND)


def check(database: sqlite3.Connection, path: str) -> None:
    """Raise `JournalFailed` unless this is a journal that we can read, or nothing yet. Changes nothing."""
    (owner,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (things,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    is_new = owner == 0 and version == 0 and things == 0
    if not is_new and owner != APPLICATION_ID:
        raise JournalFailed(f"{path} is not a Holdfast journal; move it away or choose another --data-dir")
    if version > len(STEPS):
        raise JournalFailed(
            f"{path} was written by a newer Holdfast (format {version}, this one reads {len(STEPS)}); "
            "upgrade Holdfast or choose another --data-dir"
        )


def migrate(database: sqlite3.Connection) -> None:
    """Bring a checked database to the present version. Belongs into a transaction of the caller's."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version == len(STEPS):
        return
    for step in STEPS[version:]:
        for statement in step:
            database.execute(statement)
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute(f"PRAGMA user_version = {len(STEPS)}")
