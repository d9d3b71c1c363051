"""What waits to be handed to one transport, and how fast it is handed over.

A transport that gets 28 MB at once keeps the loop busy copying them. Here a link's bytes wait as they are, shared
with other links where they can be, and leave in slices of at most `SLICE` bytes, one for each pass of the loop,
as long as the transport takes them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from holdfast.server.limits import SLICE

__all__ = ["Outbox"]


class Outbox:
    """The bytes of one link on their way out, in order.

    `drained` is called when `size` comes down to `mark` after it had been above; never from within `put`.
    The owner of the transport passes on its `pause_writing` and `resume_writing`.
    """

    def __init__(
        self,
        transport: asyncio.WriteTransport,
        loop: asyncio.AbstractEventLoop,
        *,
        mark: int,
        drained: Callable[[], None],
    ) -> None:
        # With the transport's own limit at the mark, whatever is above the mark makes it call `pause_writing`, or
        # waits here: no way down goes unnoticed.
        transport.set_write_buffer_limits(high=mark, low=mark // 4)
        self._transport = transport
        self._loop = loop
        self._mark = mark
        self._drained = drained
        self._finished: Callable[[], None] | None = None
        self._queue: deque[bytes | memoryview] = deque()
        self._waiting = 0
        self._put = 0
        self._paused = False
        self._above = False
        self._handle: asyncio.Handle | None = None

    @property
    def size(self) -> int:
        """Bytes that were put and that the system has not taken yet."""
        return self._waiting + self._transport.get_write_buffer_size()

    @property
    def taken(self) -> int:
        """Bytes that the system has taken since the beginning."""
        return self._put - self.size

    @property
    def is_above_mark(self) -> bool:
        """Whether `drained` is still to come."""
        return self._above

    def put(self, chunks: Sequence[bytes]) -> bool:
        """Write `chunks` after everything that was put before. True: no more than `mark` waits."""
        size = len(chunks[0]) if len(chunks) == 1 else sum(map(len, chunks))
        self._put += size
        if not (self._queue or self._paused) and size <= SLICE:
            if size:
                self._transport.write(chunks[0] if len(chunks) == 1 else b"".join(chunks))
        else:
            self._queue.extend(chunks)
            self._waiting += size
            if not self._paused and self._handle is None:
                self._hand_over()
        if self._waiting or self._paused:
            self._above = self._above or self.size > self._mark
            return False
        return True

    def finish(self, then: Callable[[], None]) -> None:
        """Call `then` once nothing waits here any more; what the transport holds is its own business."""
        self._finished = then
        if not self._queue:
            self._finish()

    def pause(self) -> None:
        """The transport is full."""
        self._paused = True
        self._above = self._above or self.size > self._mark

    def resume(self) -> None:
        """The transport takes more."""
        self._paused = False
        if self._handle is None:
            self._step()

    def clear(self) -> None:
        """Drop what waits. Nothing is called afterwards."""
        self._queue.clear()
        self._put -= self._waiting
        self._waiting = 0
        self._above = False
        self._finished = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _step(self) -> None:
        self._handle = None
        if self._paused:
            return
        if self._queue:
            self._hand_over()
        if self._above and self.size <= self._mark:
            self._above = False
            self._drained()
        if not self._queue:
            self._finish()

    def _hand_over(self) -> None:
        """Hand over one slice, and come back for the next in the next pass of the loop."""
        self._transport.write(self._next_slice())
        if self._queue and not self._paused:
            self._handle = self._loop.call_soon(self._step)

    def _next_slice(self) -> bytes | memoryview:
        chunks: list[bytes | memoryview] = []
        room = SLICE
        while self._queue and room:
            chunk = self._queue.popleft()
            if len(chunk) > room:
                rest = memoryview(chunk)
                chunk = rest[:room]
                self._queue.appendleft(rest[room:])
            chunks.append(chunk)
            room -= len(chunk)
        self._waiting -= SLICE - room
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _finish(self) -> None:
        if self._finished is not None:
            then, self._finished = self._finished, None
            then()
