"""Short words for what the tests of a journal write."""

from __future__ import annotations

from typing import Final

from holdfast.journal.settings import JournalSettings
from holdfast.ports.journal import (
    AppendFrame,
    AppendTurn,
    Commit,
    Frame,
    Journal,
    PutHead,
    PutSession,
    SessionRow,
    StoredEnvelope,
    StoredTurn,
    Write,
)

NOW: Final = 1_790_000_000_000
SETTINGS: Final = JournalSettings(upkeep_ms=60_000)
"""One `maintain` does all there is to do, however slow the machine."""

SESSION: Final = "ahp-session:/s"
OTHER: Final = "ahp-session:/other"
CHAT: Final = "ahp-chat:/c"


def commit(journal: Journal, *writes: Write) -> None:
    journal.commit(Commit(writes))


def envelope(seq: int, channel: str = SESSION, data: bytes = b"") -> StoredEnvelope:
    return StoredEnvelope(channel, seq, data or b'{"serverSeq":%d}' % seq)


def frame(unit: str, *seqs: int, at: int = NOW, size: int = 0) -> AppendFrame:
    """A frame with these numbers, each envelope of `size` bytes if that is given."""
    return AppendFrame(Frame(unit, at, tuple(envelope(seq, unit, b"x" * size) for seq in seqs)))


def head(unit: str, channel: str, seq: int, state: bytes = b"{}", position: int = 0) -> PutHead:
    return PutHead(unit, channel, "session" if unit == channel else "chat", seq, state, position)


def row(
    uri: str,
    modified_at: str = "2026-01-01T00:00:00.000Z",
    *,
    summary: bytes = b"",
    listed: bool = True,
    attention: bool = False,
) -> SessionRow:
    return SessionRow(uri, modified_at, summary or uri.encode(), listed, attention, b"extra")


def session(
    uri: str,
    modified_at: str = "2026-01-01T00:00:00.000Z",
    *,
    summary: bytes = b"",
    listed: bool = True,
    attention: bool = False,
) -> PutSession:
    return PutSession(row(uri, modified_at, summary=summary, listed=listed, attention=attention))


def turns(chat: str, *ids: str) -> list[AppendTurn]:
    return [AppendTurn(chat, turn_id, turn_id.encode() * 10) for turn_id in ids]


def stored(position: int, turn_id: str) -> StoredTurn:
    """What `turns` wrote, as it is read."""
    return StoredTurn(position, turn_id, turn_id.encode() * 10)


def seqs(envelopes: tuple[StoredEnvelope, ...] | None) -> list[int] | None:
    return None if envelopes is None else [each.seq for each in envelopes]
