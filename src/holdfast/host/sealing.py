"""From decisions to a transaction, and from a committed transaction to messages.

Sealing gives every envelope its number in the order of the decisions, gathers the frames of each unit, and
writes the heads that are due. Nothing of a batch is told before it is committed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from holdfast.host import dialects, outgoing
from holdfast.host.batch import AsSent, Batch, Close, Emission, Note, Refusal, Reply
from holdfast.host.connection import Connection
from holdfast.host.outgoing import LongAnswer, Message, envelope_bytes
from holdfast.host.units import Channel, Chat, Session
from holdfast.ports.agent import AgentEffect
from holdfast.ports.journal import (
    AppendFrame,
    AppendTurn,
    Commit,
    Frame,
    PutHead,
    StoredEnvelope,
    Write,
)
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.codec import encode
from holdfast.protocol.errors import ErrorCode, HoldfastError, RpcError

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = [
    "Release",
    "Sealed",
    "Step",
    "head",
    "last_words",
    "refused",
    "release",
    "seal",
    "turns_to_rows",
    "unexpected",
]

logger: Final = logging.getLogger(__name__)


class Sealed(Struct):
    """A transaction ready to be committed, with what comes of it."""

    batch: Batch
    commit: Commit
    heads: tuple[tuple[Channel, int], ...]
    """The channels whose heads are written, with the heads' sizes."""
    last: int
    """The highest number in it."""


class Step(Struct):
    """One thing to send, or a connection to close. `seq` is there for envelopes.

    `durable`: who misses it can have it from the journal later.
    """

    recipients: tuple[Connection, ...]
    message: Message | LongAnswer
    seq: int | None = None
    durable: bool = False


class Release(Struct):
    """What to do now, in order; then the effects."""

    steps: list[Step | Close] = field(default_factory=list)
    effects: list[AgentEffect] = field(default_factory=list)


def turns_to_rows(batch: Batch, chat: Chat, state: ChatState) -> ChatState:
    """Move the turns that ended out of a chat's state into rows of the journal."""
    for turn in state.turns:
        batch.write(AppendTurn(chat.uri, turn.id, encode(turn)))
    batch.rows.add(chat.uri)
    batch.assign(chat, "turns", chat.turns + len(state.turns))
    return replace(state, turns=())


def seal(host: Host, batch: Batch) -> Sealed:
    """Number everything and make the commit."""
    now = host.clock.wall()
    frames: dict[str, list[StoredEnvelope]] = {}
    for output in batch.outputs:
        if isinstance(output, Emission):
            output.seq = host.numbers.take()
            output.envelope = envelope_bytes(output.channel, output.action, output.seq, output.origin)
            if not output.private and not output.last:
                frames.setdefault(output.unit, []).append(_stored(output))
                _grow_tail(batch, output, len(output.envelope))
        elif isinstance(output, Refusal):
            output.seq = host.numbers.take()
        elif isinstance(output, Reply):
            output.seq = host.numbers.last
    last = host.numbers.last
    writes: list[Write] = []
    for write in batch.writes:
        made = write(last) if callable(write) else write
        if made is not None:
            writes.append(made)
    writes += [AppendFrame(Frame(unit, now, tuple(envelopes))) for unit, envelopes in frames.items()]
    heads = [(channel, head(channel, last)) for channel in batch.touched.values() if channel.head_due]
    # A channel that was dropped since is no longer in memory, and gets no head.
    kept = [(channel, put) for channel, put in heads if host.channels.get(channel.uri) is channel]
    writes += [put for _, put in kept]
    return Sealed(batch, Commit(tuple(writes)), tuple((channel, len(put.state)) for channel, put in kept), last)


def _stored(emission: Emission) -> StoredEnvelope:
    facts = encode(emission.about.facts) if emission.about and emission.about.facts else b""
    return StoredEnvelope(emission.channel, emission.seq, emission.envelope, facts)


def last_words(host: Host, unit: Session) -> Callable[[int], AppendFrame | None]:
    """A write of what this transaction has of a session so far. Once that is disposed of nothing can be added."""
    said = [each for each in host.batch.outputs if isinstance(each, Emission) and each.unit == unit.uri]
    kept = [emission for emission in said if not (emission.private or emission.last)]
    for emission in kept:
        host.batch.assign(emission, "last", True)
    at = host.clock.wall()

    def write(_: int) -> AppendFrame | None:
        return AppendFrame(Frame(unit.uri, at, tuple(map(_stored, kept)))) if kept else None

    return write


def _grow_tail(batch: Batch, output: Emission, size: int) -> None:
    channel = batch.touched.get(output.channel)
    if channel is not None:
        batch.assign(channel, "tail_size", channel.tail_size + size)


def head(channel: Channel, seq: int) -> PutHead:
    """The checkpoint of a channel as it is now."""
    return PutHead(channel.unit.uri, channel.uri, channel.kind, seq, encode(channel.state))


def release(sealed: Sealed) -> Release:
    """What a committed transaction lets out."""
    for channel, size in sealed.heads:
        channel.head_size = size
        channel.tail_size = 0
        channel.unsaved = False
    found = Release(effects=sealed.batch.effects)
    for output in sealed.batch.outputs:
        match output:
            case Emission():
                message = outgoing.action(output.envelope, output.about)
                found.steps.append(Step(output.recipients, message, output.seq, not output.private))
            case Refusal():
                found.steps.append(_refusal(output))
            case Reply():
                found.steps.append(_answer(output))
            case Note():
                found.steps.append(Step(output.recipients, output.message))
            case Close():
                found.steps.append(output)
    return found


def _refusal(refusal: Refusal) -> Step:
    data = envelope_bytes(refusal.channel, refusal.action, refusal.seq, refusal.origin, refusal.reason)
    message = outgoing.action(dialects.enveloped(refusal.dispatcher.bridge, data))
    return Step((refusal.dispatcher,), message, refusal.seq)


def _answer(reply: Reply) -> Step:
    try:
        return _answered(reply)
    except Exception:
        # The boundary of one client: what its version has no words for, by a mistake of ours, ends no other.
        logger.exception("%s could not be answered to %s", reply.method, reply.connection)
        return Step((reply.connection,), outgoing.failed(reply.id, reply.method, unexpected()))


def _answered(reply: Reply) -> Step:
    result: Any = reply.result(reply.seq) if callable(reply.result) else reply.result
    message: Message | LongAnswer
    if isinstance(result, HoldfastError):
        message = outgoing.failed(
            reply.id, reply.method, dialects.error(reply.connection.bridge, reply.method, result)
        )
    else:
        assert reply.id is not None, "only failures answer nobody"
        message = dialects.answer(reply.connection.bridge, reply.id, reply.method, result)
    return Step((reply.connection,), message)


def unexpected() -> RpcError:
    """What a client is told of our mistakes."""
    return RpcError(ErrorCode.INTERNAL_ERROR, "internal error; the host's log has the details")


_LOST: Final = ErrorCode.INTERNAL_ERROR


def refused(host: Host, batches: Iterable[Batch], reason: str) -> Release:
    """What is told when a transaction is lost: every client that wanted something learns why it did not happen."""
    found = Release()
    for batch in batches:
        for output in batch.outputs:
            match output:
                case Emission(dispatcher=Connection() as dispatcher, origin=bytes() as origin):
                    sent = output.as_sent or AsSent(output.channel, output.action)
                    seq = host.numbers.take_unreserved()
                    refusal = Refusal(sent.channel, sent.action, origin, reason, dispatcher, seq)
                    found.steps.append(_refusal(refusal))
                case Refusal():
                    output.seq = host.numbers.take_unreserved()
                    found.steps.append(_refusal(output))
                case Reply(independent=True):
                    found.steps.append(_answer(output))
                case Reply():
                    error = RpcError(_LOST, reason)
                    lost = Reply(output.connection, output.id, output.method, error)
                    found.steps.append(_answer(lost))
                case Close():
                    found.steps.append(output)
    return found
