"""Sessions between memory and the journal: read back when somebody wants them, let go when nobody does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from holdfast.host import mirror
from holdfast.host.mirror import Extra
from holdfast.host.units import AnnotationsChannel, Channel, Chat, Session
from holdfast.ports.journal import StoredChannel, StoredUnit
from holdfast.protocol.annotations.state import AnnotationsState
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.codec import decode
from holdfast.protocol.envelope import decode_envelope
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.session.state import SessionState, SessionSummary

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["adopt", "is_idle", "sweep"]


def adopt(host: Host, stored: StoredUnit) -> Session:
    """Hold a stored session in memory, as it was when the host last had it."""
    row = stored.row
    assert row is not None, f"session {stored.uri} has no row"
    extra = decode(Extra, row.extra)
    head = next(channel for channel in stored.channels if channel.kind == "session")
    unit = Session(stored.uri, decode(SessionState, head.state), extra.created_at)
    unit.creator = extra.creator
    unit.title_chosen = extra.title_chosen
    unit.disposed_at = extra.disposed_at
    unit.legacy = extra.legacy or {}
    unit.listed = row.listed
    unit.row = row
    unit.published = decode(SessionSummary, row.summary) if row.listed else None
    unit.used_at = host.clock.monotonic()
    channels = {channel.uri: _made(unit, channel) for channel in stored.channels}
    _replay(stored, channels)
    _put_in_place(unit, channels)
    mirror.derive_activity(unit)
    host.hold(unit)
    return unit


def _made(unit: Session, stored: StoredChannel) -> Channel:
    channel: Channel
    match stored.kind:
        case "session":
            channel = unit.session
        case "chat":
            channel = Chat(stored.uri, unit, decode(ChatState, stored.state), stored.turns)
        case "annotations":
            channel = AnnotationsChannel(stored.uri, unit, decode(AnnotationsState, stored.state))
        case _:
            channel = Channel(stored.uri, unit, None)
    channel.head_size = len(stored.state)
    channel.unsaved = False
    channel.moved_at = stored.moved_at
    return channel


def _replay(stored: StoredUnit, channels: dict[str, Channel]) -> None:
    """Apply what came after each head. Turns that ended are rows already."""
    heads = {channel.uri: channel.seq for channel in stored.channels}
    for entry in stored.tail:
        channel = channels.get(entry.channel)
        if channel is None or entry.seq <= heads[entry.channel]:
            continue
        channel.state = REDUCERS[channel.kind](channel.state, decode_envelope(entry.data).action)
        if isinstance(channel, Chat) and channel.state.turns:
            channel.state = replace(channel.state, turns=())
        channel.tail_size += len(entry.data)


def _put_in_place(unit: Session, channels: dict[str, Channel]) -> None:
    """Chats in the order of the catalogue, which the session's state keeps."""
    for entry in unit.session.state.chats:
        chat = channels.get(entry.resource)
        if isinstance(chat, Chat):
            unit.chats[chat.uri] = chat
    unit.annotations = next(
        (channel for channel in channels.values() if isinstance(channel, AnnotationsChannel)), None
    )


# How many sessions one sweep looks at; the rest wait for the next.
_SWEEP: Final = 200


def sweep(host: Host) -> None:
    """Let go of sessions that nobody has used for a while: no turn, no subscriber, nothing undecided."""
    deadline = host.clock.monotonic() - host.settings.idle_unload
    idle = [unit for unit in host.sessions.values() if unit.used_at < deadline and is_idle(host, unit)]
    for unit in idle[:_SWEEP]:
        host.let_go(unit)


def is_idle(host: Host, unit: Session) -> bool:
    """Whether nobody works or looks at anything here, and everything is written down."""
    if unit.busy or unit.works_beside or unit.waiting or unit.provisional or unit.session.state.active_clients:
        return False
    if any(host.recipients(channel.uri) for channel in unit.channels()):
        return False
    pending = host.in_flight.batch.touched if host.in_flight else {}
    return not any(channel.uri in host.batch.touched or channel.uri in pending for channel in unit.channels())
