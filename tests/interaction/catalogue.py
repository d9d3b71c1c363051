"""What lists say of a session, and whether everything that speaks of a session and its chats says the same."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from interaction.talk import agree, shown
from served import Clients, Failed, Wire, hosting
from troupe import PROGRAM

__all__ = [
    "Restartable",
    "consistent",
    "entries",
    "failing",
    "further_chat",
    "listed",
    "restartable",
    "summary_fields",
    "told",
]

# The fields of a chat that its session's catalogue copies, and those of them that lists show.
_COPIED: Final = (
    "resource",
    "title",
    "status",
    "activity",
    "modifiedAt",
    "changes",
    "origin",
    "movable",
    "interactivity",
    "workingDirectories",
)
_SHOWN: Final = ("resource", "title", "origin", "interactivity", "status", "changes")

# The fields that a session's state and its summary share.
_METADATA: Final = (
    "provider",
    "title",
    "status",
    "activity",
    "origin",
    "project",
    "workingDirectories",
    "annotations",
    "defaultChat",
)

_ACTIVITY: Final = 31


def _only(state: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: state[name] for name in names if name in state}


def summary_fields(chat: dict[str, Any]) -> dict[str, Any]:
    """What the catalogue copies of a chat's state."""
    return _only(chat, _COPIED)


async def listed(client: Wire, session: str) -> Any:
    """The session as `listSessions` has it; None if it is not listed."""
    items = (await client.request("listSessions"))["items"]
    return next((item for item in items if item["resource"] == session), None)


def told(client: Wire, session: str) -> Any:
    """The session as the notifications to a subscriber of the root add up; None if there is none."""
    summary: dict[str, Any] | None = None
    for message in client.messages:
        params = message.get("params", {})
        match message.get("method"):
            case "root/sessionAdded" if params["summary"]["resource"] == session:
                summary = dict(params["summary"])
            case "root/sessionSummaryChanged" if params["session"] == session:
                assert summary is not None, "changes come after the session was added"
                summary |= params["changes"]
                if not summary.get("activity"):
                    summary.pop("activity", None)
            case "root/sessionRemoved" if params["session"] == session:
                summary = None
    return summary


def entries(state: dict[str, Any]) -> list[str]:
    """The chats of a session's state, in order."""
    return [chat["resource"] for chat in state["chats"]]


def _statuses(value: Any) -> Iterator[int]:
    """Every status anywhere in a message. Those of tool calls are words."""
    if isinstance(value, dict):
        if isinstance(value.get("status"), int):
            yield value["status"]
        for inner in value.values():
            yield from _statuses(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _statuses(inner)


async def consistent(clients: Clients, session: str, *wires: Wire) -> Any:
    """Check a session that is at rest: state, chats, summary and what followers made of it agree.

    Its state is returned.
    """
    state = await agree(clients, session, *wires)  # S-10, S-16, S-38, S-67
    chats = [await shown(clients, uri) for uri in entries(state)]
    assert state["chats"] == [summary_fields(chat) for chat in chats]
    watcher = await clients()
    summary = await listed(watcher, session)
    assert _only(summary, _METADATA) == _only(state, _METADATA)
    assert summary["chats"] == [_only(chat, _SHOWN) for chat in chats]
    assert summary["modifiedAt"] == max(chat["modifiedAt"] for chat in chats)
    for wire in wires:
        assert {status & _ACTIVITY for status in _statuses(wire.messages)} <= {1, 2, 8, 24}
    return state


async def further_chat(client: Wire, session: str, number: int = 2, **params: Any) -> str:
    """Another chat of the session, followed by the client."""
    chat = f"ahp-chat:/{session.partition('/')[2]}-{number}"
    await client.request("createChat", session, chat=chat, **params)
    await client.subscribe(chat)
    return chat


@contextlib.asynccontextmanager
async def failing(code: int) -> AsyncIterator[pytest.ExceptionInfo[Failed]]:
    """A request in the block fails with this code."""
    with pytest.raises(Failed) as failed:
        yield failed
    assert failed.value.code == code, failed.value.error


class Restartable(Clients):
    """Clients of a host that is killed and started again by the test."""

    async def restart(self) -> None:
        """Kill the host and start it again; clients made before are gone."""
        await self.host.kill()
        await self.host.start()

    async def back(self, wire: Wire) -> Any:
        """Have a client that lost its connection come back; what `reconnect` answered is returned."""
        await wire.gone()
        wire.url = self.host.url
        return await wire.reconnect()


@contextlib.asynccontextmanager
async def restartable(directory: Path, *flags: str) -> AsyncIterator[Restartable]:
    """A host of this test's own, with the whole troupe, and its clients."""
    async with hosting(directory, *flags, program=PROGRAM) as host, Restartable(host) as clients:
        yield clients
