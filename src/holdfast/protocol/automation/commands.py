"""Commands of the automation catalogue, and what a host announces about it."""

from __future__ import annotations

from holdfast.protocol.automation.state import AutomationEvent
from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI, ConfigSchema, JsonObject, Number
from holdfast.protocol.params import Empty, Params, RootParams

__all__ = [
    "AutomationCapabilities",
    "AutomationTriggerDefinition",
    "FetchAutomationRunsParams",
    "FetchAutomationRunsResult",
    "ListAutomationTriggerDefinitionsParams",
    "ListAutomationTriggerDefinitionsResult",
    "RunAutomationParams",
    "RunAutomationResult",
    "ScheduleCapability",
]


class ScheduleCapability(Wire, frozen=True, kw_only=True):
    """Tighter schedules are refused. Absent: one minute."""

    min_interval_minutes: Number | None = None


class AutomationCapabilities(Wire, frozen=True, kw_only=True):
    """What the implementation can do; what an entry permits now is its `operations`. Presence flags."""

    create: JsonObject | None = None
    schedules: ScheduleCapability | None = None
    run_cancellation: JsonObject | None = None
    run_history_limit: Number | None = None
    customizations: JsonObject | None = None


class ListAutomationTriggerDefinitionsParams(RootParams, frozen=True, kw_only=True):
    provider: str | None = None
    working_directories: tuple[URI, ...] | None = None
    session_config: JsonObject | None = None


class AutomationTriggerDefinition(Wire, frozen=True, kw_only=True):
    type: str
    title: str
    events: tuple[AutomationEvent, ...]
    description: str | None = None
    config_schema: ConfigSchema | None = None


class ListAutomationTriggerDefinitionsResult(Wire, frozen=True, kw_only=True):
    items: tuple[AutomationTriggerDefinition, ...]


class RunAutomationParams(Params, frozen=True, kw_only=True):
    """The same `request_id` always names the same run."""

    automation: URI
    request_id: str


class RunAutomationResult(Wire, frozen=True, kw_only=True):
    resource: URI


class FetchAutomationRunsParams(Params, frozen=True, kw_only=True):
    automation: URI
    cursor: str | None = None


class FetchAutomationRunsResult(Empty, frozen=True, kw_only=True):
    """The longer window comes as an `automation/set` action before this answer."""
