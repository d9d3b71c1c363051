"""Following any channel, as what it is: a terminal, a changeset, annotations, telemetry, or what comes later."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.client.broadcast import Feed
from holdfast.client.chat import changes_of
from holdfast.client.following import Listener, Receipt, Wish
from holdfast.client.mirror import Change
from holdfast.protocol.common import URI
from holdfast.protocol.envelope import StateAction

if TYPE_CHECKING:
    from holdfast.client.connection import Connection

__all__ = ["Subscription"]


class Subscription:
    """Made by `Host.subscribe`. `state` is the state struct of the channel's kind; None for one without a state."""

    def __init__(self, connection: Connection, uri: URI, listener: Listener | None = None) -> None:
        self.uri = uri
        self._connection = connection
        self._wish: Wish | None = None
        self._stop = None if listener is None else connection.following.listen(uri, listener)

    def __repr__(self) -> str:
        return f"<Subscription to {self.uri}>"

    async def __aenter__(self) -> Subscription:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def state(self) -> Any:
        """With our own actions in it, answered or not."""
        return self._connection.mirror.state(self.uri)

    @property
    def confirmed(self) -> Any:
        """Without what the host has not answered."""
        channel = self._connection.mirror.channels.get(self.uri)
        return None if channel is None else channel.confirmed

    @property
    def seq(self) -> int:
        """The number of the host's newest action that `confirmed` contains."""
        channel = self._connection.mirror.channels.get(self.uri)
        return -1 if channel is None else channel.seq

    async def open(self, turns: int | None, max_latency_ms: float | None) -> None:
        """Begin to follow it; `Host` does so."""
        self._wish = await self._connection.hold(self.uri, turns, max_latency_ms)

    def dispatch(self, action: StateAction) -> Receipt:
        """Say an action on this channel."""
        return self._connection.dispatch(self.uri, action)

    def changes(self) -> Feed[Change]:
        """Every change of the state. Close what is returned."""
        return changes_of(self.listen)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have a function called with every change, at once; what is returned ends that."""
        return self._connection.following.listen(self.uri, listener)

    async def close(self) -> None:
        """Follow it no more; again is harmless."""
        if self._stop is not None:
            self._stop()
        wish, self._wish = self._wish, None
        if wish is not None:
            self._connection.release(self.uri, wish)
