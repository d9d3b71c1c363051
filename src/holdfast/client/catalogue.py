"""The list of a host's sessions, kept current."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.client.broadcast import Broadcast, Feed
from holdfast.client.errors import Gone, Interrupted
from holdfast.client.status import (
    HostEvent,
    SessionAdded,
    SessionRemoved,
    SessionSummaryChanged,
    Status,
    StatusChanged,
)
from holdfast.protocol.common import URI
from holdfast.protocol.errors import RpcError
from holdfast.protocol.root.commands import PartialSessionSummary
from holdfast.protocol.session.state import SessionSummary

if TYPE_CHECKING:
    from holdfast.client.host import Host

__all__ = ["Catalogue", "CatalogueChange"]

# What a session is and never becomes: not to be changed by a summary's change.
_IDENTITY = frozenset({"resource", "provider", "created_at"})


@dataclass(frozen=True, slots=True)
class CatalogueChange:
    """`session` is None if it is gone."""

    uri: URI
    session: SessionSummary | None


class Catalogue:
    """Use it with `async with host.catalogue()`. `sessions` has them newest first; iterating tells what changes."""

    def __init__(self, host: Host, limit: int | None) -> None:
        self._host = host
        self._limit = limit
        self._by_uri: dict[URI, SessionSummary] = {}
        self._changes: Broadcast[CatalogueChange] = Broadcast()
        self._task: asyncio.Task[None] | None = None
        self._events: Feed[HostEvent] | None = None

    async def __aenter__(self) -> Catalogue:
        self._events = self._host.events()
        await self._load()
        self._task = asyncio.create_task(self._keep_current(self._events))
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._events is not None, "entered"
        self._events.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._changes.end()

    @property
    def sessions(self) -> tuple[SessionSummary, ...]:
        """What is known, newest first."""
        return tuple(sorted(self._by_uri.values(), key=lambda each: each.modified_at, reverse=True))

    def get(self, uri: URI) -> SessionSummary | None:
        return self._by_uri.get(uri)

    def __aiter__(self) -> AsyncIterator[CatalogueChange]:
        return self.changes()

    def changes(self) -> Feed[CatalogueChange]:
        """What changes from now on."""
        return self._changes.feed()

    async def _load(self) -> None:
        """Take the whole list; what it does not have is gone."""
        found = {summary.resource: summary async for summary in self._host.sessions(limit=self._limit)}
        before, self._by_uri = self._by_uri, found
        for uri in before.keys() - found.keys():
            self._changes.put(CatalogueChange(uri, None))
        for uri, summary in found.items():
            if before.get(uri) != summary:
                self._changes.put(CatalogueChange(uri, summary))

    async def _keep_current(self, events: Feed[HostEvent]) -> None:
        async for event in events:
            match event:
                case SessionAdded(summary):
                    self._put(summary)
                case SessionRemoved(uri):
                    if self._by_uri.pop(uri, None) is not None:
                        self._changes.put(CatalogueChange(uri, None))
                case SessionSummaryChanged(uri, changes) if uri in self._by_uri:
                    self._put(_changed(self._by_uri[uri], changes))
                case StatusChanged(status) if status is Status.LIVE:
                    # What happened meanwhile is told to nobody: the list has to be read again.
                    try:
                        await self._load()
                    except (Interrupted, Gone, RpcError):
                        continue  # away again: there will be another `live`, or an end

    def _put(self, summary: SessionSummary) -> None:
        self._by_uri[summary.resource] = summary
        self._changes.put(CatalogueChange(summary.resource, summary))


def _changed(summary: SessionSummary, changes: PartialSessionSummary) -> SessionSummary:
    given = {name: value for name, value in changes.given().items() if name not in _IDENTITY}
    if given.get("activity") == "":
        given["activity"] = None
    return replace(summary, **given)
