"""Actions of a chat channel. Which of them clients may dispatch: `versions.ACTIONS`."""

from __future__ import annotations

from msgspec import field

from holdfast.protocol.canvas.state import CanvasReference
from holdfast.protocol.changeset.state import Changeset
from holdfast.protocol.chat import parts
from holdfast.protocol.chat.inputs import ChatInputAnswer, ChatInputRequest, ChatInputResponseKind
from holdfast.protocol.chat.messages import Message
from holdfast.protocol.chat.state import BackgroundWork, Turn
from holdfast.protocol.chat.tools import (
    ConfirmationOption,
    ToolCallCancellationReason,
    ToolCallConfirmationReason,
    ToolCallContributor,
    ToolCallResult,
    ToolCallRiskAssessment,
    ToolInput,
    ToolResultContent,
)
from holdfast.protocol.codec import ClosedEnum, Wire
from holdfast.protocol.common import (
    URI,
    FileEditCollection,
    JsonObject,
    McpAuthRequirement,
    Number,
    StringOrMarkdown,
    Timestamp,
    UsageInfo,
)

__all__ = [
    "ActivityChanged",
    "BackgroundWorkRemoved",
    "BackgroundWorkSet",
    "CanvasesChanged",
    "ChangesetsChanged",
    "Delta",
    "DraftChanged",
    "Error",
    "InputAnswerChanged",
    "InputCompleted",
    "InputRequested",
    "IsArchivedChanged",
    "IsReadChanged",
    "MovableChanged",
    "PendingMessageKind",
    "PendingMessageRemoved",
    "PendingMessageSet",
    "QueuedMessagesReordered",
    "Reasoning",
    "ResponsePart",
    "ToolCallAuthRequired",
    "ToolCallAuthResolved",
    "ToolCallComplete",
    "ToolCallConfirmed",
    "ToolCallContentChanged",
    "ToolCallDelta",
    "ToolCallReady",
    "ToolCallResultConfirmed",
    "ToolCallStart",
    "Truncated",
    "TurnCancelled",
    "TurnComplete",
    "TurnResume",
    "TurnStarted",
    "TurnsLoaded",
    "Usage",
    "WorkingDirectoryRemoved",
    "WorkingDirectorySet",
]


class PendingMessageKind(ClosedEnum):
    STEERING = "steering"
    QUEUED = "queued"


class TurnAction(Wire, frozen=True, kw_only=True):
    """An action about one turn."""

    turn_id: str
    meta: JsonObject | None = field(default=None, name="_meta")


class ToolCallAction(TurnAction, frozen=True, kw_only=True):
    """An action about one tool call of the active turn."""

    tool_call_id: str


class TurnStarted(TurnAction, frozen=True, kw_only=True, tag_field="type", tag="chat/turnStarted"):
    started_at: Timestamp
    message: Message
    queued_message_id: str | None = None


class Delta(TurnAction, frozen=True, kw_only=True, tag_field="type", tag="chat/delta"):
    part_id: str
    content: str


class Reasoning(TurnAction, frozen=True, kw_only=True, tag_field="type", tag="chat/reasoning"):
    part_id: str
    content: str


class ResponsePart(TurnAction, frozen=True, kw_only=True, tag_field="type", tag="chat/responsePart"):
    part: parts.ResponsePart


class Usage(TurnAction, frozen=True, kw_only=True, tag_field="type", tag="chat/usage"):
    usage: UsageInfo


class TurnComplete(TurnAction, frozen=True, kw_only=True, tag_field="type", tag="chat/turnComplete"):
    duration: Number


class TurnCancelled(TurnAction, frozen=True, kw_only=True, tag_field="type", tag="chat/turnCancelled"):
    duration: Number


class Error(TurnAction, frozen=True, kw_only=True, tag_field="type", tag="chat/error"):
    duration: Number
    part: parts.ErrorResponsePart


class TurnResume(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/turnResume"):
    turn_id: str


class Truncated(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/truncated"):
    """Keep the turns through `turn_id`; without it, none."""

    turn_id: str | None = None


class TurnsLoaded(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/turnsLoaded"):
    """Older turns, oldest first."""

    turns: tuple[Turn, ...]
    turns_next_cursor: str | None = None


class ToolCallStart(ToolCallAction, frozen=True, kw_only=True, tag_field="type", tag="chat/toolCallStart"):
    tool_name: str
    display_name: str
    intention: str | None = None
    contributor: ToolCallContributor | None = None


class ToolCallDelta(ToolCallAction, frozen=True, kw_only=True, tag_field="type", tag="chat/toolCallDelta"):
    content: str | None = None
    invocation_message: StringOrMarkdown | None = None


class ToolCallReady(ToolCallAction, frozen=True, kw_only=True, tag_field="type", tag="chat/toolCallReady"):
    """With `confirmed`: runs at once. Without: waits for a person."""

    invocation_message: StringOrMarkdown
    contributor: ToolCallContributor | None = None
    intention: str | None = None
    tool_input: ToolInput | None = None
    confirmation_title: StringOrMarkdown | None = None
    risk_assessment: ToolCallRiskAssessment | None = None
    edits: FileEditCollection | None = None
    editable: bool | None = None
    confirmed: ToolCallConfirmationReason | None = None
    options: tuple[ConfirmationOption, ...] | None = None


class ToolCallConfirmed(ToolCallAction, frozen=True, kw_only=True, tag_field="type", tag="chat/toolCallConfirmed"):
    """Approved: `confirmed`, perhaps `edited_tool_input`. Not: `reason`, perhaps a message or suggestion."""

    approved: bool
    confirmed: ToolCallConfirmationReason | None = None
    edited_tool_input: str | None = None
    reason: ToolCallCancellationReason | None = None
    reason_message: StringOrMarkdown | None = None
    user_suggestion: Message | None = None
    selected_option_id: str | None = None


class ToolCallComplete(ToolCallAction, frozen=True, kw_only=True, tag_field="type", tag="chat/toolCallComplete"):
    result: ToolCallResult
    requires_result_confirmation: bool | None = None


class ToolCallResultConfirmed(
    ToolCallAction, frozen=True, kw_only=True, tag_field="type", tag="chat/toolCallResultConfirmed"
):
    approved: bool


class ToolCallContentChanged(
    ToolCallAction, frozen=True, kw_only=True, tag_field="type", tag="chat/toolCallContentChanged"
):
    """`content` is the complete list."""

    content: tuple[ToolResultContent, ...]


class ToolCallAuthRequired(
    ToolCallAction, frozen=True, kw_only=True, tag_field="type", tag="chat/toolCallAuthRequired"
):
    auth: McpAuthRequirement


class ToolCallAuthResolved(
    ToolCallAction, frozen=True, kw_only=True, tag_field="type", tag="chat/toolCallAuthResolved"
):
    pass


class ActivityChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/activityChanged"):
    activity: str | None = None


class PendingMessageSet(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/pendingMessageSet"):
    kind: PendingMessageKind
    id: str
    message: Message


class PendingMessageRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/pendingMessageRemoved"):
    kind: PendingMessageKind
    id: str


class QueuedMessagesReordered(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/queuedMessagesReordered"):
    order: tuple[str, ...]


class DraftChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/draftChanged"):
    draft: Message | None = None


class InputRequested(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/inputRequested"):
    request: ChatInputRequest


class InputAnswerChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/inputAnswerChanged"):
    """Without `answer` the answer is cleared."""

    request_id: str
    question_id: str
    answer: ChatInputAnswer | None = None


class InputCompleted(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/inputCompleted"):
    request_id: str
    response: ChatInputResponseKind
    answers: dict[str, ChatInputAnswer] | None = None


class WorkingDirectorySet(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/workingDirectorySet"):
    directory: URI


class WorkingDirectoryRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/workingDirectoryRemoved"):
    directory: URI


class IsReadChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/isReadChanged"):
    is_read: bool


class IsArchivedChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/isArchivedChanged"):
    is_archived: bool


class MovableChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/movableChanged"):
    movable: bool


class ChangesetsChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/changesetsChanged"):
    changesets: tuple[Changeset, ...] | None = None


class CanvasesChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/canvasesChanged"):
    canvases: tuple[CanvasReference, ...] | None = None


class BackgroundWorkSet(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/backgroundWorkSet"):
    work: BackgroundWork


class BackgroundWorkRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="chat/backgroundWorkRemoved"):
    id: str
