"""Clients that cannot keep up: not written to for a while, then brought up to date from the journal.

While a connection lags, envelopes pass it by; they are in the journal. What is in no journal, answers included, is
held with its place. When its link has drained, what it missed is read, joined, and sent in order. A client must not
hear of a number, in a snapshot either, before it was sent everything below: it would never ask for that again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from holdfast.host import dialects, outgoing, replay
from holdfast.host.connection import Connection
from holdfast.host.jobs import Job, Waiting
from holdfast.host.outgoing import LongAnswer, Message
from holdfast.host.sealing import Step
from holdfast.ports.journal import ReadFrames, StoredEnvelope

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["TOO_FAR_BEHIND", "begin", "catch_up", "passes"]

TOO_FAR_BEHIND: Final = 1013
"""WebSocket close code: try again later. The client comes back by `reconnect` and gets snapshots."""

# Bytes that are read for a lagging client at the most.
_MOST: Final = 16_000_000

# Bytes of what is in no journal that are held for a lagging client at the most: a few full messages.
_HELD: Final = 4_000_000


def begin(host: Host, connection: Connection) -> None:
    """The connection's link is full: everything up to now was written, nothing more is."""
    if connection.lagging_since is None and connection.ready:
        connection.lagging_since = connection.passed = host.released


def passes(connection: Connection, step: Step) -> bool:
    """Whether a step is to be sent now. What is kept back is held here or is in the journal."""
    if connection.lagging_since is None:
        return True
    if step.seq is not None:
        connection.passed = step.seq
    if not step.durable:
        connection.held.append((connection.passed, step.message))
        connection.held_size += step.message.size
    return False


def is_lost(connection: Connection) -> bool:
    """Whether more is held for a connection than it is worth."""
    return connection.held_size > _HELD


def catch_up(host: Host, connection: Connection) -> None:
    """The link has drained: bring the connection up to date, or close it if that cannot be done."""
    if connection.lagging_since is not None and connection.open:
        host.run(Job(lambda: _catch_up(host, connection)))


def _catch_up(host: Host, connection: Connection) -> None:
    since = connection.lagging_since
    if since is None or not connection.open:
        return
    followed = [host.channels[uri] for uri in connection.subscriptions if uri in host.channels]
    need = ReadFrames(tuple(sorted({channel.unit.uri for channel in followed})), since, _MOST)
    if host.unsettled:
        raise Waiting(need)
    frames: tuple[StoredEnvelope, ...] | None = host.ask(need)
    # What happened on a chat before it moved is among another session's frames.
    followed_since = {uri: max(since, each.from_seq) for uri, each in connection.subscriptions.items()}
    if frames is None or any(channel.moved_at > followed_since[channel.uri] for channel in followed):
        host.close(connection, TOO_FAR_BEHIND, "too far behind; reconnect")
        return
    wanted = (entry for entry in frames if entry.channel in connection.subscriptions)
    missed = [entry for entry in wanted if entry.seq > connection.subscriptions[entry.channel].from_seq]
    for message in _merged(host, connection, missed):
        host.note((connection,), message)
    host.batch.assign(connection, "held", [])
    host.batch.assign(connection, "held_size", 0)
    host.batch.assign(connection, "lagging_since", None)


def _merged(host: Host, connection: Connection, missed: list[StoredEnvelope]) -> Iterator[Message | LongAnswer]:
    """What was missed and what was held, each in its place. Nothing is joined across what was held."""
    begin = 0
    for place, message in connection.held:
        end = bisect_right(missed, place, begin, key=lambda entry: entry.seq)
        yield from _shown(host, connection, missed[begin:end])
        yield message
        begin = end
    yield from _shown(host, connection, missed[begin:])


def _shown(host: Host, connection: Connection, missed: list[StoredEnvelope]) -> Iterator[Message | LongAnswer]:
    for entry in replay.joined(missed):
        if connection.bridge is not None or not dialects.is_legacy(entry):
            yield outgoing.action(entry.data, dialects.about_stored(entry, host.channels[entry.channel]))
