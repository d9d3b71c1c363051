"""Params and results of connection-level commands and notifications."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from holdfast.protocol.automation.commands import AutomationCapabilities
from holdfast.protocol.codec import ClosedUnion, OpenEnum, Wire
from holdfast.protocol.common import (
    URI,
    Implementation,
    JsonObject,
    Number,
    ProtectedResourceMetadata,
)
from holdfast.protocol.envelope import ActionEnvelope, StateAction
from holdfast.protocol.params import Empty, Params, RootParams
from holdfast.protocol.snapshot import Snapshot
from holdfast.protocol.telemetry.notifications import TelemetryCapabilities

__all__ = [
    "AuthRequiredParams",
    "AuthRequiredReason",
    "AuthenticateParams",
    "AuthenticateResult",
    "ClientCapabilities",
    "DispatchActionParams",
    "InitializeParams",
    "InitializeResult",
    "PingParams",
    "ReconnectParams",
    "ReconnectReplayResult",
    "ReconnectResult",
    "ReconnectSnapshotResult",
    "SubscribeParams",
    "SubscribeResult",
    "SubscribeView",
    "SubscriptionDeliveryOptions",
    "UnsubscribeParams",
]


class ClientCapabilities(Wire, frozen=True, kw_only=True):
    """Presence flags: `{}` means supported."""

    mcp_apps: JsonObject | None = None


class InitializeParams(RootParams, frozen=True, kw_only=True):
    protocol_versions: tuple[str, ...]
    client_id: str
    client_info: Implementation | None = None
    initial_subscriptions: tuple[URI, ...] | None = None
    locale: str | None = None
    capabilities: ClientCapabilities | None = None


class InitializeResult(Wire, frozen=True, kw_only=True):
    """`protocol_version` is exactly one of the offered strings."""

    protocol_version: str
    server_seq: int
    snapshots: tuple[Snapshot, ...]
    server_info: Implementation | None = None
    default_directory: URI | None = None
    completion_trigger_characters: tuple[str, ...] | None = None
    terminal_command_prefix: str | None = None
    telemetry: TelemetryCapabilities | None = None
    automations: AutomationCapabilities | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class PingParams(RootParams, frozen=True, kw_only=True):
    pass


class ReconnectParams(RootParams, frozen=True, kw_only=True):
    """`subscriptions` is everything the client wants, complete."""

    client_id: str
    last_seen_server_seq: int
    subscriptions: tuple[URI, ...]


class ReconnectReplayResult(Wire, frozen=True, kw_only=True, tag_field="type", tag="replay"):
    """Every missed envelope in order; `missing` names what cannot be resumed."""

    actions: tuple[ActionEnvelope, ...]
    missing: tuple[URI, ...]


class ReconnectSnapshotResult(Wire, frozen=True, kw_only=True, tag_field="type", tag="snapshot"):
    snapshots: tuple[Snapshot, ...]


ReconnectResult: TypeAlias = ClosedUnion[ReconnectReplayResult | ReconnectSnapshotResult]


class SubscriptionDeliveryOptions(Wire, frozen=True, kw_only=True):
    """Upper bound on intentional buffering; 0 forbids it."""

    max_latency_ms: Number | None = None


class SubscribeView(Wire, frozen=True, kw_only=True):
    """`turns`: about how many of the newest completed turns the snapshot should have."""

    turns: Number | None = None


class SubscribeParams(Params, frozen=True, kw_only=True):
    delivery: SubscriptionDeliveryOptions | None = None
    view: SubscribeView | None = None


class SubscribeResult(Wire, frozen=True, kw_only=True):
    """Without a snapshot for a stateless channel."""

    snapshot: Snapshot | None = None


class UnsubscribeParams(Wire, frozen=True, kw_only=True):
    channel: URI


class DispatchActionParams(Wire, frozen=True, kw_only=True):
    """`client_seq` is the client's own counter, used only to recognise the echo."""

    channel: URI
    client_seq: int
    action: StateAction


class AuthenticateParams(RootParams, frozen=True, kw_only=True):
    """An empty token revokes. `expires_in` is the remaining lifetime in seconds."""

    resource: str
    token: str
    scopes: tuple[str, ...] | None = None
    expires_in: int | None = None


class AuthenticateResult(Empty, frozen=True, kw_only=True):
    pass


class AuthRequiredReason(OpenEnum):
    REQUIRED = "required"
    EXPIRED = "expired"


class AuthRequiredParams(Wire, frozen=True, kw_only=True):
    """A token is needed again, or newly, on the affected channel."""

    channel: URI
    resource: ProtectedResourceMetadata
    reason: AuthRequiredReason | None = None
