"""Reading and writing plain file descriptors from the loop: pipes, terminals, sockets, files, `/dev/null`.

asyncio's own pipe transports refuse files, change what is shared with other processes for good, and take data on a
socket that is stdin and stdout at once for its end.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable

__all__ = ["Reader", "Writer"]

_READ_SIZE = 64 * 1024  # what a pipe of Linux holds


class Reader:
    """Calls `received` with what can be read, and `ended` once, at the end. Owns the descriptor from `start` on."""

    def __init__(self, descriptor: int, *, received: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._received = received
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._paused = True
        self._closed = False
        self._handle: asyncio.Handle | None = None

    def resume(self) -> None:
        """Begin, or go on, to read."""
        if not self._closed and self._paused:
            self._paused = False
            try:
                self._loop.add_reader(self._descriptor, self._read)
            except PermissionError:  # epoll knows no files: they never make anybody wait
                self._handle = self._loop.call_soon(self._read_file)

    def pause(self) -> None:
        """Read no more for now."""
        if not self._closed and not self._paused:
            self._paused = True
            self._forget()

    def close(self) -> None:
        """Read no more; `ended` will not be called."""
        if not self._closed:
            self._closed = True
            self._forget()
            os.close(self._descriptor)

    def _forget(self) -> None:
        self._loop.remove_reader(self._descriptor)
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, _READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # a terminal that is gone says so
            data = b""
        if data:
            self._received(data)
        else:
            self.close()
            self._ended()

    def _read_file(self) -> None:
        self._handle = None
        self._read()
        if not self._closed and not self._paused and self._handle is None:
            self._handle = self._loop.call_soon(self._read_file)


class Writer(asyncio.WriteTransport):
    """A transport over a descriptor, which it owns. What the system does not take at once makes it full."""

    def __init__(self, descriptor: int, *, closed: Callable[[OSError | None], None]) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._closed = closed
        self._loop = asyncio.get_running_loop()
        self._rest = memoryview(b"")
        self._closing = False
        self._is_open = True
        # A blocking write into a full pipe would stop the loop. Whoever shares the pipe with us gets it back as
        # it was. Terminals are left alone: stderr is usually the same one.
        mode = os.fstat(descriptor).st_mode
        self._restore = (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and os.get_blocking(descriptor)
        if self._restore:
            os.set_blocking(descriptor, False)
        self.full: Callable[[], None] = _nothing
        self.ready: Callable[[], None] = _nothing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write `data` after what was written before."""
        if self._closing or not self._is_open:
            return
        assert not self._rest, "whoever writes waits while this is full"
        self._rest = memoryview(data)
        self._flush()
        if self._rest:
            self._loop.add_writer(self._descriptor, self._go_on)
            self.full()

    def get_write_buffer_size(self) -> int:
        """Bytes that the system has not taken yet."""
        return len(self._rest)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing to set: whatever is left makes it full."""

    def is_closing(self) -> bool:
        """Whether nothing more can be written."""
        return self._closing

    def close(self) -> None:
        """Close once everything is written."""
        self._closing = True
        if not self._rest:
            self._close(None)

    def abort(self) -> None:
        """Close at once."""
        self._close(None)

    def _go_on(self) -> None:
        self._flush()
        if self._rest or not self._is_open:
            return
        self._loop.remove_writer(self._descriptor)
        if self._closing:
            self._close(None)
        else:
            self.ready()

    def _flush(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[os.write(self._descriptor, self._rest) :]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            self._close(error)

    def _close(self, error: OSError | None) -> None:
        if not self._is_open:
            return
        self._is_open = False
        self._closing = True
        self._rest = memoryview(b"")
        self._loop.remove_writer(self._descriptor)
        if self._restore:
            os.set_blocking(self._descriptor, True)
        os.close(self._descriptor)
        self._loop.call_soon(self._closed, error)


def _nothing() -> None:
    """Until somebody wants to know."""
