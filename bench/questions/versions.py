"""What a connection of an older version costs against one of the present version: a delta delivered, a chat opened.

Deltas are those of a burst of the demo agent, followed by clients that only count them; a figure is what the server
used, divided by what was delivered. Drafts are dispatched by a client of the version and seen by others of it. A chat
is opened whole, once with turns that are the same in both versions, once with turns that all have to be converted.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from rig import made_up, processes
from rig.load import Plan, greeting, request
from rig.report import Target, at_most
from rig.stage import SESSION, Stage
from websockets.asyncio.client import ClientConnection, connect

from questions import fanout
from served import HostProcess, Wire

__all__ = ["measure"]

_NOW: Final = "1.0.0"
_OLDER: Final = ("0.6.0", "0.1.0")
_TARGETS: Final[dict[str, tuple[Target, Target]]] = {"0.6.0": (at_most(2), at_most(4))}
"""For a delta and for a snapshot."""

_DELTAS: Final = 4_000
_FOLLOWERS: Final = 10
_DRAFTS: Final = 4_000
_TURNS: Final = 500
_OPENED: Final = 40


async def measure(stage: Stage) -> None:
    await _deltas(stage)
    await _drafts(stage)
    await _snapshots(stage)


def _compare(stage: Stage, name: str, unit: str, found: dict[str, list[float]], which: int) -> None:
    """The figures of each version, and how many times that of the present one an older one is."""
    for version, values in found.items():
        stage.report.add(f"{name}, {version}", unit, values)
    for version in _OLDER:
        if version in found:
            target = _TARGETS[version][which] if version in _TARGETS else None
            stage.report.ratio(f"{name}, {version} against {_NOW}", found[version], found[_NOW], target)


# Deltas


async def _deltas(stage: Stage) -> None:
    found: dict[str, list[float]] = {version: [] for version in (_NOW, *_OLDER)}
    for _ in range(stage.rounds):
        for version, values in found.items():
            async with stage.host() as host:
                chat = await stage.chat(host)
                values.append(await _burst(host, chat, version) * 1e6)
    _compare(stage, "a delivered delta", "us CPU", found, 0)


async def _burst(host: HostProcess, chat: str, version: str) -> float:
    """The seconds of CPU time that a delta took for each who got it."""
    async with AsyncExitStack() as stack:
        followers = [await stack.enter_async_context(_following(host, chat, version, n)) for n in range(_FOLLOWERS)]
        sayer = Wire(host.url, "sayer")
        await sayer.initialize()
        await sayer.dispatch(SESSION, "session/configChanged", config={"speed": 0})
        await _say(sayer, chat, followers, "warm-up", "burst 200")
        before = processes.cpu_seconds(host.pid)
        delivered = await _say(sayer, chat, followers, "burst", f"burst {_DELTAS}")
        used = processes.cpu_seconds(host.pid) - before
        await sayer.close()
    assert delivered >= _DELTAS * _FOLLOWERS, f"deltas were joined for clients that lag: {delivered} arrived"
    return used / delivered


async def _say(sayer: Wire, chat: str, followers: list[ClientConnection], turn: str, text: str) -> int:
    """Have a turn played; how many deltas were delivered until its end, to all."""
    message = {"text": text, "origin": {"kind": "user"}}
    counted = [asyncio.create_task(_count(each)) for each in followers]
    await sayer.dispatch(chat, "chat/turnStarted", turnId=turn, message=message)
    return sum([await each for each in counted])


async def _count(follower: ClientConnection) -> int:
    """The deltas until the end of the turn."""
    deltas = 0
    async for text in follower:
        assert isinstance(text, str)
        if '/delta"' in text:
            deltas += 1
        elif '/turnComplete"' in text:
            break
    return deltas


@asynccontextmanager
async def _following(host: HostProcess, chat: str, version: str, number: int) -> AsyncIterator[ClientConnection]:
    """A client of a version that follows a chat: up to 0.3 by its session."""
    async with connect(host.url, max_size=None, proxy=None, max_queue=None) as connection:
        await connection.send(greeting(version=version).replace("#index##", f"{number:08}"))
        await connection.recv()
        await connection.send(_subscription(chat, version))
        await connection.recv()
        yield connection


def _subscription(chat: str, version: str, id: int | str = 2) -> str:
    if version == "0.1.0":
        params: dict[str, Any] = {"resource": SESSION}
        asked = {"jsonrpc": "2.0", "id": "ID", "method": "subscribe", "params": params}
        return json.dumps(asked, separators=(",", ":")).replace('"ID"', str(id), 1)
    return request("subscribe", id, chat)


# Drafts


async def _drafts(stage: Stage) -> None:
    """Dispatched, judged, kept and echoed: at 0.6 what comes in is lifted first."""
    found: dict[str, list[float]] = {_NOW: [], "0.6.0": []}
    for _ in range(stage.rounds):
        for version, values in found.items():
            async with stage.host() as host:
                more = {"subscribers": _FOLLOWERS, "window": 16, "version": version}
                result = await fanout.run(stage, host, _DRAFTS, **more)
                values.append(result.server_cpu / result.received * 1e6)
    _compare(stage, "a delivered draft", "us CPU", found, 0)


# Snapshots


async def _snapshots(stage: Stage) -> None:
    for name, converted in (("plain turns", False), ("turns with a terminal", True)):
        directory = stage.new_directory()
        async with stage.host(directory=directory) as host:
            chat = await stage.chat(host)
        size = made_up.add_turns(directory / "data", chat, _TURNS, with_terminal=converted)
        stage.report.note(f"{_TURNS:,} {name} are {size / 1e6:.1f} MB")
        found = await _opened(stage, directory, chat)
        _compare(stage, f"{_TURNS} {name} opened", "ms CPU", found, 1)


async def _opened(stage: Stage, directory: Path, chat: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {version: [] for version in (_NOW, *_OLDER)}
    for _ in range(stage.rounds):
        for version, values in found.items():
            async with stage.host("--frame-budget", "0", directory=directory) as host:
                message = _subscription(chat, version, "#number#")
                plan = Plan(host.url, greeting(version=version), message, _OPENED, window=1)
                result = await stage.load.run(plan, host.pid)
                values.append(result.server_cpu / _OPENED * 1e3)
    return found
