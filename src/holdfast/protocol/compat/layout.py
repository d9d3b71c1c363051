"""Where the shapes that changed between versions stand: in states, actions, params, results and notifications.

A shape is a kind of object a step may convert (`turn`, `message`, `toolCall`). A row says which keys of a shape
hold other shapes: `turn` one, `turn[]` a list of them, `turn{}` a map to them. Keys of all versions stand side by
side: what a version does not have is not there to be found.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

__all__ = ["LAYOUT", "action_shape", "kind_of_state", "nested", "params_shape", "reachable", "result_shape"]

STATE_SHAPES: Final[Mapping[str, str]] = {
    "root": "rootState",
    "session": "sessionState",
    "chat": "chatState",
    "terminal": "terminalState",
    "changeset": "changesetState",
    "annotations": "annotationsState",
    "resourceWatch": "resourceWatchState",
    "automation": "automationState",
    "automationRun": "automationRunState",
    "canvas": "canvasState",
}
"""The shape of a channel's whole state, by the kind of the channel."""

SNAPSHOT_STATE: Final = "state"
"""Stands for one of `STATE_SHAPES`, told apart by its keys."""

_CONVERSATION: Final = {
    "turns": "turn[]",
    "activeTurn": "activeTurn",
    "steeringMessage": "pendingMessage",
    "queuedMessages": "pendingMessage[]",
    "inputRequests": "inputRequest[]",
    "draft": "message",
}

_METADATA: Final = {"model": "modelSelection", "origin": "sessionOrigin", "activeClient": "activeClient"}

_CHAT_SUMMARY: Final = {"origin": "chatOrigin", "model": "modelSelection"}

LAYOUT: Final[dict[str, dict[str, str]]] = {
    # States
    "rootState": {"agents": "agent[]", "terminals": "terminalInfo[]", "config": "config"},
    "sessionState": {
        **_METADATA,
        **_CONVERSATION,
        "summary": "sessionSummary",
        "activeClients": "activeClient[]",
        "chats": "chatSummary[]",
        "config": "config",
        "customizations": "customization[]",
        "changesets": "changeset[]",
        "inputNeeded": "inputNeeded[]",
        "creationError": "errorInfo",
        "x-holdfast": "companions",
    },
    "companions": {"chat": "chatState", "summary": "sessionSummary"},
    "chatState": {**_CHAT_SUMMARY, **_CONVERSATION, "changesets": "changeset[]"},
    "terminalState": {"claim": "terminalClaim"},
    "changesetState": {"files": "changesetFile[]", "operations": "changesetOperation[]", "error": "errorInfo"},
    "changesetOperation": {"error": "errorInfo"},
    "annotationsState": {"annotations": "annotation[]"},
    "resourceWatchState": {},
    "automationState": {},
    "automationRunState": {},
    "canvasState": {},
    # What root is made of
    "agent": {
        "models": "model[]",
        "protectedResources": "protectedResource[]",
        "customizations": "customization[]",
        "capabilities": "agentCapabilities",
    },
    "model": {"configSchema": "configSchema"},
    "config": {"schema": "configSchema"},
    "configSchema": {"properties": "configProperty{}"},
    "configProperty": {
        "items": "configProperty",
        "properties": "configProperty{}",
        "additionalProperties": "configProperty",
    },
    "terminalInfo": {"claim": "terminalClaim"},
    # What sessions are made of
    "sessionSummary": {**_METADATA, "chats": "sessionChatSummary[]", "changesets": "changeset[]"},
    "sessionChatSummary": {"origin": "chatOrigin"},
    "chatSummary": _CHAT_SUMMARY,
    "activeClient": {"customizations": "customization[]"},
    "customization": {"children": "customization[]", "state": "mcpServerState"},
    "mcpServerState": {"resource": "protectedResource", "error": "errorInfo"},
    "inputNeeded": {"request": "inputRequest", "toolCall": "toolCall"},
    # What chats are made of
    "turn": {"message": "message", "userMessage": "message", "responseParts": "part[]", "error": "errorInfo"},
    "activeTurn": {"message": "message", "userMessage": "message", "responseParts": "part[]"},
    "pendingMessage": {"message": "message", "userMessage": "message"},
    "message": {"attachments": "attachment[]", "model": "modelSelection"},
    "part": {"toolCall": "toolCall", "request": "inputRequest", "error": "errorInfo"},
    "toolCall": {
        "content": "resultContent[]",
        "edits": "fileEdits",
        "contributor": "contributor",
        "userSuggestion": "message",
        "auth": "authRequirement",
    },
    "toolResult": {"content": "resultContent[]"},
    "resultContent": {"before": "fileEditSide", "after": "fileEditSide"},
    "changesetFile": {"edit": "fileEdit"},
    "fileEdits": {"items": "fileEdit[]"},
    "fileEdit": {"before": "fileEditSide", "after": "fileEditSide"},
    "fileEditSide": {"content": "contentRef"},
    "authRequirement": {"resource": "protectedResource"},
    "completionItem": {"attachment": "attachment"},
    "snapshot": {"state": SNAPSHOT_STATE},
    "envelope": {},
    # What `facts` recorded beside an action
    "facts": {"shown": "activeClient", "customizations": "customization[]"},
}

_ACTIONS: Final[dict[str, dict[str, str]]] = {
    "root/agentsChanged": {"agents": "agent[]"},
    "root/terminalsChanged": {"terminals": "terminalInfo[]"},
    "session/creationFailed": {"error": "errorInfo"},
    "session/chatAdded": {"summary": "chatSummary"},
    "session/chatUpdated": {"changes": "chatSummary"},
    "session/changesetsChanged": {"changesets": "changeset[]"},
    "session/activeClientSet": {"activeClient": "activeClient"},
    "session/activeClientChanged": {"activeClient": "activeClient"},
    "session/customizationsChanged": {"customizations": "customization[]"},
    "session/customizationUpdated": {"customization": "customization"},
    "session/mcpServerStateChanged": {"state": "mcpServerState"},
    "session/inputNeededSet": {"request": "inputNeeded"},
    "session/modelChanged": {"model": "modelSelection"},
    "chat/turnStarted": {"message": "message", "userMessage": "message"},
    "chat/responsePart": {"part": "part"},
    "chat/error": {"part": "part", "error": "errorInfo"},
    "chat/toolCallStart": {"contributor": "contributor"},
    "chat/toolCallReady": {"contributor": "contributor", "edits": "fileEdits"},
    "chat/toolCallConfirmed": {"userSuggestion": "message"},
    "chat/toolCallComplete": {"result": "toolResult"},
    "chat/toolCallContentChanged": {"content": "resultContent[]"},
    "chat/toolCallAuthRequired": {"auth": "authRequirement"},
    "chat/pendingMessageSet": {"message": "message", "userMessage": "message"},
    "chat/draftChanged": {"draft": "message"},
    "chat/inputRequested": {"request": "inputRequest"},
    "chat/turnsLoaded": {"turns": "turn[]"},
    "chat/changesetsChanged": {"changesets": "changeset[]"},
    "terminal/claimed": {"claim": "terminalClaim"},
    "changeset/statusChanged": {"error": "errorInfo"},
    "changeset/operationStatusChanged": {"error": "errorInfo"},
    "changeset/fileSet": {"file": "changesetFile"},
    "changeset/contentChanged": {"files": "changesetFile[]", "operations": "changesetOperation[]"},
    "changeset/operationsChanged": {"operations": "changesetOperation[]"},
    "annotations/set": {"annotation": "annotation"},
}

_PARAMS: Final[dict[str, dict[str, str]]] = {
    "createSession": {"activeClient": "activeClient", "model": "modelSelection"},
    "createChat": {"initialMessage": "message", "source": "chatSource", "model": "modelSelection"},
    "createTerminal": {"claim": "terminalClaim"},
    "root/sessionAdded": {"summary": "sessionSummary"},
    "root/sessionSummaryChanged": {"changes": "sessionSummary"},
    "auth/required": {"resource": "protectedResource"},
}

_RESULTS: Final[dict[str, dict[str, str]]] = {
    "initialize": {"snapshots": "snapshot[]"},
    "reconnect": {"snapshots": "snapshot[]"},
    "subscribe": {"snapshot": "snapshot"},
    "listSessions": {"items": "sessionSummary[]"},
    "resolveSessionConfig": {"schema": "configSchema"},
    "completions": {"items": "completionItem[]"},
    "fetchTurns": {"turns": "turn[]"},
    "x-holdfast/readTurns": {"turns": "turn[]"},
}


def action_shape(type: str) -> str:  # noqa: A002 - the protocol's word
    """The shape of an action."""
    return f"action:{type}"


def params_shape(method: str) -> str:
    """The shape of a request's or a notification's params."""
    return f"params:{method}"


def result_shape(method: str) -> str:
    return f"result:{method}"


for _type, _row in _ACTIONS.items():
    LAYOUT[action_shape(_type)] = _row
    if _type.startswith("chat/"):
        # Up to 0.3 a session was its only conversation.
        LAYOUT[action_shape(f"session/{_type.removeprefix('chat/')}")] = _row
LAYOUT.update({params_shape(method): row for method, row in _PARAMS.items()})
LAYOUT.update({result_shape(method): row for method, row in _RESULTS.items()})


# Keys that only one kind of state has, in any version.
_TELLING: Final = (
    ("lifecycle", "session"),
    ("agents", "root"),
    ("turns", "chat"),
    ("claim", "terminal"),
    ("files", "changeset"),
    ("annotations", "annotations"),
    ("recursive", "resourceWatch"),
    ("entries", "automation"),
    ("automation", "automationRun"),
    ("canvasId", "canvas"),
)


def kind_of_state(state: Mapping[str, Any]) -> str | None:
    """The kind of a state of any version; None if it is none that is known.

    A terminal has a lifecycle too, since 0.9, and a session may have annotations: the order decides.
    """
    if "claim" in state:
        return "terminal"
    if "automation" in state and "sessions" in state:
        return "automationRun"
    return next((kind for key, kind in _TELLING if key in state), None)


def nested(spec: str) -> tuple[str, str]:
    """A row's entry taken apart: the shape, and how it is held: ``, `[]` or `{}`."""
    if spec.endswith(("[]", "{}")):
        return spec[:-2], spec[-2:]
    return spec, ""


@cache
def reachable(shape: str) -> frozenset[str]:
    """A shape and all that may stand inside it."""
    found: set[str] = set()
    waiting = [shape]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += STATE_SHAPES.values() if each == SNAPSHOT_STATE else []
            waiting += [nested(spec)[0] for spec in LAYOUT.get(each, {}).values()]
    return frozenset(found)
