"""Values that several channels share: text, files, ranges, errors, models, authentication.

Field meanings are those of 01-wire section 7 and 02-root section 2; only what surprises is repeated here.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta, field

from holdfast.protocol.codec import OpenEnum, Wire

__all__ = [
    "URI",
    "AgentSelection",
    "ChangesSummary",
    "ConfigPropertySchema",
    "ConfigSchema",
    "ContentRef",
    "ErrorInfo",
    "FileEdit",
    "FileEditCollection",
    "FileEditDiffStats",
    "FileEditSide",
    "GlobList",
    "Icon",
    "Implementation",
    "JsonObject",
    "JsonPrimitive",
    "Markdown",
    "McpAuthRequiredReason",
    "McpAuthRequirement",
    "McpOAuthClient",
    "ModelSelection",
    "Number",
    "ProjectInfo",
    "ProtectedResourceMetadata",
    "SafeInt",
    "StringOrMarkdown",
    "TextPosition",
    "TextRange",
    "TextSelection",
    "Timestamp",
    "ToolAnnotations",
    "ToolDefinition",
    "ToolSchema",
    "UsageInfo",
]

URI: TypeAlias = str
"""Compared byte for byte, except where `uris` says otherwise."""

Timestamp: TypeAlias = str
"""ISO 8601 in UTC with milliseconds, `2026-03-10T18:42:03.123Z`."""

Number: TypeAlias = int | float
"""A JSON number, kept as it arrived: `5` stays an int."""

SafeInt: TypeAlias = Annotated[int, Meta(ge=1 - 2**53, le=2**53 - 1)]
"""An integer that every reader of JSON keeps exactly, and every file."""

JsonPrimitive: TypeAlias = str | int | float | bool | None
JsonObject: TypeAlias = dict[str, Any]


class Markdown(Wire, frozen=True, kw_only=True):
    markdown: str


StringOrMarkdown: TypeAlias = str | Markdown
"""A plain string is shown verbatim."""


class Icon(Wire, frozen=True, kw_only=True):
    src: URI
    content_type: str | None = None
    sizes: tuple[str, ...] | None = None
    theme: str | None = None


class Implementation(Wire, frozen=True, kw_only=True):
    name: str
    version: str | None = None
    title: str | None = None


class TextPosition(Wire, frozen=True, kw_only=True):
    """Zero-based."""

    line: int
    character: int


class TextRange(Wire, frozen=True, kw_only=True):
    start: TextPosition
    end: TextPosition


class TextSelection(Wire, frozen=True, kw_only=True):
    range: TextRange


class ContentRef(Wire, frozen=True, kw_only=True):
    """Content kept outside the state, read with `resourceRead`. A new `nonce` means new bytes."""

    uri: URI
    size_hint: Number | None = None
    content_type: str | None = None
    nonce: str | None = None


class FileEditSide(Wire, frozen=True, kw_only=True):
    uri: URI
    content: ContentRef


class FileEditDiffStats(Wire, frozen=True, kw_only=True):
    added: Number | None = None
    removed: Number | None = None


class FileEdit(Wire, frozen=True, kw_only=True):
    """Only `after`: create. Only `before`: delete. Different URIs: move. The same URI: edit."""

    before: FileEditSide | None = None
    after: FileEditSide | None = None
    diff: FileEditDiffStats | None = None


class FileEditCollection(Wire, frozen=True, kw_only=True):
    items: tuple[FileEdit, ...]


class GlobList(Wire, frozen=True, kw_only=True):
    """Globs or paths relative to a watched root."""

    items: tuple[str, ...]


class ErrorInfo(Wire, frozen=True, kw_only=True):
    error_type: str
    message: str
    stack: str | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class UsageInfo(Wire, frozen=True, kw_only=True):
    input_tokens: Number | None = None
    output_tokens: Number | None = None
    model: str | None = None
    cache_read_tokens: Number | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class ChangesSummary(Wire, frozen=True, kw_only=True):
    additions: Number | None = None
    deletions: Number | None = None
    files: Number | None = None


class ProjectInfo(Wire, frozen=True, kw_only=True):
    uri: URI
    display_name: str


class ModelSelection(Wire, frozen=True, kw_only=True):
    id: str
    config: dict[str, JsonPrimitive] | None = None


class AgentSelection(Wire, frozen=True, kw_only=True):
    """A custom agent, by the `uri` (not the id) of its customization."""

    uri: URI


class ConfigPropertySchema(Wire, frozen=True, kw_only=True):
    """One option of a model, agent, session or host, in the part of JSON Schema the protocol uses.

    An explicit `"default": null` reads as no default; the two mean the same to a form.
    """

    type: str
    title: str
    description: str | None = None
    default: Any = None
    enum: tuple[JsonPrimitive, ...] | None = None
    enum_labels: tuple[str, ...] | None = None
    enum_descriptions: tuple[str, ...] | None = None
    read_only: bool | None = None
    items: ConfigPropertySchema | None = None
    min_items: int | None = None
    max_items: int | None = None
    properties: dict[str, ConfigPropertySchema] | None = None
    required: tuple[str, ...] | None = None
    additional_properties: ConfigPropertySchema | None = None


class ConfigSchema(Wire, frozen=True, kw_only=True):
    type: str
    properties: dict[str, ConfigPropertySchema]
    required: tuple[str, ...] | None = None


ToolSchema: TypeAlias = JsonObject
"""The JSON Schema of a tool's input or output. Kept whole: a `$ref` leads to keys that no list of ours could name."""


class ToolAnnotations(Wire, frozen=True, kw_only=True):
    """Advisory. Absent hints mean: writes, may destroy, is not idempotent, reaches the open world."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class ToolDefinition(Wire, frozen=True, kw_only=True):
    name: str
    title: str | None = None
    description: str | None = None
    input_schema: ToolSchema | None = None
    output_schema: ToolSchema | None = None
    annotations: ToolAnnotations | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class ProtectedResourceMetadata(Wire, frozen=True, kw_only=True, rename=None):
    """RFC 9728 metadata, snake_case on the wire too. `required` is ours: absent means true."""

    resource: str
    resource_name: str | None = None
    authorization_servers: tuple[str, ...] | None = None
    jwks_uri: str | None = None
    scopes_supported: tuple[str, ...] | None = None
    bearer_methods_supported: tuple[str, ...] | None = None
    resource_signing_alg_values_supported: tuple[str, ...] | None = None
    resource_documentation: str | None = None
    resource_policy_uri: str | None = None
    resource_tos_uri: str | None = None
    required: bool | None = None


class McpAuthRequiredReason(OpenEnum):
    REQUIRED = "required"
    EXPIRED = "expired"
    INSUFFICIENT_SCOPE = "insufficientScope"


class McpOAuthClient(Wire, frozen=True, kw_only=True):
    """Registered credentials a client must use instead of registering itself. No secret: a public client."""

    client_id: str
    client_secret: str | None = None


class McpAuthRequirement(Wire, frozen=True, kw_only=True):
    """What a token must be good for. Never a token."""

    reason: McpAuthRequiredReason
    resource: ProtectedResourceMetadata
    oauth_client: McpOAuthClient | None = None
    required_scopes: tuple[str, ...] | None = None
    description: str | None = None
