"""Who looks at what: subscribing, snapshots, history pages (01-wire section 13, 04-chat section 9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw
from msgspec.structs import replace

from holdfast.host import lookup, presence
from holdfast.host.batch import Emission
from holdfast.host.connection import Connection, Subscription
from holdfast.host.units import Channel, Chat
from holdfast.ports.journal import ReadTurns, TurnPage
from holdfast.protocol import jsonrpc
from holdfast.protocol.chat.commands import FetchTurnsParams
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.codec import encode
from holdfast.protocol.common import URI
from holdfast.protocol.connection.commands import SubscribeParams, SubscribeResult, UnsubscribeParams
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.snapshot import Snapshot
from holdfast.protocol.uris import ROOT, is_root

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["Prepared", "arm", "fetch_turns", "prepare", "prepare_channel", "subscribe", "unsubscribe"]


@dataclass(slots=True)
class Prepared:
    """A subscription ready to begin: where, as the client spells it, and what it will be shown."""

    channel: Channel
    spelled: URI
    state: Callable[[], Any]
    window: int | None = None
    max_latency: float | None = None
    subscription: Subscription | None = None

    def snapshot(self, seq: int) -> Snapshot:
        """The snapshot, made once everything before it has its number."""
        if self.subscription is not None:
            self.subscription.from_seq = seq
        return Snapshot(resource=self.spelled, state=self.state(), from_seq=seq)


def prepare(host: Host, uris: tuple[URI, ...]) -> list[Prepared]:
    """What can be subscribed to of these; the rest is left out (01-wire, section 9)."""
    found = [(uri, lookup.channel(host, uri)) for uri in uris]
    return [prepare_channel(host, channel, uri) for uri, channel in found if channel is not None]


def prepare_channel(host: Host, channel: Channel, spelled: URI, view_turns: float | None = None) -> Prepared:
    """Read what a snapshot of a channel needs."""
    if not isinstance(channel, Chat):
        state = channel.state
        return Prepared(channel, spelled, lambda: state)
    page = _page(host, channel, view_turns)
    head = channel.state
    cursor = _cursor(page)
    window = page.turns[0].position if page.turns else page.total
    return Prepared(channel, spelled, lambda: _with_turns(head, page, cursor), window or None)


def _page(host: Host, chat: Chat, view_turns: float | None) -> TurnPage:
    """The newest turns that fit: as many as were asked for, and no more than a message may hold."""
    limit = None if view_turns is None else max(1, int(view_turns))
    budget = host.settings.frame_budget
    if budget is not None:
        budget = max(1, budget - len(encode(chat.state)))
    return lookup.turns(host, chat, ReadTurns(chat.uri, None, limit, budget))


def _with_turns(head: ChatState, page: TurnPage, cursor: str | None) -> ChatState:
    """A chat's state with rows spliced in as they are."""
    rows: Any = tuple(Raw(turn.data) for turn in page.turns)
    return replace(head, turns=rows, turns_next_cursor=cursor)


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


def subscribe(host: Host, connection: Connection, request: jsonrpc.Request, params: SubscribeParams) -> None:
    """Begin to follow a channel. Again: a fresh snapshot, no double delivery."""
    channel = lookup.channel(host, params.channel)
    if channel is None:
        raise lookup.unknown(params.channel)
    view = params.view.turns if params.view else None
    prepared = prepare_channel(host, channel, params.channel, view)
    prepared.max_latency = params.delivery.max_latency_ms if params.delivery else None
    arm(host, connection, prepared)
    presence.subscribed(host, connection, channel)
    host.counters.snapshots += 1
    host.reply(connection, request, lambda seq: SubscribeResult(snapshot=prepared.snapshot(seq)))


def unsubscribe(host: Host, connection: Connection, params: UnsubscribeParams) -> None:
    """Stop following. What is not followed is ignored."""
    uri = ROOT if is_root(params.channel) else params.channel
    if uri in connection.subscriptions:
        del connection.subscriptions[uri]
        host.drop_subscriber(connection, uri)
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
        )
    )
