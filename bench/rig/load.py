"""The load generator: a plan for `load.c`, and what came of it.

It is compiled when it is first needed. It keeps to a core of its own; what it used of it is part of the result,
so that one can see that it was not what limited the figures.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from rig import processes

__all__ = ["FIRST", "Delays", "Load", "Plan", "Result", "Running", "Unavailable", "greeting", "request"]

FIRST: Final = 10_000_000
"""The number of the first message; all have eight digits."""

_PATIENCE: Final = 120.0


class Unavailable(Exception):
    """Something this machine lacks; the sentence says what."""


@dataclass(frozen=True)
class Plan:
    """Who connects and what is said. See `load.c` for the placeholders."""

    url: str
    greeting: str
    message: str
    count: int
    expect: str = '"id":'
    subscribers: int = 0
    stalled: int = 0
    window: int = 0
    """How many messages are on their way at a time …"""
    rate: float = 0
    """… or how many are sent in a second."""

    def text(self) -> str:
        parts = urlsplit(self.url)
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        words = {
            "port": parts.port,
            "path": path,
            "greeting": self.greeting,
            "message": self.message,
            "expect": self.expect,
            "subscribers": self.subscribers,
            "stalled": self.stalled,
            "window": self.window,
            "rate": self.rate,
            "count": self.count,
        }
        return "".join(f"{word} {value}\n" for word, value in words.items()) + "end\n"


@dataclass(frozen=True)
class Delays:
    """Seconds."""

    p50: float
    p95: float
    p99: float
    max: float


@dataclass(frozen=True)
class Result:
    """`seconds` and `cpu` are the client's; `server_cpu` is what the server used meanwhile."""

    seconds: float
    cpu: float
    received: int
    bytes: int
    greetings: Delays
    delays: Delays
    server_cpu: float = 0


class Running:
    """A load generator whose connections are open."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def go(self, server: int) -> Result:
        """Send everything, wait until all of it has arrived; what the process `server` used is added."""
        assert self._process.stdin is not None
        before = processes.cpu_seconds(server)
        self._process.stdin.write(b"go\n")
        line = await self._line()
        used = processes.cpu_seconds(server) - before
        found = json.loads(line)
        greetings, delays = Delays(**found.pop("greetings")), Delays(**found.pop("delays"))
        return Result(**found, greetings=greetings, delays=delays, server_cpu=used)

    async def ready(self) -> None:
        await self._line()

    async def _line(self) -> bytes:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        async with asyncio.timeout(_PATIENCE):
            line = await self._process.stdout.readline()
            if not line:
                raise RuntimeError(f"the load generator: {(await self._process.stderr.read()).decode().strip()}")
        return line


class Load:
    """Makes load generators."""

    def __init__(self, directory: Path) -> None:
        self._program = directory / "load"

    async def compile(self) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            raise Unavailable("there is no C compiler (cc) for the load generator")
        source = Path(__file__).with_name("load.c")
        process = await asyncio.create_subprocess_exec(compiler, "-O2", "-o", str(self._program), str(source))
        if await process.wait():
            raise Unavailable("the load generator could not be compiled")

    @asynccontextmanager
    async def connected(self, plan: Plan) -> AsyncIterator[Running]:
        """A load generator that has said its greetings and waits for `go`."""
        process = await asyncio.create_subprocess_exec(
            str(self._program),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        processes.pin(process.pid, processes.CLIENT)
        try:
            assert process.stdin is not None
            process.stdin.write(plan.text().encode())
            running = Running(process)
            await running.ready()
            yield running
            process.stdin.close()
        except BaseException:
            process.kill()
            raise
        finally:
            await process.wait()

    async def run(self, plan: Plan, server: int) -> Result:
        async with self.connected(plan) as running:
            return await running.go(server)


def request(method: str, id: int | str = "#number#", channel: str = "ahp-root://", **params: Any) -> str:
    """A request as text; an id in quotes could not stand for a number."""
    asked = {"jsonrpc": "2.0", "id": "ID", "method": method, "params": {"channel": channel, **params}}
    return json.dumps(asked, separators=(",", ":")).replace('"ID"', str(id), 1)


def greeting(*subscriptions: str, version: str = "1.0.0") -> str:
    """How each connection introduces itself."""
    return request(
        "initialize",
        1,
        protocolVersions=[version],
        clientId="load-#index##",
        initialSubscriptions=list(subscriptions),
    )
