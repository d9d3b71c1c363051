"""How each query is answered from the file: one function per class, found through `QUERIES`.

Each runs inside one read transaction, so that its statements see the same commit. Rows are found through an index,
whatever else the journal holds; a test asks SQLite for the plans.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Final

from holdfast.journal.packing import unpack
from holdfast.ports.journal import (
    ROOT_UNIT,
    ClientRecord,
    Content,
    DisposedPage,
    DisposedSession,
    Epoch,
    FindClient,
    FindTurn,
    FindUnit,
    KnownDispatches,
    ListDisposed,
    ListSessions,
    LoadUnit,
    OldSessions,
    Opening,
    ReadContent,
    ReadFrames,
    ReadTurns,
    ReadTurnsFrom,
    SessionPage,
    SessionRow,
    StoredChannel,
    StoredEnvelope,
    StoredTurn,
    StoredUnit,
    TurnPage,
)
from holdfast.protocol.common import URI

__all__ = ["QUERIES", "opening"]

_Database = sqlite3.Connection

_NEWEST: Final = ("\U0010ffff", 1 << 62)
"""A paging key that is before all sessions."""


# Units


def _find_unit(database: _Database, query: FindUnit) -> URI | None:
    found: tuple[URI] | None = database.execute(
        """SELECT units.uri FROM channels JOIN units ON units.id = channels.unit
        WHERE channels.uri = ? AND (units.until IS NOT NULL) = ?""",
        (query.channel, query.disposed),
    ).fetchone()
    return None if found is None else found[0]


def _load_unit(database: _Database, query: LoadUnit) -> StoredUnit | None:
    found = database.execute(
        """SELECT id, modified_at, summary, listed, attention, extra FROM units
        WHERE uri = ? AND (until IS NOT NULL) = ?""",
        (query.unit, query.disposed),
    ).fetchone()
    if found is None:
        return None
    unit, modified_at, summary, listed, attention, extra = found
    row = None
    if summary is not None:
        row = SessionRow(query.unit, modified_at, summary, bool(listed), bool(attention), extra)
    channels = _channels(database, unit)
    oldest = min((channel.seq for channel in channels), default=0)
    return StoredUnit(query.unit, row, channels, tuple(_envelopes(database, unit, oldest)))


def _channels(database: _Database, unit: int) -> tuple[StoredChannel, ...]:
    rows = database.execute(
        """SELECT uri, kind, seq, state,
            (SELECT coalesce(max(turns.position) + 1, 0) FROM turns WHERE turns.chat = channels.id),
            max(moved_at, 0)
        FROM channels WHERE unit = ? ORDER BY position, id""",
        (unit,),
    )
    return tuple([StoredChannel(*row) for row in rows])


def _envelopes(database: _Database, unit: int, after: int) -> Iterable[StoredEnvelope]:
    """Oldest first. A frame can have been seen in part: numbers are given to envelopes."""
    frames = database.execute("SELECT data FROM frames WHERE unit = ? AND seq > ? ORDER BY seq", (unit, after))
    for (data,) in frames:
        envelopes = unpack(data)
        if envelopes[0].seq > after:
            yield from envelopes
        else:
            yield from [envelope for envelope in envelopes if envelope.seq > after]


def _read_frames(database: _Database, query: ReadFrames) -> tuple[StoredEnvelope, ...] | None:
    envelopes: list[StoredEnvelope] = []
    left = query.budget
    for uri in dict.fromkeys(query.units):
        found = database.execute("SELECT id, trimmed FROM units WHERE uri = ? AND until IS NULL", (uri,)).fetchone()
        if found is None:
            continue
        unit, trimmed = found
        if trimmed > query.after:
            return None
        for envelope in _envelopes(database, unit, query.after):
            if left is not None:
                left -= len(envelope.data)
                if left < 0:
                    return None
            envelopes.append(envelope)
    if len(query.units) > 1:
        envelopes.sort(key=attrgetter("seq"))
    return tuple(envelopes)


# Turns


def _chat(database: _Database, uri: URI) -> int | None:
    """The channel of a chat, unless its session was disposed of. Turns may come before their chat has a unit."""
    found: tuple[int] | None = database.execute(
        """SELECT channels.id FROM channels LEFT JOIN units ON units.id = channels.unit
        WHERE channels.uri = ? AND units.until IS NULL""",
        (uri,),
    ).fetchone()
    return None if found is None else found[0]


def _read_turns(database: _Database, query: ReadTurns) -> TurnPage:
    chat, total = _counted(database, query.chat)
    before = total if query.before is None else query.before
    rows = database.execute(
        "SELECT position, turn_id, data FROM turns WHERE chat = ? AND position < ? ORDER BY position DESC",
        (chat, before),
    )
    taken, _ = _fitting(rows, 2, query.limit, query.budget)
    return TurnPage(tuple([StoredTurn(*row) for row in reversed(taken)]), total)


def _read_turns_from(database: _Database, query: ReadTurnsFrom) -> TurnPage:
    chat, total = _counted(database, query.chat)
    rows = database.execute(
        "SELECT position, turn_id, data FROM turns WHERE chat = ? AND position >= ? ORDER BY position",
        (chat, query.position),
    )
    taken, _ = _fitting(rows, 2, query.limit, query.budget)
    return TurnPage(tuple([StoredTurn(*row) for row in taken]), total)


def _counted(database: _Database, uri: URI) -> tuple[int | None, int]:
    """The channel of a chat and how many turns it has."""
    chat = _chat(database, uri)
    (total,) = database.execute("SELECT coalesce(max(position) + 1, 0) FROM turns WHERE chat = ?", (chat,)).fetchone()
    return chat, total


def _fitting(
    rows: sqlite3.Cursor, size_of: int, limit: int | None, budget: int | None
) -> tuple[list[tuple[Any, ...]], bool]:
    """The first rows that fit, by their number and the size of one column, and whether there are more.

    At least one fits if there is any.
    """
    taken: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        size += len(row[size_of])
        is_full = (limit is not None and len(taken) >= limit) or (budget is not None and size > budget)
        if taken and is_full:
            return taken, True
        taken.append(row)
    return taken, False


def _find_turn(database: _Database, query: FindTurn) -> int | None:
    (position,) = database.execute(
        "SELECT min(position) FROM turns WHERE chat = ? AND turn_id = ?",
        (_chat(database, query.chat), query.turn_id),
    ).fetchone()
    found: int | None = position
    return found


# The catalogue


def _list_sessions(database: _Database, query: ListSessions) -> SessionPage:
    rows = database.execute(
        """SELECT summary, modified_at, id FROM units
        WHERE listed = 1 AND until IS NULL AND (modified_at, id) < (?, ?)
        ORDER BY modified_at DESC, id DESC""",
        query.after or _NEWEST,
    )
    taken, has_more = _fitting(rows, 0, query.limit, query.budget)
    summaries = tuple([summary for summary, _, _ in taken])
    if not has_more:
        return SessionPage(summaries, None)
    _, modified_at, unit = taken[-1]
    return SessionPage(summaries, (modified_at, unit))


_LONGEST: Final = (1 << 62, 1 << 62)
"""A paging key that is before all disposed sessions."""


def _list_disposed(database: _Database, query: ListDisposed) -> DisposedPage:
    rows = database.execute(
        """SELECT uri, until, summary, extra, id FROM units
        WHERE until > 0 AND listed = 1 AND (until, id) < (?, ?)
        ORDER BY until DESC, id DESC""",
        query.after or _LONGEST,
    )
    taken, has_more = _fitting(rows, 2, query.limit, None)
    sessions = tuple([DisposedSession(*row[:4]) for row in taken])
    return DisposedPage(sessions, (taken[-1][1], taken[-1][4]) if has_more else None)


def _old_sessions(database: _Database, query: OldSessions) -> tuple[URI, ...]:
    rows = database.execute(
        """SELECT uri FROM units WHERE listed = 1 AND until IS NULL AND modified_at < ?
        ORDER BY modified_at, id LIMIT ?""",
        (query.before, query.limit),
    )
    return tuple([uri for (uri,) in rows])


# Clients and the rest


def _find_client(database: _Database, query: FindClient) -> ClientRecord | None:
    found = database.execute(
        "SELECT client_id, version, seen_at, resync FROM clients WHERE client_id = ?", (query.client_id,)
    ).fetchone()
    return None if found is None else ClientRecord(found[0], found[1], found[2], bool(found[3]))


def _known_dispatches(database: _Database, query: KnownDispatches) -> frozenset[tuple[int, bytes]]:
    return frozenset(
        database.execute("SELECT client_seq, digest FROM dispatches WHERE client_id = ?", (query.client_id,))
    )


def _read_content(database: _Database, query: ReadContent) -> Content | None:
    """For as long as a unit that holds it is in use."""
    found = database.execute(
        """SELECT contents.uri, units.uri, contents.content_type, contents.data
        FROM contents JOIN units ON units.id = contents.unit
        WHERE contents.uri = ? AND units.until IS NULL""",
        (query.uri,),
    ).fetchone()
    if found is None:
        found = database.execute(
            """SELECT contents.uri, units.uri, contents.content_type, contents.data
            FROM holders JOIN units ON units.id = holders.unit JOIN contents ON contents.uri = holders.uri
            WHERE holders.uri = ? AND units.until IS NULL ORDER BY holders.unit LIMIT 1""",
            (query.uri,),
        ).fetchone()
    return None if found is None else Content(*found)


QUERIES: Final[dict[type, Callable[[_Database, Any], Any]]] = {
    FindUnit: _find_unit,
    LoadUnit: _load_unit,
    ReadFrames: _read_frames,
    ReadTurns: _read_turns,
    ReadTurnsFrom: _read_turns_from,
    FindTurn: _find_turn,
    ListSessions: _list_sessions,
    OldSessions: _old_sessions,
    ListDisposed: _list_disposed,
    FindClient: _find_client,
    KnownDispatches: _known_dispatches,
    ReadContent: _read_content,
}


def opening(database: _Database) -> Opening:
    """What a host needs to begin, without looking at every session."""
    reserved, sessions = database.execute("SELECT reserved, sessions FROM ledger").fetchone()
    epochs = database.execute("SELECT head_before, first FROM epochs ORDER BY id")
    attention = database.execute("SELECT uri FROM units WHERE attention = 1 AND until IS NULL ORDER BY id")
    return Opening(
        epochs=tuple([Epoch(*row) for row in epochs]),
        reserved=reserved,
        root=_load_unit(database, LoadUnit(ROOT_UNIT)),
        sessions=sessions,
        attention=tuple([uri for (uri,) in attention]),
        meta=dict(database.execute("SELECT key, value FROM meta")),
    )
