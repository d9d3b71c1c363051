"""Several hosts at once: what runs where, what waits for a person anywhere, and who is there at all.

    async with holdfast.Fleet({"laptop": None, "server": "wss://build.example/?tkn=…"}) as fleet:
        for entry in fleet.waiting:
            print(entry.host, entry.session.title)

A host that is not there keeps nobody waiting: it is tried until it is, or until the fleet is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.client.backoff import Retry
from holdfast.client.broadcast import Broadcast, Feed
from holdfast.client.catalogue import Catalogue, CatalogueChange
from holdfast.client.errors import Gone
from holdfast.client.host import Host, connect
from holdfast.client.status import HostEvent, Status, StatusChanged
from holdfast.client.targets import TargetLike
from holdfast.protocol.errors import EnvironmentFailure, HoldfastError, UsageError
from holdfast.protocol.session.state import SessionSummary
from holdfast.protocol.status import IN_PROGRESS, INPUT_NEEDED

__all__ = ["Fleet", "FleetEvent", "FleetSession"]


@dataclass(frozen=True, slots=True)
class FleetSession:
    """A session, and the name of the host that has it."""

    host: str
    session: SessionSummary


@dataclass(frozen=True, slots=True)
class FleetEvent:
    """Something a host said, or how we stand with it, or what changed in its list of sessions."""

    host: str
    event: HostEvent | CatalogueChange


class _Member:
    """One host of the fleet. `host` and `catalogue` are there once it has answered for the first time."""

    def __init__(self, name: str, target: TargetLike) -> None:
        self.name = name
        self.target = target
        self.host: Host | None = None
        self.catalogue: Catalogue | None = None
        self.reason = ""
        self.is_over = False
        self.answered = asyncio.Event()

    @property
    def status(self) -> Status:
        if self.host is not None:
            return self.host.status
        return Status.GONE if self.is_over else Status.CONNECTING


class Fleet:
    """Use it with `async with`. Targets are what `connect` takes, by a name of your choice; so are the options."""

    def __init__(self, hosts: Mapping[str, TargetLike], *, retry: Retry | None = None, **options: Any) -> None:
        if not hosts:
            raise UsageError("a fleet has at least one host")
        self._members = {name: _Member(name, target) for name, target in hosts.items()}
        self._retry = retry or Retry()
        self._options = options
        self._events: Broadcast[FleetEvent] = Broadcast()
        self._tasks: list[asyncio.Task[None]] = []

    def __repr__(self) -> str:
        return f"<Fleet of {', '.join(f'{name} ({member.status.value})' for name, member in self._members.items())}>"

    async def __aenter__(self) -> Fleet:
        self._tasks = [asyncio.create_task(self._follow(member)) for member in self._members.values()]
        await asyncio.gather(*(member.answered.wait() for member in self._members.values()))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._events.end()

    # What is where

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, name: str) -> Host:
        """A host by its name. Raises `Gone`, with the reason, if it has not answered yet."""
        member = self._members[name]
        if member.host is None:
            raise Gone(f"{name} is not there: {member.reason}")
        return member.host

    @property
    def statuses(self) -> dict[str, StatusChanged]:
        """How we stand with each host, and why."""
        return {
            name: StatusChanged(member.status, member.reason if member.host is None else member.host.reason)
            for name, member in self._members.items()
        }

    @property
    def sessions(self) -> tuple[FleetSession, ...]:
        """Everything known of every host that has answered, newest first."""
        found = [
            FleetSession(name, session)
            for name, member in self._members.items()
            if member.catalogue is not None
            for session in member.catalogue.sessions
        ]
        return tuple(sorted(found, key=lambda each: each.session.modified_at, reverse=True))

    @property
    def waiting(self) -> tuple[FleetSession, ...]:
        """The sessions in which something waits for a person, newest first."""
        waits = INPUT_NEEDED & ~IN_PROGRESS
        return tuple(each for each in self.sessions if each.session.status & waits)

    def events(self) -> Feed[FleetEvent]:
        """What every host says from now on. Close what is returned."""
        return self._events.feed()

    # Being there

    async def _follow(self, member: _Member) -> None:
        host = await self._connected(member)
        if host is None:
            member.answered.set()
            return
        try:
            async with host.catalogue() as catalogue, asyncio.TaskGroup() as group:
                member.host, member.catalogue = host, catalogue
                self._events.put(FleetEvent(member.name, StatusChanged(Status.LIVE)))
                group.create_task(self._forward(member.name, host.events()))
                group.create_task(self._forward(member.name, catalogue.changes()))
                member.answered.set()
        finally:
            member.answered.set()
            await host.close()

    async def _connected(self, member: _Member) -> Host | None:
        failed = 0
        while True:
            try:
                return await connect(member.target, retry=self._retry, **self._options)
            except EnvironmentFailure as error:
                failed += 1
                wait = self._retry.wait(failed)
                self._failed(member, error, is_over=wait is None)
                if wait is None:
                    return None
                await asyncio.sleep(wait)
            except HoldfastError as error:
                self._failed(member, error, is_over=True)
                return None

    def _failed(self, member: _Member, error: HoldfastError, *, is_over: bool) -> None:
        member.reason, member.is_over = str(error), is_over
        member.answered.set()  # nobody waits for it any longer
        self._events.put(FleetEvent(member.name, StatusChanged(member.status, member.reason)))

    async def _forward(self, name: str, feed: Feed[Any]) -> None:
        async with feed:
            async for event in feed:
                self._events.put(FleetEvent(name, event))
