"""Tool calls and their results (04-chat, section 7): one struct per status of the state machine."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from holdfast.protocol.chat.messages import Message
from holdfast.protocol.codec import ClosedEnum, OpenEnum, OpenUnion, Wire
from holdfast.protocol.common import (
    URI,
    ContentRef,
    FileEditCollection,
    FileEditDiffStats,
    FileEditSide,
    JsonObject,
    McpAuthRequirement,
    Number,
    StringOrMarkdown,
)
from holdfast.protocol.text import StreamedText

__all__ = [
    "ConfirmationOption",
    "ConfirmationOptionKind",
    "TerminalCommandResult",
    "ToolCallAuthRequiredState",
    "ToolCallBase",
    "ToolCallCancellationReason",
    "ToolCallCancelledState",
    "ToolCallClientContributor",
    "ToolCallCompletedState",
    "ToolCallConfirmationReason",
    "ToolCallConfirmationState",
    "ToolCallContributor",
    "ToolCallError",
    "ToolCallMcpContributor",
    "ToolCallPendingConfirmationState",
    "ToolCallPendingResultConfirmationState",
    "ToolCallResult",
    "ToolCallRiskAssessment",
    "ToolCallRiskAssessmentCompleteState",
    "ToolCallRiskAssessmentKind",
    "ToolCallRiskAssessmentLoadingState",
    "ToolCallRunningState",
    "ToolCallState",
    "ToolCallStreamingState",
    "ToolInput",
    "ToolResultContent",
    "ToolResultEmbeddedResourceContent",
    "ToolResultFileEditContent",
    "ToolResultResourceContent",
    "ToolResultSubagentContent",
    "ToolResultTerminalContent",
    "ToolResultTextContent",
]

ToolInput: TypeAlias = str | ContentRef
"""Inline text, or a reference that stays mutable until the call leaves pending-confirmation."""


class ToolCallClientContributor(Wire, frozen=True, kw_only=True, tag_field="kind", tag="client"):
    """That client executes the call."""

    client_id: str


class ToolCallMcpContributor(Wire, frozen=True, kw_only=True, tag_field="kind", tag="mcp"):
    customization_id: str


ToolCallContributor: TypeAlias = OpenUnion[ToolCallClientContributor | ToolCallMcpContributor]
"""Who brought the tool. Absent: the host itself."""


class ConfirmationOptionKind(OpenEnum):
    APPROVE = "approve"
    DENY = "deny"


class ConfirmationOption(Wire, frozen=True, kw_only=True):
    """A button, shown in order; a different `group` draws a divider."""

    id: str
    label: str
    kind: ConfirmationOptionKind
    group: Number | None = None


class ToolCallRiskAssessmentKind(OpenEnum):
    JUDGE = "judge"


class ToolCallRiskAssessmentLoadingState(Wire, frozen=True, kw_only=True, tag_field="status", tag="loading"):
    kind: ToolCallRiskAssessmentKind


class ToolCallRiskAssessmentCompleteState(Wire, frozen=True, kw_only=True, tag_field="status", tag="complete"):
    """`safety` runs from 0 to 1, where 1 is safe."""

    kind: ToolCallRiskAssessmentKind
    reason: StringOrMarkdown
    safety: Number


ToolCallRiskAssessment: TypeAlias = OpenUnion[
    ToolCallRiskAssessmentLoadingState | ToolCallRiskAssessmentCompleteState
]


class ToolCallConfirmationReason(OpenEnum):
    NOT_NEEDED = "not-needed"
    USER_ACTION = "user-action"
    SETTING = "setting"


class ToolCallCancellationReason(ClosedEnum):
    DENIED = "denied"
    SKIPPED = "skipped"
    RESULT_DENIED = "result-denied"


class ToolResultTextContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="text"):
    text: str


class ToolResultEmbeddedResourceContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="embeddedResource"):
    """`data` is base64."""

    data: str
    content_type: str


class ToolResultResourceContent(ContentRef, frozen=True, kw_only=True, tag_field="type", tag="resource"):
    pass


class ToolResultFileEditContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="fileEdit"):
    """The fields of a `FileEdit`."""

    before: FileEditSide | None = None
    after: FileEditSide | None = None
    diff: FileEditDiffStats | None = None


class TerminalCommandResult(Wire, frozen=True, kw_only=True):
    """Filled when the command ended; the terminal may run on."""

    exit_code: int | None = None
    preview: str | None = None
    truncated: bool | None = None


class ToolResultTerminalContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal"):
    resource: URI
    title: str
    is_pty: bool | None = None
    result: TerminalCommandResult | None = None


class ToolResultSubagentContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="subagent"):
    """`resource` is the worker's chat."""

    resource: URI
    title: str
    agent_name: str | None = None
    description: str | None = None


ToolResultContent: TypeAlias = OpenUnion[
    ToolResultTextContent
    | ToolResultEmbeddedResourceContent
    | ToolResultResourceContent
    | ToolResultFileEditContent
    | ToolResultTerminalContent
    | ToolResultSubagentContent
]


class ToolCallError(Wire, frozen=True, kw_only=True):
    message: str
    code: str | None = None


class ToolCallResult(Wire, frozen=True, kw_only=True):
    success: bool
    past_tense_message: StringOrMarkdown
    content: tuple[ToolResultContent, ...] | None = None
    structured_content: JsonObject | None = None
    error: ToolCallError | None = None


class ToolCallBase(Wire, frozen=True, kw_only=True):
    """What every status carries."""

    tool_call_id: str
    tool_name: str
    display_name: str
    intention: str | None = None
    contributor: ToolCallContributor | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class ToolCallStreamingState(ToolCallBase, frozen=True, kw_only=True, tag_field="status", tag="streaming"):
    partial_input: StreamedText | None = None
    invocation_message: StringOrMarkdown | None = None


class ToolCallWithInput(ToolCallBase, frozen=True, kw_only=True):
    invocation_message: StringOrMarkdown
    tool_input: ToolInput | None = None


class ToolCallPendingConfirmationState(
    ToolCallWithInput, frozen=True, kw_only=True, tag_field="status", tag="pending-confirmation"
):
    confirmation_title: StringOrMarkdown | None = None
    risk_assessment: ToolCallRiskAssessment | None = None
    edits: FileEditCollection | None = None
    editable: bool | None = None
    options: tuple[ConfirmationOption, ...] | None = None


class ToolCallConfirmed(ToolCallWithInput, frozen=True, kw_only=True):
    confirmed: ToolCallConfirmationReason
    selected_option: ConfirmationOption | None = None


class ToolCallRunningState(ToolCallConfirmed, frozen=True, kw_only=True, tag_field="status", tag="running"):
    content: tuple[ToolResultContent, ...] | None = None


class ToolCallAuthRequiredState(
    ToolCallConfirmed, frozen=True, kw_only=True, tag_field="status", tag="auth-required"
):
    """`contributor` is always there, and an MCP server."""

    contributor: ToolCallContributor
    auth: McpAuthRequirement
    content: tuple[ToolResultContent, ...] | None = None


class ToolCallFinished(ToolCallConfirmed, frozen=True, kw_only=True):
    success: bool
    past_tense_message: StringOrMarkdown
    content: tuple[ToolResultContent, ...] | None = None
    structured_content: JsonObject | None = None
    error: ToolCallError | None = None


class ToolCallPendingResultConfirmationState(
    ToolCallFinished, frozen=True, kw_only=True, tag_field="status", tag="pending-result-confirmation"
):
    pass


class ToolCallCompletedState(ToolCallFinished, frozen=True, kw_only=True, tag_field="status", tag="completed"):
    pass


class ToolCallCancelledState(ToolCallWithInput, frozen=True, kw_only=True, tag_field="status", tag="cancelled"):
    reason: ToolCallCancellationReason
    reason_message: StringOrMarkdown | None = None
    user_suggestion: Message | None = None
    selected_option: ConfirmationOption | None = None


ToolCallState: TypeAlias = OpenUnion[
    ToolCallStreamingState
    | ToolCallPendingConfirmationState
    | ToolCallRunningState
    | ToolCallAuthRequiredState
    | ToolCallPendingResultConfirmationState
    | ToolCallCompletedState
    | ToolCallCancelledState
]

ToolCallConfirmationState: TypeAlias = OpenUnion[
    ToolCallPendingConfirmationState | ToolCallPendingResultConfirmationState
]
"""A call that waits for a person."""
