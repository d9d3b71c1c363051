"""Actions of a session channel. Which of them clients may dispatch: `versions.ACTIONS`."""

from __future__ import annotations

from msgspec import UNSET, field

from holdfast.protocol.changeset.state import Changeset
from holdfast.protocol.chat.state import ChatInteractivity, ChatOrigin, ChatSummary
from holdfast.protocol.codec import Patch, Patched, Wire
from holdfast.protocol.common import (
    URI,
    ChangesSummary,
    ErrorInfo,
    JsonObject,
    Timestamp,
    ToolDefinition,
)
from holdfast.protocol.session.customizations import (
    Customization,
    CustomizationEnablement,
    McpServerState,
)
from holdfast.protocol.session.state import SessionActiveClient, SessionInputRequest
from holdfast.protocol.status import Status

__all__ = [
    "ActiveClientRemoved",
    "ActiveClientSet",
    "ActivityChanged",
    "ChangesetsChanged",
    "ChatAdded",
    "ChatRemoved",
    "ChatUpdated",
    "ChatsReordered",
    "ConfigChanged",
    "CreationFailed",
    "CustomizationRemoved",
    "CustomizationToggled",
    "CustomizationUpdated",
    "CustomizationsChanged",
    "DefaultChatChanged",
    "InputNeededRemoved",
    "InputNeededSet",
    "IsArchivedChanged",
    "IsReadChanged",
    "McpServerBackgroundRequested",
    "McpServerStartRequested",
    "McpServerStateChanged",
    "McpServerStopRequested",
    "MetaChanged",
    "PartialChatSummary",
    "Ready",
    "ServerToolsChanged",
    "TitleChanged",
    "WorkingDirectoryRemoved",
    "WorkingDirectoryReplaced",
    "WorkingDirectorySet",
]


class Ready(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/ready"):
    pass


class CreationFailed(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/creationFailed"):
    error: ErrorInfo


class ChatAdded(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/chatAdded"):
    summary: ChatSummary


class ChatRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/chatRemoved"):
    chat: URI


class PartialChatSummary(Patch, frozen=True, kw_only=True):
    """Changed fields of a `ChatSummary`; `resource` is never sent and ignored when received."""

    resource: Patched[URI] = UNSET
    title: Patched[str] = UNSET
    status: Patched[Status] = UNSET
    activity: Patched[str] = UNSET
    modified_at: Patched[Timestamp] = UNSET
    changes: Patched[ChangesSummary] = UNSET
    origin: Patched[ChatOrigin] = UNSET
    movable: Patched[bool] = UNSET
    interactivity: Patched[ChatInteractivity] = UNSET
    working_directories: Patched[tuple[URI, ...]] = UNSET


class ChatUpdated(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/chatUpdated"):
    chat: URI
    changes: PartialChatSummary


class ChatsReordered(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/chatsReordered"):
    """Every chat of the catalogue exactly once."""

    chats: tuple[URI, ...]


class DefaultChatChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/defaultChatChanged"):
    default_chat: URI | None = None


class TitleChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/titleChanged"):
    title: str


class IsReadChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/isReadChanged"):
    is_read: bool


class IsArchivedChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/isArchivedChanged"):
    is_archived: bool


class ActivityChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/activityChanged"):
    activity: str | None = None


class ChangesetsChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/changesetsChanged"):
    changesets: tuple[Changeset, ...] | None = None


class ServerToolsChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/serverToolsChanged"):
    tools: tuple[ToolDefinition, ...]


class ActiveClientSet(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/activeClientSet"):
    active_client: SessionActiveClient


class ActiveClientRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/activeClientRemoved"):
    client_id: str


class WorkingDirectorySet(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/workingDirectorySet"):
    directory: URI


class WorkingDirectoryRemoved(
    Wire, frozen=True, kw_only=True, tag_field="type", tag="session/workingDirectoryRemoved"
):
    directory: URI


class WorkingDirectoryReplaced(
    Wire, frozen=True, kw_only=True, tag_field="type", tag="session/workingDirectoryReplaced"
):
    directory: URI
    replacement: URI


class InputNeededSet(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/inputNeededSet"):
    request: SessionInputRequest


class InputNeededRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/inputNeededRemoved"):
    id: str


class CustomizationsChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/customizationsChanged"):
    customizations: tuple[Customization, ...]


class CustomizationToggled(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/customizationToggled"):
    """The list replaces every decision of the target; empty means enabled by default."""

    id: str
    enablement: tuple[CustomizationEnablement, ...]


class CustomizationUpdated(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/customizationUpdated"):
    customization: Customization


class CustomizationRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/customizationRemoved"):
    id: str


class McpServerStateChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/mcpServerStateChanged"):
    id: str
    state: McpServerState
    channel: URI | None = None


class McpServerStartRequested(
    Wire, frozen=True, kw_only=True, tag_field="type", tag="session/mcpServerStartRequested"
):
    id: str


class McpServerStopRequested(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/mcpServerStopRequested"):
    id: str


class McpServerBackgroundRequested(
    Wire, frozen=True, kw_only=True, tag_field="type", tag="session/mcpServerBackgroundRequested"
):
    id: str


class ConfigChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/configChanged"):
    config: JsonObject
    replace: bool | None = None


class MetaChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="session/metaChanged"):
    meta: JsonObject | None = field(default=None, name="_meta")
