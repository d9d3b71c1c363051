"""A client's way to a host in memory, in the hands of a test: messages wait, get lost, or arrive after a break."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from holdfast.client.transports import Transport, TransportClosed
from holdfast.testing import LocalHost

__all__ = ["Line"]


class _Leg(Transport):
    """One connection over the line."""

    def __init__(self, inner: Transport, line: Line) -> None:
        self.inner = inner
        self.waiting: deque[bytes] = deque()
        self._line = line
        self._is_cut = asyncio.Event()

    async def send(self, message: bytes) -> None:
        if self._is_cut.is_set():
            raise TransportClosed("the line was cut")
        self.waiting.append(message)
        if not self._line.holds_out:
            await self.let_out()

    async def receive(self) -> bytes | str:
        message: bytes | str = await self._unless_cut(self.inner.receive())
        await self._unless_cut(self._line.may_come_in.wait())
        if self._line.breaks_after == 0:
            self._line.breaks_after = None
            self._line.broke()
            raise TransportClosed("the line broke")
        if self._line.breaks_after is not None:
            self._line.breaks_after -= 1
        return message

    async def _unless_cut(self, awaited: Coroutine[Any, Any, Any]) -> Any:
        waiting = asyncio.ensure_future(awaited)
        cut = asyncio.ensure_future(self._is_cut.wait())
        try:
            await asyncio.wait((cut, waiting), return_when=asyncio.FIRST_COMPLETED)
            if self._is_cut.is_set():
                raise TransportClosed("the line was cut")
            return await waiting
        finally:
            for task in (cut, waiting):
                task.cancel()
            await asyncio.gather(cut, waiting, return_exceptions=True)

    async def let_out(self, most: int | None = None) -> None:
        """Have what waits reach the host."""
        while self.waiting and most != 0:
            most = None if most is None else most - 1
            with contextlib.suppress(TransportClosed):
                await self.inner.send(self.waiting.popleft())

    def cut(self) -> None:
        self._is_cut.set()

    async def close(self) -> None:
        self.cut()
        if self not in self._line.late:
            await self.inner.close()


class Line:
    """Give `dial` to `holdfast.connect`."""

    def __init__(self, local: LocalHost) -> None:
        self._local = local
        self._leg: _Leg | None = None
        self.holds_out = False
        self.may_come_in = asyncio.Event()
        self.may_come_in.set()
        self.late: list[_Leg] = []
        """Connections the client believes lost, and the host does not."""
        self.breaks_after: int | None = None
        """So many messages still reach the client, then the line breaks once."""
        self.broke: Callable[[], None] = lambda: None
        """Called when that happens."""

    async def dial(self) -> Transport:
        self._leg = _Leg(await self._local.dial(), self)
        return self._leg

    async def let_out(self, most: int) -> None:
        """Let some of what the client said reach the host."""
        if self._leg is not None:
            await self._leg.let_out(most)

    async def free(self) -> None:
        """Hold nothing back any more."""
        self.holds_out = False
        self.may_come_in.set()
        if self._leg is not None:
            await self._leg.let_out()

    async def cut(self, *, late: bool = False) -> None:
        """Break the connection. What waits is lost, or, if `late`, reaches the host when `arrive` is called."""
        leg = self._leg
        if leg is not None:
            if late:
                self.late.append(leg)
            leg.cut()

    async def arrive(self) -> None:
        """What was late reaches the host, which then sees those connections end."""
        late, self.late = self.late, []
        for leg in late:
            await leg.let_out()
            await leg.inner.close()
