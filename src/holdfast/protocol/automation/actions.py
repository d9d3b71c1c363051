"""Actions of the automation catalogue and of a run. Requests change no state; the host answers with `Set`."""

from __future__ import annotations

from msgspec import UNSET, field

from holdfast.protocol.automation.state import (
    AutomationDefinition,
    AutomationDisableCondition,
    AutomationEntry,
    AutomationRunLifecycle,
    AutomationSessionTemplate,
    AutomationTrigger,
)
from holdfast.protocol.chat.messages import Message
from holdfast.protocol.codec import Patch, Patched, Wire
from holdfast.protocol.common import URI, JsonObject

__all__ = [
    "CancelRequested",
    "CreateRequested",
    "LifecycleChanged",
    "PartialAutomationDefinition",
    "PrimarySessionChanged",
    "Removed",
    "SessionRemoved",
    "SessionSet",
    "Set",
    "UpdateRequested",
]


class CreateRequested(Wire, frozen=True, kw_only=True, tag_field="type", tag="automation/createRequested"):
    resource: URI
    definition: AutomationDefinition


class PartialAutomationDefinition(Patch, frozen=True, kw_only=True):
    """Keys that are given replace the definition's, arrays and objects whole."""

    title: Patched[str] = UNSET
    message: Patched[Message] = UNSET
    session: Patched[AutomationSessionTemplate] = UNSET
    enabled: Patched[bool] = UNSET
    triggers: Patched[tuple[AutomationTrigger, ...]] = UNSET
    disable_conditions: Patched[tuple[AutomationDisableCondition, ...]] = UNSET
    meta: Patched[JsonObject] = field(default=UNSET, name="_meta")


class UpdateRequested(Wire, frozen=True, kw_only=True, tag_field="type", tag="automation/updateRequested"):
    resource: URI
    changes: PartialAutomationDefinition


class Set(Wire, frozen=True, kw_only=True, tag_field="type", tag="automation/set"):
    automation: AutomationEntry


class Removed(Wire, frozen=True, kw_only=True, tag_field="type", tag="automation/removed"):
    resource: URI


class LifecycleChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="automationRun/lifecycleChanged"):
    lifecycle: AutomationRunLifecycle


class SessionSet(Wire, frozen=True, kw_only=True, tag_field="type", tag="automationRun/sessionSet"):
    session: URI


class SessionRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="automationRun/sessionRemoved"):
    session: URI


class PrimarySessionChanged(
    Wire, frozen=True, kw_only=True, tag_field="type", tag="automationRun/primarySessionChanged"
):
    primary_session: URI | None = None


class CancelRequested(Wire, frozen=True, kw_only=True, tag_field="type", tag="automationRun/cancelRequested"):
    pass
