"""What each action does to a session's state (03-session).

Customizations and MCP servers have their own file, `session.trees`. The reducer never derives what the
session is doing from its chats: that is the host's to say, except for the bit that `inputNeeded` drives.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from holdfast.protocol.codec import Unknown, Wire
from holdfast.protocol.reducing import (
    Handler,
    by_table,
    entry_id,
    exchanged,
    find,
    merged_values,
    put,
    upsert,
    with_directory,
    without,
    without_directory,
)
from holdfast.protocol.session import actions, trees
from holdfast.protocol.session.state import (
    SessionInputRequest,
    SessionLifecycle,
    SessionState,
    SessionToolClientExecutionRequest,
)
from holdfast.protocol.status import (
    INPUT_NEEDED,
    IS_ARCHIVED,
    IS_READ,
    with_activity,
    with_flag,
)

__all__ = ["reduce"]

_resource = attrgetter("resource")
_client_id = attrgetter("client_id")

# The bit that tells `INPUT_NEEDED` (24) from `IN_PROGRESS` (8).
_WAITING: Final = 16


# Lifecycle and metadata


def ready(state: SessionState, _: actions.Ready) -> SessionState:
    return put(state, lifecycle=SessionLifecycle.READY)


def creation_failed(state: SessionState, action: actions.CreationFailed) -> SessionState:
    return replace(state, lifecycle=SessionLifecycle.FAILED, creation_error=action.error)


def title_changed(state: SessionState, action: actions.TitleChanged) -> SessionState:
    return put(state, title=action.title)


def is_read_changed(state: SessionState, action: actions.IsReadChanged) -> SessionState:
    return put(state, status=with_flag(state.status, IS_READ, action.is_read))


def is_archived_changed(state: SessionState, action: actions.IsArchivedChanged) -> SessionState:
    return put(state, status=with_flag(state.status, IS_ARCHIVED, action.is_archived))


def activity_changed(state: SessionState, action: actions.ActivityChanged) -> SessionState:
    return put(state, activity=action.activity)


def changesets_changed(state: SessionState, action: actions.ChangesetsChanged) -> SessionState:
    return put(state, changesets=action.changesets)


def meta_changed(state: SessionState, action: actions.MetaChanged) -> SessionState:
    return put(state, meta=action.meta)


def server_tools_changed(state: SessionState, action: actions.ServerToolsChanged) -> SessionState:
    return put(state, server_tools=action.tools)


def config_changed(state: SessionState, action: actions.ConfigChanged) -> SessionState:
    """Merge or replace the values; a session without configuration ignores it."""
    if state.config is None:
        return state
    values = merged_values(state.config.values, action.config, action.replace)
    return replace(state, config=replace(state.config, values=values))


# The catalogue of chats


def chat_added(state: SessionState, action: actions.ChatAdded) -> SessionState:
    return replace(state, chats=upsert(state.chats, action.summary, _resource))


def chat_removed(state: SessionState, action: actions.ChatRemoved) -> SessionState:
    index = find(state.chats, _resource, action.chat)
    if index < 0:
        return state
    default = None if state.default_chat == action.chat else state.default_chat
    return replace(state, chats=without(state.chats, index), default_chat=default)


def chat_updated(state: SessionState, action: actions.ChatUpdated) -> SessionState:
    """Merge what is given; a merge cannot remove a key, and never moves the entry to another URI."""
    index = find(state.chats, _resource, action.chat)
    if index < 0:
        return state
    changes = action.changes.given()
    changes.pop("resource", None)
    summary = put(state.chats[index], **changes)
    if summary is state.chats[index]:
        return state
    return replace(state, chats=exchanged(state.chats, index, summary))


def chats_reordered(state: SessionState, action: actions.ChatsReordered) -> SessionState:
    """Only a complete permutation counts."""
    by_uri = {chat.resource: chat for chat in state.chats}
    if len(action.chats) != len(state.chats) or set(action.chats) != by_uri.keys():
        return state
    if action.chats == tuple(chat.resource for chat in state.chats):
        return state
    return replace(state, chats=tuple(by_uri[uri] for uri in action.chats))


def default_chat_changed(state: SessionState, action: actions.DefaultChatChanged) -> SessionState:
    return put(state, default_chat=action.default_chat)


# Active clients and working directories


def active_client_set(state: SessionState, action: actions.ActiveClientSet) -> SessionState:
    return replace(state, active_clients=upsert(state.active_clients, action.active_client, _client_id))


def active_client_removed(state: SessionState, action: actions.ActiveClientRemoved) -> SessionState:
    index = find(state.active_clients, _client_id, action.client_id)
    return state if index < 0 else replace(state, active_clients=without(state.active_clients, index))


def working_directory_set(state: SessionState, action: actions.WorkingDirectorySet) -> SessionState:
    return put(state, working_directories=with_directory(state.working_directories, action.directory))


def working_directory_removed(state: SessionState, action: actions.WorkingDirectoryRemoved) -> SessionState:
    return put(state, working_directories=without_directory(state.working_directories, action.directory))


def working_directory_replaced(state: SessionState, action: actions.WorkingDirectoryReplaced) -> SessionState:
    """Swap in place, and keep every directory once: an earlier replacement absorbs the old entry."""
    directories = state.working_directories or ()
    if action.directory not in directories:
        return state
    at = directories.index(action.directory)
    if action.replacement in directories[:at]:
        return replace(state, working_directories=without(directories, at))
    rest = tuple(entry for entry in directories[at + 1 :] if entry != action.replacement)
    swapped = (*directories[:at], action.replacement, *rest)
    return state if swapped == directories else replace(state, working_directories=swapped)


# What waits for a person


def input_needed_set(state: SessionState, action: actions.InputNeededSet) -> SessionState:
    waiting = upsert(state.input_needed, action.request, entry_id)
    return replace(state, input_needed=waiting, status=_input_status(state.status, waiting))


def input_needed_removed(state: SessionState, action: actions.InputNeededRemoved) -> SessionState:
    waiting = state.input_needed
    index = find(waiting, entry_id, action.id)
    if not waiting or index < 0:
        return state
    waiting = without(waiting, index)
    return replace(state, input_needed=waiting or None, status=_input_status(state.status, waiting))


def _input_status(status: int, waiting: tuple[SessionInputRequest, ...]) -> int:
    """Anything but a client's own execution needs a person."""
    if all(isinstance(request, SessionToolClientExecutionRequest) for request in waiting):
        return status & ~_WAITING
    return with_activity(status, INPUT_NEEDED)


_TABLE: Final[dict[type, Handler]] = {
    actions.Ready: ready,
    actions.CreationFailed: creation_failed,
    actions.TitleChanged: title_changed,
    actions.IsReadChanged: is_read_changed,
    actions.IsArchivedChanged: is_archived_changed,
    actions.ActivityChanged: activity_changed,
    actions.ChangesetsChanged: changesets_changed,
    actions.MetaChanged: meta_changed,
    actions.ServerToolsChanged: server_tools_changed,
    actions.ConfigChanged: config_changed,
    actions.ChatAdded: chat_added,
    actions.ChatRemoved: chat_removed,
    actions.ChatUpdated: chat_updated,
    actions.ChatsReordered: chats_reordered,
    actions.DefaultChatChanged: default_chat_changed,
    actions.ActiveClientSet: active_client_set,
    actions.ActiveClientRemoved: active_client_removed,
    actions.WorkingDirectorySet: working_directory_set,
    actions.WorkingDirectoryRemoved: working_directory_removed,
    actions.WorkingDirectoryReplaced: working_directory_replaced,
    actions.InputNeededSet: input_needed_set,
    actions.InputNeededRemoved: input_needed_removed,
    actions.CustomizationsChanged: trees.customizations_changed,
    actions.CustomizationToggled: trees.customization_toggled,
    actions.CustomizationUpdated: trees.customization_updated,
    actions.CustomizationRemoved: trees.customization_removed,
    actions.McpServerStateChanged: trees.mcp_server_state_changed,
    actions.McpServerStartRequested: trees.mcp_server_start_requested,
    actions.McpServerStopRequested: trees.mcp_server_stop_requested,
    actions.McpServerBackgroundRequested: trees.mcp_server_background_requested,
}


reduce: Final[Callable[[SessionState, Wire | Unknown], SessionState]] = by_table(_TABLE)
"""The state after an action; the same object if it changes nothing."""
