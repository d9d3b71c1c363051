"""Clients come and go by the thousand, politely or not, and leave nothing behind: no task, no file, no memory.

Most shake hands, follow something and vanish in one way or another; some never get that far. All of them are a few
clients who come again and again, so that what is remembered of a client for its return is remembered once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from faults.measuring import descriptors, mebibytes, metric, metrics, resident
from served import HostProcess, Wire, hosting, user

__all__ = ["Left", "crowd"]

SESSION: Final = "demo:/0197b1a2-0000-7000-8000-0000000c0de0"

_AT_ONCE: Final = 25
_CLIENTS: Final = 50

_MEMORY: Final = 4 * 2**20
"""What a host may have grown by in the second half of the crowd: allocators keep some of what was freed."""


@dataclass(frozen=True)
class Left:
    """What a host has when nobody is there."""

    tasks: float
    resident: int

    @classmethod
    async def by(cls, host: HostProcess) -> Left:
        await metric(host, "holdfast_connections", 0)
        await metric(host, "holdfast_waiting_connections", 1)  # the one that asks
        return cls((await metrics(host))["holdfast_tasks"], resident(host))


class _Visit:
    """One client that comes and goes. Which way it goes is drawn."""

    def __init__(self, host: HostProcess, chance: random.Random) -> None:
        self.url = host.url
        self.socket = host.data_dir / "run" / "holdfast.sock"
        self.chance = chance
        self.name = f"visitor-{chance.randrange(_CLIENTS)}"

    async def pay(self) -> None:
        ways: list[Callable[[], Awaitable[None]]] = [
            self.polite,
            self.abrupt,
            self.over_the_unix_socket,
            self.coming_back,
            self.in_the_middle,
            self.silent,
            self.unwelcome,
            self.broken_off,
        ]
        await self.chance.choice(ways)()

    async def polite(self) -> None:
        client = Wire(self.url, self.name)
        await client.initialize("ahp-root://", SESSION)
        await client.close()

    async def abrupt(self) -> None:
        client = Wire(self.url, self.name)
        await client.initialize("ahp-root://", SESSION)
        await client.drop()

    async def over_the_unix_socket(self) -> None:
        client = Wire(f"unix:{self.socket}", self.name)
        await client.initialize()
        await client.subscribe(SESSION)
        await client.drop()

    async def coming_back(self) -> None:
        client = Wire(self.url, self.name)
        await client.initialize("ahp-root://", SESSION)
        await client.drop()
        await client.reconnect()
        await client.close()

    async def in_the_middle(self) -> None:
        """Gone with requests that are not answered and an action that is not acknowledged."""
        client = Wire(self.url, self.name)
        await client.initialize("ahp-root://")
        for _ in range(5):
            await client.post("listSessions")
        await client.dispatch(SESSION, "session/titleChanged", title=self.name)
        await client.drop()

    async def silent(self) -> None:
        await self._raw(b"")

    async def unwelcome(self) -> None:
        await self._raw(b"GET /?tkn=guessed HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n")

    async def broken_off(self) -> None:
        await self._raw(b"GET / HTTP/1.1\r\nHost: loc")

    async def _raw(self, data: bytes) -> None:
        found = urlsplit(self.url)
        _, writer = await asyncio.open_connection(found.hostname, found.port)
        writer.write(data)
        await writer.drain()
        writer.transport.abort()


async def _come_and_go(host: HostProcess, chance: random.Random, connections: int) -> None:
    for begun in range(0, connections, _AT_ONCE):
        visits = (_Visit(host, chance) for _ in range(min(_AT_ONCE, connections - begun)))
        await asyncio.gather(*(visit.pay() for visit in visits))


async def _only_open(host: HostProcess, files: list[str]) -> None:
    """Wait until no more is open than when nobody had come: the last connections are still being closed."""
    async with asyncio.timeout(15):
        while descriptors(host) != files:  # noqa: ASYNC110 - another process is watched
            await asyncio.sleep(0.01)


async def crowd(directory: Path, connections: int, seed: int, *, is_long: bool) -> str:
    """Half of them come and go, then the other half, which must not have left anything more.

    `is_long`: enough of them for memory to mean something.
    """
    chance = random.Random(seed)
    async with hosting(directory, "--log-level", "error") as host:
        files = descriptors(host)
        resident_client = Wire(host.url, "resident")
        await resident_client.initialize()
        chat = await resident_client.session(SESSION)
        await resident_client.act(chat, "chat/turnStarted", turnId="t", message=user("hello"))
        await resident_client.ended(chat)
        await resident_client.close()
        await _come_and_go(host, chance, connections // 2)
        before = await Left.by(host)
        await _come_and_go(host, chance, connections - connections // 2)
        after = await Left.by(host)
        await _only_open(host, files)
        assert after.tasks == before.tasks, f"{before} became {after}"
        grown = after.resident - before.resident
        assert not is_long or grown < _MEMORY, f"{mebibytes(grown)} more: {before} became {after}"
    return (
        f"{connections} connections left no file open and no task more than the {after.tasks:.0f} there were;"
        f" {mebibytes(after.resident)}, {mebibytes(grown)} more than after the first half"
    )
