"""A client that is connected, follows everything and does not read its socket, while much is said.

It lags, and what it misses costs the host nothing: it is in the journal. When it reads again it is brought up to
date, or sent away for a snapshot if it has missed too much. The others do not notice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from faults.leaving import beliefs
from faults.measuring import load_history, mebibytes, metrics, percentile, resident
from holdfast.protocol.uris import annotations_of
from served import HostProcess, Wire, hosting

__all__ = ["Figures", "Frozen", "Player", "compare", "follow", "run", "same_as_newcomer"]

SESSION: Final = "demo:/0197b1a2-0000-7000-8000-00000000f10e"
REMARKS: Final = annotations_of(SESSION)

_TURN: Final = "big 50"
"""50 kB of a tool's result and 50 kB of text."""

_ALIVE: Final = 5.0
"""Seconds between two signs of life of a client that does not read: without them the host rightly calls it dead."""


class Player(Wire):
    """Has turns played, one after the other, and keeps nothing of what is said."""

    completed = 0

    def _receive(self, message: dict[str, Any]) -> None:
        if message.get("method") != "action":
            super()._receive(message)
        elif message["params"]["action"]["type"] == "chat/turnComplete":
            self.completed += 1
            self._changed.set()

    async def begin(self) -> str:
        """Make the session and follow its chat."""
        await self.initialize()
        chat = await self.session(SESSION, config={"speed": 0, "permissionMode": "auto"})
        await self.subscribe(REMARKS)
        log = {
            "id": "log",
            "origin": {"session": SESSION, "turnId": ""},
            "resource": "file:///log",
            "resolved": False,
            "entries": [{"id": "0", "text": ""}],
        }
        await self.dispatch(REMARKS, "annotations/set", annotation=log)
        await self.settled()
        return chat

    async def play(self, chat: str, turns: int) -> None:
        for _ in range(turns):
            target = self.completed + 1
            await self.say(chat, f"t{target}", _TURN)
            await self.until(lambda target=target: self.completed == target)  # type: ignore[misc]


class Frozen(Wire):
    """A client that stops reading when told to."""

    def freeze(self) -> None:
        assert self.connection is not None, "open"
        self.connection.transport.pause_reading()

    def thaw(self) -> None:
        assert self.connection is not None, "open"
        self.connection.transport.resume_reading()

    async def show_life(self) -> None:
        """Be heard now and then, until cancelled."""
        assert self.connection is not None, "open"
        while True:
            await self.connection.ping()
            await asyncio.sleep(_ALIVE)


class Other(Wire):
    """A client that writes remarks and measures how long it takes until it hears of them."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.seconds: list[float] = []

    async def write(self) -> None:
        """Until cancelled."""
        while True:
            before = time.perf_counter()
            entry = {"id": f"e{len(self.seconds)}", "text": "still here"}
            await self.act(REMARKS, "annotations/entrySet", annotationId="log", entry=entry)
            self.seconds.append(time.perf_counter() - before)
            self.messages.clear()
            await asyncio.sleep(0.02)


@dataclass
class Figures:
    """What one run took."""

    turns: int
    peak: int = 0
    """Resident memory at its highest."""
    outbox: float = 0
    """Bytes that waited for clients, at their most."""
    seconds: float = 0
    delays: list[float] = field(default_factory=list)
    close_code: int | None = None
    answer: str = ""

    def __str__(self) -> str:
        p50, p99 = (f"{percentile(self.delays, share) * 1000:.1f} ms" for share in (0.5, 0.99))
        return (
            f"{self.turns} turns of 100 kB in {self.seconds:.0f} s, peak {mebibytes(self.peak)}, at most"
            f" {mebibytes(self.outbox)} waiting; {len(self.delays)} remarks of another client, p50 {p50}, p99 {p99}"
        )


async def follow(client: Wire, chat: str) -> None:
    """Follow everything there is."""
    await client.initialize("ahp-root://")
    for channel in (SESSION, chat, REMARKS):
        await client.subscribe(channel)


async def same_as_newcomer(url: str, client: Wire, chat: str) -> bool:
    """Whether a client has all that somebody else is shown."""
    newcomer = Wire(url)
    await follow(newcomer, chat)
    for each in (client, newcomer):
        await each.settled()
        await load_history(each, chat)
    found = beliefs(client) == beliefs(newcomer)
    await newcomer.close()
    return found


async def run(directory: Path, turns: int, *, is_frozen: bool) -> Figures:
    """Have the turns played, with a frozen client or without it."""
    figures = Figures(turns)
    async with hosting(directory, "--outbox-time", "1h", "--log-level", "warning") as host:
        url = f"unix:{host.data_dir / 'run' / 'holdfast.sock'}"
        player, other, frozen = Player(url), Other(url), Frozen(url)
        chat = await player.begin()
        await other.initialize()
        await other.subscribe(REMARKS)
        await follow(frozen, chat)
        if is_frozen:
            frozen.freeze()
        else:
            await frozen.close()
        begun = time.monotonic()
        async with _beside(_watch(host, figures)), _beside(other.write()):
            if is_frozen:
                async with _beside(frozen.show_life()):
                    await player.play(chat, turns)
                await _thaw(frozen, chat, figures)
            else:
                await player.play(chat, turns)
        figures.seconds = time.monotonic() - begun
        figures.delays = other.seconds
        for client in (player, other):
            await client.close()
    return figures


async def _thaw(frozen: Frozen, chat: str, figures: Figures) -> None:
    frozen.thaw()
    await frozen.gone()
    figures.close_code = frozen.close_code
    figures.answer = (await frozen.reconnect())["type"]
    assert await same_as_newcomer(frozen.url, frozen, chat), "it does not have what a newcomer is shown"
    await frozen.close()


@asynccontextmanager
async def _beside(work: Any) -> AsyncIterator[None]:
    """Do something for as long as the block lasts. If it fails, so does the block."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()


async def _watch(host: HostProcess, figures: Figures) -> None:
    while True:
        figures.outbox = max(figures.outbox, (await metrics(host))["holdfast_outbox_bytes"])
        for _ in range(10):
            figures.peak = max(figures.peak, resident(host))
            await asyncio.sleep(0.05)


async def compare(directory: Path, turns: int) -> str:
    """The run without a frozen client, the run with one, and what the difference is (SEMANTICS 17)."""
    found = []
    for name, is_frozen in (("without", False), ("with", True)):
        (directory / name).mkdir()
        found.append(await run(directory / name, turns, is_frozen=is_frozen))
        print(f"{name}: {found[-1]}", flush=True)
    without, frozen = found
    memory = frozen.peak - without.peak
    delay = percentile(frozen.delays, 0.99) - percentile(without.delays, 0.99)
    assert (frozen.close_code, frozen.answer) == (1013, "snapshot"), frozen
    assert memory < 32 * 2**20, f"a frozen client costs {mebibytes(memory)}"
    assert delay < 0.020, f"a frozen client delays others by {delay * 1000:.1f} ms"
    return f"a frozen client costs {mebibytes(memory)} and delays others by {delay * 1000:.1f} ms (p99)"
