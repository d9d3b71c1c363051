"""Channels that are followed, by whom, and what became of our own actions. The mirror's one owner.

A channel is followed while somebody holds it: two who hold it share one subscription. Who listens is told at once,
in the order things arrive, with the actions that came as one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeAlias

from holdfast.client.errors import Gone, Interrupted, Refused
from holdfast.client.mirror import Change, Channel, Mirror, Resumed, Settled
from holdfast.protocol import uris
from holdfast.protocol.common import URI
from holdfast.protocol.connection.commands import SubscribeView, SubscriptionDeliveryOptions
from holdfast.protocol.envelope import ActionEnvelope, StateAction

__all__ = ["Following", "Listener", "Receipt", "Wish"]

Listener: TypeAlias = Callable[[Channel | None, Sequence[Change]], None]
"""Told what happened to a channel, together what came as one. A channel that is None is gone."""


class Receipt:
    """An action on its way. Awaiting it waits until the host accepted it, and raises what went wrong.

    Raises `Refused` with the host's reason, `Interrupted` if nobody knows, `Gone` if its channel is no more.
    Not awaiting it is fine.
    """

    __slots__ = ("_outcome", "_told", "client_seq")

    def __init__(self, client_seq: int) -> None:
        self.client_seq = client_seq
        self._outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._told: Callable[[Exception | None], None] | None = None

    def __await__(self) -> Generator[Any, None, None]:
        return self._outcome.__await__()

    @property
    def is_settled(self) -> bool:
        """Whether it is known what became of the action."""
        return self._outcome.done()

    def when_settled(self, told: Callable[[Exception | None], None]) -> None:
        """Have somebody told what becomes of the action: None that it was accepted, or what `await` would raise.

        Told at once, before listeners hear of the change.
        """
        assert self._told is None, "one is told"
        self._told = told

    def accepted(self) -> None:
        if not self._outcome.done():
            self._outcome.set_result(None)
            self._tell(None)

    def failed(self, error: Exception) -> None:
        if not self._outcome.done():
            self._outcome.set_exception(error)
            self._outcome.exception()  # nobody has to ask
            self._tell(error)

    def _tell(self, error: Exception | None) -> None:
        if self._told is not None:
            self._told(error)


class Wish:
    """How a channel is wanted, and by how many."""

    __slots__ = ("delivery", "holders", "view")

    def __init__(self, turns: int | None, max_latency_ms: float | None) -> None:
        self.holders = 0
        self.view = None if turns is None else SubscribeView(turns=turns)
        self.delivery = None if max_latency_ms is None else SubscriptionDeliveryOptions(max_latency_ms=max_latency_ms)


class Following:
    """The mirror, who listens to it, and the receipts of what was dispatched."""

    def __init__(self, client_id: str) -> None:
        self.mirror = Mirror(client_id)
        self.wishes: dict[URI, Wish] = {}
        self.stateless: set[URI] = set()
        """Followed channels that have no state, only notifications."""
        self._listeners: dict[URI, list[Listener]] = {}
        self._receipts: dict[int, Receipt] = {}
        self._untold: list[tuple[URI, Channel | None, Sequence[Change]]] | None = None
        """What listeners hear once everything is settled that came together; None while nothing is being settled."""

    # Listening

    def listen(self, uri: URI, listener: Listener) -> Callable[[], None]:
        """Have a listener told about a channel; what is returned ends that."""
        self._listeners.setdefault(uri, []).append(listener)

        def stop() -> None:
            listeners = self._listeners.get(uri, [])
            if listener in listeners:
                listeners.remove(listener)
            if not listeners:
                self._listeners.pop(uri, None)

        return stop

    def _tell(self, uri: URI, channel: Channel | None, changes: Sequence[Change]) -> None:
        if self._untold is not None:
            self._untold.append((uri, channel, changes))
            return
        for listener in tuple(self._listeners.get(uri, ())):
            listener(channel, changes)

    @contextmanager
    def _settling(self) -> Iterator[None]:
        """Nobody is told before the block ends, also not of what is done about what is settled in it."""
        if self._untold is not None:
            yield
            return
        self._untold = []
        try:
            yield
        finally:
            untold, self._untold = self._untold, None
        for each in untold:
            self._tell(*each)

    # What we do

    def dispatch(self, uri: URI, action: StateAction, say: Callable[[int], None] | None) -> Receipt:
        """Take an action of ours into account; whoever listens sees the state that follows from it.

        `say` sends it under its number, if that can be done now; what listeners do about it is sent after it.
        """
        receipt = Receipt(self.mirror.dispatch(uri, action, sent=say is not None))
        self._receipts[receipt.client_seq] = receipt
        if say is not None:
            say(receipt.client_seq)
        channel = self.mirror.channels.get(uri)
        if channel is not None and channel.is_known:
            self._tell(uri, channel, (Change(channel),))
        return receipt

    def assume_accepted(self, uri: URI, client_seq: int) -> None:
        """A host had its time to refuse an action, and said nothing: it does not echo this one."""
        receipt = self._receipts.pop(client_seq, None)
        if receipt is not None:
            receipt.accepted()
            self._take_back(uri, client_seq)

    def unsaid(self, uri: URI, client_seq: int, why: Exception) -> None:
        """An action could not be said at all."""
        self.fail(client_seq, why)
        self._take_back(uri, client_seq)

    def _take_back(self, uri: URI, client_seq: int) -> None:
        channel = self.mirror.channels.get(uri)
        if channel is not None and channel.settle(client_seq):
            channel.derive()
            self._tell(uri, channel, (Change(channel, settled=Settled(client_seq)),))

    def forget(self, uri: URI) -> None:
        """Nobody holds a channel any more."""
        self.wishes.pop(uri, None)
        self.stateless.discard(uri)
        for client_seq in self.mirror.forget(uri):
            # The answer will not be seen, and the action was sent: as good as said.
            self.fail(client_seq, Interrupted("the channel is not followed any more"))

    # What the host says

    def envelopes(self, envelopes: Sequence[ActionEnvelope]) -> None:
        self.changed(self.mirror.envelopes(envelopes))

    def changed(self, changes: Sequence[Change]) -> None:
        """Settle receipts, and tell each listener once."""
        told: dict[URI, tuple[Channel, list[Change]]] = {}
        for change in changes:
            if change.channel is not None and change.channel.is_known:
                told.setdefault(change.channel.uri, (change.channel, []))[1].append(change)
        settled = [change.settled for change in changes if change.settled is not None]
        with self._settling() if settled else nullcontext():
            for uri, (channel, together) in told.items():
                self._tell(uri, channel, together)
            for each in settled:
                self._settle(each)

    def resumed(self, resumed: Resumed) -> None:
        """What coming back has done."""
        for redo in resumed.again:
            receipt = self._receipts.pop(redo.before, None)
            if receipt is not None:
                receipt.client_seq = redo.client_seq
                self._receipts[redo.client_seq] = receipt
        with self._settling():
            for lost in resumed.lost:
                self.fail(lost.client_seq, _interrupted(is_unheard=lost.is_unheard))
            self.changed(resumed.changes)
            for uri in resumed.gone:
                self._gone(uri)

    def removed(self, session: URI) -> None:
        """A session was disposed of, with everything in it."""
        channel = self.mirror.channels.get(session)
        if channel is None or not channel.is_known:
            return
        for uri in (session, *(chat.resource for chat in channel.confirmed.chats), uris.annotations_of(session)):
            if uri in self.mirror.channels:
                for client_seq in self.mirror.forget(uri):
                    self.fail(client_seq, Gone("the session was disposed of"))
                self._gone(uri)

    def _gone(self, uri: URI) -> None:
        self.wishes.pop(uri, None)
        self._tell(uri, None, ())

    def over(self, why: str) -> None:
        """Nothing will be answered any more."""
        for client_seq in tuple(self._receipts):
            self.fail(client_seq, Gone(why))
        for uri in tuple(self._listeners):
            self._tell(uri, None, ())

    def _settle(self, settled: Settled) -> None:
        receipt = self._receipts.pop(settled.client_seq, None)
        if receipt is None:
            return
        if settled.reason is None:
            receipt.accepted()
        else:
            receipt.failed(Refused(settled.reason))

    def fail(self, client_seq: int, error: Exception) -> None:
        """Nobody will know more of an action than this."""
        receipt = self._receipts.pop(client_seq, None)
        if receipt is not None:
            receipt.failed(error)


def _interrupted(*, is_unheard: bool) -> Interrupted:
    heard = "has not heard this" if is_unheard else "may not have heard this"
    return Interrupted(f"the connection broke, and the host {heard}", is_unheard=is_unheard)
