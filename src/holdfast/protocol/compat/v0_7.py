"""0.7 and 0.8. Whether a customization is on was one flag, and became a list of decisions by scope.

A 0.7 reducer lets every wait of a session ask for a person; a client's own execution does not since 0.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import Action, Call, Resync, Shape, Step, actions_new_in, without
from holdfast.protocol.status import INPUT_NEEDED, with_activity
from holdfast.protocol.versions import Version

__all__ = ["BEFORE_0_8", "STEP", "has_flag"]

NEWER: Final = Version(0, 8, 0)
DECIDED: Final = ("plugin", "mcpServer")
"""The types of customizations whose flag became a list."""

TOGGLED: Final = "session/customizationToggled"
WAITING: Final = 16
"""The bit that tells a session that waits for a person from one that works."""


# Customizations


def _customization_down(entry: Json, context: Context) -> Json:  # noqa: ARG001
    if entry.get("type") not in DECIDED:
        return entry
    rest = without(entry, "enablement", "childEnablement", "enabled")
    return {**rest, "enabled": _in_force(entry.get("enablement"))}


def _customization_up(entry: Json, context: Context) -> Json:  # noqa: ARG001
    if entry.get("type") not in DECIDED or "enabled" not in entry:
        return entry
    rest = without(entry, "enabled")
    return {**rest, "enablement": [_decision(False)]} if entry["enabled"] is False else rest


def _in_force(enablement: Any) -> bool:
    return bool(enablement[0].get("enabled", True)) if enablement else True


def _decision(enabled: Any) -> Json:
    """A flag as a decision: of the session, the scope that an older client can mean."""
    return {"kind": "session", "enabled": enabled}


def _toggled_down(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    action = without(sent.action, "enablement")
    return (sent._replace(action={**action, "enabled": _in_force(sent.action.get("enablement"))}),)


def _toggled_up(sent: Action, context: Context) -> Iterable[Action]:
    """The session's decision, before those of other scopes that are there already."""
    if "enabled" not in sent.action:
        return (sent,)
    found = _find(context.session_state() or {}, sent.action.get("id"))
    others = [each for each in found.get("enablement") or () if each.get("kind") != "session"]
    action = without(sent.action, "enabled")
    return (sent._replace(action={**action, "enablement": [_decision(sent.action["enabled"]), *others]}),)


def _find(session: Json, id: object) -> Json:
    return next((entry for entry in _entries(session) if entry.get("id") == id), {})


def _entries(session: Json) -> Iterator[Json]:
    containers = session.get("customizations") or ()
    yield from containers
    for container in containers:
        yield from container.get("children") or ()


# Waiting


def _session_down(state: Json, context: Context) -> Json:  # noqa: ARG001
    """As a reducer below would have it: whatever waits asks for a person."""
    if not _only_executions(state):
        return state
    return {**state, "status": with_activity(state["status"], INPUT_NEEDED)}


def _session_up(state: Json, context: Context) -> Json:  # noqa: ARG001
    if not _only_executions(state) or state["status"] & INPUT_NEEDED != INPUT_NEEDED:
        return state
    return {**state, "status": state["status"] & ~WAITING}


def _only_executions(state: Json) -> bool:
    waits = state.get("inputNeeded")
    return (
        isinstance(waits, list) and waits != [] and all(each.get("kind") == "toolClientExecution" for each in waits)
    )


# Directories


def _replaced(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    """The right directories, if not always in the right order; nothing for one put in its own place."""
    if sent.action.get("replacement") == sent.action.get("directory"):
        return
    for type, key in (("Set", "replacement"), ("Removed", "directory")):  # noqa: A001 - the protocol's word
        yield sent._replace(action={"type": f"session/workingDirectory{type}", "directory": sent.action.get(key)})


def _out_of_order(action: Json, context: Context) -> bool:  # noqa: ARG001
    return bool(context.facts.get("reordered", True))


# What servers say


def _auth_down(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    resource = call.params.get("resource")
    if not isinstance(resource, dict):
        return (call,)
    return (call._replace(params={**call.params, "resource": resource.get("resource")}),)


def _auth_up(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    resource = call.params.get("resource")
    if not isinstance(resource, str):
        return (call,)
    return (call._replace(params={**call.params, "resource": {"resource": resource}}),)


def _capabilities(capabilities: Json, context: Context) -> Json:  # noqa: ARG001
    directories = capabilities.get("multipleWorkingDirectories")
    if not isinstance(directories, dict) or "primaryReplacement" not in directories:
        return capabilities
    return {**capabilities, "multipleWorkingDirectories": without(directories, "primaryReplacement")}


def has_flag(value: Any) -> bool:
    """Whether a value of any type has a customization with the flag that became a list, or says how it is set."""
    if isinstance(value, list):
        return any(map(has_flag, value))
    if not isinstance(value, dict):
        return False
    flagged = value.get("type") in (*DECIDED, TOGGLED) and "enabled" in value
    return flagged or any(map(has_flag, value.values()))


_FLAG: Final = Shape(_customization_down, _customization_up)

BEFORE_0_8: Final = Step(
    older=NEWER,
    shapes={"customization": _FLAG},
    actions_down={TOGGLED: _toggled_down},
    actions_up={TOGGLED: _toggled_up},
)
"""Until 0.8.0 was released, what had its number still had the flag. No client is served so."""

STEP: Final = Step(
    older=Version(0, 7, 0),
    introduced=actions_new_in(NEWER),
    shapes={
        "customization": _FLAG,
        "sessionState": Shape(_session_down, _session_up),
        "agentCapabilities": Shape(down=_capabilities),
    },
    actions_down={
        TOGGLED: _toggled_down,
        "session/workingDirectoryReplaced": _replaced,
    },
    actions_up={TOGGLED: _toggled_up},
    notifications=({"auth/required": _auth_down}, {"auth/required": _auth_up}),
    resync={
        "session/workingDirectoryReplaced": Resync("a directory took another's place", _out_of_order),
    },
    raw_marks=(),
)
