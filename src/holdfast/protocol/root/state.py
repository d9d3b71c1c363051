"""State of the root channel."""

from __future__ import annotations

from msgspec import field

from holdfast.protocol.codec import OpenEnum, Wire
from holdfast.protocol.common import ConfigSchema, JsonObject, Number, ProtectedResourceMetadata
from holdfast.protocol.session.customizations import Customization
from holdfast.protocol.terminal.state import TerminalInfo

__all__ = [
    "AgentCapabilities",
    "AgentInfo",
    "MultipleChatsCapability",
    "MultipleWorkingDirectoriesCapability",
    "PolicyState",
    "RootConfigState",
    "RootState",
    "SessionModelInfo",
]


class PolicyState(OpenEnum):
    ENABLED = "enabled"
    DISABLED = "disabled"
    UNCONFIGURED = "unconfigured"


class SessionModelInfo(Wire, frozen=True, kw_only=True):
    id: str
    provider: str
    name: str
    max_context_window: Number | None = None
    max_output_tokens: Number | None = None
    max_prompt_tokens: Number | None = None
    supports_vision: bool | None = None
    policy_state: PolicyState | None = None
    config_schema: ConfigSchema | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class MultipleChatsCapability(Wire, frozen=True, kw_only=True):
    """Present: several chats per session. The flags permit the sources of `createChat`."""

    fork: bool | None = None
    side_chat: bool | None = None


class MultipleWorkingDirectoriesCapability(Wire, frozen=True, kw_only=True):
    """Present: several directories per session. The flags protect index 0 (02-root, section 2.2)."""

    immutable_primary: bool | None = None
    primary_replacement: bool | None = None


class AgentCapabilities(Wire, frozen=True, kw_only=True):
    multiple_chats: MultipleChatsCapability | None = None
    multiple_working_directories: MultipleWorkingDirectoriesCapability | None = None


class AgentInfo(Wire, frozen=True, kw_only=True):
    provider: str
    display_name: str
    description: str
    models: tuple[SessionModelInfo, ...]
    protected_resources: tuple[ProtectedResourceMetadata, ...] | None = None
    customizations: tuple[Customization, ...] | None = None
    capabilities: AgentCapabilities | None = None


class RootConfigState(Wire, frozen=True, kw_only=True):
    """`values` may hold keys the schema does not list; they are kept."""

    schema: ConfigSchema
    values: JsonObject


class RootState(Wire, frozen=True, kw_only=True):
    agents: tuple[AgentInfo, ...]
    active_sessions: int | None = None
    terminals: tuple[TerminalInfo, ...] | None = None
    config: RootConfigState | None = None
    meta: JsonObject | None = field(default=None, name="_meta")
