"""Clients that cannot keep up: not written to for a while, then brought up to date from the journal.

While a connection lags, envelopes pass it by; they are in the journal. What only it gets is held with its
number. When its link has drained, what it missed is read, joined, and sent in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from holdfast.host import dialects, outgoing, replay
from holdfast.host.connection import Connection
from holdfast.host.jobs import Job, Waiting
from holdfast.host.outgoing import Message
from holdfast.host.sealing import Step
from holdfast.ports.journal import ReadFrames, StoredEnvelope

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["TOO_FAR_BEHIND", "begin", "catch_up", "passes"]

TOO_FAR_BEHIND: Final = 1013
"""WebSocket close code: try again later. The client comes back by `reconnect` and gets snapshots."""

# Bytes that are read for a lagging client at the most.
_MOST: Final = 16_000_000

# Bytes of what is in no journal that are held for a lagging client at the most.
_HELD: Final = 1_000_000


def begin(host: Host, connection: Connection) -> None:
    """The connection's link is full: everything up to now was written, nothing more is."""
    if connection.lagging_since is None and connection.ready:
        connection.lagging_since = host.released


def passes(connection: Connection, step: Step) -> bool:
    """Whether a step is to be sent now. What is kept back is held here or is in the journal."""
    if connection.lagging_since is None or step.message.is_answer:
        return True
    if not step.durable:
        connection.held.append((step.seq, step.message))
        connection.held_size += len(step.message.text)
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
    connection.held.clear()
    connection.held_size = 0
    connection.lagging_since = None


def _merged(host: Host, connection: Connection, missed: list[StoredEnvelope]) -> Iterator[Message]:
    """What was missed and what was held, in the order of their numbers; notifications last."""
    numbered = sorted((seq, message) for seq, message in connection.held if seq is not None)
    position = 0
    for entry in replay.joined(missed):
        while position < len(numbered) and numbered[position][0] < entry.seq:
            yield numbered[position][1]
            position += 1
        if connection.bridge is None and dialects.is_legacy(entry):
            continue
        yield outgoing.action(entry.data, dialects.about_stored(entry, host.channels[entry.channel]))
    yield from (message for _, message in numbered[position:])
    yield from (message for seq, message in connection.held if seq is None)
