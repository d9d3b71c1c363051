"""What the host asks to be kept, and what it asks to be read back.

A *unit* is what is owned, ordered and committed together: the root, or a session with all its channels. A
*frame* is what one commit adds to one unit's log. A `Commit` is one transaction over any number of units: it is
durable whole or not at all.

The state of a channel is its last *head* (a checkpoint) plus the frames that came after it. Completed turns of a
chat are rows of their own, never part of a head.

This interface names nothing that only a single-file database could do, so that a clustered log can stand behind
it later.
"""

from __future__ import annotations

from typing import Any, Final, Protocol, TypeAlias

from msgspec import Struct

from holdfast.protocol.common import URI, Timestamp
from holdfast.protocol.errors import EnvironmentFailure

__all__ = [
    "ROOT_UNIT",
    "AppendFrame",
    "AppendTurn",
    "ClearDispatches",
    "ClientRecord",
    "Commit",
    "Content",
    "CopyTurns",
    "DisposeSession",
    "DisposedPage",
    "DisposedSession",
    "DropChannel",
    "DropTurns",
    "Epoch",
    "FindClient",
    "FindTurn",
    "FindUnit",
    "Frame",
    "Journal",
    "JournalFailed",
    "JournalFull",
    "KnownDispatches",
    "ListDisposed",
    "ListSessions",
    "LoadUnit",
    "MoveChannel",
    "OldSessions",
    "Opening",
    "PutClient",
    "PutContent",
    "PutDispatch",
    "PutHead",
    "PutMeta",
    "PutSession",
    "Query",
    "ReadContent",
    "ReadFrames",
    "ReadTurns",
    "ReadTurnsFrom",
    "RestoreSession",
    "SessionPage",
    "SessionRow",
    "ShareContents",
    "StoredChannel",
    "StoredEnvelope",
    "StoredTurn",
    "StoredUnit",
    "TurnPage",
    "Write",
]

ROOT_UNIT: Final = "ahp-root://"
"""The unit of the root channel; every other unit is named by its session's URI."""


class StoredEnvelope(Struct, frozen=True):
    """One accepted action: the complete `ActionEnvelope` as JSON, and what replay selects by."""

    channel: URI
    seq: int
    data: bytes
    facts: bytes = b""
    """What lowering it for older versions needs to know besides, as JSON (`protocol.compat.facts`)."""


class Frame(Struct, frozen=True):
    """What one commit added to one unit, oldest first."""

    unit: URI
    at: int
    """Unix milliseconds."""
    envelopes: tuple[StoredEnvelope, ...]


# Writes


class AppendFrame(Struct, frozen=True):
    frame: Frame


class PutHead(Struct, frozen=True):
    """The state of a channel with everything up to `seq`, replacing its last head. Creates the channel.

    `kind` is the name of its reducer; `position` orders the chats of a session.
    """

    unit: URI
    channel: URI
    kind: str
    seq: int
    state: bytes
    position: int = 0


class DropChannel(Struct, frozen=True):
    """Forget a channel, its head and its turns. Frames that mention it stay until trimmed."""

    channel: URI


class MoveChannel(Struct, frozen=True):
    """Hand a channel with its turns to another unit. A `PutHead` in the new unit follows in the same commit."""

    channel: URI
    unit: URI


class ShareContents(Struct, frozen=True):
    """What one unit holds is held by another as well from now on: it stays for as long as either of them does."""

    unit: URI
    other: URI


class AppendTurn(Struct, frozen=True):
    """A completed turn, at the end of its chat. `data` is the encoded `Turn`."""

    chat: URI
    turn_id: str
    data: bytes


class DropTurns(Struct, frozen=True):
    """Forget the turns of a chat from this position on; 0 forgets all. Positions count from 0."""

    chat: URI
    position: int


class CopyTurns(Struct, frozen=True):
    """Give `target` a copy of the turns of `source` before this position."""

    source: URI
    target: URI
    position: int


class SessionRow(Struct, frozen=True):
    """A session as the catalogue keeps it. `summary` is the encoded `SessionSummary`.

    `listed` sessions appear in lists. `attention` sessions are to be looked at when the host starts: a turn was
    running, a client was active, or the session is provisional. `extra` is the host's own, uninterpreted.
    """

    uri: URI
    modified_at: Timestamp
    summary: bytes
    listed: bool
    attention: bool
    extra: bytes


class PutSession(Struct, frozen=True):
    row: SessionRow


class DisposeSession(Struct, frozen=True):
    """Take a session out of use: nothing finds it any more. It is kept `until` (Unix ms), for `RestoreSession`.

    With `until` 0 it is gone at once.
    """

    uri: URI
    until: int


class RestoreSession(Struct, frozen=True):
    """Undo a `DisposeSession` that has not run out."""

    uri: URI


class ClientRecord(Struct, frozen=True):
    client_id: str
    version: str
    seen_at: int
    """Unix milliseconds."""
    resync: bool = False
    """Something happened that its version cannot be told: it is to be given snapshots."""


class PutClient(Struct, frozen=True):
    record: ClientRecord


class PutDispatch(Struct, frozen=True):
    """Remember that a client's dispatch was accepted, so that a re-send is recognised."""

    client_id: str
    client_seq: int
    digest: bytes
    at: int


class ClearDispatches(Struct, frozen=True):
    client_id: str


class PutMeta(Struct, frozen=True):
    """A small value of the host's own, by name."""

    key: str
    value: bytes


class Content(Struct, frozen=True):
    """Content kept outside the state, readable by its URI as long as its session is."""

    uri: URI
    unit: URI
    content_type: str
    data: bytes


class PutContent(Struct, frozen=True):
    """Write content, replacing what was there under the same URI."""

    content: Content


Write: TypeAlias = (
    AppendFrame
    | PutHead
    | DropChannel
    | MoveChannel
    | ShareContents
    | AppendTurn
    | DropTurns
    | CopyTurns
    | PutSession
    | DisposeSession
    | RestoreSession
    | PutClient
    | PutDispatch
    | ClearDispatches
    | PutMeta
    | PutContent
)


class Commit(Struct, frozen=True):
    """One transaction. The writes take effect in order."""

    writes: tuple[Write, ...]


# Queries. Each is answered from what is committed.


class FindUnit(Struct, frozen=True):
    """The unit that has a channel -> `URI | None`.

    `disposed` asks for one that was disposed of and can still be restored; else those have none.
    """

    channel: URI
    disposed: bool = False


class LoadUnit(Struct, frozen=True):
    """Everything needed to have a unit in memory -> `StoredUnit | None`.

    `disposed` asks for one that was disposed of and can still be restored.
    """

    unit: URI
    disposed: bool = False


class StoredChannel(Struct, frozen=True):
    """A channel as last checkpointed; `turns` counts the completed turns of a chat.

    `moved_at` is the sequence number with which the channel came to this unit, from another or from nowhere.
    """

    uri: URI
    kind: str
    seq: int
    state: bytes
    turns: int
    moved_at: int


class StoredUnit(Struct, frozen=True):
    """`channels` in the order of their positions; `tail` holds what came after the oldest of their heads."""

    uri: URI
    row: SessionRow | None
    channels: tuple[StoredChannel, ...]
    tail: tuple[StoredEnvelope, ...]


class ReadTurns(Struct, frozen=True):
    """The newest turns of a chat before a position (None: the end) -> `TurnPage`.

    At most `limit` turns and `budget` bytes (None: no bound), but at least one if there is any. `edition` changes
    nothing about the answer: it tells the question from the same one, asked before the chat was cut back.
    """

    chat: URI
    before: int | None
    limit: int | None
    budget: int | None
    edition: int = 0


class ReadTurnsFrom(Struct, frozen=True):
    """The turns of a chat from a position on, as `ReadTurns` bounds them -> `TurnPage`."""

    chat: URI
    position: int
    limit: int | None
    budget: int | None
    edition: int = 0


class StoredTurn(Struct, frozen=True):
    position: int
    turn_id: str
    data: bytes


class TurnPage(Struct, frozen=True):
    """Oldest first. `total` counts all turns of the chat; more exist exactly if the first position is not 0."""

    turns: tuple[StoredTurn, ...]
    total: int


class FindTurn(Struct, frozen=True):
    """The position of a turn in its chat -> `int | None`."""

    chat: URI
    turn_id: str


class ListSessions(Struct, frozen=True):
    """Listed sessions, most recently modified first, after a key of an earlier page -> `SessionPage`.

    At most `limit` rows and `budget` bytes (None: no bound), at least one if there is any.
    """

    after: tuple[Timestamp, int] | None
    limit: int
    budget: int | None


class OldSessions(Struct, frozen=True):
    """Listed sessions that were modified before a time, the oldest first -> `tuple[URI, ...]`."""

    before: Timestamp
    limit: int


class SessionPage(Struct, frozen=True):
    """Encoded summaries, and the key of the last one if more follow."""

    summaries: tuple[bytes, ...]
    next: tuple[Timestamp, int] | None


class ListDisposed(Struct, frozen=True):
    """Listed sessions that were disposed of, not at once -> `DisposedPage`.

    Those that are kept longest come first, after a key of an earlier page. At most `limit`. Those whose time has
    run out are among them until they are forgotten.
    """

    after: tuple[int, int] | None
    limit: int


class DisposedSession(Struct, frozen=True):
    """`summary` and `extra` are those of its `SessionRow`."""

    uri: URI
    until: int
    summary: bytes
    extra: bytes


class DisposedPage(Struct, frozen=True):
    """The key is that of the last one, if more follow."""

    sessions: tuple[DisposedSession, ...]
    next: tuple[int, int] | None


class ReadFrames(Struct, frozen=True):
    """All envelopes of these units with a greater number, in order -> `tuple[StoredEnvelope, ...] | None`.

    None: for at least one unit some of them were trimmed. `budget` bounds the bytes that are read: when they
    would be more, the answer is None too. `edition` changes nothing about the answer: it tells the question from the
    same one, asked before there were more.
    """

    units: tuple[URI, ...]
    after: int
    budget: int | None
    edition: int = 0


class FindClient(Struct, frozen=True):
    """-> `ClientRecord | None`"""

    client_id: str


class KnownDispatches(Struct, frozen=True):
    """Accepted dispatches of a client -> `frozenset[tuple[int, bytes]]` of numbers and digests."""

    client_id: str


class ReadContent(Struct, frozen=True):
    """-> `Content | None`"""

    uri: URI


Query: TypeAlias = (
    FindUnit
    | LoadUnit
    | ReadTurns
    | ReadTurnsFrom
    | FindTurn
    | ListSessions
    | OldSessions
    | ListDisposed
    | ReadFrames
    | FindClient
    | KnownDispatches
    | ReadContent
)


# Opening


class Epoch(Struct, frozen=True):
    """One start of the host: the highest number used before it, and the first it may use itself.

    Numbers strictly between were never given out by a host whose journal this is, so a client that has seen one
    has seen a future that was lost (a power cut, a restored backup) and gets snapshots.
    """

    head_before: int
    first: int


class Opening(Struct, frozen=True):
    """What the host needs to begin. The first number is `epochs[-1].first`; `reserved` ends the present block."""

    epochs: tuple[Epoch, ...]
    reserved: int
    root: StoredUnit | None
    sessions: int
    """How many sessions are listed."""
    attention: tuple[URI, ...]
    meta: dict[str, bytes]


class JournalFailed(EnvironmentFailure):
    """The journal could not do what it was asked; nothing of a failed commit is kept."""


class JournalFull(JournalFailed):
    """There is no space."""


class Journal(Protocol):
    """Where sessions hold.

    `commit`, `reserve`, `maintain` and `backup` come from one thread at a time; `read` may come from another
    thread meanwhile and sees what is committed. `checkpoint` may come from any thread at any time.
    """

    def open(self, now: int) -> Opening:
        """Begin a new epoch at `now` (Unix ms), reserve a block of numbers and say what is there."""

    def reserve(self) -> int:
        """Reserve the next block of numbers and return its end. Survives a power cut before it returns."""

    def commit(self, commit: Commit) -> None:
        """Make everything in the commit durable, or raise `JournalFailed` and keep nothing of it."""

    def read(self, query: Query) -> Any:
        """Answer a query."""

    def maintain(self, now: int) -> None:
        """Trim what no longer has to be kept, a bounded piece of it per call."""

    def checkpoint(self) -> None:
        """Tidy up what commits left behind. Takes as long as what was written since the last call asks for."""

    def backup(self, path: str) -> None:
        """Write a consistent copy to a new file while in use."""

    def close(self) -> None:
        """Finish. Harmless when repeated."""
