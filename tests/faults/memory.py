"""A whole host in the test's own loop, and clients on links without sockets: quick, and lost at an exact frame."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from holdfast.agents.scripted import demo
from holdfast.journal.memory import MemoryJournal
from holdfast.server.house import House
from holdfast.server.hub import Hub
from holdfast.server.links import Framing
from holdfast.server.settings import Settings
from holdfast.testing import CountingIds, ManualClock
from served import Wire

__all__ = ["MemoryLink", "MemoryWire", "house_in_memory"]


@asynccontextmanager
async def house_in_memory(**settings: Any) -> AsyncIterator[House]:
    """A host with the demo agent that keeps nothing, in which no time passes."""
    clock = ManualClock()
    journal = MemoryJournal()
    house = House(journal, journal.open(clock.wall()), [demo()], Settings(**settings), clock, CountingIds())
    async with house.running():
        yield house


class _Bare:
    """Frames are texts, shared by all links."""

    def frame(self, text: bytes) -> bytes:
        return text

    def pieces(self, text: Sequence[bytes]) -> list[bytes]:
        return [*text]


BARE: Framing = _Bare()


class MemoryLink:
    """A link that hands every frame to its client in the moment in which it is written.

    Set `buffered` to what a client that reads slowly would leave waiting.
    """

    def __init__(self, client: MemoryWire) -> None:
        self.client: MemoryWire | None = client
        self.framing = BARE
        self.peer = client.client_id
        self.buffered = 0
        self.is_paused = False
        self.pauses = 0
        self.closed: tuple[int, str] | None = None

    def write(self, frames: Sequence[bytes]) -> bool:
        for frame in frames:
            if self.client is not None and self.closed is None:
                self.client.take(frame)
        return not self.buffered

    def write_long(self, pieces: Sequence[bytes]) -> bool:
        return self.write([b"".join(pieces)])

    def close(self, code: int, reason: str) -> None:
        self.closed = self.closed or (code, reason)

    def abort(self) -> None:
        self.closed = self.closed or (1006, "aborted")

    def pause(self) -> None:
        self.is_paused = True
        self.pauses += 1

    def resume(self) -> None:
        self.is_paused = False


class MemoryWire(Wire):
    """A client of a host in memory."""

    def __init__(self, hub: Hub, client_id: str | None = None) -> None:
        super().__init__("memory:", client_id)
        self.hub = hub
        self.link: MemoryLink | None = None

    async def open(self) -> None:
        self.link = MemoryLink(self)
        self.hub.opened(self.link)

    async def send(self, message: Any) -> None:
        if self.link is None:
            raise ConnectionError("lost")
        text = message if isinstance(message, str) else json.dumps(message)
        self.hub.received(self.link, text.encode())

    async def until(self, condition: Callable[[], object]) -> Any:
        await super().until(lambda: self.link is None or condition())
        found = condition()
        if not found:
            raise ConnectionError("lost")
        return found

    def take(self, frame: bytes) -> None:
        """One frame arrived."""
        self._receive(json.loads(frame))

    def lose(self) -> MemoryLink:
        """Lose the connection: nothing arrives any more. The host has not noticed yet."""
        assert self.link is not None, "open"
        link, self.link = self.link, None
        link.client = None
        for answer, _ in self._answers.values():
            if not answer.done():
                answer.set_exception(ConnectionError("lost"))
                answer.exception()  # nobody has to be waiting for it
        self._answers.clear()
        self._changed.set()
        return link

    async def drop(self) -> None:
        if self.link is not None:
            self.hub.closed(self.lose())
        await asyncio.sleep(0)

    async def close(self) -> None:
        await self.drop()

    async def gone(self) -> None:
        await self.drop()
