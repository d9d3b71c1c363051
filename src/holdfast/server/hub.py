"""Between links and the core: what arrives goes in, what the core lets out is written, once per link and tick.

A link that cannot take what it is given is not given more (`host.lag`); one that takes nothing for too long is
closed. One that talks too fast is not listened to for a while.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast.host import dialects, lag
from holdfast.host.batch import Close
from holdfast.host.connection import Connection
from holdfast.host.core import Host
from holdfast.host.jobs import Job, Need
from holdfast.host.outgoing import LongAnswer, Message
from holdfast.host.sealing import Release, Step
from holdfast.ports.agent import AgentEffect, AgentEvent
from holdfast.server.engine import Engine
from holdfast.server.links import Framing, Link, LinkOwner

__all__ = ["Hub", "HubLimits"]

_BROKEN: Final = 1011
"""WebSocket close code: internal error."""

logger: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HubLimits:
    """Bytes, messages per second, seconds."""

    high_water: int = 1 << 20
    """More waiting on a link: the client lags."""
    hard_limit: int = 16 << 20
    """More waiting on a link: it is closed. One message that alone makes a client lag is not counted: a whole
    history may be larger, and whoever asked for it reads it."""
    patience: float = 30.0
    """A lagging client that takes nothing for so long is closed."""
    rate: float = 2000.0
    burst: float = 10_000.0


@dataclass(slots=True)
class _Peer:
    """A link and the connection behind it."""

    link: Link
    framing: Framing
    connection: Connection
    allowance: float
    replenished: float
    outbox: list[bytes] = field(default_factory=list)
    lagging_since: float | None = None
    largest: int = 0
    """The largest single message among what it lags behind with, if that alone is too much."""


class Hub(LinkOwner):
    """Owns the traffic of one host. Everything happens in the event loop's thread."""

    def __init__(self, host: Host, limits: HubLimits, perform: Callable[[AgentEffect], None]) -> None:
        self.host = host
        self.engine: Engine | None = None
        self._limits = limits
        self._perform = perform
        self._loop = asyncio.get_running_loop()
        self._peers: dict[int, _Peer] = {}
        self._by_link: dict[Link, _Peer] = {}
        self._written: list[_Peer] = []
        """Peers with something in their outbox."""
        self._next = 0
        self._ticking = False
        self._timer: asyncio.TimerHandle | None = None
        self._settled: asyncio.Future[None] | None = None
        self.broken: asyncio.Future[None] = self._loop.create_future()
        """Fails with what nobody expected. From then on nothing moves: the host has to be started again."""

    # Links

    def opened(self, link: Link) -> None:
        self._next += 1
        connection = self.host.connected(self._next)
        peer = _Peer(link, link.framing, connection, self._limits.burst, self._loop.time())
        self._peers[connection.id] = peer
        self._by_link[link] = peer

    def received(self, link: Link, text: bytes) -> None:
        peer = self._by_link.get(link)
        if peer is None:
            return
        self._spend(peer)
        self.host.received(peer.connection, text)
        self.tick()

    def drained(self, link: Link) -> None:
        peer = self._by_link.get(link)
        if peer is not None and peer.lagging_since is not None:
            peer.lagging_since = None
            lag.catch_up(self.host, peer.connection)
            self.tick()

    def closed(self, link: Link) -> None:
        peer = self._by_link.pop(link, None)
        if peer is not None:
            self._forget(peer)
            self.host.disconnected(peer.connection)
            self.tick()

    def _forget(self, peer: _Peer) -> None:
        self._peers.pop(peer.connection.id, None)
        peer.outbox.clear()

    def close_all(self, code: int, reason: str) -> None:
        """Close every link after what was written has left."""
        for peer in tuple(self._peers.values()):
            peer.link.close(code, reason)

    @property
    def links(self) -> int:
        return len(self._peers)

    @property
    def buffered(self) -> int:
        """Bytes that wait on all links."""
        return sum(peer.link.buffered for peer in self._peers.values())

    def _spend(self, peer: _Peer) -> None:
        """One message of a client's allowance; with none left it is not listened to until there is some."""
        now = self._loop.time()
        gained = (now - peer.replenished) * self._limits.rate
        peer.allowance = min(self._limits.burst, peer.allowance + gained) - 1
        peer.replenished = now
        if peer.allowance < 0:
            peer.link.pause()
            wait = self._limits.burst / 10 / self._limits.rate
            self._loop.call_later(wait, peer.link.resume)

    # What else happens

    def said(self, event: AgentEvent) -> None:
        """An agent said something."""
        self.host.said(event)
        self.tick()

    def answered(self, job: Job, need: Need, answer: Any) -> None:
        """An agent answered a question."""
        self.host.answered(job, need, answer)
        self.tick()

    async def settled(self) -> None:
        """Wait until everything that happened is committed and on its way."""
        if self._settled is None:
            self._settled = self._loop.create_future()
        self.tick()
        await asyncio.shield(self._settled)

    def stop(self) -> None:
        """Time no longer passes here."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # Ticks

    def tick(self) -> None:
        """Settle soon: once for everything that happens in this turn of the loop."""
        if not self._ticking:
            self._ticking = True
            self._loop.call_soon(self._tick)

    def _tick(self) -> None:
        """Nothing half decided is ever told: if this fails in a way nobody expected, nothing moves any more."""
        assert self.engine is not None, "the hub is wired before it runs"
        try:
            is_settled = self.engine.settle()
        except Exception as error:  # noqa: BLE001 - the boundary of the host; whoever runs it stops
            if not self.broken.done():
                self.broken.set_exception(error)
            return
        self._ticking = False
        self.flush()
        self._set_timer()
        if not is_settled:
            self.tick()
        elif self._settled is not None and not self.host.unsettled and not self.host.stalled:
            self._settled.set_result(None)
            self._settled = None

    def _set_timer(self) -> None:
        """Wake the host when its next deadline comes."""
        due = self.host.timers.next()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due is not None:
            delay = max(0, due - self.host.clock.monotonic()) / 1000
            self._timer = self._loop.call_later(delay, self._wake)

    def _wake(self) -> None:
        self.host.wake()
        self.tick()

    # What the core lets out

    def deliver(self, release: Release) -> None:
        """Put messages where they go; they are written at the end of the tick."""
        for step in release.steps:
            if isinstance(step, Close):
                self._close(step)
            else:
                self._send(step)
        for effect in release.effects:
            self._perform(effect)

    def _send(self, step: Step) -> None:
        """Most steps of most hosts go to clients of this version whose links are all framed alike."""
        framing, frame = None, b""
        words: tuple[Any, ...] = ()
        frames: tuple[bytes, ...] | None = ()
        message = step.message
        for connection in step.recipients:
            peer = self._peers.get(connection.id)
            if peer is None:
                continue
            if connection.lagging_since is not None and not lag.passes(connection, step):
                if lag.is_lost(connection):
                    self._give_up(peer)
                continue
            if isinstance(message, LongAnswer):
                self._write_long(peer, message)
                continue
            if not peer.outbox:
                self._written.append(peer)
            if connection.bridge is not None or connection.root_spelling is not None:
                wanted = (connection.bridge, connection.root_spelling, peer.framing)
                if wanted != words:
                    words, frames = wanted, _in_words(peer, message)
                if frames is None:
                    self._end(peer, _BROKEN, "internal error; reconnect")
                else:
                    peer.outbox += frames
                continue
            if peer.framing is not framing:
                framing, frame = peer.framing, _framed(message, peer.framing)
            peer.outbox.append(frame)

    def _close(self, close: Close) -> None:
        peer = self._peers.get(close.connection.id)
        if peer is not None:
            self._write(peer)
            peer.link.close(close.code, close.reason)

    def flush(self) -> None:
        """Write what the tick produced: one write per link."""
        written, self._written = self._written, []
        for peer in written:
            self._write(peer)

    def _write(self, peer: _Peer) -> None:
        if peer.outbox:
            frames, peer.outbox = peer.outbox, []
            if not peer.link.write(frames) and peer.link.buffered > self._limits.high_water:
                self._watch(peer, max(map(len, frames)))

    def _write_long(self, peer: _Peer, answer: LongAnswer) -> None:
        """Write what is too long to be put together, behind everything before it."""
        self._write(peer)
        taken = peer.link.write_long(peer.framing.pieces(answer.pieces))
        if not taken and peer.link.buffered > self._limits.high_water:
            self._watch(peer, answer.size)

    def _watch(self, peer: _Peer, largest: int) -> None:
        if peer.lagging_since is None:
            peer.largest = 0
        if largest > self._limits.high_water:
            peer.largest = max(peer.largest, largest)
        if peer.link.buffered > self._limits.hard_limit + peer.largest:
            self._give_up(peer)
        elif peer.lagging_since is None:
            peer.lagging_since = self._loop.time()
            lag.begin(self.host, peer.connection)
            self._loop.call_later(self._limits.patience, self._lose_patience, peer, peer.lagging_since)

    def _lose_patience(self, peer: _Peer, since: float) -> None:
        if peer.lagging_since == since and peer.connection.id in self._peers:
            self._give_up(peer)

    def _give_up(self, peer: _Peer) -> None:
        """The client is gone from here on. If it does take what waits for it, it learns why."""
        logger.warning("%s takes too little; closing it", peer.link.peer)
        self._end(peer, lag.TOO_FAR_BEHIND, "too far behind; reconnect")

    def _end(self, peer: _Peer, code: int, reason: str) -> None:
        peer.link.close(code, reason)
        self._forget(peer)
        self._loop.call_soon(self.closed, peer.link)


def _in_words(peer: _Peer, message: Message) -> tuple[bytes, ...] | None:
    """A message in the words of a client's version, as its link carries it; None if that cannot be done."""
    try:
        return tuple(_framed(each, peer.framing) for each in _shown(message, peer.connection))
    except Exception:
        # The boundary of one version's clients: others are of other versions.
        logger.exception("%s cannot be told of %s; closing it", peer.link.peer, message.method)
        return None


def _shown(message: Message, connection: Connection) -> Iterator[Message]:
    """A message as this client writes and reads it."""
    spelling = connection.root_spelling
    for each in (message,) if connection.bridge is None else dialects.shown(message, connection.bridge):
        yield each.spelled(spelling) if spelling else each


def _framed(message: Message, framing: Framing) -> bytes:
    """A message as links with this framing carry it; made once for all of them."""
    frame = message.framed.get(framing)
    if frame is None:
        frame = message.framed[framing] = framing.frame(message.text)
    return frame
