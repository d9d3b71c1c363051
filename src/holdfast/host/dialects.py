"""Clients of other ages: what they send is lifted on its way in, what they get is lowered on its way out.

The only place in the core that talks to `protocol.compat`. Everything else knows one model; a connection without
a bridge speaks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Raw

from holdfast.host import lookup, mirror, outgoing
from holdfast.host.outgoing import About, LongAnswer, Message, Shape
from holdfast.host.units import Channel, Session
from holdfast.ports.journal import StoredEnvelope
from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import encode, to_json
from holdfast.protocol.common import URI, JsonObject
from holdfast.protocol.compat.bridge import PRIVATE, Bridge
from holdfast.protocol.compat.context import NOWHERE, Context
from holdfast.protocol.compat.step import Action
from holdfast.protocol.errors import ErrorCode, HoldfastError, InvalidValue, RpcError
from holdfast.protocol.timestamps import from_milliseconds

if TYPE_CHECKING:
    from holdfast.host.connection import Connection
    from holdfast.host.core import Host

__all__ = [
    "LEGACY",
    "Told",
    "answer",
    "companions",
    "enveloped",
    "error",
    "lifted_action",
    "lifted_handshake",
    "lifted_params",
    "lifted_request",
    "place_of",
    "replayed",
    "row",
    "shown",
]

LEGACY: Final = f"{PRIVATE}/legacy"
"""The action that keeps what older clients said and 1.0 has no words for."""

# What a conversion trips over when it is given something of another shape than its version has.
_MALFORMED: Final = (KeyError, TypeError, AttributeError, ValueError, IndexError)


# On the way in


def _context(host: Host, connection: Connection, uri: URI) -> Context:
    """What lifting something about a channel may ask. Reads like any job does."""
    channel = lookup.channel(host, uri) if uri else None
    unit = channel.unit if channel is not None and isinstance(channel.unit, Session) else None
    assert connection.client is not None, "only clients have a version"
    return Context(
        channel=uri if channel is None else channel.uri,
        kind="" if channel is None else channel.kind,
        session="" if unit is None else unit.uri,
        default_chat="" if unit is None else unit.default_chat,
        client_id=connection.client.id,
        now=from_milliseconds(host.clock.wall()),
        state=lambda: None if channel is None else to_json(channel.state),
        session_state=lambda: None if unit is None else to_json(unit.session.state),
        legacy=lambda: {} if unit is None else dict(unit.legacy),
        lookup=lambda other: _context(host, connection, other),
    )


def lifted_request(host: Host, connection: Connection, request: jsonrpc.Request) -> jsonrpc.Request:
    """A request as 1.0 has it."""
    if connection.bridge is None:
        return request
    params = _decoded(request.params)
    context = _context(host, connection, _channel_of(params))
    try:
        call = connection.bridge.lift_request(request.method, params, context)
    except _MALFORMED as error:
        raise _malformed(request.method, connection.bridge) from error
    return jsonrpc.Request(id=request.id, method=call.method, params=Raw(encode(call.params)))


def lifted_handshake(bridge: Bridge, method: str, params: Raw | bytes) -> bytes:
    """The params of `initialize` or `reconnect`, before anything is known of channels."""
    try:
        return encode(bridge.lift_request(method, _decoded(params), NOWHERE).params)
    except _MALFORMED as error:
        raise _malformed(method, bridge) from error


def lifted_params(bridge: Bridge, method: str, params: Raw | bytes) -> bytes:
    """The params of a notification."""
    if bridge.is_notified_as_said(method):
        return bytes(params)
    try:
        calls = bridge.lift_notification(method, _decoded(params), NOWHERE)
    except _MALFORMED as error:
        raise _malformed(method, bridge) from error
    if len(calls) != 1:
        raise _malformed(method, bridge)
    return encode(calls[0].params)


def lifted_action(host: Host, connection: Connection, channel: Channel, kind: str, raw: bytes) -> tuple[URI, bytes]:
    """A dispatched action of a type as 1.0 has it, and the channel it belongs to there.

    `InvalidValue` if it is none.
    """
    bridge = connection.bridge
    assert bridge is not None, "only older clients are lifted"
    if bridge.is_meant_as_said(kind):
        return channel.uri, raw
    action = _decoded(raw)
    context = _context(host, connection, channel.uri)
    try:
        found = bridge.lift_action(Action(channel.uri, channel.kind, action), context)
    except _MALFORMED as error:
        raise _malformed(str(action.get("type"))[:100], bridge) from error
    if len(found) != 1:
        raise _malformed(str(action.get("type"))[:100], bridge)
    same = found[0].action is action
    return found[0].channel, raw if same else encode(found[0].action)


def _decoded(data: Raw | bytes) -> JsonObject:
    decoded = msgspec.json.decode(bytes(data))
    if not isinstance(decoded, dict):
        raise InvalidValue("params", "object", type(decoded).__name__)
    return decoded


def _channel_of(params: JsonObject) -> URI:
    uri = params.get("channel")
    return uri if isinstance(uri, str) else ""


def _malformed(what: str, bridge: Bridge) -> RpcError:
    return RpcError(ErrorCode.INVALID_PARAMS, f"{what} is not as protocol {bridge.version} has it")


# On the way out: actions and notifications


def shown(message: Message, bridge: Bridge) -> tuple[Message, ...]:
    """What a client of an older version is sent instead of a message; made once for each version."""
    found = message.lowered.get(bridge.version)
    if found is None:
        found = message.lowered[bridge.version] = _shown(message, bridge)
    return found


def _shown(message: Message, bridge: Bridge) -> tuple[Message, ...]:
    match message.shape:
        case Shape.ACTION if message.about is not None:
            if not bridge.touches(message.about.type):
                return (message,)
            envelope = msgspec.json.decode(message.payload)
            return tuple(outgoing.action(each) for each in _lower_envelope(bridge, envelope, message.about))
        case Shape.NOTIFICATION:
            calls = bridge.lower_notification(message.method, msgspec.json.decode(message.payload))
            return tuple(outgoing.notification(call.method, call.params) for call in calls)
    return (message,)


def _lower_envelope(bridge: Bridge, envelope: JsonObject, about: About) -> list[bytes]:
    context = Context(
        channel=envelope["channel"],
        kind=about.kind,
        session=about.unit if about.default_chat else "",
        default_chat=about.default_chat,
        facts=about.facts or {},
    )
    return [encode(each) for each in bridge.lower_envelope(envelope, context)]


def enveloped(bridge: Bridge | None, envelope: bytes) -> bytes:
    """An envelope around an action that is in the older form already."""
    if bridge is None:
        return envelope
    return encode(bridge.enveloped(msgspec.json.decode(envelope), NOWHERE))


def about_stored(entry: StoredEnvelope, channel: Channel) -> About:
    """What is known of an action that was read back."""
    kind = _type_decoder.decode(entry.data).action.type
    return channel.about(kind, msgspec.json.decode(entry.facts) if entry.facts else None)


class _Typed(msgspec.Struct):
    type: str


class _Enveloped(msgspec.Struct):
    action: _Typed


_type_decoder: Final = msgspec.json.Decoder(_Enveloped)


def replayed(bridge: Bridge | None, entry: StoredEnvelope, channel: Channel) -> Sequence[bytes]:
    """The envelopes a returning client is given for one it missed."""
    if bridge is None:
        return () if is_legacy(entry) else (entry.data,)
    about = about_stored(entry, channel)
    if not bridge.touches(about.type):
        return (entry.data,)
    return _lower_envelope(bridge, msgspec.json.decode(entry.data), about)


def is_legacy(entry: StoredEnvelope) -> bool:
    """Whether only older versions have words for it."""
    return _LEGACY_TYPE in entry.data and about_type(entry) == LEGACY


_LEGACY_TYPE: Final = encode(LEGACY)


def about_type(entry: StoredEnvelope) -> str:
    return _type_decoder.decode(entry.data).action.type


# What cannot be told


def is_untellable(bridge: Bridge | None, entry: StoredEnvelope, channel: Channel) -> bool:
    """Whether a client of this version can only learn of an action by a snapshot."""
    if bridge is None:
        return False
    about = about_stored(entry, channel)
    if not bridge.may_resync(about.type):
        return False
    return _why_untellable(bridge, msgspec.json.decode(entry.data)["action"], about, entry.channel) is not None


def _why_untellable(bridge: Bridge, action: JsonObject, about: About, channel: URI) -> str | None:
    context = Context(
        channel=channel,
        kind=about.kind,
        session=about.unit if about.default_chat else "",
        default_chat=about.default_chat,
        facts=about.facts or {},
    )
    return bridge.resync(about.type, action, context)


def left_behind(recipients: Sequence[Connection], action: bytes, about: About, channel: URI) -> list[Connection]:
    """Those of the recipients who cannot be told what happens."""
    return [
        connection
        for connection in recipients
        if connection.bridge is not None
        and connection.bridge.may_resync(about.type)
        and _why_untellable(connection.bridge, msgspec.json.decode(action), about, channel) is not None
    ]


# On the way out: answers


@dataclass(slots=True)
class Told:
    """A result with snapshots in it, and the runs of completed turns that go into some, by their resource.

    For an older client the states are bare ones, still to be lowered; the turns are in its form already.
    """

    result: Any
    runs: dict[URI, tuple[bytes, ...]]


def place_of(runs: tuple[bytes, ...]) -> tuple[Raw, ...]:
    """What stands in the place of turns until the result around them is encoded."""
    return (outgoing.PLACE,) if runs else ()


def answer(bridge: Bridge | None, id: jsonrpc.Id, method: str, value: Any) -> Message | LongAnswer:
    """The answer to a request, in the older form if there is a bridge to it."""
    told = value if isinstance(value, Told) else Told(value, {})
    if bridge is None:
        return outgoing.succeeded(id, method, told.result, [runs for runs in told.runs.values() if runs])
    result = bridge.lower_result(method, to_json(told.result))
    if method == "subscribe" and "snapshot" not in result:
        why = RpcError(ErrorCode.NOT_FOUND, "there is no such channel in the negotiated version")
        return outgoing.failed(id, method, error(bridge, method, why))
    runs = []
    for snapshot in _snapshots(result) if told.runs else ():
        found = told.runs.get(snapshot["resource"])
        if found is not None:
            snapshot["state"]["turns"] = place_of(found)
            runs.append(found)
    return outgoing.succeeded(id, method, result, [each for each in runs if each])


def _snapshots(result: JsonObject) -> list[JsonObject]:
    """The snapshots in a lowered result. What an older version does not have was left out."""
    if "snapshots" in result:
        found: list[JsonObject] = result["snapshots"]
        return found
    return [result["snapshot"]] if "snapshot" in result else []


def row(bridge: Bridge | None, turn: bytes) -> bytes:
    """A completed turn in the older form; most are the same."""
    return turn if bridge is None else bridge.lower_turn(turn)


def error(bridge: Bridge | None, method: str, error: HoldfastError) -> HoldfastError:
    """An error in the older form."""
    if bridge is None:
        return error
    lowered = bridge.lower_error(method, to_json(jsonrpc.error_of(error)))
    return RpcError(lowered["code"], lowered["message"], lowered.get("data"))


def companions(unit: Session) -> JsonObject:
    """What older versions show in a session's state and 1.0 shows elsewhere."""
    return {"summary": to_json(mirror.summary_of(unit)), "legacy": dict(unit.legacy)}
