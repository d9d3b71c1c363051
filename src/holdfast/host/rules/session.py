"""What clients may do to a session (03-session, section 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from holdfast.host import config, mirror, presence, sessions
from holdfast.host.permits import directory_capability
from holdfast.host.units import Chat
from holdfast.host.verdict import Allowed, Refused, Rules, Verdict
from holdfast.protocol.chat import actions as chat_actions
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.reducing import entry_id, merged_values
from holdfast.protocol.root.state import MultipleWorkingDirectoriesCapability
from holdfast.protocol.session import actions
from holdfast.protocol.session.customizations import (
    DirectoryCustomization,
    GlobalEnablement,
    McpServerCustomization,
    PluginCustomization,
    SessionEnablement,
    WorkspaceEnablement,
)
from holdfast.protocol.uris import parse

if TYPE_CHECKING:
    from holdfast.host.core import Host
    from holdfast.host.dispatch import Dispatched

__all__ = ["RULES"]


# Title and flags. On a chat's URI they mean that chat: the echo goes there, the effect follows.


def title_changed(host: Host, sent: Dispatched, action: actions.TitleChanged) -> Verdict:
    if not isinstance(sent.channel, Chat):
        return Allowed(after=(lambda: sessions.title_chosen(host, sent.channel.unit),))  # type: ignore[arg-type]
    chat = sent.channel

    def rename() -> None:
        mirror.silently(host, chat, replace(chat.state, title=action.title))
        host.batch.assign(chat, "unsaved", True)
        mirror.mirror_chat(host, chat)
        if len(chat.unit.chats) == 1:
            host.emit(chat.unit.session, action)
            sessions.title_chosen(host, chat.unit)

    return Allowed(after=(rename,))


def is_read_changed(host: Host, sent: Dispatched, action: actions.IsReadChanged) -> Verdict:
    if isinstance(sent.channel, Chat):
        chat = sent.channel
        return Allowed(after=(lambda: _flag(host, chat, chat_actions.IsReadChanged(is_read=action.is_read)),))
    return Allowed()


def is_archived_changed(host: Host, sent: Dispatched, action: actions.IsArchivedChanged) -> Verdict:
    if isinstance(sent.channel, Chat):
        chat = sent.channel
        if chat.default:
            return Refused("the default chat is archived with its session")
        return Allowed(
            after=(lambda: _flag(host, chat, chat_actions.IsArchivedChanged(is_archived=action.is_archived)),)
        )
    unit: Any = sent.channel.unit
    return Allowed(after=(lambda: mirror.announce(host, unit),))


def _flag(host: Host, chat: Chat, action: Any) -> None:
    host.emit(chat, action)


# Active clients


def active_client_set(host: Host, sent: Dispatched, action: actions.ActiveClientSet) -> Verdict:
    if action.active_client.client_id != sent.client.id:
        return Refused("a client may only enter itself")
    unit: Any = sent.channel.unit
    return Allowed(after=(lambda: presence.entered(host, unit, sent.client.id),))


def active_client_removed(host: Host, sent: Dispatched, action: actions.ActiveClientRemoved) -> Verdict:
    if action.client_id != sent.client.id:
        return Refused("a client may only remove itself")
    unit: Any = sent.channel.unit
    return Allowed(after=(lambda: presence.withdrawn(host, unit, action.client_id),))


# Working directories


def _directories(host: Host, sent: Dispatched) -> MultipleWorkingDirectoriesCapability | Refused:
    unit: Any = sent.channel.unit
    capability = directory_capability(host, unit)
    return capability or Refused("this agent works in one directory")


def working_directory_set(host: Host, sent: Dispatched, action: actions.WorkingDirectorySet) -> Verdict:
    permitted = _directories(host, sent)
    if isinstance(permitted, Refused):
        return permitted
    return _not_a_directory(action.directory) or _reconfiguring(host, sent)


def working_directory_removed(host: Host, sent: Dispatched, action: actions.WorkingDirectoryRemoved) -> Verdict:
    permitted = _directories(host, sent)
    if isinstance(permitted, Refused):
        return permitted
    primary = (sent.channel.state.working_directories or ("",))[0]
    if action.directory == primary and (permitted.immutable_primary or permitted.primary_replacement):
        return Refused("the primary directory cannot be removed")
    unit: Any = sent.channel.unit

    def shrink_subsets() -> None:
        for chat in unit.chats.values():
            host.emit(chat, chat_actions.WorkingDirectoryRemoved(directory=action.directory))

    return Allowed(after=(shrink_subsets, lambda: sessions.reconfigure(host, unit)))


def working_directory_replaced(host: Host, sent: Dispatched, action: actions.WorkingDirectoryReplaced) -> Verdict:
    permitted = _directories(host, sent)
    if isinstance(permitted, Refused):
        return permitted
    primary = (sent.channel.state.working_directories or ("",))[0]
    if action.directory == primary and permitted.immutable_primary and not permitted.primary_replacement:
        return Refused("the primary directory cannot be replaced")
    refused = _not_a_directory(action.replacement)
    if refused is not None:
        return refused
    unit: Any = sent.channel.unit

    def follow_in_subsets() -> None:
        for chat in unit.chats.values():
            if action.directory in (chat.state.working_directories or ()) and action.directory != action.replacement:
                host.emit(chat, chat_actions.WorkingDirectorySet(directory=action.replacement))
                host.emit(chat, chat_actions.WorkingDirectoryRemoved(directory=action.directory))

    return Allowed(after=(follow_in_subsets, lambda: sessions.reconfigure(host, unit)))


def _not_a_directory(uri: str) -> Refused | None:
    try:
        parse(uri)
    except InvalidValue:
        return Refused("a working directory is a URI")
    return None


def _reconfiguring(host: Host, sent: Dispatched) -> Allowed:
    unit: Any = sent.channel.unit
    return Allowed(after=(lambda: sessions.reconfigure(host, unit),))


# Configuration


def config_changed(host: Host, sent: Dispatched, action: actions.ConfigChanged) -> Verdict:
    current = sent.channel.state.config
    if current is None:
        return Refused("this session has no configuration")
    values = merged_values(current.values, action.config, action.replace)
    for name in {**current.values, **values}:
        if _differs(values, current.values, name):
            schema = current.schema.properties.get(name)
            if schema is None or not schema.session_mutable or schema.read_only:
                return Refused(f"{name[:100]} cannot be changed while the session runs")
    why = config.complaint(current.schema.properties, current.schema.required, values, complete=bool(action.replace))
    return Refused(why) if why is not None else _reconfiguring(host, sent)


_NOTHING: Final = object()


def _differs(values: dict[str, Any], current: dict[str, Any], name: str) -> bool:
    one, other = values.get(name, _NOTHING), current.get(name, _NOTHING)
    return one != other or isinstance(one, bool) != isinstance(other, bool)


# Customizations and MCP servers


def customization_toggled(host: Host, sent: Dispatched, action: actions.CustomizationToggled) -> Verdict:  # noqa: ARG001
    if _customization(sent, action.id) is None:
        return Refused(f"there is no customization {action.id[:100]!r}")
    scopes = [_SCOPES.get(type(decision), -1) for decision in action.enablement]
    known = [scope for scope in scopes if scope >= 0]
    if known != sorted(set(known)):
        return Refused("decisions go from session over workspace to global, each at most once")
    return Allowed()


_SCOPES: Final[dict[type, int]] = {SessionEnablement: 0, WorkspaceEnablement: 1, GlobalEnablement: 2}


def mcp_server_requested(host: Host, sent: Dispatched, action: Any) -> Verdict:  # noqa: ARG001
    if not isinstance(_customization(sent, action.id), McpServerCustomization):
        return Refused(f"there is no MCP server {action.id[:100]!r}")
    return Allowed()


def _customization(sent: Dispatched, id: str) -> Any:
    for entry in sent.channel.state.customizations or ():
        if entry_id(entry) == id:
            return entry
        if isinstance(entry, PluginCustomization | DirectoryCustomization):
            for child in entry.children or ():
                if entry_id(child) == id:
                    return child
    return None


RULES: Final[Rules] = {
    actions.TitleChanged: title_changed,
    actions.IsReadChanged: is_read_changed,
    actions.IsArchivedChanged: is_archived_changed,
    actions.ActiveClientSet: active_client_set,
    actions.ActiveClientRemoved: active_client_removed,
    actions.WorkingDirectorySet: working_directory_set,
    actions.WorkingDirectoryRemoved: working_directory_removed,
    actions.WorkingDirectoryReplaced: working_directory_replaced,
    actions.ConfigChanged: config_changed,
    actions.CustomizationToggled: customization_toggled,
    actions.McpServerStartRequested: mcp_server_requested,
    actions.McpServerStopRequested: mcp_server_requested,
    actions.McpServerBackgroundRequested: mcp_server_requested,
}
