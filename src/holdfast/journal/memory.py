"""The journal in plain dicts: for hosts that keep nothing, and the reference that tests compare others with.

A commit works on a copy of the outer dicts and puts it in place when all went well, so that a failed commit leaves
nothing behind and `read` sees whole commits from any thread. Values in the dicts are never changed, only replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import attrgetter
from typing import Any, Final

from holdfast.journal import numbers
from holdfast.journal.settings import JournalSettings
from holdfast.ports.journal import (
    ROOT_UNIT,
    AppendFrame,
    AppendTurn,
    ClearDispatches,
    ClientRecord,
    Commit,
    Content,
    CopyTurns,
    DisposedPage,
    DisposedSession,
    DisposeSession,
    DropChannel,
    DropTurns,
    Epoch,
    FindClient,
    FindTurn,
    FindUnit,
    Frame,
    JournalFailed,
    KnownDispatches,
    ListDisposed,
    ListSessions,
    LoadUnit,
    MoveChannel,
    OldSessions,
    Opening,
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
    SessionPage,
    SessionRow,
    ShareContents,
    StoredChannel,
    StoredEnvelope,
    StoredTurn,
    StoredUnit,
    TurnPage,
)
from holdfast.protocol.common import URI

__all__ = ["MemoryJournal"]


@dataclass(frozen=True, slots=True)
class _Unit:
    """`number` is the order in which units were made. `until` is None while the unit is in use."""

    number: int
    row: SessionRow | None = None
    until: int | None = None
    trimmed: int = 0
    frames: tuple[Frame, ...] = ()
    grown: bool = False
    """It had frames since the start. Others had their size looked at before."""


@dataclass(frozen=True, slots=True)
class _Head:
    unit: URI
    kind: str
    seq: int
    state: bytes
    position: int
    moved_at: int | None
    """None between a move and the head that follows it."""


@dataclass(frozen=True, slots=True)
class _Channel:
    """Turns may come before the head."""

    head: _Head | None = None
    turns: tuple[tuple[str, bytes], ...] = ()


@dataclass(slots=True)
class _State:
    highest: int = 0
    made: int = 0
    units: dict[URI, _Unit] = field(default_factory=dict)
    channels: dict[URI, _Channel] = field(default_factory=dict)
    contents: dict[URI, Content] = field(default_factory=dict)
    holders: dict[URI, frozenset[URI]] = field(default_factory=dict)
    """The units that hold a content beside its own."""
    clients: dict[str, ClientRecord] = field(default_factory=dict)
    dispatches: dict[str, dict[tuple[int, bytes], int]] = field(default_factory=dict)
    """By client; the value is when it was."""
    meta: dict[str, bytes] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(
            self.highest,
            self.made,
            dict(self.units),
            dict(self.channels),
            dict(self.contents),
            dict(self.holders),
            dict(self.clients),
            dict(self.dispatches),
            dict(self.meta),
        )

    def unit(self, uri: URI) -> _Unit:
        """The unit to write into, made if there is none."""
        found = self.units.get(uri)
        if found is None:
            self.made += 1
            found = self.units[uri] = _Unit(self.made)
        if found.until is not None:
            raise JournalFailed(f"{uri!r} was disposed of: restore it, or put a new session there first")
        return found

    def new_unit(self, uri: URI) -> _Unit:
        """The same. One that was disposed of makes room for it."""
        if uri in self.units and self.live_unit(uri) is None:
            self.forget_unit(uri)
        return self.unit(uri)

    def live_unit(self, uri: URI) -> _Unit | None:
        found = self.units.get(uri)
        return None if found is None or found.until is not None else found

    def heads(self, unit: URI) -> list[tuple[URI, _Channel, _Head]]:
        """The channels of a unit in the order of their positions."""
        found = [(uri, each, each.head) for uri, each in self.channels.items() if each.head is not None]
        return sorted([each for each in found if each[2].unit == unit], key=lambda each: each[2].position)

    def forget_unit(self, uri: URI) -> None:
        if self.units.pop(uri, None) is None:
            return
        for channel, _, _ in self.heads(uri):
            del self.channels[channel]
        self.holders = {content: others - {uri} for content, others in self.holders.items()}
        for content in [each for each in self.contents.values() if each.unit == uri]:
            others = self.holders.get(content.uri, frozenset())
            if others:
                heir = min(others, key=self._age)
                self.contents[content.uri] = Content(content.uri, heir, content.content_type, content.data)
                self.holders[content.uri] = others - {heir}
            else:
                del self.contents[content.uri]

    def _age(self, unit: URI) -> int:
        found = self.units.get(unit)
        return 0 if found is None else found.number


# Writes


def _append_frame(state: _State, write: AppendFrame) -> None:
    frame = write.frame
    assert frame.envelopes, "a frame has at least one envelope"
    unit = state.unit(frame.unit)
    state.units[frame.unit] = replace(unit, frames=(*unit.frames, frame), grown=True)
    state.highest = max(state.highest, frame.envelopes[-1].seq)


def _put_head(state: _State, write: PutHead) -> None:
    state.unit(write.unit)
    channel = state.channels.get(write.channel, _Channel())
    moved_at = None if channel.head is None else channel.head.moved_at
    head = _Head(
        unit=write.unit,
        kind=write.kind,
        seq=write.seq,
        state=write.state,
        position=write.position,
        moved_at=write.seq if moved_at is None else moved_at,
    )
    state.channels[write.channel] = replace(channel, head=head)
    state.highest = max(state.highest, write.seq)


def _drop_channel(state: _State, write: DropChannel) -> None:
    state.channels.pop(write.channel, None)


def _move_channel(state: _State, write: MoveChannel) -> None:
    state.unit(write.unit)
    channel = state.channels.get(write.channel)
    if channel is not None and channel.head is not None:
        moved = replace(channel.head, unit=write.unit, moved_at=None)
        state.channels[write.channel] = replace(channel, head=moved)


def _append_turn(state: _State, write: AppendTurn) -> None:
    channel = state.channels.get(write.chat, _Channel())
    state.channels[write.chat] = replace(channel, turns=(*channel.turns, (write.turn_id, write.data)))


def _drop_turns(state: _State, write: DropTurns) -> None:
    channel = state.channels.get(write.chat)
    if channel is not None:
        state.channels[write.chat] = replace(channel, turns=channel.turns[: write.position])


def _copy_turns(state: _State, write: CopyTurns) -> None:
    assert write.source != write.target, "a chat is no copy of itself"
    source = state.channels.get(write.source, _Channel())
    target = state.channels.get(write.target, _Channel())
    state.channels[write.target] = replace(target, turns=source.turns[: write.position])


def _put_session(state: _State, write: PutSession) -> None:
    uri = write.row.uri
    state.units[uri] = replace(state.new_unit(uri), row=write.row)


def _dispose_session(state: _State, write: DisposeSession) -> None:
    if write.until <= 0:
        state.forget_unit(write.uri)
    elif write.uri in state.units:
        state.units[write.uri] = replace(state.units[write.uri], until=write.until)


def _restore_session(state: _State, write: RestoreSession) -> None:
    if write.uri in state.units:
        state.units[write.uri] = replace(state.units[write.uri], until=None)


def _put_client(state: _State, write: PutClient) -> None:
    state.clients[write.record.client_id] = write.record


def _put_dispatch(state: _State, write: PutDispatch) -> None:
    known = state.dispatches.get(write.client_id, {})
    state.dispatches[write.client_id] = {**known, (write.client_seq, write.digest): write.at}


def _clear_dispatches(state: _State, write: ClearDispatches) -> None:
    state.dispatches.pop(write.client_id, None)


def _put_meta(state: _State, write: PutMeta) -> None:
    state.meta[write.key] = write.value


def _put_content(state: _State, write: PutContent) -> None:
    state.unit(write.content.unit)
    content, known = write.content, state.contents.get(write.content.uri)
    if known is not None and known.unit != content.unit:
        state.holders[content.uri] = state.holders.get(content.uri, frozenset()) | {known.unit}
    state.contents[content.uri] = content


def _share_contents(state: _State, write: ShareContents) -> None:
    state.unit(write.unit)
    state.new_unit(write.other)
    for uri, content in state.contents.items():
        held = state.holders.get(uri, frozenset())
        if write.unit in (content.unit, *held):
            state.holders[uri] = held | {write.other}


_WRITES: Final[dict[type, Callable[[_State, Any], None]]] = {
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


# Queries


def _find_unit(state: _State, query: FindUnit) -> URI | None:
    channel = state.channels.get(query.channel)
    unit = state.units.get(channel.head.unit) if channel is not None and channel.head is not None else None
    if channel is None or channel.head is None or unit is None or (unit.until is not None) != query.disposed:
        return None
    return channel.head.unit


def _load_unit(state: _State, query: LoadUnit) -> StoredUnit | None:
    unit = state.units.get(query.unit)
    if unit is None or (unit.until is not None) != query.disposed:
        return None
    channels = tuple(
        StoredChannel(uri, head.kind, head.seq, head.state, len(channel.turns), head.moved_at or 0)
        for uri, channel, head in state.heads(query.unit)
    )
    oldest = min((channel.seq for channel in channels), default=0)
    return StoredUnit(query.unit, unit.row, channels, tuple(_envelopes(unit, oldest)))


def _envelopes(unit: _Unit, after: int) -> list[StoredEnvelope]:
    return [envelope for frame in unit.frames for envelope in frame.envelopes if envelope.seq > after]


def _read_frames(state: _State, query: ReadFrames) -> tuple[StoredEnvelope, ...] | None:
    units = [unit for uri in set(query.units) if (unit := state.live_unit(uri)) is not None]
    if any(unit.trimmed > query.after for unit in units):
        return None
    envelopes = [envelope for unit in units for envelope in _envelopes(unit, query.after)]
    if query.budget is not None and sum(len(envelope.data) for envelope in envelopes) > query.budget:
        return None
    return tuple(sorted(envelopes, key=attrgetter("seq")))


def _turns(state: _State, chat: URI) -> tuple[tuple[str, bytes], ...]:
    channel = state.channels.get(chat)
    if channel is None or (channel.head is not None and state.live_unit(channel.head.unit) is None):
        return ()
    return channel.turns


def _read_turns(state: _State, query: ReadTurns) -> TurnPage:
    turns = _turns(state, query.chat)
    stored = [StoredTurn(position, turn_id, data) for position, (turn_id, data) in enumerate(turns)]
    newest_first = stored[: query.before][::-1]
    count = _fitting([len(turn.data) for turn in newest_first], query.limit, query.budget)
    return TurnPage(tuple(newest_first[:count][::-1]), len(turns))


def _read_turns_from(state: _State, query: ReadTurnsFrom) -> TurnPage:
    turns = _turns(state, query.chat)
    stored = [StoredTurn(position, turn_id, data) for position, (turn_id, data) in enumerate(turns)]
    rest = stored[query.position :]
    count = _fitting([len(turn.data) for turn in rest], query.limit, query.budget)
    return TurnPage(tuple(rest[:count]), len(turns))


def _fitting(sizes: Iterable[int], limit: int | None, budget: int | None) -> int:
    """How many fit, but at least one."""
    totals = list(accumulate(sizes))
    count = len(totals) if budget is None else sum(total <= budget for total in totals)
    return max(1, count if limit is None else min(count, limit))


def _find_turn(state: _State, query: FindTurn) -> int | None:
    ids = [turn_id for turn_id, _ in _turns(state, query.chat)]
    return ids.index(query.turn_id) if query.turn_id in ids else None


def _listed(state: _State) -> list[tuple[tuple[str, int], bytes]]:
    """Key and summary of every listed session, most recently modified first."""
    rows = [(unit.number, unit.row) for unit in state.units.values() if unit.until is None]
    listed = [((row.modified_at, number), row.summary) for number, row in rows if row is not None and row.listed]
    return sorted(listed, reverse=True)


def _list_sessions(state: _State, query: ListSessions) -> SessionPage:
    rows = [(key, summary) for key, summary in _listed(state) if query.after is None or key < query.after]
    count = _fitting([len(summary) for _, summary in rows], query.limit, query.budget)
    taken = rows[:count]
    return SessionPage(
        tuple(summary for _, summary in taken),
        taken[-1][0] if len(taken) < len(rows) else None,
    )


def _old_sessions(state: _State, query: OldSessions) -> tuple[URI, ...]:
    rows = [(unit.row, unit.number) for unit in state.units.values() if unit.until is None]
    old = [(row.modified_at, number, row.uri) for row, number in rows if row and row.listed]
    return tuple([uri for modified_at, _, uri in sorted(old) if modified_at < query.before][: query.limit])


def _list_disposed(state: _State, query: ListDisposed) -> DisposedPage:
    found = [
        ((unit.until, unit.number), DisposedSession(uri, unit.until, unit.row.summary, unit.row.extra))
        for uri, unit in state.units.items()
        if unit.until is not None and unit.row is not None and unit.row.listed
    ]
    rows = sorted(((key, each) for key, each in found if query.after is None or key < query.after), reverse=True)
    taken = rows[: max(1, query.limit)]
    return DisposedPage(tuple(each for _, each in taken), taken[-1][0] if len(taken) < len(rows) else None)


def _find_client(state: _State, query: FindClient) -> ClientRecord | None:
    return state.clients.get(query.client_id)


def _known_dispatches(state: _State, query: KnownDispatches) -> frozenset[tuple[int, bytes]]:
    return frozenset(state.dispatches.get(query.client_id, {}))


def _read_content(state: _State, query: ReadContent) -> Content | None:
    content = state.contents.get(query.uri)
    if content is None:
        return None
    others = sorted(state.holders.get(query.uri, ()), key=state._age)
    live = next((unit for unit in (content.unit, *others) if state.live_unit(unit) is not None), None)
    return None if live is None else Content(content.uri, live, content.content_type, content.data)


_QUERIES: Final[dict[type, Callable[[_State, Any], Any]]] = {
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


# Forgetting


def _forget(state: _State, settings: JournalSettings, now: int) -> None:
    for uri in [uri for uri, unit in state.units.items() if unit.until is not None and unit.until <= now]:
        state.forget_unit(uri)
    for client, known in tuple(state.dispatches.items()):
        state.dispatches[client] = {key: at for key, at in known.items() if at >= now - settings.dispatch_age_ms}
    recent = [each for each in state.clients.values() if each.seen_at >= now - settings.client_age_ms]
    recent.sort(key=lambda each: (each.seen_at, each.client_id), reverse=True)
    state.clients = {each.client_id: each for each in recent[: settings.client_count]}
    oldest: dict[URI, int] = {}
    for channel in state.channels.values():
        if channel.head is not None:
            oldest[channel.head.unit] = min(channel.head.seq, oldest.get(channel.head.unit, channel.head.seq))
    for uri, unit in tuple(state.units.items()):
        state.units[uri] = _trimmed(unit, oldest.get(uri), settings, now)


def _trimmed(unit: _Unit, oldest_head: int | None, settings: JournalSettings, now: int) -> _Unit:
    """Without the first frames that no head needs and that are too old, or too much."""
    frames = list(unit.frames)
    trimmed = unit.trimmed
    size = sum(_size(frame) for frame in frames)
    while frames:
        first = frames[0]
        last = first.envelopes[-1].seq
        is_needed = oldest_head is not None and last > oldest_head
        is_due = (unit.grown and size > settings.replay_bytes) or first.at < now - settings.replay_age_ms
        if is_needed or not is_due:
            break
        del frames[0]
        size -= _size(first)
        trimmed = max(trimmed, last)
    return replace(unit, frames=tuple(frames), trimmed=trimmed)


def _size(frame: Frame) -> int:
    return sum(len(envelope.data) for envelope in frame.envelopes)


class MemoryJournal:
    """A `Journal` that keeps what it has for as long as the object lives, also over `close` and `open`."""

    def __init__(self, settings: JournalSettings | None = None) -> None:
        self._settings = settings or JournalSettings()
        self._state = _State()
        self._epochs: tuple[Epoch, ...] = ()
        self._reserved = 0
        self._is_open = False

    def open(self, now: int) -> Opening:
        """See the port."""
        self._is_open = True
        self._state.units = {uri: replace(unit, grown=False) for uri, unit in self._state.units.items()}
        epoch = numbers.begin(self._state.highest, self._reserved, now)
        self._epochs = (*self._epochs, epoch)
        self._reserved = epoch.first + self._settings.block - 1
        units = self._state.units
        return Opening(
            epochs=self._epochs,
            reserved=self._reserved,
            root=_load_unit(self._state, LoadUnit(ROOT_UNIT)),
            sessions=len(_listed(self._state)),
            attention=tuple(
                uri for uri, unit in units.items() if unit.until is None and unit.row and unit.row.attention
            ),
            meta=dict(self._state.meta),
        )

    def reserve(self) -> int:
        """See the port."""
        self._require_open()
        self._reserved += self._settings.block
        return self._reserved

    def commit(self, commit: Commit) -> None:
        """See the port."""
        self._require_open()
        state = self._state.copy()
        for write in commit.writes:
            _WRITES[type(write)](state, write)
        self._state = state

    def read(self, query: Query) -> Any:
        """See the port."""
        self._require_open()
        return _QUERIES[type(query)](self._state, query)

    def maintain(self, now: int) -> None:
        """See the port. Everything at once."""
        self._require_open()
        state = self._state.copy()
        _forget(state, self._settings, now)
        self._state = state

    def checkpoint(self) -> None:
        """There is nothing to tidy up."""

    def backup(self, path: str) -> None:
        """There is nothing that could be opened elsewhere."""
        raise JournalFailed(f"a journal in memory cannot be written to {path}; start with a --data-dir")

    def close(self) -> None:
        """See the port."""
        self._is_open = False

    def _require_open(self) -> None:
        if not self._is_open:
            raise JournalFailed("the journal in memory is not open")
