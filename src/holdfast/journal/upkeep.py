"""What a journal forgets, and when: a round of small pieces that goes on from call to call.

Nothing is forgotten that a state is made of: a frame goes once the heads of all channels of its unit have passed
it, and then by age, or because its unit has too many bytes of them. Each unit is looked at by itself.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from holdfast.journal.settings import JournalSettings
from holdfast.journal.writes import condemn

__all__ = ["Upkeep"]

_ROWS: Final = 200
"""Small rows that are looked at in one piece: well under a millisecond."""

_LARGE_ROWS: Final = 20
"""The same for rows that may be large, turns and contents."""

_ALL: Final = 1 << 62
"""Greater than any number."""


class Upkeep:
    """The forgetting of one open journal. Works in the caller's transaction; `start_over` after it was undone."""

    def __init__(self, database: sqlite3.Connection, settings: JournalSettings) -> None:
        self._database = database
        self._settings = settings
        self._now = 0
        self._round: Iterator[None] = iter(())
        # Up to which frame sizes were counted; the bytes of those units that had frames since the start; and the
        # units to look at: they had frames lately, or a state needs more of theirs than the limit.
        (self._counted,) = database.execute("SELECT coalesce(max(seq), 0) FROM frames").fetchone()
        self._sizes: dict[int, int] = {}
        self._watched: set[int] = set()

    def work(self, now: int) -> None:
        """Go on until the round is complete or the time of one call is over; at least one piece is done."""
        deadline = time.monotonic() + self._settings.upkeep_ms / 1000
        self._now = now
        self._keep_head()
        for _ in self._round:
            if time.monotonic() >= deadline:
                return
        self._round = self._pieces()
        for _ in self._round:
            if time.monotonic() >= deadline:
                return

    def start_over(self) -> None:
        """Forget what was believed about sizes, and begin a new round."""
        self._round = iter(())
        self._sizes.clear()

    def _pieces(self) -> Iterator[None]:
        yield from self._expired_sessions()
        yield from self._condemned_units()
        yield from self._dropped_channels()
        yield from self._old_dispatches()
        yield from self._clients()
        yield from self._frames_over_size()
        yield from self._frames_over_age()

    def _keep_head(self) -> None:
        """The highest number ever committed outlives its frame."""
        self._database.execute(
            """UPDATE ledger SET head = (SELECT max(seq) FROM frames)
            WHERE head < (SELECT max(seq) FROM frames)"""
        )

    def _first(self, query: str, *values: int) -> int | None:
        found: tuple[int | None] | None = self._database.execute(query, values).fetchone()
        return None if found is None else found[0]

    def _delete(self, statement: str, *values: int) -> int:
        return self._database.execute(statement, values).rowcount

    # What was disposed of or dropped

    def _expired_sessions(self) -> Iterator[None]:
        expired = "SELECT id FROM units WHERE until > 0 AND until <= ? LIMIT 1"
        while (unit := self._first(expired, self._now)) is not None:
            condemn(self._database, unit)
            yield

    def _condemned_units(self) -> Iterator[None]:
        while (unit := self._first("SELECT id FROM units WHERE until = 0 LIMIT 1")) is not None:
            (
                self._delete(
                    "DELETE FROM frames WHERE seq IN (SELECT seq FROM frames WHERE unit = ? LIMIT ?)", unit, _ROWS
                )
                or self._delete(
                    "DELETE FROM holders WHERE (unit, uri) IN (SELECT unit, uri FROM holders WHERE unit = ? LIMIT ?)",
                    unit,
                    _ROWS,
                )
                or self._pass_on(unit)
                or self._delete(
                    "DELETE FROM contents WHERE rowid IN (SELECT rowid FROM contents WHERE unit = ? LIMIT ?)",
                    unit,
                    _LARGE_ROWS,
                )
                or self._delete("DELETE FROM units WHERE id = ?", unit)
            )
            self._sizes.pop(unit, None)
            self._watched.discard(unit)
            yield

    def _pass_on(self, unit: int) -> int:
        """Give what others hold too to one of them."""
        shared = """SELECT uri, (SELECT min(unit) FROM holders WHERE holders.uri = contents.uri) FROM contents
            WHERE unit = ? AND EXISTS (SELECT 1 FROM holders WHERE holders.uri = contents.uri) LIMIT ?"""
        passed = self._database.execute(shared, (unit, _ROWS)).fetchall()
        self._database.executemany("UPDATE contents SET unit = ?2 WHERE uri = ?1", passed)
        self._database.executemany("DELETE FROM holders WHERE uri = ?1 AND unit = ?2", passed)
        return len(passed)

    def _dropped_channels(self) -> Iterator[None]:
        while (channel := self._first("SELECT id FROM channels WHERE uri IS NULL LIMIT 1")) is not None:
            (
                self._delete(
                    "DELETE FROM turns WHERE rowid IN (SELECT rowid FROM turns WHERE chat = ? LIMIT ?)",
                    channel,
                    _LARGE_ROWS,
                )
                or self._delete("DELETE FROM channels WHERE id = ?", channel)
            )
            yield

    # Clients

    def _old_dispatches(self) -> Iterator[None]:
        old = """DELETE FROM dispatches WHERE (client_id, client_seq, digest) IN
            (SELECT client_id, client_seq, digest FROM dispatches WHERE at < ? LIMIT ?)"""
        while self._delete(old, self._now - self._settings.dispatch_age_ms, _ROWS):
            yield

    def _clients(self) -> Iterator[None]:
        old = "DELETE FROM clients WHERE client_id IN (SELECT client_id FROM clients WHERE seen_at < ? LIMIT ?)"
        while self._delete(old, self._now - self._settings.client_age_ms, _ROWS):
            yield
        least_recent = """DELETE FROM clients WHERE client_id IN
            (SELECT client_id FROM clients ORDER BY seen_at, client_id LIMIT ?)"""
        while (excess := (self._first("SELECT count(*) FROM clients") or 0) - self._settings.client_count) > 0:
            self._delete(least_recent, min(excess, _ROWS))
            yield

    # Frames

    def _needed_after(self, unit: int) -> int:
        """The number of the oldest head of a unit: what came later is needed."""
        oldest = self._first("SELECT min(seq) FROM channels WHERE unit = ?", unit)
        return _ALL if oldest is None else oldest

    def _trim(self, unit: int, frames: list[tuple[int, int]]) -> None:
        """Forget frames of a unit, given by number and size, oldest first."""
        self._database.executemany("DELETE FROM frames WHERE seq = ?", [(seq,) for seq, _ in frames])
        highest, _ = frames[-1]
        self._database.execute("UPDATE units SET trimmed = max(trimmed, ?) WHERE id = ?", (highest, unit))
        if unit in self._sizes:
            self._sizes[unit] -= sum([size for seq, size in frames if seq <= self._counted])

    def _frames_over_size(self) -> Iterator[None]:
        recent = "SELECT seq, unit, size FROM frames WHERE seq > ? ORDER BY seq LIMIT ?"
        while frames := self._database.execute(recent, (self._counted, _ROWS)).fetchall():
            for self._counted, unit, size in frames:
                self._watched.add(unit)
                if unit in self._sizes:
                    self._sizes[unit] += size
            yield
        for unit in tuple(self._watched):
            yield from self._shrink(unit)

    def _shrink(self, unit: int) -> Iterator[None]:
        if unit not in self._sizes:
            total = "SELECT coalesce(sum(size), 0) FROM frames WHERE unit = ? AND seq <= ?"
            self._sizes[unit] = self._first(total, unit, self._counted) or 0
            yield
        oldest = "SELECT seq, size FROM frames WHERE unit = ? AND seq <= ? ORDER BY seq LIMIT ?"
        while (excess := self._sizes[unit] - self._settings.replay_bytes) > 0:
            frames = self._database.execute(oldest, (unit, self._needed_after(unit), _ROWS)).fetchall()
            if not frames:
                return
            freed = accumulate(size for _, size in frames)
            enough = next((count for count, size in enumerate(freed, 1) if size >= excess), len(frames))
            self._trim(unit, frames[:enough])
            yield
        self._watched.discard(unit)

    def _frames_over_age(self) -> Iterator[None]:
        """From the oldest frame on until one is young enough; what is still needed is passed over."""
        seen = 0
        following = "SELECT seq, unit, at, size FROM frames WHERE seq > ? ORDER BY seq LIMIT ?"
        while frames := self._database.execute(following, (seen, _ROWS)).fetchall():
            young = self._now - self._settings.replay_age_ms
            count = next((count for count, (_, _, at, _) in enumerate(frames) if at >= young), len(frames))
            self._trim_unneeded(frames[:count])
            if count < len(frames):
                return
            seen = frames[-1][0]
            yield

    def _trim_unneeded(self, frames: list[tuple[int, int, int, int]]) -> None:
        by_unit: dict[int, list[tuple[int, int]]] = {}
        for seq, unit, _, size in frames:
            by_unit.setdefault(unit, []).append((seq, size))
        for unit, candidates in by_unit.items():
            needed_after = self._needed_after(unit)
            unneeded = [(seq, size) for seq, size in candidates if seq <= needed_after]
            if unneeded:
                self._trim(unit, unneeded)
