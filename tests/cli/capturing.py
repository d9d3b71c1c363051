"""A door to a host that writes down what goes through it, as a process of its own."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from holdfast.cli.wire_log import Entry, parsed
from served import HostProcess, environment

__all__ = ["Door", "capturing"]


class Door:
    """`holdfast capture`, running."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, file: Path) -> None:
        self.process = process
        self.url = url
        self.file = file

    def entries(self) -> list[Entry]:
        """What it wrote so far."""
        return list(parsed(self.file.read_bytes().splitlines(), "log"))

    async def end(self) -> str:
        """End it as people do; what it says then is returned."""
        self.process.send_signal(signal.SIGINT)
        _, err = await self.process.communicate()
        assert self.process.returncode == 0, err
        return err.decode()


@asynccontextmanager
async def capturing(host: HostProcess, *flags: str) -> AsyncIterator[Door]:
    """A door to this host, until the block ends."""
    file = host.data_dir.parent / "talk.jsonl"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "holdfast", "capture", "--out", str(file), "--data-dir", str(host.data_dir), *flags),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(host.data_dir.parent),
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(30):
            word, _, url = (await process.stdout.readline()).decode().strip().partition(" ")
        assert word == "ready"
        yield Door(process, url, file)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
