"""0.2 and 0.3. A message was only a user's; tools named the client that runs them; changesets stood in the summary.

MCP servers were names inside plugins: below, those on top are not shown, and what becomes of any is not told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import Action, Shape, Step, actions_new_in, dropping, renamed, without
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

NEWER: Final = Version(0, 3, 0)
SERVER: Final = "mcpServer"


# Messages


def _user_message(value: Json, context: Context) -> Json:  # noqa: ARG001
    return renamed(value, "message", "userMessage")


def _message(value: Json, context: Context) -> Json:  # noqa: ARG001
    return renamed(value, "userMessage", "message")


def _message_up(message: Json, context: Context) -> Json:  # noqa: ARG001
    return message if "origin" in message else {**message, "origin": {"kind": "user"}}


# Tools


def _contributor_down(call: Json, context: Context) -> Json:  # noqa: ARG001
    contributor, rest = call.get("contributor"), without(call, "contributor")
    if not isinstance(contributor, dict) or contributor.get("kind") != "client":
        return rest
    return {**rest, "toolClientId": contributor.get("clientId")}


def _contributor_up(call: Json, context: Context) -> Json:  # noqa: ARG001
    client, rest = call.get("toolClientId"), without(call, "toolClientId")
    return rest if client is None else {**rest, "contributor": {"kind": "client", "clientId": client}}


# Customizations


def _without_servers(value: Json, context: Context) -> Json:  # noqa: ARG001
    """A session, an agent, a client or an action without the servers on top."""
    entries = value.get("customizations")
    if not isinstance(entries, list) or not any(map(_is_server, entries)):
        return value
    return {**value, "customizations": [each for each in entries if not _is_server(each)]}


def _is_server(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("type") == SERVER


def _server_down(entry: Json, context: Context) -> Json:  # noqa: ARG001
    return without(entry, "enabled", "state", "channel", "mcpApp") if _is_server(entry) else entry


def _server_up(entry: Json, context: Context) -> Json:  # noqa: ARG001
    """Below nothing is said of how it is; so it is taken to be as its plugin wants it."""
    return {"enabled": True, "state": {"kind": "ready"}, **entry} if _is_server(entry) else entry


def _updated(sent: Action, context: Context) -> Iterable[Action]:
    """What became a server, if it was something else before, is gone."""
    entry = sent.action.get("customization")
    if not isinstance(entry, dict) or not _is_server(entry):
        return (sent,)
    removed = {"type": "session/customizationRemoved", "id": entry.get("id")}
    return (sent._replace(action=removed),) if context.facts.get("hidden") else ()


# Changesets


def _session_down(state: Json, context: Context) -> Json:
    lowered = _without_servers(state, context)
    if not isinstance(lowered.get("summary"), dict) or "changesets" not in lowered:
        return lowered
    summary = {**lowered["summary"], "changesets": lowered["changesets"]}
    return {**without(lowered, "changesets"), "summary": summary}


def _session_up(state: Json, context: Context) -> Json:  # noqa: ARG001
    summary = state.get("summary")
    if not isinstance(summary, dict) or "changesets" not in summary:
        return state
    return {**state, "changesets": summary["changesets"], "summary": without(summary, "changesets")}


def _changeset_up(changeset: Json, context: Context) -> Json:  # noqa: ARG001
    """Its counts are left behind: above, they are the session's."""
    return {"changeKind": "session", **without(changeset, "additions", "deletions", "files")}


def _operation_up(operation: Json, context: Context) -> Json:  # noqa: ARG001
    return {"status": "idle", **operation}


_MESSAGE: Final = Shape(_user_message, _message)
_CONTRIBUTOR: Final = Shape(_contributor_down, _contributor_up)
_HOLDER: Final = Shape(down=_without_servers)

STEP: Final = Step(
    older=Version(0, 2, 0),
    introduced=actions_new_in(NEWER),
    shapes={
        "turn": _MESSAGE,
        "activeTurn": _MESSAGE,
        "pendingMessage": _MESSAGE,
        "action:session/turnStarted": _MESSAGE,
        "action:session/pendingMessageSet": _MESSAGE,
        "message": Shape(dropping("origin").down, _message_up),
        "toolCall": _CONTRIBUTOR,
        "action:session/toolCallStart": _CONTRIBUTOR,
        "customization": Shape(_server_down, _server_up),
        "agent": _HOLDER,
        "activeClient": _HOLDER,
        "action:session/customizationsChanged": _HOLDER,
        "sessionState": Shape(_session_down, _session_up),
        "sessionSummary": Shape(dropping("changes").down, dropping("changesets").down),
        "changeset": Shape(dropping("changeKind").down, _changeset_up),
        "changesetOperation": Shape(dropping("status", "error").down, _operation_up),
        "params:initialize": dropping("capabilities"),
    },
    actions_down={"session/customizationUpdated": _updated},
)
