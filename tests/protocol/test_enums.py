"""Which enums are open and which are closed, as 01-wire section 20 lists them."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.protocol import status
from holdfast.protocol.catalog import types_by_name
from holdfast.protocol.codec import ClosedEnum, OpenEnum, UnionMarker, decode, encode

# The names are those of the specification. Where an enum is the discriminator of a union, the union stands beside it.
CLOSED = {
    "ChatInteractivity": None,
    "PendingMessageKind": None,
    "ChatInputResponseKind": None,
    "ChatInputAnswerState": "ChatInputAnswer",
    "TurnState": None,
    "ToolCallCancellationReason": None,
    "CustomizationLoadStatus": "CustomizationLoadState",
    "ReconnectResultType": "ReconnectResult",
    "ContentEncoding": None,
    "ResourceWriteMode": None,
    "AutomationTriggerKind": "AutomationTrigger",
    "AutomationDisableConditionKind": "AutomationDisableCondition",
}

OPEN = {
    "ActionType": "StateAction",
    "SessionLifecycle": None,
    "SessionOriginKind": "SessionOrigin",
    "SessionInputRequestKind": "SessionInputRequest",
    "CustomizationType": "Customization",
    "CustomizationEnablementKind": "CustomizationEnablement",
    "McpServerStatus": "McpServerState",
    "McpAuthRequiredReason": None,
    "ChatOriginKind": "ChatOrigin",
    "ChatSourceKind": "ChatSource",
    "ChatMoveDestinationKind": "ChatMoveDestination",
    "ChatInputQuestionKind": "ChatInputQuestion",
    "ChatInputAnswerValueKind": "ChatInputAnswerValue",
    "MessageAttachmentKind": "MessageAttachment",
    "MessageKind": None,
    "ResponsePartKind": "ResponsePart",
    "ToolCallStatus": "ToolCallState",
    "ToolCallConfirmationReason": None,
    "ToolCallRiskAssessmentKind": None,
    "ToolCallRiskAssessmentStatus": "ToolCallRiskAssessment",
    "ConfirmationOptionKind": None,
    "ToolCallContributorKind": "ToolCallContributor",
    "ToolResultContentType": "ToolResultContent",
    "BackgroundWorkKind": "BackgroundWork",
    "AuthRequiredReason": None,
    "CompletionItemKind": None,
    "ResourceType": None,
    "AutomationOperation": None,
    "AutomationMisfirePolicy": None,
}

# In neither list of the specification, hence open.
UNLISTED = [
    *("PolicyState", "ChangesetStatus", "ChangesetOperationStatus", "ChangesetOperationScope", "ChangesetSide"),
    *("TerminalClaim", "TerminalLifecycle", "TerminalContentPart", "ResourceChangeType", "ChildCustomization"),
    *("ChildCustomizationType", "ChangesetOperationTarget", "AutomationRunOrigin", "AutomationRunLifecycle"),
    # Parts of larger unions.
    *("ToolCallConfirmationState", "ChatInputAnswered", "ChatInputNumberQuestion", "ChatAction"),
]

TYPES = types_by_name()


def _is_closed(found: Any) -> bool:
    if isinstance(found, UnionMarker):
        return found.closed
    assert issubclass(found, OpenEnum | ClosedEnum)
    return issubclass(found, ClosedEnum)


def _enums_and_unions(listed: dict[str, str | None]) -> list[str]:
    return [*listed, *(union for union in listed.values() if union)]


@pytest.mark.parametrize("name", _enums_and_unions(CLOSED))
def test_closed(name: str) -> None:
    assert _is_closed(TYPES[name])


@pytest.mark.parametrize("name", [*_enums_and_unions(OPEN), *UNLISTED])
def test_open(name: str) -> None:
    assert not _is_closed(TYPES[name])


@pytest.mark.parametrize(("enum", "union"), [pair for pair in (CLOSED | OPEN).items() if pair[1]])
def test_a_discriminator_names_the_variants_of_its_union(enum: str, union: str) -> None:
    values = {str(member) for member in TYPES[enum]}
    tags = set(TYPES[union].structs)
    assert values == (tags | set(TYPES["ChildCustomization"].structs) if union == "Customization" else tags)


@pytest.mark.parametrize("name", [*CLOSED, *OPEN])
def test_unknown_values_are_kept_by_closed_enums_too(name: str) -> None:  # W-56
    assert encode(decode(TYPES[name], b'"x-future"')) == b'"x-future"'
    for known in TYPES[name]:
        assert decode(TYPES[name], encode(known)) is known


def test_nothing_is_in_neither_list() -> None:
    unions_and_enums = {
        name
        for name, found in TYPES.items()
        if isinstance(found, UnionMarker) or (isinstance(found, type) and issubclass(found, OpenEnum | ClosedEnum))
    }
    listed = {*_enums_and_unions(CLOSED), *_enums_and_unions(OPEN), *UNLISTED}
    assert unions_and_enums - {"SnapshotState"} == listed


def test_the_status_is_a_set_that_keeps_unknown_bits() -> None:  # W-57
    assert encode(decode(TYPES["SessionStatus"], b"2147483656")) == b"2147483656"


def test_status_values() -> None:  # S-10
    assert (status.IDLE, status.ERROR, status.IN_PROGRESS, status.INPUT_NEEDED) == (1, 2, 8, 24)
    assert (status.IS_READ, status.IS_ARCHIVED, status.ACTIVITY) == (32, 64, 31)
    assert status.with_activity(0x8000_0061, status.INPUT_NEEDED) == 0x8000_0078
    assert status.with_flag(1, status.IS_READ, True) == 33
    assert status.with_flag(97, status.IS_READ, False) == 65
