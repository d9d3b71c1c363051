"""A value of an older version, by the published name of its type: lifted, read, written, and lowered again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Final

from holdfast.protocol import jsonrpc, methods
from holdfast.protocol.catalog import types_by_name
from holdfast.protocol.codec import UnionMarker, convert, encode, to_json
from holdfast.protocol.compat.bridge import PRIVATE, Bridge, form_of, public
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.layout import SNAPSHOT_STATE, STATE_SHAPES
from holdfast.protocol.compat.reducing import context_of, reading
from holdfast.protocol.compat.step import DROP, Action
from holdfast.protocol.envelope import ActionEnvelope, StateAction
from holdfast.protocol.errors import InvalidValue, RpcError
from holdfast.protocol.snapshot import STATES

__all__ = ["NAMES_BEFORE", "knows_type", "roundtrip_in"]

NAMES_BEFORE: Final = {
    "ChatForkSource": "ChatSource",
    "ForkChatSource": "ChatSource",
    "ResourceReponsePart": "ResourceResponsePart",
    "UserMessage": "Message",
    "UserMessageAttachment": "MessageAttachment",
}
"""What types were called in older versions, where 1.0 calls them something else."""

_SHAPES: Final = {
    "ActiveTurn": "activeTurn",
    "AgentCapabilities": "agentCapabilities",
    "AgentInfo": "agent",
    "Annotation": "annotation",
    "Changeset": "changeset",
    "ChangesetFile": "changesetFile",
    "ChangesetOperation": "changesetOperation",
    "ChatInputRequest": "inputRequest",
    "ChatOrigin": "chatOrigin",
    "ChatSource": "chatSource",
    "ChatSummary": "chatSummary",
    "ChildCustomization": "customization",
    "ClientPluginCustomization": "customization",
    "CompletionItem": "completionItem",
    "ConfigPropertySchema": "configProperty",
    "ConfigSchema": "configSchema",
    "Customization": "customization",
    "McpAuthRequirement": "authRequirement",
    "McpServerState": "mcpServerState",
    "Message": "message",
    "MessageAttachment": "attachment",
    "ModelSelection": "modelSelection",
    "PartialChatSummary": "chatSummary",
    "PartialSessionSummary": "sessionSummary",
    "PendingMessage": "pendingMessage",
    "ProtectedResourceMetadata": "protectedResource",
    "ResponsePart": "part",
    "RootConfigState": "config",
    "SessionActiveClient": "activeClient",
    "SessionChatSummary": "sessionChatSummary",
    "SessionConfigPropertySchema": "configProperty",
    "SessionConfigSchema": "configSchema",
    "SessionConfigState": "config",
    "SessionInputRequest": "inputNeeded",
    "SessionModelInfo": "model",
    "SessionOrigin": "sessionOrigin",
    "SessionSummary": "sessionSummary",
    "Snapshot": "snapshot",
    "SnapshotState": SNAPSHOT_STATE,
    "TerminalClaim": "terminalClaim",
    "TerminalInfo": "terminalInfo",
    "ToolCallConfirmationState": "toolCall",
    "ToolCallContributor": "contributor",
    "ToolCallResult": "toolResult",
    "ToolCallState": "toolCall",
    "ToolResultContent": "resultContent",
    "Turn": "turn",
}
"""The layout's shape of a type; the variants of a union have the union's."""


def knows_type(name: str) -> bool:
    """Whether a value of a type of this name can be read, in some version."""
    known = _name_now(name)
    return name == "JsonRpcMessage" or known in types_by_name() or known.endswith("Action")


def roundtrip_in(version: str, type_name: str, value: Any) -> Any:
    """The value as `version` would write it again. `InvalidValue` if it is malformed, or says nothing to 1.0."""
    if type_name == "JsonRpcMessage":
        return to_json(jsonrpc.parse(encode(value)))
    bridge, name = form_of(version, value), _name_now(type_name)
    with reading():
        if bridge is None:
            return to_json(convert(_type(name), value))
        found = _way_of(name)(bridge, name, value)
    if found is DROP:
        raise InvalidValue("$", "a value that 1.0 has words for", "another")
    return found


_Way = Callable[[Bridge, str, Any], Any]


def _way_of(name: str) -> _Way:
    if name == "ActionEnvelope":
        return _envelope
    if name == "StateAction" or name.endswith("Action"):
        return _action
    if name in _states():
        return _state
    if name in _requests():
        return _request
    if name in _notifications():
        return _notification
    if name in _results():
        return _result
    return _shaped if name in _shapes() else _as_is


def _as_is(bridge: Bridge, name: str, value: Any) -> Any:  # noqa: ARG001
    return to_json(convert(_type(name), value))


def _shaped(bridge: Bridge, name: str, value: Any) -> Any:
    context = context_of("session", value if isinstance(value, dict) else {})
    lifted = bridge.lift(_shapes()[name], value, context)
    if lifted is DROP:
        return DROP
    return public(bridge.lower(_shapes()[name], _reread(_type(name), lifted), context))


def _reread(type: Any, lifted: Any) -> Any:  # noqa: A002 - what a value is read as
    """A value of 1.0, read and written again; what the bridge put beside it stays."""
    return _with_private(to_json(convert(type, lifted)), lifted)


def _with_private(read: Any, lifted: Any) -> Any:
    if isinstance(read, list) and isinstance(lifted, list) and len(read) == len(lifted):
        return [_with_private(one, other) for one, other in zip(read, lifted, strict=True)]
    if not (isinstance(read, dict) and isinstance(lifted, dict)):
        return read
    known = {key: _with_private(value, lifted.get(key)) for key, value in read.items()}
    return {**known, **{key: value for key, value in lifted.items() if key.startswith(PRIVATE)}}


def _state(bridge: Bridge, name: str, value: Any) -> Any:
    kind = _states()[name]
    context = context_of(kind, value)
    return bridge.lower_state(kind, _reread(STATES[kind], bridge.lift_state(kind, value, context)), context)


def _action(bridge: Bridge, name: str, value: Any) -> Any:  # noqa: ARG001
    context = _about_action(value)
    lifted = bridge.lift_action(Action(context.channel, context.kind, value), context)
    return _single([lowered.action for each in lifted for lowered in bridge.lower_action(_read(each), context)])


def _read(sent: Action) -> Action:
    known: Any = convert(StateAction, sent.action)  # type: ignore[arg-type]  # a union, not a class
    return sent._replace(action=to_json(known))


def _envelope(bridge: Bridge, name: str, value: Any) -> Any:  # noqa: ARG001
    context = _about_action(value["action"], value.get("channel"))
    lifted = bridge.lift_envelope({"channel": context.channel, **value}, context)
    read = [to_json(convert(ActionEnvelope, each)) for each in lifted]
    return _single([lowered for each in read for lowered in bridge.lower_envelope(each, context)])


def _about_action(action: Json, channel: Any = None) -> Context:
    """About an action: in 0.1 it names its session itself."""
    family = str(action["type"]).partition("/")[0]
    kind = family if family in STATE_SHAPES else "session"
    named = channel or action.get(kind)
    context = context_of(kind, {"resource": named} if isinstance(named, str) else {})
    # That none is active is said by a client of itself; a host says which of several is left.
    return replace(context, client_id="c") if "activeClient" in action else context


def _single(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else DROP


def _request(bridge: Bridge, name: str, value: Any) -> Any:
    method, context = _requests()[name], context_of("session", {})
    try:
        call = bridge.lift_request(method, value, context)
        known = methods.REQUESTS.get(call.method)
        params = call.params if known is None else to_json(convert(known.params, call.params))
        return bridge.lower_request(call.method, params, context).params
    except RpcError:
        return DROP


def _notification(bridge: Bridge, name: str, value: Any) -> Any:
    method, context = _notifications()[name], context_of("session", {})
    lifted = bridge.lift_notification(method, value, context)
    lowered = [
        last
        for each in lifted
        for last in bridge.lower_notification(
            each.method, to_json(convert(methods.NOTIFICATIONS[each.method].params, each.params)), context
        )
    ]
    return _single([each.params for each in lowered])


def _result(bridge: Bridge, name: str, value: Any) -> Any:
    method, context = _results()[name], context_of("session", {})
    if method == "fetchTurns" and bridge.whole_history:
        return _page(bridge, value)
    lifted = bridge.lift_result(method, value, context)
    return bridge.lower_result(method, _reread(_type(name), lifted), context)


def _page(bridge: Bridge, value: Any) -> Any:
    """Up to 0.5.0 `fetchTurns` was answered with turns, which 1.0 never does."""
    return {**value, "turns": [_shaped(bridge, "Turn", turn) for turn in value["turns"]]}


# What a name stands for


def _name_now(name: str) -> str:
    if name in types_by_name():
        return "ChatSource" if name == "ForkChatSource" else name
    if name.startswith("SessionInput"):
        return f"ChatInput{name.removeprefix('SessionInput')}"
    return NAMES_BEFORE.get(name, name)


def _type(name: str) -> Any:
    return types_by_name().get(name, StateAction)


@cache
def _states() -> dict[str, str]:
    return {state.__name__: kind for kind, state in STATES.items()}


@cache
def _names_of() -> dict[int, str]:
    """The published name of each type object, the first of several."""
    return {id(found): name for name, found in reversed(types_by_name().items())}


@cache
def _requests() -> dict[str, str]:
    return {_names_of()[id(each.params)]: method for method, each in methods.REQUESTS.items()}


@cache
def _results() -> dict[str, str]:
    named = ((_names_of().get(id(each.result)), method) for method, each in methods.REQUESTS.items())
    return {name: method for name, method in named if name is not None}


@cache
def _notifications() -> dict[str, str]:
    named = ((_names_of().get(id(each.params)), method) for method, each in methods.NOTIFICATIONS.items())
    return {name: method for name, method in named if name is not None and name != "ActionEnvelope"}


@cache
def _shapes() -> dict[str, str]:
    found = dict(_SHAPES)
    for name, shape in _SHAPES.items():
        marker = types_by_name().get(name)
        if isinstance(marker, UnionMarker):
            for struct in getattr(marker, "structs", {}).values():
                found.setdefault(_names_of().get(id(struct), struct.__name__), shape)
    return found
