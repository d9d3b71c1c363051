"""The host in memory for tests that are plain functions; it runs in a thread, as `holdfast.sync` does.

with sync_local_host([MyAgent()]) as local:
    session = local.connect().create_session()
    assert session.send("hello").outcome().text == "Hello!"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from holdfast import sync
from holdfast.agents.port import Agent
from holdfast.client.host import Host
from holdfast.sync.loop import LoopThread
from holdfast.testing.local import LocalHost, local_host

__all__ = ["SyncLocalHost", "sync_local_host"]


def sync_local_host(agents: Iterable[Agent] = (), **options: Any) -> SyncLocalHost:
    """A host to be entered with `with`; see `holdfast.testing.local_host` for what may be given."""
    return SyncLocalHost(local_host(agents, **options))


class SyncLocalHost:
    """Made by `sync_local_host`. What was connected is closed with it."""

    def __init__(self, local: LocalHost) -> None:
        self.local = local
        self._loop: LoopThread | None = None
        self._hosts: list[sync.Host] = []

    def __repr__(self) -> str:
        return f"<Sync{repr(self.local)[1:]}"

    def __enter__(self) -> SyncLocalHost:
        self._loop = LoopThread()
        self._loop.run(self.local.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        loop = self._running
        for host in self._hosts:
            host.close()
        try:
            loop.run(self.local.__aexit__())
        finally:
            loop.close()

    @property
    def _running(self) -> LoopThread:
        assert self._loop is not None, "use it with `with`"
        return self._loop

    def connect(self, **options: Any) -> sync.Host:
        """`holdfast.sync.connect` to this host, with the same options."""

        async def connected() -> Host:
            return await self.local.connect(**options)

        host = sync.Host(self._running, self._running.run(connected()), shares_loop=True)
        self._hosts.append(host)
        return host

    def drop(self) -> None:
        """Break every connection, with what is on its way to clients. They come back by themselves."""
        self._running.call(self.local.drop)

    @contextmanager
    def unreachable(self) -> Iterator[None]:
        """While the block lasts every connection is broken, and nobody gets a new one."""
        block = self.local.unreachable()
        self._running.run(block.__aenter__())
        try:
            yield
        finally:
            self._running.run(block.__aexit__(None, None, None))

    def restart(self) -> None:
        """As after `kill -9`: what was acknowledged is there, turns that ran have failed."""
        self._running.run(self.local.restart())

    def advance(self, seconds: float) -> None:
        """Let time pass; the host must have a `ManualClock`."""
        self._running.run(self.local.advance(seconds))
