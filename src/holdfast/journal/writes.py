"""What each write of a commit does to the file: one function per class, found through `WRITES`.

Each belongs into a transaction of the caller's. What takes long, taking a session or a chat apart, is only marked
here: whatever is marked has no name any more, is found by nothing, and is worked off by `upkeep`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final

from holdfast.journal.packing import pack
from holdfast.ports.journal import (
    AppendFrame,
    AppendTurn,
    ClearDispatches,
    CopyTurns,
    DisposeSession,
    DropChannel,
    DropTurns,
    JournalFailed,
    MoveChannel,
    PutClient,
    PutContent,
    PutDispatch,
    PutHead,
    PutMeta,
    PutSession,
    RestoreSession,
    ShareContents,
)
from holdfast.protocol.common import URI

__all__ = ["WRITES", "condemn"]

_Database = sqlite3.Connection


def _unit(database: _Database, uri: URI) -> int:
    """The unit's id; the unit is made if there is none."""
    found = database.execute("SELECT id, until FROM units WHERE uri = ?", (uri,)).fetchone()
    if found is None:
        return _made(database.execute("INSERT INTO units (uri) VALUES (?)", (uri,)))
    if found[1] is not None:
        raise JournalFailed(f"{uri!r} was disposed of: restore it, or put a new session there first")
    unit: int = found[0]
    return unit


def _chat(database: _Database, uri: URI) -> int:
    """The channel's id; a channel without a head is made if there is none."""
    found = database.execute("SELECT id FROM channels WHERE uri = ?", (uri,)).fetchone()
    if found is None:
        return _made(database.execute("INSERT INTO channels (uri) VALUES (?)", (uri,)))
    chat: int = found[0]
    return chat


def _made(inserted: sqlite3.Cursor) -> int:
    assert inserted.lastrowid is not None, "an insert has a row id"
    return inserted.lastrowid


# Frames, channels and turns


def _append_frame(database: _Database, write: AppendFrame) -> None:
    frame = write.frame
    assert frame.envelopes, "a frame has at least one envelope"
    size = sum([len(envelope.data) for envelope in frame.envelopes])
    database.execute(
        "INSERT INTO frames (seq, unit, at, size, data) VALUES (?, ?, ?, ?, ?)",
        (frame.envelopes[-1].seq, _unit(database, frame.unit), frame.at, size, pack(frame.envelopes)),
    )


def _put_head(database: _Database, write: PutHead) -> None:
    unit = _unit(database, write.unit)
    database.execute(
        """INSERT INTO channels (uri, unit, kind, seq, state, position, moved_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?4)
        ON CONFLICT (uri) DO UPDATE SET unit = excluded.unit, kind = excluded.kind, seq = excluded.seq,
            state = excluded.state, position = excluded.position,
            moved_at = CASE WHEN moved_at = -1 OR channels.unit IS NULL THEN excluded.seq ELSE moved_at END""",
        (write.channel, unit, write.kind, write.seq, write.state, write.position),
    )
    database.execute("UPDATE ledger SET head = ?1 WHERE head < ?1", (write.seq,))


def _drop_channel(database: _Database, write: DropChannel) -> None:
    database.execute("UPDATE channels SET uri = NULL, unit = NULL, state = x'' WHERE uri = ?", (write.channel,))


def _move_channel(database: _Database, write: MoveChannel) -> None:
    database.execute(
        "UPDATE channels SET unit = ?, moved_at = -1 WHERE uri = ? AND unit IS NOT NULL",
        (_unit(database, write.unit), write.channel),
    )


def _append_turn(database: _Database, write: AppendTurn) -> None:
    database.execute(
        """INSERT INTO turns (chat, position, turn_id, data)
        SELECT ?1, coalesce(max(position) + 1, 0), ?2, ?3 FROM turns WHERE chat = ?1""",
        (_chat(database, write.chat), write.turn_id, write.data),
    )


def _drop_turns(database: _Database, write: DropTurns) -> None:
    database.execute(
        "DELETE FROM turns WHERE chat = (SELECT id FROM channels WHERE uri = ?) AND position >= ?",
        (write.chat, write.position),
    )


def _copy_turns(database: _Database, write: CopyTurns) -> None:
    assert write.source != write.target, "a chat is no copy of itself"
    target = _chat(database, write.target)
    database.execute("DELETE FROM turns WHERE chat = ?", (target,))
    database.execute(
        """INSERT INTO turns (chat, position, turn_id, data)
        SELECT ?, position, turn_id, data FROM turns
        WHERE chat = (SELECT id FROM channels WHERE uri = ?) AND position < ? ORDER BY position""",
        (target, write.source, write.position),
    )


# Sessions


def _put_session(database: _Database, write: PutSession) -> None:
    row = write.row
    database.execute(
        "UPDATE units SET modified_at = ?, summary = ?, listed = ?, attention = ?, extra = ? WHERE id = ?",
        (row.modified_at, row.summary, row.listed, row.attention, row.extra, _new_unit(database, row.uri)),
    )


def _new_unit(database: _Database, uri: URI) -> int:
    """The unit's id. One that was disposed of makes room for it, for good."""
    disposed = database.execute("SELECT id FROM units WHERE uri = ? AND until IS NOT NULL", (uri,)).fetchone()
    if disposed is not None:
        condemn(database, disposed[0])
    return _unit(database, uri)


def _dispose_session(database: _Database, write: DisposeSession) -> None:
    if write.until > 0:
        database.execute("UPDATE units SET until = ? WHERE uri = ?", (write.until, write.uri))
        return
    found = database.execute("SELECT id FROM units WHERE uri = ?", (write.uri,)).fetchone()
    if found is not None:
        condemn(database, found[0])


def _restore_session(database: _Database, write: RestoreSession) -> None:
    database.execute("UPDATE units SET until = NULL WHERE uri = ?", (write.uri,))


def condemn(database: _Database, unit: int) -> None:
    """Take the names of a unit and of its channels away, for good."""
    database.execute("UPDATE units SET uri = NULL, until = 0, summary = NULL, extra = NULL WHERE id = ?", (unit,))
    database.execute("UPDATE channels SET uri = NULL, unit = NULL, state = x'' WHERE unit = ?", (unit,))


# Clients and the rest


def _put_client(database: _Database, write: PutClient) -> None:
    record = write.record
    database.execute(
        """INSERT INTO clients (client_id, version, seen_at, resync) VALUES (?, ?, ?, ?)
        ON CONFLICT (client_id) DO UPDATE
        SET version = excluded.version, seen_at = excluded.seen_at, resync = excluded.resync""",
        (record.client_id, record.version, record.seen_at, record.resync),
    )


def _put_dispatch(database: _Database, write: PutDispatch) -> None:
    database.execute(
        """INSERT INTO dispatches (client_id, client_seq, digest, at) VALUES (?, ?, ?, ?)
        ON CONFLICT (client_id, client_seq, digest) DO UPDATE SET at = excluded.at""",
        (write.client_id, write.client_seq, write.digest, write.at),
    )


def _clear_dispatches(database: _Database, write: ClearDispatches) -> None:
    database.execute("DELETE FROM dispatches WHERE client_id = ?", (write.client_id,))


def _put_meta(database: _Database, write: PutMeta) -> None:
    database.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (write.key, write.value),
    )


def _put_content(database: _Database, write: PutContent) -> None:
    content = write.content
    unit = _unit(database, content.unit)
    database.execute(
        "INSERT OR IGNORE INTO holders (unit, uri) SELECT unit, uri FROM contents WHERE uri = ? AND unit <> ?",
        (content.uri, unit),
    )
    database.execute(
        """INSERT INTO contents (uri, unit, content_type, data) VALUES (?, ?, ?, ?)
        ON CONFLICT (uri) DO UPDATE SET unit = excluded.unit, content_type = excluded.content_type,
            data = excluded.data""",
        (content.uri, unit, content.content_type, content.data),
    )


def _share_contents(database: _Database, write: ShareContents) -> None:
    unit, other = _unit(database, write.unit), _new_unit(database, write.other)
    database.execute(
        """INSERT OR IGNORE INTO holders (unit, uri)
        SELECT ?, uri FROM contents WHERE unit = ? UNION ALL SELECT ?, uri FROM holders WHERE unit = ?""",
        (other, unit, other, unit),
    )


WRITES: Final[dict[type, Callable[[_Database, Any], None]]] = {
    AppendFrame: _append_frame,
    PutHead: _put_head,
    DropChannel: _drop_channel,
    MoveChannel: _move_channel,
    AppendTurn: _append_turn,
    DropTurns: _drop_turns,
    CopyTurns: _copy_turns,
    PutSession: _put_session,
    DisposeSession: _dispose_session,
    RestoreSession: _restore_session,
    PutClient: _put_client,
    PutDispatch: _put_dispatch,
    ClearDispatches: _clear_dispatches,
    PutMeta: _put_meta,
    PutContent: _put_content,
    ShareContents: _share_contents,
}
