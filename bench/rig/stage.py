"""Where questions are asked: servers on their core, clients on another, in a directory that goes away."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from rig import peer, processes
from rig.load import Load, Unavailable
from rig.report import Report
from served import HostProcess, Wire

__all__ = ["SESSION", "Stage"]

SESSION: Final = "ahp-session:/bench"

UNLIMITED: Final = ("--rate-limit", "0", "--log-level", "warning")
"""One client is to send as fast as it can."""


class Stage:
    """What a question works with. Rounds are its own business; all figures go to the report."""

    def __init__(self, directory: Path, rounds: int, report: Report) -> None:
        self.directory = directory
        self.rounds = rounds
        self.report = report
        self.load = Load(directory)
        self._numbers = itertools.count(1)
        self._peer: str | None = None
        os.sched_setaffinity(0, {processes.CLIENT})

    async def has_peer(self) -> bool:
        """Whether there is a peer to compare with; the report says which, or why not."""
        if self._peer is None:
            try:
                self._peer = await peer.install()
                self.report.note(f"peer: {self._peer}")
            except Unavailable as missing:
                self._peer = ""
                self.report.note(f"no peer: {missing}")
        return bool(self._peer)

    def new_directory(self) -> Path:
        made = self.directory / str(next(self._numbers))
        made.mkdir()
        return made

    def new_host(self, *flags: str, directory: Path | None = None) -> HostProcess:
        """A Holdfast to be started, on a journal of its own or on one that is there."""
        return HostProcess((directory or self.new_directory()) / "data", *UNLIMITED, *flags)

    def new_peer(self) -> HostProcess:
        """A plain Node host to be started."""
        return peer.PeerProcess(self.new_directory() / "data")

    @asynccontextmanager
    async def host(self, *flags: str, directory: Path | None = None) -> AsyncIterator[HostProcess]:
        """A Holdfast, on its core."""
        async with self._running(self.new_host(*flags, directory=directory)) as server:
            yield server

    @asynccontextmanager
    async def peer(self) -> AsyncIterator[HostProcess]:
        """A plain Node host, on the same core."""
        async with self._running(self.new_peer()) as server:
            yield server

    @asynccontextmanager
    async def _running(self, server: HostProcess) -> AsyncIterator[HostProcess]:
        await server.start()
        try:
            processes.pin(server.pid, processes.SERVER)
            yield server
        finally:
            await server.end()

    async def chat(self, server: HostProcess) -> str:
        """Have a session made; the URI of its chat."""
        wire = Wire(server.url, "maker")
        await wire.initialize()
        await wire.request("createSession", SESSION, provider="demo")
        state = await wire.request("subscribe", SESSION)
        await wire.close()
        return str(state["snapshot"]["state"]["defaultChat"])

    async def draft(self, server: HostProcess, chat: str) -> str:
        """The draft of a chat as the server has it."""
        wire = Wire(server.url, "reader")
        await wire.initialize()
        found = await wire.request("subscribe", chat)
        await wire.close()
        return str(found["snapshot"]["state"]["draft"]["text"])
