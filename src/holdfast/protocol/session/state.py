"""State of a session, its summary in the catalogue, and everything in it that waits for a person."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from holdfast.protocol.annotations.state import AnnotationsSummary
from holdfast.protocol.changeset.state import Changeset
from holdfast.protocol.chat.inputs import ChatInputRequest
from holdfast.protocol.chat.state import ChatInteractivity, ChatOrigin, ChatSummary
from holdfast.protocol.chat.tools import (
    ToolCallAuthRequiredState,
    ToolCallConfirmationState,
    ToolCallState,
)
from holdfast.protocol.codec import OpenEnum, OpenUnion, Wire
from holdfast.protocol.common import (
    URI,
    ChangesSummary,
    ConfigPropertySchema,
    ErrorInfo,
    JsonObject,
    ProjectInfo,
    Timestamp,
    ToolDefinition,
)
from holdfast.protocol.session.customizations import ClientPluginCustomization, Customization
from holdfast.protocol.status import Status

__all__ = [
    "AutomationOrigin",
    "SessionActiveClient",
    "SessionChatInputRequest",
    "SessionChatSummary",
    "SessionConfigPropertySchema",
    "SessionConfigSchema",
    "SessionConfigState",
    "SessionInputRequest",
    "SessionLifecycle",
    "SessionMetadata",
    "SessionOrigin",
    "SessionState",
    "SessionSummary",
    "SessionToolAuthenticationRequest",
    "SessionToolClientExecutionRequest",
    "SessionToolConfirmationRequest",
]


class SessionLifecycle(OpenEnum):
    CREATING = "creating"
    READY = "ready"
    FAILED = "failed"


class AutomationOrigin(Wire, frozen=True, kw_only=True, tag_field="kind", tag="automation"):
    """The session was made by a run of an automation."""

    automation: URI
    run: URI


SessionOrigin: TypeAlias = OpenUnion[AutomationOrigin]


class SessionConfigPropertySchema(ConfigPropertySchema, frozen=True, kw_only=True):
    enum_dynamic: bool | None = None
    session_mutable: bool | None = None


class SessionConfigSchema(Wire, frozen=True, kw_only=True):
    type: str
    properties: dict[str, SessionConfigPropertySchema]
    required: tuple[str, ...] | None = None


class SessionConfigState(Wire, frozen=True, kw_only=True):
    """`values` may hold keys the schema does not list; they are kept."""

    schema: SessionConfigSchema
    values: JsonObject


class SessionActiveClient(Wire, frozen=True, kw_only=True):
    """A client that takes part: its tools and plugins are offered to the agent."""

    client_id: str
    tools: tuple[ToolDefinition, ...]
    display_name: str | None = None
    customizations: tuple[OpenUnion[ClientPluginCustomization], ...] | None = None


class WaitBase(Wire, frozen=True, kw_only=True):
    """`id` is unique in the list and stable while the wait lasts. Answers go to `chat`."""

    id: str
    chat: URI


class SessionChatInputRequest(WaitBase, frozen=True, kw_only=True, tag_field="kind", tag="chatInput"):
    request: ChatInputRequest


class SessionToolConfirmationRequest(WaitBase, frozen=True, kw_only=True, tag_field="kind", tag="toolConfirmation"):
    turn_id: str
    tool_call: ToolCallConfirmationState


class SessionToolClientExecutionRequest(
    WaitBase, frozen=True, kw_only=True, tag_field="kind", tag="toolClientExecution"
):
    """A client's own tool is to be run by that client. The only kind that does not need a person."""

    turn_id: str
    client_id: str
    tool_call: ToolCallState


class SessionToolAuthenticationRequest(
    WaitBase, frozen=True, kw_only=True, tag_field="kind", tag="toolAuthentication"
):
    """Answered by `authenticate`, not by an action on the chat."""

    turn_id: str
    tool_call: OpenUnion[ToolCallAuthRequiredState]


SessionInputRequest: TypeAlias = OpenUnion[
    SessionChatInputRequest
    | SessionToolConfirmationRequest
    | SessionToolClientExecutionRequest
    | SessionToolAuthenticationRequest
]


class SessionMetadata(Wire, frozen=True, kw_only=True):
    """What a session's state and its summary both carry."""

    provider: str
    title: str
    status: Status
    activity: str | None = None
    origin: SessionOrigin | None = None
    project: ProjectInfo | None = None
    working_directories: tuple[URI, ...] | None = None
    annotations: AnnotationsSummary | None = None


class SessionState(SessionMetadata, frozen=True, kw_only=True):
    """`input_needed` is absent when nothing waits. The order of `chats` is the host's and durable."""

    lifecycle: SessionLifecycle
    active_clients: tuple[SessionActiveClient, ...]
    chats: tuple[ChatSummary, ...]
    default_chat: URI | None = None
    creation_error: ErrorInfo | None = None
    server_tools: tuple[ToolDefinition, ...] | None = None
    config: SessionConfigState | None = None
    customizations: tuple[Customization, ...] | None = None
    changesets: tuple[Changeset, ...] | None = None
    input_needed: tuple[SessionInputRequest, ...] | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class SessionChatSummary(Wire, frozen=True, kw_only=True):
    """A chat as lists of sessions show it. Absent `status` is unknown, not unread."""

    resource: URI
    title: str
    origin: ChatOrigin | None = None
    interactivity: ChatInteractivity | None = None
    status: Status | None = None
    changes: ChangesSummary | None = None


class SessionSummary(SessionMetadata, frozen=True, kw_only=True):
    resource: URI
    created_at: Timestamp
    modified_at: Timestamp
    changes: ChangesSummary | None = None
    meta: JsonObject | None = field(default=None, name="_meta")
    chats: tuple[SessionChatSummary, ...] | None = None
    default_chat: URI | None = None
