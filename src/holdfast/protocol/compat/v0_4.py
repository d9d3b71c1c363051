"""0.4 and 0.5.0. A session's metadata left its summary; one active client became several; models became a message's.

What older clients choose for a session travels above as an action and a side state of this host's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import (
    Action,
    Shape,
    Step,
    actions_new_in,
    dropping,
    unsaid_before,
    without,
)
from holdfast.protocol.compat.v0_4_summary import (
    BESIDE,
    CHOSEN,
    session_down,
    session_up,
    summary_down,
    summary_up,
)
from holdfast.protocol.versions import Version

__all__ = ["LEGACY", "STEP", "remember", "wrapped"]

NEWER: Final = Version(0, 5, 0)
LEGACY: Final = "x-holdfast/legacy"

SINCE: Final = {"session/modelChanged": "0.1.0", "session/agentChanged": "0.2.0"}
"""Actions that 1.0 has no form of, and the first version of each. 0.4.0 was the last."""


# What was chosen for a session


def remember(legacy: Json, action: Json) -> Json:
    """What older versions say of a session, after an action of type `LEGACY`."""
    inner = action["action"]
    key = inner["type"].removeprefix("session/").removesuffix("Changed")
    rest = without(legacy, key)
    return rest if inner.get(key) is None else {**rest, key: inner[key]}


def wrapped(sent: Action, since: str, until: str) -> Action:
    """An action of older versions as one of this host's own, named with the versions that know it."""
    return sent._replace(action={"type": LEGACY, "since": since, "until": until, "action": sent.action})


def _chosen_up(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    return (wrapped(sent, SINCE[sent.type], "0.4.0"),)


def _chosen_down(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    return (sent._replace(action=sent.action["action"]),)


def _with_choice(message: Any, chosen: Json) -> Any:
    """A message from below goes to what its session has chosen."""
    if not isinstance(message, dict):
        return message
    return {**{key: chosen[key] for key in CHOSEN if chosen.get(key) is not None}, **message}


def _message_up(action: Json, context: Context) -> Json:
    chosen = context.legacy()
    return {**action, "message": _with_choice(action.get("message"), chosen)} if chosen else action


def _create_up(params: Json, context: Context) -> Json:  # noqa: ARG001
    chosen = {key: params[key] for key in CHOSEN if params.get(key) is not None}
    lifted = without(params, *CHOSEN)
    return {**lifted, BESIDE: {"legacy": chosen}} if chosen else lifted


def _create_down(params: Json, context: Context) -> Json:  # noqa: ARG001
    chosen = (params.get(BESIDE) or {}).get("legacy") or {}
    return {**without(params, "progressToken", BESIDE), **chosen}


def _create_chat_up(params: Json, context: Context) -> Json:
    lifted = _create_up(params, context)
    if "initialMessage" not in lifted:
        return lifted
    chosen = {**context.legacy(), **lifted.get(BESIDE, {}).get("legacy", {})}
    return {**lifted, "initialMessage": _with_choice(lifted["initialMessage"], chosen)}


# The active client


def _client_set_down(sent: Action, context: Context) -> Iterable[Action]:
    shown = context.facts.get("shown", sent.action.get("activeClient"))
    return (sent._replace(action={"type": "session/activeClientChanged", "activeClient": shown}),)


def _client_removed_down(sent: Action, context: Context) -> Iterable[Action]:
    shown = context.facts.get("shown")
    return (sent._replace(action={"type": "session/activeClientChanged", "activeClient": shown}),)


def _client_changed_up(sent: Action, context: Context) -> Iterable[Action]:
    """A client speaks for itself only; a host says which one is left."""
    client = sent.action.get("activeClient")
    if context.client_id:
        leaving = [context.client_id] if client is None else []
    else:
        clients = _clients(context)
        leaving = [each["clientId"] for each in clients if client is None or each["clientId"] != client["clientId"]]
    for id in leaving:
        yield sent._replace(action={"type": "session/activeClientRemoved", "clientId": id})
    if client is not None:
        yield sent._replace(action={"type": "session/activeClientSet", "activeClient": client})


def _client_tools_up(sent: Action, context: Context) -> Iterable[Action]:
    """The client's own entry, or a host's only one, with other tools."""
    own = [each for each in _clients(context) if context.client_id in ("", each["clientId"])]
    for entry in own[-1:]:
        client = {**entry, "tools": sent.action.get("tools")}
        yield sent._replace(action={"type": "session/activeClientSet", "activeClient": client})


def _clients(context: Context) -> list[Json]:
    return list((context.session_state() or {}).get("activeClients") or ())


# Values that were texts


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _property_down(schema: Json, context: Context) -> Json:  # noqa: ARG001
    values = schema.get("enum")
    if not isinstance(values, list) or all(isinstance(each, str) for each in values):
        return schema
    return {**schema, "enum": [_text(each) for each in values]}


def _selection_down(selection: Json, context: Context) -> Json:  # noqa: ARG001
    config = selection.get("config")
    if not isinstance(config, dict) or all(isinstance(each, str) for each in config.values()):
        return selection
    return {**selection, "config": {key: _text(each) for key, each in config.items()}}


STEP: Final = Step(
    older=Version(0, 4, 0),
    introduced=actions_new_in(NEWER),
    shapes={
        "sessionState": Shape(session_down, session_up),
        "sessionSummary": Shape(summary_down, summary_up),
        # No action changes a chat's activity below: it is told in the session's list of chats alone.
        "chatState": Shape(dropping("draft", "activity").down, dropping(*CHOSEN).down),
        "chatSummary": Shape(up=dropping(*CHOSEN).down),
        "message": dropping(*CHOSEN),
        "model": dropping("maxOutputTokens", "maxPromptTokens"),
        "configProperty": Shape(down=_property_down),
        "modelSelection": Shape(down=_selection_down),
        "params:createSession": Shape(_create_down, _create_up),
        "params:createChat": Shape(_create_down, _create_chat_up),
        "action:chat/turnStarted": Shape(up=_message_up),
        "action:chat/pendingMessageSet": Shape(up=_message_up),
    },
    actions_down={
        "session/activeClientSet": _client_set_down,
        "session/activeClientRemoved": _client_removed_down,
        LEGACY: _chosen_down,
    },
    actions_up={
        "session/activeClientChanged": _client_changed_up,
        "session/activeClientToolsChanged": _client_tools_up,
        "session/modelChanged": _chosen_up,
        "session/agentChanged": _chosen_up,
    },
    notifications=(unsaid_before(NEWER), {}),
    clocked=frozenset({"session/titleChanged", "session/configChanged"}),
    raw_marks=(b'"model":{', b'"agent":{'),
)
