"""`holdfast` with more agents beside the demo: each plays the same scenarios and is special in one way.

`PROGRAM` is what a `HostProcess` runs to have it. The agents: `modest` has no capabilities, `rooted`, `free` and
`nomad` differ in what they permit about directories, `equipped` comes with customizations, `broken` cannot open a
session, `late` opens its sessions when somebody asks for its options, `doomed` then finds that it cannot, `puppet`
says what its message says.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final
from unittest import mock

from msgspec.structs import replace

from holdfast.agents.port import Agent, AgentFailed, ReportProgress
from holdfast.agents.scripted import ScriptedAgent, demo
from holdfast.cli import main
from holdfast.ports.agent import OpenSession, Progress, ResolvedConfig
from holdfast.protocol.codec import convert
from holdfast.protocol.common import URI, ErrorInfo, JsonObject
from holdfast.protocol.root.state import AgentCapabilities, AgentInfo, MultipleWorkingDirectoriesCapability
from holdfast.protocol.session.customizations import Customization
from holdfast.server.house import House
from puppet import Puppet

__all__ = ["CUSTOMIZATIONS", "FAILURE", "PROGRAM"]

PROGRAM: Final = (str(Path(__file__)),)

FAILURE: Final = {"errorType": "noStage", "message": "There is no stage."}
"""Why `broken` cannot open a session."""

CUSTOMIZATIONS: Final[list[dict[str, Any]]] = [
    {
        "type": "plugin",
        "id": "toolbox",
        "uri": "file:///plugins/toolbox",
        "name": "Toolbox",
        "version": "1.4",
        "load": {"kind": "loaded"},
        "children": [
            {"type": "skill", "id": "knots", "uri": "file:///plugins/toolbox/knots.md", "name": "Knots"},
            {
                "type": "mcpServer",
                "id": "charts",
                "uri": "file:///plugins/toolbox/.mcp.json",
                "name": "Charts",
                "state": {"kind": "starting", "blocking": True},
            },
        ],
    },
    {
        "type": "directory",
        "id": "prompts",
        "uri": "file:///w/prompts",
        "name": "Prompts",
        "enabled": True,
        "contents": "prompt",
        "writable": True,
        "children": [],
    },
    {
        "type": "mcpServer",
        "id": "weather",
        "uri": "file:///w/.mcp.json",
        "name": "Weather",
        "state": {"kind": "ready"},
        "channel": "mcp://weather",
    },
    {
        "type": "plugin",
        "id": "borrowed",
        "uri": "file:///plugins/borrowed",
        "name": "Borrowed",
        "clientId": "lender",
    },
    {"type": "hologram", "id": "future", "uri": "x-future:/1", "name": "From the future", "depth": 3},
]
"""What sessions of `equipped` come with. One plugin is from a client that calls itself `lender`."""


def _like_demo(provider: str, **changes: Any) -> AgentInfo:
    return replace(demo().info, provider=provider, display_name=provider.title(), **changes)


def _working_in(**permitted: bool) -> AgentCapabilities:
    return AgentCapabilities(multiple_working_directories=MultipleWorkingDirectoriesCapability(**permitted))


class _Broken(ScriptedAgent):
    async def open_session(self, session: OpenSession, report: ReportProgress) -> None:
        raise AgentFailed(convert(ErrorInfo, FAILURE))


class _Late(ScriptedAgent):
    """Between `createSession` and the next `resolveSessionConfig` its sessions are being created."""

    def __init__(self, info: AgentInfo, *, in_vain: bool = False) -> None:
        super().__init__(info)
        self._in_vain = in_vain
        self._called = asyncio.Event()

    async def open_session(self, session: OpenSession, report: ReportProgress) -> None:
        self._called.clear()
        await report(Progress(session.session, 1, 4, "Waiting to be called"))
        await self._called.wait()
        if self._in_vain:
            raise AgentFailed(convert(ErrorInfo, FAILURE))

    async def resolve_config(self, directory: URI | None, config: JsonObject) -> ResolvedConfig:
        self._called.set()
        return await super().resolve_config(directory, config)


def _troupe() -> list[Agent]:
    return [
        ScriptedAgent(_like_demo("modest", capabilities=None)),
        ScriptedAgent(_like_demo("rooted", capabilities=_working_in(immutable_primary=True))),
        ScriptedAgent(_like_demo("free", capabilities=_working_in())),
        ScriptedAgent(
            _like_demo("nomad", capabilities=_working_in(immutable_primary=True, primary_replacement=True))
        ),
        ScriptedAgent(_like_demo("equipped", customizations=convert(tuple[Customization, ...], CUSTOMIZATIONS))),
        _Broken(_like_demo("broken")),
        _Late(_like_demo("late")),
        _Late(_like_demo("doomed"), in_vain=True),
        Puppet(_like_demo("puppet")),
    ]


class _Company(House):
    def __init__(self, journal: Any, opening: Any, agents: Any, *rest: Any) -> None:
        super().__init__(journal, opening, [*agents, *_troupe()], *rest)


if __name__ == "__main__":
    with mock.patch("holdfast.server.serve.House", _Company):
        main()
