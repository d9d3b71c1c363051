"""Which numbers a host may give to envelopes: reserved in blocks, never twice, not even after a lost journal.

A start begins far above everything that was used before, since the clock times 1,024 rises faster than any host
can count. So a restored backup does not repeat what the lost file gave out.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from holdfast.ports.journal import Epoch

__all__ = ["begin", "begin_epoch", "reserve"]

_PER_MILLISECOND: Final = 1024
"""More than a host can use, and small enough that numbers stay exact in JavaScript for 250 years."""


def begin(head: int, reserved: int, now: int) -> Epoch:
    """The epoch that begins at `now` (Unix ms), after these numbers were committed and reserved."""
    return Epoch(head_before=head, first=max(max(head, reserved) + 1, now * _PER_MILLISECOND))


def begin_epoch(database: sqlite3.Connection, now: int, block: int) -> None:
    """Record a new epoch and its first block. Belongs into a synced transaction of the caller's."""
    head, reserved = database.execute(
        "SELECT max(head, (SELECT coalesce(max(seq), 0) FROM frames)), reserved FROM ledger"
    ).fetchone()
    epoch = begin(head, reserved, now)
    database.execute("INSERT INTO epochs (head_before, first) VALUES (?, ?)", (epoch.head_before, epoch.first))
    database.execute("UPDATE ledger SET reserved = ?", (epoch.first + block - 1,))


def reserve(database: sqlite3.Connection, block: int) -> int:
    """Record the next block and return its end. Belongs into a synced transaction of the caller's."""
    end: int
    (end,) = database.execute("UPDATE ledger SET reserved = reserved + ? RETURNING reserved", (block,)).fetchone()
    return end
