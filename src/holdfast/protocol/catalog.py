"""Every wire type by the name the protocol gives it.

The names are those of the published schemas: `Turn`, `InitializeResult`, `ChatDeltaAction`. Used where a type
is named by a string: the black-box checks of `holdfast debug`, and the comparison with the schemas.
"""

from __future__ import annotations

import re
from functools import cache
from types import ModuleType
from typing import Any, TypeAlias

from holdfast.protocol import common, envelope, error_data, jsonrpc, params, snapshot, status
from holdfast.protocol.annotations import state as remarks
from holdfast.protocol.automation import actions as automation_actions
from holdfast.protocol.automation import commands as automation_commands
from holdfast.protocol.automation import state as automation
from holdfast.protocol.canvas import state as canvas
from holdfast.protocol.changeset import commands as changeset_commands
from holdfast.protocol.changeset import state as changeset
from holdfast.protocol.chat import actions as chat_actions
from holdfast.protocol.chat import commands as chat_commands
from holdfast.protocol.chat import inputs, messages, parts, tools
from holdfast.protocol.chat import state as chat
from holdfast.protocol.codec import ClosedEnum, OpenEnum, OpenUnion
from holdfast.protocol.connection import commands as connection
from holdfast.protocol.resources import commands as resources
from holdfast.protocol.root import commands as root_commands
from holdfast.protocol.root import state as root
from holdfast.protocol.session import actions as session_actions
from holdfast.protocol.session import commands as session_commands
from holdfast.protocol.session import customizations
from holdfast.protocol.session import state as session
from holdfast.protocol.telemetry import notifications as telemetry
from holdfast.protocol.terminal import commands as terminal_commands
from holdfast.protocol.terminal import state as terminal
from holdfast.protocol.watch import actions as watch_actions
from holdfast.protocol.watch import commands as watch_commands
from holdfast.protocol.watch import state as watch

__all__ = ["DISCRIMINATORS", "TYPE_MODULES", "action_name", "types_by_name"]

TYPE_MODULES: tuple[ModuleType, ...] = (
    common,
    params,
    error_data,
    envelope,
    snapshot,
    root,
    root_commands,
    session,
    session_commands,
    customizations,
    chat,
    chat_commands,
    messages,
    inputs,
    tools,
    parts,
    terminal,
    terminal_commands,
    changeset,
    changeset_commands,
    remarks,
    watch,
    watch_commands,
    automation,
    automation_commands,
    canvas,
    telemetry,
    resources,
    connection,
)
"""The modules whose public names are wire types under the protocol's own names."""

_Answered: TypeAlias = OpenUnion[inputs.ChatInputDraftAnswer | inputs.ChatInputSubmittedAnswer]
_NumberQuestion: TypeAlias = OpenUnion[inputs.ChatInputNumberQuestion | inputs.ChatInputIntegerQuestion]

# Names of ours that differ from the published ones, and parts of action modules that are types of their own.
_OTHER_NAMES: dict[str, Any] = {
    "PartialSessionSummary": root_commands.PartialSessionSummary,
    "PartialChatSummary": session_actions.PartialChatSummary,
    "PartialAutomationDefinition": automation_actions.PartialAutomationDefinition,
    "PendingMessageKind": chat_actions.PendingMessageKind,
    "ResourceChange": watch_actions.ResourceChange,
    "ResourceChangeType": watch_actions.ResourceChangeType,
    "BaseParams": params.Params,
    "ChatAction": envelope.StateAction,
    "ChatInputAnswered": _Answered,
    "ChatInputNumberQuestion": _NumberQuestion,
    "SessionStatus": status.Status,
    "ChatToolCallApprovedAction": chat_actions.ToolCallConfirmed,
    "ChatToolCallDeniedAction": chat_actions.ToolCallConfirmed,
    "URI": str,
    "JsonRpcRequest": jsonrpc.Request,
    "JsonRpcNotification": jsonrpc.Notification,
    "JsonRpcSuccessResponse": jsonrpc.Success,
    "JsonRpcErrorResponse": jsonrpc.Failure,
}

DISCRIMINATORS: dict[str, tuple[Any, ...]] = {
    "ActionType": (envelope.StateAction,),
    "AutomationDisableConditionKind": (automation.AutomationDisableCondition,),
    "AutomationTriggerKind": (automation.AutomationTrigger,),
    "BackgroundWorkKind": (chat.BackgroundWork,),
    "ChatInputAnswerState": (inputs.ChatInputAnswer,),
    "ChatInputAnswerValueKind": (inputs.ChatInputAnswerValue,),
    "ChatInputQuestionKind": (inputs.ChatInputQuestion,),
    "ChatMoveDestinationKind": (session_commands.ChatMoveDestination,),
    "ChatOriginKind": (chat.ChatOrigin,),
    "ChatSourceKind": (chat_commands.ChatSource,),
    "CustomizationEnablementKind": (customizations.CustomizationEnablement,),
    "CustomizationLoadStatus": (customizations.CustomizationLoadState,),
    "CustomizationType": (customizations.Customization, customizations.ChildCustomization),
    "McpServerStatus": (customizations.McpServerState,),
    "MessageAttachmentKind": (messages.MessageAttachment,),
    "ReconnectResultType": (connection.ReconnectResult,),
    "ResponsePartKind": (parts.ResponsePart,),
    "SessionInputRequestKind": (session.SessionInputRequest,),
    "SessionOriginKind": (session.SessionOrigin,),
    "ToolCallContributorKind": (tools.ToolCallContributor,),
    "ToolCallRiskAssessmentStatus": (tools.ToolCallRiskAssessment,),
    "ToolCallStatus": (tools.ToolCallState,),
    "ToolResultContentType": (tools.ToolResultContent,),
}
"""Enums that the specification names and that tell the variants of unions apart: here the unions say them."""


def _discriminator(name: str, unions: tuple[Any, ...]) -> Any:
    base: Any = ClosedEnum if unions[0].closed else OpenEnum
    tags = dict.fromkeys(tag for union in unions for tag in union.structs)
    return base(name, {re.sub(r"\W|(?=[A-Z])", "_", tag).upper(): tag for tag in tags})


def action_name(action_type: str) -> str:
    """The published name of an action: `chat/toolCallReady` is `ChatToolCallReadyAction`."""
    family, _, what = action_type.partition("/")
    return f"{family[:1].upper()}{family[1:]}{what[:1].upper()}{what[1:]}Action"


@cache
def types_by_name() -> dict[str, Any]:
    """Every type that has a name of its own: structs, unions, enums, actions, params and results."""
    found: dict[str, Any] = {
        name: getattr(module, name)
        for module in TYPE_MODULES
        for name in module.__all__
        if name[:1].isupper() and not name.isupper()
    }
    found |= {action_name(tag): struct for tag, struct in envelope.ACTION_TYPES.items()}
    found |= {name: _discriminator(name, unions) for name, unions in DISCRIMINATORS.items()}
    return found | _OTHER_NAMES
