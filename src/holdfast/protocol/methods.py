"""Every command and notification: who sends it, and the types of its params and result."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

from holdfast.protocol.automation import commands as automation
from holdfast.protocol.changeset import commands as changeset
from holdfast.protocol.chat import commands as chat
from holdfast.protocol.connection import commands as connection
from holdfast.protocol.envelope import ActionEnvelope
from holdfast.protocol.resources import commands as resources
from holdfast.protocol.root import commands as root
from holdfast.protocol.session import commands as session
from holdfast.protocol.telemetry import notifications as telemetry
from holdfast.protocol.terminal import commands as terminal
from holdfast.protocol.watch import commands as watch

__all__ = ["NOTIFICATIONS", "REQUESTS", "Direction", "NotificationInfo", "RequestInfo"]


class Direction(Enum):
    """Who may send a message."""

    TO_HOST = "to host"
    TO_CLIENT = "to client"
    BOTH = "both"


class RequestInfo(NamedTuple):
    """`result` None means that success is `null`. `root`: the channel is always `ahp-root://`."""

    params: Any
    result: Any
    direction: Direction
    root: bool


class NotificationInfo(NamedTuple):
    params: Any
    direction: Direction


def _to_host(params: Any, result: Any) -> RequestInfo:
    return RequestInfo(params, result, Direction.TO_HOST, False)


def _root(params: Any, result: Any) -> RequestInfo:
    return RequestInfo(params, result, Direction.TO_HOST, True)


def _both(params: Any, result: Any) -> RequestInfo:
    return RequestInfo(params, result, Direction.BOTH, True)


REQUESTS: Final[dict[str, RequestInfo]] = {
    "initialize": _root(connection.InitializeParams, connection.InitializeResult),
    "ping": _root(connection.PingParams, None),
    "reconnect": _root(connection.ReconnectParams, connection.ReconnectResult),
    "subscribe": _to_host(connection.SubscribeParams, connection.SubscribeResult),
    "authenticate": _root(connection.AuthenticateParams, connection.AuthenticateResult),
    "listSessions": _root(root.ListSessionsParams, root.ListSessionsResult),
    "resolveSessionConfig": _root(root.ResolveSessionConfigParams, root.ResolveSessionConfigResult),
    "sessionConfigCompletions": _root(root.SessionConfigCompletionsParams, root.SessionConfigCompletionsResult),
    "createSession": _to_host(session.CreateSessionParams, None),
    "disposeSession": _to_host(session.DisposeSessionParams, None),
    "createChat": _to_host(chat.CreateChatParams, None),
    "moveChat": _to_host(session.MoveChatParams, session.MoveChatResult),
    "disposeChat": _to_host(chat.DisposeChatParams, None),
    "fetchTurns": _to_host(chat.FetchTurnsParams, chat.FetchTurnsResult),
    "completions": _to_host(chat.CompletionsParams, chat.CompletionsResult),
    "createTerminal": _to_host(terminal.CreateTerminalParams, None),
    "disposeTerminal": _to_host(terminal.DisposeTerminalParams, None),
    "invokeChangesetOperation": _to_host(
        changeset.InvokeChangesetOperationParams, changeset.InvokeChangesetOperationResult
    ),
    "listAutomationTriggerDefinitions": _root(
        automation.ListAutomationTriggerDefinitionsParams,
        automation.ListAutomationTriggerDefinitionsResult,
    ),
    "runAutomation": _to_host(automation.RunAutomationParams, automation.RunAutomationResult),
    "fetchAutomationRuns": _to_host(automation.FetchAutomationRunsParams, automation.FetchAutomationRunsResult),
    "createResourceWatch": _both(watch.CreateResourceWatchParams, watch.CreateResourceWatchResult),
    "resourceRead": _both(resources.ResourceReadParams, resources.ResourceReadResult),
    "resourceWrite": _both(resources.ResourceWriteParams, resources.ResourceWriteResult),
    "resourceList": _both(resources.ResourceListParams, resources.ResourceListResult),
    "resourceCopy": _both(resources.ResourceCopyParams, resources.ResourceCopyResult),
    "resourceDelete": _both(resources.ResourceDeleteParams, resources.ResourceDeleteResult),
    "resourceMove": _both(resources.ResourceMoveParams, resources.ResourceMoveResult),
    "resourceResolve": _both(resources.ResourceResolveParams, resources.ResourceResolveResult),
    "resourceMkdir": _both(resources.ResourceMkdirParams, resources.ResourceMkdirResult),
    "resourceRequest": _both(resources.ResourceRequestParams, resources.ResourceRequestResult),
}

NOTIFICATIONS: Final[dict[str, NotificationInfo]] = {
    "unsubscribe": NotificationInfo(connection.UnsubscribeParams, Direction.TO_HOST),
    "dispatchAction": NotificationInfo(connection.DispatchActionParams, Direction.TO_HOST),
    "action": NotificationInfo(ActionEnvelope, Direction.TO_CLIENT),
    "root/sessionAdded": NotificationInfo(root.SessionAddedParams, Direction.TO_CLIENT),
    "root/sessionRemoved": NotificationInfo(root.SessionRemovedParams, Direction.TO_CLIENT),
    "root/sessionSummaryChanged": NotificationInfo(root.SessionSummaryChangedParams, Direction.TO_CLIENT),
    "root/progress": NotificationInfo(root.ProgressParams, Direction.TO_CLIENT),
    "auth/required": NotificationInfo(connection.AuthRequiredParams, Direction.TO_CLIENT),
    "otlp/exportLogs": NotificationInfo(telemetry.OtlpExportLogsParams, Direction.TO_CLIENT),
    "otlp/exportTraces": NotificationInfo(telemetry.OtlpExportTracesParams, Direction.TO_CLIENT),
    "otlp/exportMetrics": NotificationInfo(telemetry.OtlpExportMetricsParams, Direction.TO_CLIENT),
}
