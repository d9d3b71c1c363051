"""0.5.1 and 0.5.2. Answered questions, results of terminals, review marks and switches of children were new."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import (
    DROP,
    Action,
    ConvertAction,
    Resync,
    Shape,
    Step,
    actions_new_in,
    dropping,
    not_sent,
    without,
)
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

NEWER: Final = Version(0, 5, 2)

NEW_IN_CUSTOMIZATIONS: Final = {
    "plugin": ("_meta", "version"),
    "directory": ("_meta",),
    "mcpServer": ("_meta",),
    "agent": ("enabled", "disableModelInvocation", "disableUserInvocation"),
    "skill": ("_meta", "enabled", "disableUserInvocation"),
    "prompt": ("_meta", "enabled"),
    "rule": ("_meta", "enabled"),
    "hook": ("_meta", "enabled"),
}
"""By the type of the customization."""


def _part_down(part: Json, context: Context) -> Any:  # noqa: ARG001
    """Below, a question leaves no trace once it is answered."""
    return DROP if part.get("kind") == "inputRequest" else part


def _response_part(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    return (sent,) if "part" in sent.action else ()


def _content_down(block: Json, context: Context) -> Any:  # noqa: ARG001
    """Of a finished command its output is left, as text."""
    if block.get("type") != "terminalComplete":
        return block
    return {"type": "text", "text": block["preview"]} if block.get("preview") else DROP


def _customization_down(entry: Json, context: Context) -> Json:  # noqa: ARG001
    return without(entry, *NEW_IN_CUSTOMIZATIONS.get(str(entry.get("type")), ()))


def _server(kind: str) -> ConvertAction:
    """A request to start or stop a server is told by the state it leads to."""

    def down(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
        action = {"type": "session/mcpServerStateChanged", "id": sent.action.get("id"), "state": {"kind": kind}}
        return (sent._replace(action=action),)

    return down


def _server_switched(action: Json, context: Context) -> bool:  # noqa: ARG001
    return bool(context.facts.get("server"))


def _toggled_up(sent: Action, context: Context) -> Iterable[Action]:
    """What could not be switched below is not."""
    state = context.session_state()
    entries = (state or {}).get("customizations") or ()
    switched = next((each for each in entries if each.get("id") == sent.action.get("id")), None)
    if state is None or (switched is not None and switched.get("type") != "mcpServer"):
        return (sent,)
    return ()


STEP: Final = Step(
    older=Version(0, 5, 1),
    introduced=actions_new_in(NEWER),
    shapes={
        "part": Shape(down=_part_down),
        "resultContent": Shape(down=_content_down),
        "customization": Shape(down=_customization_down),
        "changesetFile": dropping("reviewed"),
        "params:initialize": dropping("clientInfo"),
        "result:initialize": dropping("serverInfo", "terminalCommandPrefix"),
    },
    actions_down={
        "chat/responsePart": _response_part,
        "session/mcpServerStartRequested": _server("starting"),
        "session/mcpServerStopRequested": _server("stopped"),
        "changeset/filesReviewedChanged": not_sent,
    },
    actions_up={"session/customizationToggled": _toggled_up},
    resync={"session/customizationToggled": Resync("an MCP server was switched on or off", _server_switched)},
    raw_marks=(b'"inputRequest"', b'"terminalComplete"', b'"type":"terminal"'),
)
