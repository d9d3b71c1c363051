"""How bytes leave: in order, in slices, as fast as the transport takes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from aio import aio, run, until
from holdfast.server.limits import SLICE
from holdfast.server.outbox import Outbox

MARK = 64 * 1024


class FakeTransport(asyncio.WriteTransport):
    """A transport that takes what the test lets it take, and says when it is full, as asyncio's do."""

    def __init__(self, room: int = 1 << 40) -> None:
        super().__init__()
        self.writes: list[bytes | bytearray | memoryview] = []
        self.room = room
        self.held = 0
        self.outbox: Outbox
        self._high = self._low = 0
        self._is_full = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high, self._low = high or 0, low or 0

    def get_write_buffer_size(self) -> int:
        return self.held

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(data)
        taken = min(self.room, len(data))
        self.room -= taken
        self.held += len(data) - taken
        if self.held > self._high and not self._is_full:
            self._is_full = True
            self.outbox.pause()

    def take(self, size: int) -> None:
        """The other end reads `size` more bytes."""
        taken = min(size, self.held)
        self.held -= taken
        self.room += size - taken
        if self._is_full and self.held <= self._low:
            self._is_full = False
            self.outbox.resume()

    @property
    def written(self) -> bytes:
        return b"".join(self.writes)


def _outbox(transport: FakeTransport, drained: Callable[[], None] = lambda: None) -> Outbox:
    transport.outbox = Outbox(transport, asyncio.get_running_loop(), mark=MARK, drained=drained)
    return transport.outbox


@aio
async def test_what_is_put_at_once_is_one_write() -> None:
    transport = FakeTransport()
    outbox = _outbox(transport)
    outbox.put([b"one", b"two", b"three"])
    frame = b"shared with others"
    outbox.put([frame])
    outbox.put([])
    assert transport.writes == [b"onetwothree", frame]
    assert transport.writes[1] is frame


@aio
async def test_a_giant_leaves_in_slices_one_for_each_pass_of_the_loop() -> None:
    transport = FakeTransport()
    outbox = _outbox(transport)
    giant = bytes(range(256)) * (28_000_000 // 256)
    outbox.put([b"before", giant, b"after"])
    outbox.put([b"last"])
    passes = 0
    while outbox.size:
        before = len(transport.writes)
        await asyncio.sleep(0)
        passes += 1
        assert len(transport.writes) - before <= 1
    assert max(map(len, transport.writes)) <= SLICE == 128 * 1024
    assert passes >= len(giant) // SLICE
    assert transport.written == b"before" + giant + b"afterlast"


@aio
async def test_nothing_is_handed_to_a_full_transport() -> None:
    transport = FakeTransport(room=0)
    drained: list[int] = []
    outbox = _outbox(transport, lambda: drained.append(outbox.size))
    outbox.put([b"x" * 100_000])
    outbox.put([b"y" * 1000])
    await asyncio.sleep(0)
    assert (len(transport.writes), outbox.size, outbox.taken) == (1, 101_000, 0)
    transport.take(99_000)
    assert (outbox.size, outbox.taken) == (2000, 99_000)
    assert drained == [2000]
    assert transport.written == b"x" * 100_000 + b"y" * 1000


@aio
async def test_drained_is_told_once_and_only_after_there_was_something_to_drain() -> None:
    transport = FakeTransport()
    drained: list[int] = []
    outbox = _outbox(transport, lambda: drained.append(outbox.size))
    outbox.put([b"x" * MARK])
    await asyncio.sleep(0)
    assert drained == []
    outbox.put([b"x" * (3 * SLICE)])
    assert outbox.is_above_mark
    assert drained == [], "whoever writes is not told while writing"
    await until(lambda: not outbox.size)
    assert drained == [0]
    assert not outbox.is_above_mark


@aio
async def test_finish_waits_for_the_queue() -> None:
    transport = FakeTransport()
    outbox = _outbox(transport)
    finished: list[int] = []
    outbox.put([b"x" * (2 * SLICE)])
    outbox.finish(lambda: finished.append(len(transport.written)))
    assert finished == []
    await until(lambda: not outbox.size)
    assert finished == [2 * SLICE]
    outbox.finish(lambda: finished.append(0))
    assert finished == [2 * SLICE, 0]


@aio
async def test_what_is_cleared_is_forgotten() -> None:
    transport = FakeTransport()
    told: list[str] = []
    outbox = _outbox(transport, lambda: told.append("drained"))
    outbox.put([b"x" * (5 * SLICE)])
    outbox.finish(lambda: told.append("finished"))
    outbox.clear()
    await asyncio.sleep(0)
    assert (outbox.size, outbox.taken, len(transport.writes), told) == (0, SLICE, 1, [])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.lists(st.integers(0, 300_000), max_size=4),  # put frames of these sizes
            st.integers(1, 400_000),  # take so much
            st.none(),  # a pass of the loop
        ),
        max_size=30,
    )
)
def test_whatever_happens_the_bytes_leave_in_order_and_drained_follows(steps: list[list[int] | int | None]) -> None:
    async def main() -> None:
        transport = FakeTransport(room=0)
        drained: list[int] = []
        outbox = _outbox(transport, lambda: drained.append(outbox.size))
        expected = bytearray()
        for number, step in enumerate(steps):
            if isinstance(step, list):
                frames = [bytes((number + place & 0xFF,)) * size for place, size in enumerate(step)]
                expected += b"".join(frames)
                was_above = outbox.is_above_mark
                outbox.put(frames)
                assert outbox.is_above_mark == (was_above or outbox.size > MARK)
            elif isinstance(step, int):
                transport.take(step)
            else:
                await asyncio.sleep(0)
        is_owed = outbox.is_above_mark
        told = len(drained)
        while outbox.size:
            transport.take(50_000)
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert transport.written == expected
        assert len(drained) == told + is_owed
        assert all(size <= MARK for size in drained)
        assert all(len(write) <= SLICE for write in transport.writes)

    run(main)
