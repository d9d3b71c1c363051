"""Who looks at what: subscribing, snapshots, history pages (01-wire section 13, 04-chat section 9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from holdfast.host import dialects, lookup, presence
from holdfast.host.batch import Emission
from holdfast.host.connection import Connection, Subscription
from holdfast.host.units import Channel, Chat, SessionChannel
from holdfast.ports.journal import ReadTurns, TurnPage
from holdfast.protocol import jsonrpc
from holdfast.protocol.chat.commands import FetchTurnsParams
from holdfast.protocol.codec import encode, to_json
from holdfast.protocol.common import URI
from holdfast.protocol.compat.bridge import PRIVATE, Bridge
from holdfast.protocol.connection.commands import SubscribeParams, SubscribeResult, UnsubscribeParams
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.snapshot import Snapshot
from holdfast.protocol.uris import ROOT, is_root

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = [
    "Prepared",
    "arm",
    "conversation_of",
    "fetch_turns",
    "prepare",
    "prepare_channel",
    "subscribe",
    "told",
    "unsubscribe",
    "visible",
]


@dataclass(frozen=True, slots=True)
class History:
    """Completed turns as a client of some version reads them: encoded, in runs of several joined by commas."""

    runs: tuple[bytes, ...]
    cursor: str | None = None
    window: int | None = None


@dataclass(slots=True)
class Prepared:
    """A subscription ready to begin: where, as the client spells it, and what it will be shown."""

    channel: Channel
    spelled: URI
    state: Any = None
    """Of a chat, without its completed turns."""
    history: History | None = None
    """The completed turns of a chat that are shown."""
    window: int | None = None
    max_latency: float | None = None
    subscription: Subscription | None = None
    conversation: Prepared | None = None
    """For versions in which a session is its only chat: that chat."""
    bridge: Bridge | None = None

    def snapshot(self, seq: int) -> Snapshot:
        """The snapshot, made once everything before it has its number. The turns are put into their place later."""
        self._began(seq)
        state = self.state
        if self.history is not None:
            place: Any = dialects.place_of(self.history.runs)
            state = replace(state, turns=place, turns_next_cursor=self.history.cursor)
        return Snapshot(resource=self.spelled, state=state, from_seq=seq)

    def bare(self, seq: int) -> Snapshot:
        """The same for an older client, in a form that can be lowered."""
        self._began(seq)
        state: Any = to_json(self.state)
        if self.history is not None and self.history.cursor is not None:
            state["turnsNextCursor"] = self.history.cursor
        if isinstance(self.channel, SessionChannel):
            state[PRIVATE] = dialects.companions(self.channel.unit)
            if self.conversation is not None:
                state[PRIVATE]["chat"] = self.conversation.bare(seq).state
        return Snapshot(resource=self.spelled, state=state, from_seq=seq)

    @property
    def runs(self) -> tuple[bytes, ...] | None:
        """The turns to put into the snapshot; those of its conversation are its own."""
        history = self.history if self.conversation is None else self.conversation.history
        return None if history is None else history.runs

    def _began(self, seq: int) -> None:
        if self.subscription is not None:
            # Nobody follows a channel from before it was there; it may have begun in this very transaction.
            self.subscription.from_seq = max(seq, self.channel.moved_at)


def told(prepared: Sequence[Prepared], seq: int, result: Callable[[int, tuple[Any, ...]], Any]) -> Any:
    """A result with snapshots in it, in a form that can be lowered if the client's version is older."""
    is_older = any(each.bridge for each in prepared)
    snapshots = tuple(each.bare(seq) if is_older else each.snapshot(seq) for each in prepared)
    runs = {each.spelled: each.runs for each in prepared if each.runs is not None}
    return dialects.Told(result(seq, snapshots), runs)


def prepare(host: Host, uris: tuple[URI, ...], bridge: Bridge | None) -> list[Prepared]:
    """What can be subscribed to of these; the rest is left out (01-wire, section 9)."""
    lookup.bring(host, uris)
    found = [(visible(host, uri, bridge), uri) for uri in uris]
    return prepare_channels(host, [(channel, uri) for channel, uri in found if channel is not None], bridge)


_AHEAD: Final = 4
"""Chats whose newest turns are read at once."""


def prepare_channels(host: Host, channels: Sequence[tuple[Channel, URI]], bridge: Bridge | None) -> list[Prepared]:
    """Read what snapshots of these need, a few at a time, however many they are."""
    shown = [conversation_of(channel, bridge) or channel for channel, _ in channels]
    queries = [query for query in (_query(host, each, bridge) for each in shown if isinstance(each, Chat)) if query]
    for start in range(0, len(queries), _AHEAD):
        host.ask_ahead(queries[start : start + _AHEAD])
    return [prepare_channel(host, channel, uri, bridge) for channel, uri in channels]


def visible(host: Host, uri: URI, bridge: Bridge | None) -> Channel | None:
    """The channel a URI names, unless the client's version has none of its kind."""
    channel = lookup.channel(host, uri)
    return None if channel is None or (bridge is not None and channel.kind in bridge.unseen) else channel


def prepare_channel(
    host: Host, channel: Channel, spelled: URI, bridge: Bridge | None, view_turns: float | None = None
) -> Prepared:
    """Read what a snapshot of a channel needs."""
    if isinstance(channel, Chat):
        history = _history(host, channel, view_turns, bridge)
        return Prepared(channel, spelled, channel.state, history, history.window, bridge=bridge)
    conversation = conversation_of(channel, bridge)
    return Prepared(
        channel,
        spelled,
        channel.state,
        conversation=None
        if conversation is None
        else prepare_channel(host, conversation, conversation.uri, bridge, view_turns),
        bridge=bridge,
    )


def conversation_of(channel: Channel, bridge: Bridge | None) -> Chat | None:
    """The chat that an older client sees as part of a session."""
    if bridge is None or not bridge.one_conversation or not isinstance(channel, SessionChannel):
        return None
    return channel.unit.chats.get(channel.unit.default_chat)


def _query(host: Host, chat: Chat, bridge: Bridge | None, view_turns: float | None = None) -> ReadTurns | None:
    """What to read of a chat's turns; None for all of them."""
    limit = None if view_turns is None else max(1, int(view_turns))
    budget = None if bridge is not None and bridge.whole_history else host.settings.frame_budget
    if budget is None and limit is None:
        return None
    if budget is not None:
        # In steps: the same question is asked again a little later, when a running turn has grown.
        budget = max(1, budget - (len(encode(chat.state)) // _STEP + 1) * _STEP)
    return ReadTurns(chat.uri, None, limit, budget, edition=chat.cuts)


_STEP: Final = 16_000


def _history(host: Host, chat: Chat, view_turns: float | None, bridge: Bridge | None) -> History:
    """The newest turns that fit: as many as were asked for, and no more than a message may hold."""

    def run(page: TurnPage) -> bytes:
        return b",".join([dialects.row(bridge, turn.data) for turn in page.turns])

    query = _query(host, chat, bridge, view_turns)
    if query is None:
        return History(lookup.history(host, chat, run))
    page = lookup.turns(host, chat, query)
    if not page.turns:
        return History((), window=page.total or None)
    return History((run(page),), _cursor(page), page.turns[0].position or None)


_BEFORE: Final = "before:"


def _cursor(page: TurnPage) -> str | None:
    """Where an older page begins: before a turn that is known to every connection and after every restart."""
    older = page.turns and page.turns[0].position > 0
    return _BEFORE + page.turns[0].turn_id if older else None


def spell_root(connection: Connection, uri: URI) -> None:
    """Remember how this client writes the root."""
    connection.root_spelling = None if uri == ROOT else uri


def arm(host: Host, connection: Connection, prepared: Prepared) -> None:
    """From now on the connection gets what happens on the channel."""
    uri = prepared.channel.uri
    if uri == ROOT:
        spell_root(connection, prepared.spelled)
    subscription = Subscription(uri, window=prepared.window, max_latency=prepared.max_latency)
    prepared.subscription = subscription
    host.batch.put(connection.subscriptions, uri, subscription)
    host.add_subscriber(connection, uri)
    host.batch.on_undo(lambda: host.drop_subscriber(connection, uri))
    if prepared.conversation is not None:
        arm(host, connection, prepared.conversation)


def subscribe(host: Host, connection: Connection, request: jsonrpc.Request, params: SubscribeParams) -> None:
    """Begin to follow a channel. Again: a fresh snapshot, no double delivery."""
    channel = lookup.channel(host, params.channel)
    if channel is None:
        raise lookup.unknown(params.channel)
    if visible(host, params.channel, connection.bridge) is None:
        raise RpcError(ErrorCode.NOT_FOUND, "there is no such channel in the negotiated version")
    view = params.view.turns if params.view else None
    prepared = prepare_channel(host, channel, params.channel, connection.bridge, view)
    prepared.max_latency = params.delivery.max_latency_ms if params.delivery else None
    arm(host, connection, prepared)
    presence.subscribed(host, connection, channel)
    host.counters.snapshots += 1

    def result(_: int, snapshots: tuple[Any, ...]) -> SubscribeResult:
        return SubscribeResult(snapshot=snapshots[0])

    host.reply(connection, request, lambda seq: told((prepared,), seq, result))


def unsubscribe(host: Host, connection: Connection, params: UnsubscribeParams) -> None:
    """Stop following. What is not followed is ignored."""
    uri = ROOT if is_root(params.channel) else params.channel
    if uri in connection.subscriptions:
        channel = host.channels.get(uri)
        conversation = conversation_of(channel, connection.bridge) if channel is not None else None
        for each in (uri,) if conversation is None else (uri, conversation.uri):
            connection.subscriptions.pop(each, None)
            host.drop_subscriber(connection, each)
        presence.unsubscribed(host, connection, uri)


def fetch_turns(host: Host, connection: Connection, request: jsonrpc.Request, params: FetchTurnsParams) -> None:
    """Load an older page of history, for this connection only, and answer when it is on its way."""
    chat = lookup.chat(host, params.channel)
    subscription = connection.subscriptions.get(chat.uri)
    before = subscription.window if subscription else None
    if params.cursor is not None:
        before = _position(host, chat, params.cursor)
    if subscription is not None and before:
        query = ReadTurns(chat.uri, before, host.settings.turn_page, host.settings.frame_budget)
        load_turns(host, connection, subscription, chat, lookup.turns(host, chat, query))
    host.reply(connection, request, {})


def _position(host: Host, chat: Chat, cursor: str) -> int:
    turn_id = cursor.removeprefix(_BEFORE)
    position = lookup.find_turn(host, chat, turn_id) if turn_id != cursor else None
    if position is None:
        raise RpcError(ErrorCode.INVALID_PARAMS, "params.cursor: no such page; it may have been truncated away")
    return position


def load_turns(host: Host, connection: Connection, subscription: Subscription, chat: Chat, page: TurnPage) -> None:
    """Send a page of history to one connection, as an action with a number of its own."""
    cursor = _cursor(page)
    turns = b",".join(turn.data for turn in page.turns)
    action = b'{"type":"chat/turnsLoaded","turns":[' + turns + b"]"
    if cursor is not None:
        action += b',"turnsNextCursor":' + encode(cursor)
    if page.turns:
        host.batch.assign(subscription, "window", page.turns[0].position or None)
    host.batch.outputs.append(
        Emission(
            channel=chat.uri,
            unit=chat.unit.uri,
            action=action + b"}",
            origin=None,
            recipients=(connection,),
            private=True,
            about=chat.about("chat/turnsLoaded"),
        )
    )
