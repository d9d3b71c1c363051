"""Customizations: plugins, directories and MCP servers, with what they contain (12-customizations, 10-mcp).

A tree of two levels: containers and bare servers on top, leaves inside containers.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from holdfast.protocol.codec import ClosedUnion, OpenEnum, OpenUnion, Wire
from holdfast.protocol.common import (
    URI,
    ErrorInfo,
    Icon,
    JsonObject,
    McpAuthRequirement,
    TextRange,
)

__all__ = [
    "AgentCustomization",
    "AhpMcpUiHostCapabilities",
    "ChildCustomization",
    "ChildCustomizationType",
    "ClientPluginCustomization",
    "Customization",
    "CustomizationDegradedState",
    "CustomizationEnablement",
    "CustomizationErrorState",
    "CustomizationLoadState",
    "CustomizationLoadedState",
    "CustomizationLoadingState",
    "DirectoryCustomization",
    "GlobalEnablement",
    "HookCustomization",
    "ListChangedCapability",
    "McpSamplingCapability",
    "McpServerAuthRequiredState",
    "McpServerCustomization",
    "McpServerCustomizationApps",
    "McpServerErrorState",
    "McpServerReadyState",
    "McpServerStartingState",
    "McpServerState",
    "McpServerStoppedState",
    "PluginCustomization",
    "PromptCustomization",
    "RuleCustomization",
    "SessionEnablement",
    "SkillCustomization",
    "WorkspaceEnablement",
]


class SessionEnablement(Wire, frozen=True, kw_only=True, tag_field="kind", tag="session"):
    enabled: bool


class WorkspaceEnablement(Wire, frozen=True, kw_only=True, tag_field="kind", tag="workspace"):
    uri: URI
    enabled: bool


class GlobalEnablement(Wire, frozen=True, kw_only=True, tag_field="kind", tag="global"):
    enabled: bool


CustomizationEnablement: TypeAlias = OpenUnion[SessionEnablement | WorkspaceEnablement | GlobalEnablement]
"""A decision to enable or disable. Lists are sorted most specific first; the first entry is in force."""


class CustomizationLoadingState(Wire, frozen=True, kw_only=True, tag_field="kind", tag="loading"):
    pass


class CustomizationLoadedState(Wire, frozen=True, kw_only=True, tag_field="kind", tag="loaded"):
    pass


class CustomizationDegradedState(Wire, frozen=True, kw_only=True, tag_field="kind", tag="degraded"):
    message: str


class CustomizationErrorState(Wire, frozen=True, kw_only=True, tag_field="kind", tag="error"):
    message: str


CustomizationLoadState: TypeAlias = ClosedUnion[
    CustomizationLoadingState | CustomizationLoadedState | CustomizationDegradedState | CustomizationErrorState
]


class McpServerStartingState(Wire, frozen=True, kw_only=True, tag_field="kind", tag="starting"):
    """`blocking` true: messages wait until the server's tools are known."""

    blocking: bool | None = None


class McpServerReadyState(Wire, frozen=True, kw_only=True, tag_field="kind", tag="ready"):
    pass


class McpServerAuthRequiredState(McpAuthRequirement, frozen=True, kw_only=True, tag_field="kind", tag="authRequired"):
    pass


class McpServerErrorState(Wire, frozen=True, kw_only=True, tag_field="kind", tag="error"):
    error: ErrorInfo


class McpServerStoppedState(Wire, frozen=True, kw_only=True, tag_field="kind", tag="stopped"):
    pass


McpServerState: TypeAlias = OpenUnion[
    McpServerStartingState
    | McpServerReadyState
    | McpServerAuthRequiredState
    | McpServerErrorState
    | McpServerStoppedState
]


class ListChangedCapability(Wire, frozen=True, kw_only=True):
    list_changed: bool | None = None


class McpSamplingCapability(Wire, frozen=True, kw_only=True):
    tools: JsonObject | None = None


class AhpMcpUiHostCapabilities(Wire, frozen=True, kw_only=True):
    """What an MCP App may ask of the host through the `mcp://` channel. Presence flags."""

    server_tools: ListChangedCapability | None = None
    server_resources: ListChangedCapability | None = None
    logging: JsonObject | None = None
    sampling: McpSamplingCapability | None = None


class McpServerCustomizationApps(Wire, frozen=True, kw_only=True):
    capabilities: AhpMcpUiHostCapabilities


class ChildCustomizationType(OpenEnum):
    AGENT = "agent"
    SKILL = "skill"
    PROMPT = "prompt"
    RULE = "rule"
    HOOK = "hook"
    MCP_SERVER = "mcpServer"


class CustomizationBase(Wire, frozen=True, kw_only=True):
    """`id` is the handle of every action, unique in the session; `uri` is where it came from."""

    id: str
    uri: URI
    name: str
    icons: tuple[Icon, ...] | None = None
    range: TextRange | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class McpServerCustomization(CustomizationBase, frozen=True, kw_only=True, tag_field="type", tag="mcpServer"):
    """`channel` is the `mcp://` side channel, only while usable."""

    state: McpServerState
    enablement: tuple[CustomizationEnablement, ...] | None = None
    channel: URI | None = None
    mcp_app: McpServerCustomizationApps | None = None


class ChildBase(CustomizationBase, frozen=True, kw_only=True):
    """A leaf; absent `enabled` means true."""

    enabled: bool | None = None


class AgentCustomization(ChildBase, frozen=True, kw_only=True, tag_field="type", tag="agent"):
    """`tools` is an allow list; empty or absent means no restriction."""

    description: str | None = None
    model: str | None = None
    tools: tuple[str, ...] | None = None
    disable_model_invocation: bool | None = None
    disable_user_invocation: bool | None = None


class SkillCustomization(ChildBase, frozen=True, kw_only=True, tag_field="type", tag="skill"):
    description: str | None = None
    disable_model_invocation: bool | None = None
    disable_user_invocation: bool | None = None


class PromptCustomization(ChildBase, frozen=True, kw_only=True, tag_field="type", tag="prompt"):
    description: str | None = None


class RuleCustomization(ChildBase, frozen=True, kw_only=True, tag_field="type", tag="rule"):
    description: str | None = None
    always_apply: bool | None = None
    globs: tuple[str, ...] | None = None


class HookCustomization(ChildBase, frozen=True, kw_only=True, tag_field="type", tag="hook"):
    pass


ChildCustomization: TypeAlias = OpenUnion[
    AgentCustomization
    | SkillCustomization
    | PromptCustomization
    | RuleCustomization
    | HookCustomization
    | McpServerCustomization
]


class ContainerBase(CustomizationBase, frozen=True, kw_only=True):
    """`children` absent: not read yet; empty: nothing inside."""

    client_id: str | None = None
    load: CustomizationLoadState | None = None
    children: tuple[ChildCustomization, ...] | None = None


class PluginCustomization(ContainerBase, frozen=True, kw_only=True, tag_field="type", tag="plugin"):
    enablement: tuple[CustomizationEnablement, ...] | None = None
    version: str | None = None


class ClientPluginCustomization(PluginCustomization, frozen=True, kw_only=True, tag="plugin"):
    """What a client publishes. A new `nonce` means the content changed."""

    nonce: str | None = None
    child_enablement: dict[str, tuple[CustomizationEnablement, ...]] | None = None


class DirectoryCustomization(ContainerBase, frozen=True, kw_only=True, tag_field="type", tag="directory"):
    """A place the host watches for one type of child."""

    enabled: bool
    contents: ChildCustomizationType
    writable: bool


Customization: TypeAlias = OpenUnion[PluginCustomization | DirectoryCustomization | McpServerCustomization]
