"""Coming back: what a client missed, in order and complete, or fresh snapshots (01-wire section 17).

All or nothing: if one channel cannot be replayed, everything is answered with snapshots. Deltas of one stream
that follow each other are joined, and carry the last number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw
from msgspec.structs import replace

from holdfast.host import dialects, lookup, subscriptions
from holdfast.host.connection import Connection
from holdfast.host.jobs import Waiting
from holdfast.host.sequence import was_lost
from holdfast.host.units import Channel, Chat
from holdfast.ports.journal import ReadFrames, StoredEnvelope
from holdfast.protocol.chat.actions import Delta, Reasoning, Truncated
from holdfast.protocol.codec import encode
from holdfast.protocol.common import URI
from holdfast.protocol.compat.bridge import Bridge
from holdfast.protocol.connection.commands import ReconnectParams, ReconnectSnapshotResult
from holdfast.protocol.envelope import ActionEnvelope, decode_envelope
from holdfast.protocol.uris import ROOT

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["Answer", "joined", "prepare"]


@dataclass(slots=True)
class Answer:
    """What a reconnecting client gets, and what it follows from then on."""

    prepared: list[subscriptions.Prepared]
    missed: tuple[StoredEnvelope, ...] | None
    """None: snapshots."""
    missing: tuple[URI, ...]
    bridge: Bridge | None = None

    def arm(self, host: Host, connection: Connection) -> None:
        for prepared in self.prepared:
            subscriptions.arm(host, connection, prepared)
        if self.missed is None:
            host.counters.snapshots += 1
        else:
            host.counters.replays += 1

    def result(self, seq: int) -> Any:
        if self.missed is None:
            return subscriptions.told(self.prepared, seq, _snapshots)
        spelling = {each.channel.uri: each.spelled for each in self.prepared if each.channel.uri != each.spelled}
        actions = tuple(Raw(data) for data in _spelled(self._replayed(self.missed), spelling))
        return {"type": "replay", "actions": actions, "missing": self.missing}

    def _replayed(self, missed: Iterable[StoredEnvelope]) -> Iterator[bytes]:
        channels = {each.channel.uri: each.channel for each in _followed(self.prepared)}
        for entry in joined(missed):
            yield from dialects.replayed(self.bridge, entry, channels[entry.channel])


def _snapshots(_: int, snapshots: tuple[Any, ...]) -> ReconnectSnapshotResult:
    return ReconnectSnapshotResult(snapshots=snapshots)


def _followed(prepared: Iterable[subscriptions.Prepared]) -> Iterator[subscriptions.Prepared]:
    """Every channel that is followed, the ones that an older version hides in others included."""
    for each in prepared:
        yield each
        if each.conversation is not None:
            yield each.conversation


def prepare(host: Host, params: ReconnectParams, bridge: Bridge | None, *, from_snapshots: bool) -> Answer:
    """Read what a client missed. A duplicate URI counts once. `from_snapshots`: there is no replay for it."""
    found: dict[URI, tuple[Channel, URI]] = {}
    missing: list[URI] = []
    wanted = tuple(dict.fromkeys(params.subscriptions))
    lookup.bring(host, wanted)
    for uri in wanted:
        channel = subscriptions.visible(host, uri, bridge)
        if channel is None:
            missing.append(uri)
        else:
            found.setdefault(channel.uri, (channel, uri))
    resumed = [_armed_only(channel, uri, bridge) for channel, uri in found.values()]
    channels = {each.channel.uri: each.channel for each in _followed(resumed)}
    missed = None if from_snapshots else _missed(host, list(channels.values()), params.last_seen_server_seq)
    if missed is not None and any(_is_beyond(channels[entry.channel], entry, bridge) for entry in missed):
        missed = None
    if missed is not None:
        return Answer(resumed, missed, tuple(missing), bridge)
    fresh = subscriptions.prepare_channels(host, tuple(found.values()), bridge)
    return Answer(fresh, None, tuple(missing), bridge)


def _is_beyond(channel: Channel, entry: StoredEnvelope, bridge: Bridge | None) -> bool:
    """Whether an action cannot be replayed to this client."""
    return _may_lack_turns(channel, entry) or dialects.is_untellable(bridge, entry, channel)


def _armed_only(channel: Channel, uri: URI, bridge: Bridge | None) -> subscriptions.Prepared:
    """A subscription that goes on. How many turns the client holds is not known, so a page may come twice."""
    conversation = subscriptions.conversation_of(channel, bridge)
    return subscriptions.Prepared(
        channel,
        uri,
        window=(channel.turns or None) if isinstance(channel, Chat) else None,
        conversation=None if conversation is None else _armed_only(conversation, conversation.uri, bridge),
        bridge=bridge,
    )


def _missed(host: Host, channels: list[Channel], seen: int) -> tuple[StoredEnvelope, ...] | None:
    """The envelopes after `seen` on these channels; None if they are not all there."""
    if was_lost(seen, host.numbers.last, host.epochs):
        return None
    if any(channel.moved_at > seen for channel in channels):
        return None
    units = tuple(sorted({channel.unit.uri for channel in channels}))
    # By the time it is used the job may have waited for something else, while others went on.
    query = ReadFrames(units, seen, host.settings.frame_budget, edition=host.numbers.last)
    if host.unsettled:
        # What is decided and not committed would be in neither the answer nor the live stream.
        raise Waiting(query)
    frames: tuple[StoredEnvelope, ...] | None = host.ask(query)
    if frames is None:
        return None
    wanted = {channel.uri for channel in channels}
    return tuple(entry for entry in frames if entry.channel in wanted)


_TRUNCATED: Final = b'"chat/truncated"'


def _may_lack_turns(channel: Channel, entry: StoredEnvelope) -> bool:
    """A truncation to a turn that the client may never have loaded would leave it with the wrong history."""
    if not isinstance(channel, Chat) or _TRUNCATED not in entry.data:
        return False
    action = decode_envelope(entry.data).action
    return isinstance(action, Truncated) and action.turn_id is not None


def _spelled(entries: Iterable[bytes], spelling: dict[URI, URI]) -> Iterator[bytes]:
    """Envelopes under the URIs the client uses; only the root is ever written differently."""
    root = spelling.get(ROOT)
    for data in entries:
        yield data if root is None else data.replace(b'"channel":"ahp-root://"', b'"channel":' + encode(root), 1)


def joined(entries: Iterable[StoredEnvelope]) -> Iterator[StoredEnvelope]:
    """Envelopes with neighbouring deltas of one part made one, under the last number."""
    run: list[tuple[StoredEnvelope, ActionEnvelope]] = []
    for entry in entries:
        envelope = decode_envelope(entry.data) if _may_join(entry.data) else None
        if run and (envelope is None or not _continues(run[-1][1], envelope)):
            yield _join(run)
            run = []
        if envelope is None:
            yield entry
        else:
            run.append((entry, envelope))
    if run:
        yield _join(run)


_DELTAS: Final = (b'"chat/delta"', b'"chat/reasoning"')


def _may_join(data: bytes) -> bool:
    return any(kind in data for kind in _DELTAS) and isinstance(decode_envelope(data).action, Delta | Reasoning)


def _continues(before: ActionEnvelope, now: ActionEnvelope) -> bool:
    first, second = before.action, now.action
    return (
        type(first) is type(second)
        and isinstance(first, Delta | Reasoning)
        and isinstance(second, Delta | Reasoning)
        and before.channel == now.channel
        and before.origin is None
        and now.origin is None
        and (first.turn_id, first.part_id, first.meta) == (second.turn_id, second.part_id, second.meta)
    )


def _join(run: list[tuple[StoredEnvelope, ActionEnvelope]]) -> StoredEnvelope:
    if len(run) == 1:
        return run[0][0]
    first, last = run[0][1].action, run[-1][1]
    assert isinstance(first, Delta | Reasoning), "only deltas are joined"
    content = "".join(each.action.content for _, each in run if isinstance(each.action, Delta | Reasoning))
    action = type(first)(turn_id=first.turn_id, part_id=first.part_id, content=content, meta=first.meta)
    return StoredEnvelope(last.channel, last.server_seq, encode(replace(last, action=action)))
