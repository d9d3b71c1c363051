"""What customization and MCP server actions do to a session's tree (12-customizations, 10-mcp).

Ids are looked up at the top level first, then in the containers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from holdfast.protocol.codec import Unknown, convert, to_json
from holdfast.protocol.common import URI, JsonObject
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.reducing import entry_id, exchanged, find, put, upsert, without
from holdfast.protocol.session import actions
from holdfast.protocol.session.customizations import (
    ChildCustomization,
    Customization,
    DirectoryCustomization,
    McpServerCustomization,
    McpServerStartingState,
    McpServerState,
    McpServerStoppedState,
    PluginCustomization,
)
from holdfast.protocol.session.state import SessionState

Entry: TypeAlias = Customization | ChildCustomization
Tree: TypeAlias = tuple[Customization, ...]

_CHILD: Any = ChildCustomization


def customizations_changed(state: SessionState, action: actions.CustomizationsChanged) -> SessionState:
    return put(state, customizations=action.customizations)


def customization_updated(state: SessionState, action: actions.CustomizationUpdated) -> SessionState:
    """Replace or add one top-level entry; its children are whatever it brings."""
    return replace(state, customizations=upsert(state.customizations, action.customization, entry_id))


def customization_toggled(state: SessionState, action: actions.CustomizationToggled) -> SessionState:
    """Change the first entry with the id: at the top, else in the first container that has it."""
    tree = state.customizations or ()
    index = find(tree, entry_id, action.id)
    if index >= 0:
        return _with_entry(state, index, _toggled(tree[index], action))
    for index, container in enumerate(tree):
        child = _child(container, action.id)
        if child >= 0:
            return _with_entry(state, index, _with_child(container, child, lambda entry: _toggled(entry, action)))
    return state


def customization_removed(state: SessionState, action: actions.CustomizationRemoved) -> SessionState:
    """Remove a top-level entry, else the child from every container that has it."""
    tree = state.customizations or ()
    index = find(tree, entry_id, action.id)
    if index >= 0:
        return replace(state, customizations=without(tree, index))
    pruned = tuple(_without_child(container, action.id) for container in tree)
    return _with_tree(state, pruned)


def mcp_server_state_changed(state: SessionState, action: actions.McpServerStateChanged) -> SessionState:
    return _with_server(state, action.id, _moved_to(action.state, action.channel))


def mcp_server_start_requested(state: SessionState, action: actions.McpServerStartRequested) -> SessionState:
    return _with_server(state, action.id, _moved_to(McpServerStartingState()))


def mcp_server_stop_requested(state: SessionState, action: actions.McpServerStopRequested) -> SessionState:
    return _with_server(state, action.id, _moved_to(McpServerStoppedState()))


def mcp_server_background_requested(
    state: SessionState, action: actions.McpServerBackgroundRequested
) -> SessionState:
    """A start that holds messages back lets them go."""

    def unblocked(server: McpServerCustomization) -> McpServerCustomization:
        if isinstance(server.state, McpServerStartingState) and server.state.blocking:
            return replace(server, state=replace(server.state, blocking=False))
        return server

    return _with_server(state, action.id, unblocked)


def _moved_to(
    server_state: McpServerState, channel: URI | None = None
) -> Callable[[McpServerCustomization], McpServerCustomization]:
    return lambda server: put(server, state=server_state, channel=channel)


def _toggled(entry: Any, action: actions.CustomizationToggled) -> Any:
    """Plugins and servers keep the decisions; other entries only what the first one says."""
    if isinstance(entry, PluginCustomization | McpServerCustomization):
        return replace(entry, enablement=action.enablement or None)
    enabled = _enabled(action.enablement[0]) if action.enablement else True
    if isinstance(entry, Unknown):
        return Unknown({**entry.raw, "enabled": enabled})
    return put(entry, enabled=enabled)


def _enabled(decision: Any) -> bool:
    return bool(decision.raw.get("enabled") if isinstance(decision, Unknown) else decision.enabled)


def _with_server(
    state: SessionState, id: str, change: Callable[[McpServerCustomization], McpServerCustomization]
) -> SessionState:
    """Change the server with the id. A top-level entry that is no server hides children with its id."""

    def changed(entry: Entry) -> Entry:
        return change(entry) if isinstance(entry, McpServerCustomization) else entry

    tree = state.customizations or ()
    index = find(tree, entry_id, id)
    if index >= 0:
        return _with_entry(state, index, changed(tree[index]))
    return _with_tree(
        state,
        tuple(
            container if (child := _child(container, id)) < 0 else _with_child(container, child, changed)
            for container in tree
        ),
    )


def _children(container: Entry) -> tuple[Any, ...]:
    """What a container holds. Bare servers and unread containers hold nothing; an unknown one holds plain JSON."""
    if isinstance(container, PluginCustomization | DirectoryCustomization):
        return container.children or ()
    if isinstance(container, Unknown) and isinstance(container.raw.get("children"), list):
        return tuple(container.raw["children"])
    return ()


def _holding(container: Any, children: tuple[Any, ...]) -> Any:
    if isinstance(container, Unknown):
        return Unknown({**container.raw, "children": list(children)})
    return replace(container, children=children)


def _child_id(child: object) -> object:
    return child.get("id") if isinstance(child, dict) else entry_id(child)


def _child(container: Entry, id: str) -> int:
    """The index of the first child with the id."""
    return find(_children(container), _child_id, id)


def _with_child(container: Any, index: int, change: Callable[[Any], Any]) -> Any:
    children = _children(container)
    before = children[index]
    after = _changed_json(before, change) if isinstance(container, Unknown) else change(before)
    return container if after is before else _holding(container, exchanged(children, index, after))


def _changed_json(raw: JsonObject, change: Callable[[Any], Any]) -> JsonObject:
    """Change a child that is still JSON, unless it cannot be read."""
    try:
        before = convert(_CHILD, raw)
    except InvalidValue:
        return raw
    after = change(before)
    changed: JsonObject = raw if after is before else to_json(after)
    return changed


def _without_child(container: Any, id: str) -> Any:
    index = _child(container, id)
    return container if index < 0 else _holding(container, without(_children(container), index))


def _with_entry(state: SessionState, index: int, entry: Any) -> SessionState:
    tree = state.customizations or ()
    return _with_tree(state, exchanged(tree, index, entry))


def _with_tree(state: SessionState, tree: Tree) -> SessionState:
    before = state.customizations or ()
    if all(new is old for new, old in zip(tree, before, strict=True)):
        return state
    return replace(state, customizations=tree)
