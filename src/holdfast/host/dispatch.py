"""A client's action: recognised, judged, applied, followed up (01-wire, sections 14 and 15).

Nothing is answered. An accepted action comes back to everybody with its origin; a refused one comes back to its
dispatcher with a reason; one to an unknown channel vanishes.
"""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from holdfast.host import dialects, legacy, lookup, rules
from holdfast.host.batch import AsSent
from holdfast.host.connection import Client, Connection
from holdfast.host.units import Channel, Chat, SessionChannel
from holdfast.host.verdict import Allowed, Refused, Verdict
from holdfast.ports.journal import KnownDispatches, PutDispatch
from holdfast.protocol.codec import Unknown, Wire, decode, encode
from holdfast.protocol.common import URI, SafeInt
from holdfast.protocol.envelope import ActionOrigin, decode_action
from holdfast.protocol.errors import InvalidValue, RpcError
from holdfast.protocol.versions import ACTIONS

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["Dispatched", "dispatch"]

logger: Final = logging.getLogger(__name__)


class _Params(Wire, frozen=True, kw_only=True):
    """As `DispatchActionParams`, with the action's bytes."""

    channel: URI
    client_seq: SafeInt
    action: msgspec.Raw


class _Typed(Wire, frozen=True, kw_only=True):
    type: str


@dataclass(slots=True)
class Dispatched:
    """An action on its way in, with all that judging it needs."""

    connection: Connection
    client: Client
    channel: Channel
    spelled: URI
    raw: bytes
    origin: ActionOrigin
    as_sent: AsSent | None = None
    """The form in which an older client sent it."""
    digest: bytes = b""
    """What a re-send is recognised by, together with its number."""
    action: Any = None


def dispatch(host: Host, connection: Connection, data: bytes) -> None:
    """Take a `dispatchAction` notification."""
    client = connection.client
    assert client is not None, "only clients dispatch"
    try:
        params = decode(_Params, data)
        kind = decode(_Typed, bytes(params.action)).type
    except InvalidValue as error:
        logger.debug("%s: dispatchAction: %s", connection, error)
        return
    channel = lookup.channel(host, params.channel)
    if channel is None:
        logger.debug("%s dispatched %s to an unknown channel", connection, kind[:100])
        return
    raw = bytes(params.action)
    origin = ActionOrigin(client_id=client.id, client_seq=params.client_seq)
    digest = hashlib.blake2b(channel.uri.encode() + b"\0" + raw, digest_size=16).digest()
    sent = Dispatched(connection, client, channel, params.channel, raw, origin, digest=digest)
    if _is_repeated(host, sent):
        logger.debug("%s sent %s number %d again", connection, kind, params.client_seq)
        return
    verdict = _judge(host, sent, kind) if connection.bridge is None else _judge_older(host, sent, kind)
    if isinstance(verdict, Refused):
        host.refuse(connection, channel.uri, raw, origin, verdict.reason)
        return
    _accept(host, sent, verdict)


def _judge_older(host: Host, sent: Dispatched, said: str) -> Verdict:
    """Judge what an older client meant. If it is refused, it gets back what it sent."""
    sent.as_sent = AsSent(sent.channel.uri, sent.raw)
    try:
        uri, sent.raw = dialects.lifted_action(host, sent.connection, sent.channel, said, sent.raw)
    except (InvalidValue, RpcError) as error:
        return Refused(str(error))
    channel = lookup.channel(host, uri)
    assert channel is not None, "a conversation is where its session is"
    sent.channel = channel
    kind = decode(_Typed, sent.raw).type
    if kind == dialects.LEGACY and isinstance(channel, SessionChannel):
        return legacy.remembered(host, sent, channel.unit)
    return _judge(host, sent, kind)


def _judge(host: Host, sent: Dispatched, kind: str) -> Verdict:
    info = ACTIONS.get(kind)
    if info is None:
        return Refused(f"this host does not know the action {kind[:100]!r}")
    if not info.client:
        return Refused(f"{kind} comes from the host only")
    if not _fits(sent.channel, kind):
        return Refused(f"{kind} does not belong on a {sent.channel.kind} channel")
    amended = rules.completed(host, sent, kind)
    try:
        action = decode_action(amended)
    except InvalidValue as error:
        return Refused(f"malformed {kind}: {error}")
    assert not isinstance(action, Unknown), f"{kind} is in the table and has no type"
    sent.action = action
    sent.raw = _verbatim(amended, action)
    return rules.judge(host, sent)


# What VS Code dispatches on a chat's URI and means for that chat.
_MEANT_FOR_THE_CHAT: Final = frozenset({"session/titleChanged", "session/isReadChanged", "session/isArchivedChanged"})


def _fits(channel: Channel, kind: str) -> bool:
    family = kind.partition("/")[0]
    return family == channel.kind or (isinstance(channel, Chat) and kind in _MEANT_FOR_THE_CHAT)


def _verbatim(raw: bytes, action: Wire) -> bytes:
    """The action's own bytes, unless a declared key was null: those are never passed on."""
    if b"null" not in raw:
        return raw
    return encode(_without_nulls(msgspec.json.decode(raw), msgspec.json.decode(encode(action))))


def _without_nulls(sent: Any, typed: Any) -> Any:
    """Drop the nulls that the type reads as absent. Inside free-form JSON both sides have them."""
    if isinstance(sent, dict) and isinstance(typed, dict):
        return {
            key: _without_nulls(value, typed.get(key))
            for key, value in sent.items()
            if value is not None or key in typed
        }
    if isinstance(sent, list) and isinstance(typed, list) and len(sent) == len(typed):
        return [_without_nulls(one, other) for one, other in zip(sent, typed, strict=True)]
    return sent


def _accept(host: Host, sent: Dispatched, verdict: Allowed) -> None:
    """Apply the action, echo it, do what follows."""
    if verdict.raw is not None:
        sent.raw = verdict.raw
    if verdict.action is not None:
        sent.action = verdict.action
    if verdict.swallowed:
        return
    _remember(host, sent)
    for before in verdict.before:
        before()
    host.emit(
        sent.channel,
        sent.action,
        raw=sent.raw,
        origin=sent.origin,
        dispatcher=sent.connection,
        as_sent=sent.as_sent,
        after=verdict.state() if verdict.state is not None else None,
    )
    for after in verdict.after:
        after()


# Duplicates


def _is_repeated(host: Host, sent: Dispatched) -> bool:
    """Whether exactly this was accepted before. Number 0 is nobody's: VS Code sends many."""
    if sent.origin.client_seq < 1:
        return False
    if sent.client.dispatched is None:
        # Read once per life of the host; a memory of what is stored, so this is no change.
        sent.client.dispatched = set(host.ask(KnownDispatches(sent.client.id)))
    return (sent.origin.client_seq, sent.digest) in sent.client.dispatched


def _remember(host: Host, sent: Dispatched) -> None:
    number = sent.origin.client_seq
    if number < 1 or sent.client.dispatched is None:
        return
    seen, digest = sent.client.dispatched, sent.digest
    seen.add((number, digest))
    host.batch.on_undo(lambda: seen.discard((number, digest)))
    host.batch.write(PutDispatch(sent.client.id, number, digest, host.clock.wall()))
