"""Everything a client believes of one host: its channels, its own numbers, and how it comes back after a break.

Pure: values of 1.0 go in, changes come out; who sends and receives is `client.connection`. The rules are those of
01-wire, sections 13 to 17.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from holdfast.client.mirror.again import Fate, may_repeat
from holdfast.client.mirror.channel import Channel, Pending
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import URI
from holdfast.protocol.connection.commands import (
    ReconnectReplayResult,
    ReconnectSnapshotResult,
)
from holdfast.protocol.envelope import ActionEnvelope, StateAction
from holdfast.protocol.root import actions as root
from holdfast.protocol.snapshot import Snapshot
from holdfast.protocol.uris import ROOT

__all__ = ["Batch", "Change", "Lost", "Mirror", "Redo", "Replayed", "Resumed", "Settled"]


_ROOT_SCHEME: Final = "ahp-root:"


class Settled(NamedTuple):
    """The host has answered an action; `reason` says why it was refused, None that it was accepted."""

    client_seq: int
    reason: str | None = None


class Change(NamedTuple):
    """A channel differs.

    `action` is what the host said, None if it said nothing that anybody would reduce; `by` the client it said it
    for; `settled` is given where that was us. `is_renewed`: all of the state may be new, without anybody saying why.
    """

    channel: Channel | None
    action: StateAction | None = None
    settled: Settled | None = None
    by: str | None = None
    is_renewed: bool = False


class Batch(NamedTuple):
    """Envelopes that came as one; none where what the host said means nothing to 1.0."""

    server_seq: int
    envelopes: Sequence[ActionEnvelope]


class Replayed(NamedTuple):
    """What a client missed, for who cannot have all of it before it applies the first."""

    batches: Iterable[Batch]
    missing: Sequence[URI]


class Redo(NamedTuple):
    """An action of ours to say (again): its number before the break, and now.

    It keeps its number where the host has certainly not accepted it: should the host hear it from the old connection
    after all, it takes the two for one. Where nobody knows it gets a new one, so that there is an answer.
    """

    channel: URI
    action: StateAction
    before: int
    client_seq: int


class Lost(NamedTuple):
    """An action of ours that is not said again. `is_unheard`: it certainly had no effect."""

    client_seq: int
    is_unheard: bool


class Resumed(NamedTuple):
    """What coming back has done: what changed, what to say again, what was lost, which channels are gone."""

    changes: list[Change]
    again: list[Redo]
    lost: list[Lost]
    gone: list[URI]


class Mirror:
    """The channels of one client. `last_seen` never goes back, unless the host begins anew with us."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self.last_seen = 0
        self.channels: dict[URI, Channel] = {}
        self._client_seq = 0

    def __repr__(self) -> str:
        return f"<Mirror of {self.client_id}: {len(self.channels)} channels, seen {self.last_seen}>"

    def state(self, uri: URI) -> Any:
        """What people are shown of a channel; None if it is not followed or its state has not come."""
        channel = self.channels.get(uri)
        return None if channel is None else channel.optimistic

    # What we do

    def dispatch(self, uri: URI, action: StateAction, *, sent: bool = True) -> int:
        """Take an action of ours into account, if its channel is followed, and return its number.

        `sent`: it leaves now. One that does not is said when we come back.
        """
        self._client_seq += 1
        channel = self.channels.get(uri)
        if channel is not None:
            channel.dispatch(Pending(self._client_seq, action, sent))
        return self._client_seq

    def follow(self, uri: URI) -> Channel:
        """From now on envelopes of a channel are kept, until its snapshot comes."""
        channel = self.channels.get(uri)
        if channel is None:
            channel = self.channels[uri] = Channel(uri)
        return channel

    def forget(self, uri: URI) -> list[int]:
        """Follow a channel no longer. The numbers of actions whose answer will not be seen are returned."""
        channel = self.channels.pop(uri, None)
        return [] if channel is None else [entry.client_seq for entry in channel.pending]

    # What the host says

    def snapshot(self, snapshot: Snapshot) -> list[Change]:
        """Take the state of a channel that is followed."""
        self.saw(snapshot.from_seq)
        channel = self._spelled(snapshot.resource)
        if channel is None:
            return []
        early = channel.snapshot(snapshot)
        return [
            Change(channel, is_renewed=True),
            *(change for envelope in early if (change := self._settle(channel, envelope))),
        ]

    def envelopes(self, envelopes: Sequence[ActionEnvelope]) -> list[Change]:
        """Take envelopes that came as one: of older hosts one may stand for several, all with its number."""
        first = envelopes[0]
        self.saw(first.server_seq)
        if any(envelope.channel != first.channel for envelope in envelopes):
            return self._scattered(envelopes)
        channel = self._spelled(first.channel)
        if channel is None:
            return [Change(None, settled=settled) for each in envelopes if (settled := self._settled(each))]
        accepted = [envelope for envelope in envelopes if envelope.rejection_reason is None]
        applied = bool(accepted) and channel.envelopes(accepted)
        changes: list[Change] = []
        for envelope in envelopes:
            answer = self._settle(channel, envelope)
            if answer is not None:
                changes.append(answer)
            elif applied:
                by = None if envelope.origin is None else envelope.origin.client_id
                changes.append(Change(channel, envelope.action, by=by))
        if applied or changes:
            channel.derive()
        return changes

    def _spelled(self, uri: URI) -> Channel | None:
        """A followed channel. Some hosts write the root's URI another way than they were asked."""
        channel = self.channels.get(uri)
        return self.channels.get(ROOT) if channel is None and uri.startswith(_ROOT_SCHEME) else channel

    def _scattered(self, envelopes: Sequence[ActionEnvelope]) -> list[Change]:
        by_channel: dict[URI, list[ActionEnvelope]] = {}
        for envelope in envelopes:
            by_channel.setdefault(envelope.channel, []).append(envelope)
        return [change for group in by_channel.values() for change in self.envelopes(group)]

    def _settled(self, envelope: ActionEnvelope) -> Settled | None:
        origin = envelope.origin
        if origin is None or origin.client_id != self.client_id:
            return None
        return Settled(origin.client_seq, envelope.rejection_reason)

    def _settle(self, channel: Channel, envelope: ActionEnvelope) -> Change | None:
        """An echo takes its action off the pending list, wherever in it that is."""
        settled = self._settled(envelope)
        if settled is None:
            return None
        if settled.reason is None:
            # What we had given up may be heard in the end, before what we said in its place.
            settled = Settled(channel.number_now(settled.client_seq))
        channel.settle(settled.client_seq)
        self._drop_swallowed(channel, settled.client_seq)
        return Change(channel, None if settled.reason else envelope.action, settled, self.client_id)

    def _drop_swallowed(self, channel: Channel, client_seq: int) -> None:
        """Hosts may swallow a change of their configuration that changes nothing; a later echo tells."""
        if channel.kind == "root":
            channel.pending = [
                entry
                for entry in channel.pending
                if entry.client_seq > client_seq or not isinstance(entry.action, root.ConfigChanged)
            ]

    def saw(self, seq: int) -> None:
        """The host has said something under this number."""
        self.last_seen = max(self.last_seen, seq)

    # Coming back

    def resumable(self) -> tuple[URI, ...]:
        """The channels to name in `reconnect`: those whose state is here. The others are subscribed anew."""
        return tuple(uri for uri, channel in self.channels.items() if channel.is_known)

    def resume(self, result: ReconnectReplayResult | Replayed | ReconnectSnapshotResult | Unknown) -> Resumed:
        """Take the answer to `reconnect`. What is said again is pending again, in its order."""
        waiting = [(uri, entry) for uri in self.channels for entry in self.channels[uri].pending]
        waiting.sort(key=lambda each: each[1].client_seq)
        changes: list[Change] = []
        gone: list[URI] = []
        for channel in self.channels.values():
            channel.forget_early()
        if isinstance(result, ReconnectReplayResult):
            result = Replayed([Batch(each.server_seq, (each,)) for each in result.actions], result.missing)
        if isinstance(result, Replayed):
            for number, envelopes in result.batches:
                self.saw(number)
                changes += self.envelopes(envelopes) if envelopes else ()
            gone = [uri for uri in result.missing if uri in self.channels]
        else:
            snapshots = result.snapshots if isinstance(result, ReconnectSnapshotResult) else ()
            shown = {each.resource for each in snapshots}
            if any(uri.startswith(_ROOT_SCHEME) for uri in shown):
                shown.add(ROOT)
            gone = [uri for uri in self.resumable() if uri not in shown]
            if snapshots:
                # The host may count from below what we had seen. What it then says twice, channels know.
                self.last_seen = max(each.from_seq for each in snapshots)
            for snapshot in snapshots:
                changes += self.snapshot(snapshot)
        settled = {change.settled.client_seq for change in changes if change.settled}
        unheard = [(uri, entry) for uri, entry in waiting if entry.client_seq not in settled]
        for uri in gone:
            del self.channels[uri]
        again, lost = self._redo(unheard, Fate.LOST if isinstance(result, Replayed) else Fate.UNKNOWN)
        changes += [
            Change(channel) for channel in map(self.channels.get, {redo.channel for redo in again}) if channel
        ]
        return Resumed(changes, again, lost, gone)

    def begin(self, server_seq: int, snapshots: Sequence[Snapshot]) -> Resumed:
        """Take the answer to `initialize`, the first or a later one: the host begins with us from here."""
        resumed = self.resume(ReconnectSnapshotResult(snapshots=tuple(snapshots)))
        self.last_seen = server_seq
        return resumed

    def _redo(self, unheard: Sequence[tuple[URI, Pending]], fate_of_sent: Fate) -> tuple[list[Redo], list[Lost]]:
        """Clear what is pending, and take into account again what is to be said."""
        for channel in self.channels.values():
            if channel.pending:
                channel.pending.clear()
                channel.derive()
        again: list[Redo] = []
        lost: list[Lost] = []
        for uri, entry in unheard:
            known = self.channels.get(uri)
            fate = fate_of_sent if entry.sent else Fate.UNSENT
            if known is None or not may_repeat(entry.action, known.optimistic, fate):
                lost.append(Lost(entry.client_seq, fate is not Fate.UNKNOWN))
            else:
                pending = Pending(entry.client_seq, entry.action)
                if fate is Fate.UNKNOWN:
                    self._client_seq += 1
                    pending = Pending(self._client_seq, entry.action, before=entry.client_seq)
                known.dispatch(pending)
                again.append(Redo(uri, entry.action, entry.client_seq, pending.client_seq))
        return again, lost
