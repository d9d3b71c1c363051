"""Which enums are open and which are closed, as 01-wire section 20 lists them."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.protocol import status
from holdfast.protocol.catalog import types_by_name
from holdfast.protocol.codec import ClosedEnum, OpenEnum, UnionMarker

CLOSED = [
    *("ChatInteractivity", "PendingMessageKind", "ChatInputResponseKind", "ChatInputAnswer", "TurnState"),
    *("ToolCallCancellationReason", "CustomizationLoadState", "ReconnectResult", "ContentEncoding"),
    *("ResourceWriteMode", "AutomationTrigger", "AutomationDisableCondition"),
]

OPEN = [
    *("SessionLifecycle", "SessionOrigin", "SessionInputRequest", "Customization", "ChildCustomization"),
    *("ChildCustomizationType", "CustomizationEnablement", "McpServerState", "McpAuthRequiredReason"),
    *("ChatOrigin", "ChatSource", "ChatMoveDestination", "ChatInputQuestion", "ChatInputAnswerValue"),
    *("MessageAttachment", "MessageKind", "ResponsePart", "ToolCallState", "ToolCallConfirmationReason"),
    *("ToolCallRiskAssessment", "ToolCallRiskAssessmentKind", "ConfirmationOptionKind"),
    *("ToolCallContributor", "ToolResultContent", "BackgroundWork", "AuthRequiredReason"),
    *("CompletionItemKind", "ResourceType", "AutomationOperation", "AutomationMisfirePolicy"),
    # In neither list of the specification, hence open.
    *("PolicyState", "ChangesetStatus", "ChangesetOperationStatus", "ChangesetOperationScope"),
    *("TerminalClaim", "TerminalLifecycle", "TerminalContentPart", "ResourceChangeType"),
    *("ChangesetOperationTarget", "AutomationRunOrigin", "AutomationRunLifecycle", "StateAction"),
]

TYPES = types_by_name()


def _is_closed(found: Any) -> bool:
    if isinstance(found, UnionMarker):
        return found.closed
    assert issubclass(found, OpenEnum | ClosedEnum)
    return issubclass(found, ClosedEnum)


@pytest.mark.parametrize("name", CLOSED)
def test_closed(name: str) -> None:
    assert _is_closed(TYPES[name])


@pytest.mark.parametrize("name", OPEN)
def test_open(name: str) -> None:
    assert not _is_closed(TYPES[name])


def test_nothing_is_in_neither_list() -> None:
    unions_and_enums = {
        name
        for name, found in TYPES.items()
        if isinstance(found, UnionMarker) or (isinstance(found, type) and issubclass(found, OpenEnum | ClosedEnum))
    }
    shaped = {"SnapshotState"}
    # Named parts of larger unions, and ours alone.
    parts = {"ToolCallConfirmationState", "ChatInputAnswered", "ChangesetSide"}
    assert unions_and_enums - shaped - parts == set(OPEN) | set(CLOSED)


def test_status_values() -> None:  # S-10
    assert (status.IDLE, status.ERROR, status.IN_PROGRESS, status.INPUT_NEEDED) == (1, 2, 8, 24)
    assert (status.IS_READ, status.IS_ARCHIVED, status.ACTIVITY) == (32, 64, 31)
    assert status.with_activity(0x8000_0061, status.INPUT_NEEDED) == 0x8000_0078
    assert status.with_flag(1, status.IS_READ, True) == 33
    assert status.with_flag(97, status.IS_READ, False) == 65
