"""State of the automation catalogue and of one run."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from holdfast.protocol.chat.messages import Message
from holdfast.protocol.codec import ClosedUnion, OpenEnum, OpenUnion, Wire
from holdfast.protocol.common import (
    URI,
    AgentSelection,
    ErrorInfo,
    JsonObject,
    ModelSelection,
    Number,
    Timestamp,
    UsageInfo,
)
from holdfast.protocol.session.customizations import ClientPluginCustomization, PluginCustomization

__all__ = [
    "AfterDateCondition",
    "AfterRunsCondition",
    "AutomationDefinition",
    "AutomationDisableCondition",
    "AutomationEntry",
    "AutomationEvent",
    "AutomationEventTrigger",
    "AutomationMisfirePolicy",
    "AutomationOperation",
    "AutomationRunCancelled",
    "AutomationRunCompleted",
    "AutomationRunFailed",
    "AutomationRunLifecycle",
    "AutomationRunManualOrigin",
    "AutomationRunOrigin",
    "AutomationRunPending",
    "AutomationRunRunning",
    "AutomationRunState",
    "AutomationRunSummary",
    "AutomationRunTriggerOrigin",
    "AutomationSchedule",
    "AutomationScheduleTrigger",
    "AutomationSessionTemplate",
    "AutomationState",
    "AutomationTrigger",
]


class AutomationOperation(OpenEnum):
    UPDATE = "update"
    REMOVE = "remove"
    RUN = "run"


class AutomationMisfirePolicy(OpenEnum):
    """What to do about occurrences missed while the host was away. Absent means `runOnce`."""

    SKIP = "skip"
    RUN_ONCE = "runOnce"


class AutomationSchedule(Wire, frozen=True, kw_only=True):
    """Five cron fields, evaluated in an IANA time zone."""

    expression: str
    time_zone: str


class AutomationEvent(Wire, frozen=True, kw_only=True):
    id: str
    title: str
    description: str | None = None


class AutomationScheduleTrigger(Wire, frozen=True, kw_only=True, tag_field="kind", tag="schedule"):
    id: str
    schedule: AutomationSchedule
    misfire_policy: AutomationMisfirePolicy | None = None


class AutomationEventTrigger(Wire, frozen=True, kw_only=True, tag_field="kind", tag="event"):
    id: str
    type: str
    title: str
    events: tuple[AutomationEvent, ...]
    description: str | None = None
    config: JsonObject | None = None


AutomationTrigger: TypeAlias = ClosedUnion[AutomationScheduleTrigger | AutomationEventTrigger]


class AfterRunsCondition(Wire, frozen=True, kw_only=True, tag_field="kind", tag="afterRuns"):
    max: int


class AfterDateCondition(Wire, frozen=True, kw_only=True, tag_field="kind", tag="afterDate"):
    date: Timestamp


AutomationDisableCondition: TypeAlias = ClosedUnion[AfterRunsCondition | AfterDateCondition]


class AutomationSessionTemplate(Wire, frozen=True, kw_only=True):
    provider: str | None = None
    model: ModelSelection | None = None
    agent: AgentSelection | None = None
    working_directories: tuple[URI, ...] | None = None
    config: JsonObject | None = None
    customizations: tuple[OpenUnion[ClientPluginCustomization], ...] | None = None


class AutomationDefinition(Wire, frozen=True, kw_only=True):
    """`enabled` governs automatic triggers only; no triggers means by hand only."""

    title: str
    message: Message
    session: AutomationSessionTemplate
    enabled: bool
    triggers: tuple[AutomationTrigger, ...]
    disable_conditions: tuple[AutomationDisableCondition, ...] | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class AutomationRunManualOrigin(Wire, frozen=True, kw_only=True, tag_field="kind", tag="manual"):
    pass


class AutomationRunTriggerOrigin(Wire, frozen=True, kw_only=True, tag_field="kind", tag="trigger"):
    trigger_id: str
    scheduled_for: Timestamp | None = None
    catch_up: bool | None = None
    event: JsonObject | None = None


AutomationRunOrigin: TypeAlias = OpenUnion[AutomationRunManualOrigin | AutomationRunTriggerOrigin]


class AutomationRunPending(Wire, frozen=True, kw_only=True, tag_field="status", tag="pending"):
    created_at: Timestamp


class AutomationRunRunning(Wire, frozen=True, kw_only=True, tag_field="status", tag="running"):
    created_at: Timestamp
    started_at: Timestamp


class AutomationRunCompleted(Wire, frozen=True, kw_only=True, tag_field="status", tag="completed"):
    created_at: Timestamp
    started_at: Timestamp
    completed_at: Timestamp
    usage: UsageInfo | None = None


class AutomationRunFailed(Wire, frozen=True, kw_only=True, tag_field="status", tag="failed"):
    created_at: Timestamp
    completed_at: Timestamp
    error: ErrorInfo
    started_at: Timestamp | None = None


class AutomationRunCancelled(Wire, frozen=True, kw_only=True, tag_field="status", tag="cancelled"):
    created_at: Timestamp
    completed_at: Timestamp
    started_at: Timestamp | None = None


AutomationRunLifecycle: TypeAlias = OpenUnion[
    AutomationRunPending
    | AutomationRunRunning
    | AutomationRunCompleted
    | AutomationRunFailed
    | AutomationRunCancelled
]


class AutomationRunBase(Wire, frozen=True, kw_only=True):
    """`origin` never changes; `primary_session` is the one to open first."""

    resource: URI
    automation: URI
    origin: AutomationRunOrigin
    lifecycle: AutomationRunLifecycle
    primary_session: URI | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class AutomationRunSummary(AutomationRunBase, frozen=True, kw_only=True):
    session_count: Number


class AutomationRunState(AutomationRunBase, frozen=True, kw_only=True):
    sessions: tuple[URI, ...]


class AutomationEntry(Wire, frozen=True, kw_only=True):
    """`runs` is a window, newest first; more history exists while `runs_next_cursor` is present."""

    resource: URI
    definition: AutomationDefinition
    runs: tuple[AutomationRunSummary, ...]
    operations: tuple[AutomationOperation, ...]
    created_at: Timestamp
    modified_at: Timestamp
    next_run_at: Timestamp | None = None
    run_count: int | None = None
    runs_next_cursor: str | None = None
    customizations: tuple[OpenUnion[PluginCustomization], ...] | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class AutomationState(Wire, frozen=True, kw_only=True):
    entries: tuple[AutomationEntry, ...]
    meta: JsonObject | None = field(default=None, name="_meta")
