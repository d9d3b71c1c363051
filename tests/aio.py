"""Coroutines in tests, and the peers that the transports are tested with.

A test marked `@aio` runs in a loop of its own, is bounded in time, and fails if it leaves a task behind or if the
loop had an exception to report. An `AsyncExitStack` among its fixtures is closed in that loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, ParamSpec

from holdfast.server.gate import Gate
from holdfast.server.limits import Limits
from holdfast.server.links import Link
from holdfast.server.listener import Listener

__all__ = ["TOKEN", "Raw", "Recorder", "aio", "frame", "gate", "listening", "run", "until"]

TOKEN: Final = "the-token-of-these-tests"
SECONDS: Final = 20.0
"""Long enough for a busy machine; a test that needs it has failed."""

P = ParamSpec("P")


def run(main: Callable[[], Coroutine[Any, Any, None]], seconds: float = SECONDS) -> None:
    """Run a coroutine to its end, and look at what it leaves behind."""
    reported: list[dict[str, Any]] = []

    async def bounded() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
        async with asyncio.timeout(seconds):
            await main()
        await asyncio.sleep(0)  # for what was only just told to end
        assert asyncio.all_tasks() == {asyncio.current_task()}, "tasks are left"

    asyncio.run(bounded())
    assert not reported, reported


def aio(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an asynchronous test."""

    async def closing(*args: P.args, **kwargs: P.kwargs) -> None:
        async with AsyncExitStack() as stack:
            for given in kwargs.values():
                if isinstance(given, AsyncExitStack):
                    await stack.enter_async_context(given)
            await test(*args, **kwargs)

    @functools.wraps(test)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        run(lambda: closing(*args, **kwargs))

    return wrapped


async def until(condition: Callable[[], object]) -> None:
    """Wait until the condition holds, for what nobody announces; the test's own timeout bounds it."""
    while not condition():  # noqa: ASYNC110 - nobody sets an event for it
        await asyncio.sleep(0.001)


class Recorder:
    """An owner that remembers what it was told, for a test to await. `answer` makes it send something back."""

    def __init__(self, answer: Callable[[bytes], bytes] | None = None) -> None:
        self.opened_links: asyncio.Queue[Link] = asyncio.Queue()
        self.texts: asyncio.Queue[bytes] = asyncio.Queue()
        self.drained_links: asyncio.Queue[Link] = asyncio.Queue()
        self.closed_links: asyncio.Queue[Link] = asyncio.Queue()
        self._answer = answer

    def opened(self, link: Link) -> None:
        self.opened_links.put_nowait(link)

    def received(self, link: Link, text: bytes) -> None:
        self.texts.put_nowait(text)
        if self._answer:
            link.write([link.framing.frame(self._answer(text))])

    def drained(self, link: Link) -> None:
        self.drained_links.put_nowait(link)

    def closed(self, link: Link) -> None:
        self.closed_links.put_nowait(link)


def gate(**changes: Any) -> Gate:
    """A gate that asks for `TOKEN`."""
    rules: dict[str, Any] = {"is_token": lambda text: text == TOKEN, **changes}
    return Gate(**rules)


@asynccontextmanager
async def listening(
    owner: Recorder, limits: Limits | None = None, rules: Gate | None = None
) -> AsyncIterator[tuple[Listener, int]]:
    """A listener on a loopback port."""
    async with Listener(rules or gate(), owner, limits or Limits()) as listener:
        yield listener, await listener.tcp("127.0.0.1", 0)


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True, rsv1: bool = False, masked: bool = True) -> bytes:
    """A frame as a client sends it, or should not send it."""
    first = bytes((0x80 * fin | 0x40 * rsv1 | opcode,))
    bit = 0x80 * masked
    if len(payload) < 126:
        head = bytes((bit | len(payload),))
    elif len(payload) < 1 << 16:
        head = struct.pack("!BH", bit | 126, len(payload))
    else:
        head = struct.pack("!BQ", bit | 127, len(payload))
    if not masked:
        return first + head + payload
    mask = os.urandom(4)
    key = (mask * (len(payload) // 4 + 1))[: len(payload)]
    body = int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")
    return first + head + mask + body.to_bytes(len(payload), "big")


@dataclass
class Raw:
    """A client that says exactly what it is told to."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    @asynccontextmanager
    async def connected(cls, port: int) -> AsyncIterator[Raw]:
        """A TCP connection, nothing said yet."""
        raw = cls(*await asyncio.open_connection("127.0.0.1", port))
        try:
            yield raw
        finally:
            raw.writer.transport.abort()
            await raw.ended()

    @classmethod
    @asynccontextmanager
    async def upgraded(cls, port: int, **headers: str) -> AsyncIterator[Raw]:
        """An open WebSocket."""
        async with cls.connected(port) as raw:
            status, _ = await raw.ask(**{"Authorization": f"Bearer {TOKEN}", **headers})
            assert status == 101
            yield raw

    async def ask(self, target: str = "/", **headers: str) -> tuple[int, str]:
        """Ask for an upgrade; the status and the body of the answer."""
        given = {
            "Host": "localhost",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version": "13",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items() if value)]
        self.send("\r\n".join([*lines, "", ""]).encode())
        return await self.answer()

    async def answer(self) -> tuple[int, str]:
        """The status and the body of an HTTP answer."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        status = int(head.split(" ")[1])
        return status, "" if status == 101 else (await self.reader.read()).decode()

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)

    async def frame(self) -> tuple[int, bytes]:
        """The first byte and the payload of the next frame from the host."""
        first, length = await self.reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack("!H", await self.reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await self.reader.readexactly(8))
        return first, await self.reader.readexactly(length)

    async def close_code(self) -> int:
        """The code of the close frame, which is the next frame but for pings."""
        first, payload = await self.frame()
        while first == 0x89:
            first, payload = await self.frame()
        assert first == 0x88
        return int(struct.unpack("!H", payload[:2])[0])

    async def ended(self) -> None:
        """Wait until the host has closed its side of the connection, then close ours."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(1 << 16):
                pass
        self.writer.close()
