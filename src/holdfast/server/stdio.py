"""A link over stdin and stdout: one JSON text for each line.

Lines end with `\\n`, `\\r\\n` is tolerated, blank lines are ignored. What breaks the rules ends the link, with a line
in the log: there is no close code on a pipe, and what is not a message cannot be answered here.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server import logs
from holdfast.server.access import Visit
from holdfast.server.descriptors import Reader, Writer
from holdfast.server.framing import LINES
from holdfast.server.joiner import RuleBroken, check_text
from holdfast.server.limits import Limits
from holdfast.server.links import Framing, LinkOwner
from holdfast.server.outbox import Outbox
from holdfast.server.watch import Watch

__all__ = ["StdioLink", "claim_stdio"]

_log: Final = logs.logger("holdfast.stdio")


def claim_stdio() -> tuple[int, int]:
    """Take stdin and stdout away from everybody else in this process and its children.

    From then on what is printed goes to stderr, and whoever reads stdin finds it empty. Returns the descriptors of
    the real ones. Raises `EnvironmentFailure` if they are closed.
    """
    # Python looks when it starts. By now something else may have been opened as descriptor 0 or 1.
    if sys.__stdin__ is None or sys.__stdout__ is None:
        raise EnvironmentFailure("stdin and stdout have to be open to talk over them")
    sys.__stdout__.flush()
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing if sys.__stderr__ is None else 2, 1)
    os.close(nothing)
    return stdin, stdout


class StdioLink:
    """One client at the other end of two descriptors, which the link owns. Talks once `start` is called.

    A client that has closed its end of stdin is answered until nothing was said for `limits.linger` seconds, so
    that `holdfast serve --stdio < requests` works.
    """

    def __init__(self, owner: LinkOwner, limits: Limits, stdin: int, stdout: int) -> None:
        self._owner = owner
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._reader = Reader(stdin, received=self._data, ended=self._input_ended)
        self._writer = Writer(stdout, closed=self._output_closed)
        self._outbox = Outbox(self._writer, self._loop, mark=limits.drained, drained=self._drained)
        self._writer.full, self._writer.ready = self._outbox.pause, self._outbox.resume
        self._watch = Watch(limits, self._outbox, ping=_never, is_deaf=_always, give_up=self._give_up)
        self._lines: deque[bytes] = deque()
        self._partial = bytearray()
        self._opened = False
        self._paused = False
        self._closing = False
        self._quiet_since: tuple[int, int] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._gone = asyncio.Event()
        self.visit = Visit("stdio")

    def start(self) -> None:
        """Tell the owner, begin to read."""
        self._opened = True
        self.visit.opened()
        self._tell(self._owner.opened, self)
        if not self._closing:
            self._reader.resume()

    async def wait_closed(self) -> None:
        """Wait until the link is gone and both descriptors are closed."""
        await self._gone.wait()

    @property
    def framing(self) -> Framing:
        """How messages on this link are framed."""
        return LINES

    @property
    def peer(self) -> str:
        """Who is at the other end."""
        return self.visit.peer

    @property
    def buffered(self) -> int:
        """Bytes that were written and that the system has not taken yet."""
        return self._outbox.size

    def write(self, frames: Sequence[bytes]) -> bool:
        """Send framed messages in one go; dropped once the link is closing."""
        if self._closing:
            return True
        self.visit.messages_out += len(frames)
        return self._outbox.put(frames)

    def write_long(self, pieces: Sequence[bytes]) -> bool:
        """The same for one framed message in pieces."""
        if self._closing:
            return True
        self.visit.messages_out += 1
        return self._outbox.put(pieces)

    def close(self, code: int, reason: str) -> None:
        """Close after what was written has left. The code is for the log, a pipe carries none."""
        if not self._closing:
            self.visit.end(f"closed {code} {reason}")
            self._stop_reading()
            self._watch.ending()
            self._outbox.finish(self._writer.close)

    def abort(self) -> None:
        """Close at once and drop what was written."""
        self._give_up("aborted")

    def pause(self) -> None:
        """Take nothing more from the client for now."""
        self._paused = True
        self._reader.pause()

    def resume(self) -> None:
        """Go on taking."""
        if self._paused and not self._closing:
            self._paused = False
            self._reader.resume()
            self._loop.call_soon(self._take)

    def _data(self, data: bytes) -> None:
        self.visit.bytes_in += len(data)
        first, *others = data.split(b"\n")
        self._partial += first
        if others:
            self._lines.append(bytes(self._partial))
            self._lines.extend(others[:-1])
            self._partial = bytearray(others[-1])
        self._take()
        if len(self._partial) > self._limits.max_message:
            self._message(bytes(self._partial))  # which is refused before it is complete

    def _take(self) -> None:
        while self._lines and not self._paused and not self._closing:
            text = self._lines.popleft().removesuffix(b"\r")
            if text.strip():
                self._message(text)

    def _message(self, text: bytes) -> None:
        if self._closing:
            return
        try:
            check_text(text, self._limits.max_message)
        except RuleBroken as broken:
            _log.warning("the client broke a rule", why=broken.reason)
            self.close(broken.code, broken.reason)
            return
        self.visit.messages_in += 1
        self._tell(self._owner.received, self, text)

    def _input_ended(self) -> None:
        self._lines.append(bytes(self._partial))
        self._partial.clear()
        self._take()
        self._wait_for_quiet()

    def _wait_for_quiet(self) -> None:
        if self._closing:
            return
        said = (self.visit.messages_out, self._outbox.taken)
        if said == self._quiet_since and not self._outbox.size and not self._lines:
            self.close(1000, "stdin ended")
            return
        self._quiet_since = said
        self._timer = self._loop.call_later(self._limits.linger, self._wait_for_quiet)

    def _drained(self) -> None:
        if not self._closing:
            self._tell(self._owner.drained, self)

    def _give_up(self, why: str) -> None:
        self.visit.end(why)
        self._stop_reading()
        self._outbox.clear()
        self._writer.abort()

    def _stop_reading(self) -> None:
        self._closing = True
        self._lines.clear()
        self._reader.close()
        if self._timer is not None:
            self._timer.cancel()

    def _output_closed(self, error: OSError | None) -> None:
        if error is not None:
            self.visit.end(f"lost: {error.strerror}")
        self._stop_reading()
        self._watch.stop()
        self.visit.bytes_out = self._outbox.taken
        self._outbox.clear()
        if self._opened:
            self.visit.closed()
            self._tell(self._owner.closed, self)
        self._gone.set()

    def _tell(self, tell: Callable[..., None], *arguments: object) -> None:
        """Tell the owner something. What goes wrong there ends this link."""
        try:
            tell(*arguments)
        except Exception:  # noqa: BLE001 - the boundary, as in `websocket`
            _log.exception("the owner of a link failed", peer=self.peer)
            self.close(1011, "internal error")


def _never() -> None:
    """Nobody is pinged over a pipe: the system knows when it is closed."""


def _always() -> bool:
    return True
