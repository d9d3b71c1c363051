"""0.8 and 0.9. A turn's error became its last part, a terminal's exit code its lifecycle; annotations name an origin.

Automations came with 0.9, and forking a session went: from below it is a request of this host's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from holdfast.protocol import uris
from holdfast.protocol.compat.channels import unseen
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import (
    DROP,
    Action,
    Call,
    Resync,
    Shape,
    Step,
    actions_new_in,
    refused_before,
    renamed,
    without,
)
from holdfast.protocol.errors import ErrorCode
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

NEWER: Final = Version(0, 9, 0)
AUTOMATION: Final = ("automation", "automationRun")
FORK_SESSION: Final = "x-holdfast/forkSession"


# Errors of turns


def _is_error(part: Any) -> bool:
    return isinstance(part, dict) and part.get("kind") == "error"


def _unfailed(turn: Json, context: Context) -> Json:  # noqa: ARG001
    """A turn without its error parts."""
    parts = turn.get("responseParts")
    if not isinstance(parts, list) or not any(map(_is_error, parts)):
        return turn
    return {**turn, "responseParts": [part for part in parts if not _is_error(part)]}


def _turn_down(turn: Json, context: Context) -> Json:
    """The last error part becomes the error of a turn that failed; others, before a resumption, are left out."""
    lowered = _unfailed(turn, context)
    if lowered is turn or turn.get("state") != "error":
        return lowered
    return {**lowered, "error": [part for part in turn["responseParts"] if _is_error(part)][-1].get("error")}


def _turn_up(turn: Json, context: Context) -> Json:  # noqa: ARG001
    if "error" not in turn:
        return turn
    lifted, error = without(turn, "error"), turn["error"]
    parts = list(lifted.get("responseParts") or ())
    if error is None or (parts and _is_error(parts[-1])):
        return lifted
    return {**lifted, "responseParts": [*parts, {"kind": "error", "error": error}]}


def _response_part(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    """An error part that does not come with `chat/error` is ignored above, so it is not sent."""
    return () if _is_error(sent.action.get("part")) else (sent,)


def _error_down(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    part = sent.action.get("part")
    if not isinstance(part, dict):
        return (sent,)
    return (sent._replace(action={**without(sent.action, "part"), "error": part.get("error")}),)


def _error_up(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    if "part" in sent.action or "error" not in sent.action:
        return (sent,)
    part = {"kind": "error", "error": sent.action["error"]}
    return (sent._replace(action={**without(sent.action, "error"), "part": part}),)


def _message_down(message: Json, context: Context) -> Json:  # noqa: ARG001
    """Below, a message of an automation is one of the system."""
    origin = message.get("origin")
    if not isinstance(origin, dict) or origin.get("kind") != "automation":
        return message
    return {**message, "origin": {**origin, "kind": "systemNotification"}}


# Sessions and terminals


def _session_down(state: Json, context: Context) -> Json:  # noqa: ARG001
    return {**state, "lifecycle": "creationFailed"} if state.get("lifecycle") == "failed" else state


def _session_up(state: Json, context: Context) -> Json:  # noqa: ARG001
    return {**state, "lifecycle": "failed"} if state.get("lifecycle") == "creationFailed" else state


def _exit_down(terminal: Json, context: Context) -> Json:  # noqa: ARG001
    """One that ended without a code looks as if it ran, as it did to reducers of that time."""
    lifecycle = terminal.get("lifecycle")
    if not isinstance(lifecycle, dict):
        return terminal
    rest = without(terminal, "lifecycle")
    code = lifecycle.get("exitCode") if lifecycle.get("status") == "exited" else None
    return rest if code is None else {**rest, "exitCode": code}


def _exit_up(terminal: Json, context: Context) -> Json:  # noqa: ARG001
    if "lifecycle" in terminal:
        return terminal
    code = terminal.get("exitCode")
    lifecycle = {"status": "running"} if code is None else {"status": "exited", "exitCode": code}
    return {**without(terminal, "exitCode"), "lifecycle": lifecycle}


def _claim_down(claim: Json, context: Context) -> Json:  # noqa: ARG001
    return without(claim, "chat") if claim.get("kind") == "session" else claim


def _claim_up(claim: Json, context: Context) -> Json:
    """A claim names its session only; the chat is that session's default one."""
    if claim.get("kind") != "session" or claim.get("chat") is not None:
        return claim
    session = str(claim.get("session"))
    return {**claim, "chat": _default_chat(session, context)}


def _default_chat(session: str, context: Context) -> str:
    if session != context.session and context.lookup is not None:
        context = context.lookup(session)
    known = context.default_chat if context.session == session else ""
    return known or uris.default_chat(session)


# Annotations


def _turn_of_origin(value: Json, context: Context) -> Json:  # noqa: ARG001
    """`turnId` was required; a remark about the file as it is has an empty one."""
    origin = value.get("origin")
    if not isinstance(origin, dict):
        return value
    return {**without(value, "origin"), "turnId": origin.get("turnId") or ""}


def _annotation_up(annotation: Json, context: Context) -> Json:
    return _with_origin(annotation, annotation.get("id"), context)


def _updated_up(sent: Action, context: Context) -> Iterable[Action]:
    return (sent._replace(action=_with_origin(sent.action, sent.action.get("annotationId"), context)),)


def _updated_down(sent: Action, context: Context) -> Iterable[Action]:
    return (sent._replace(action=_turn_of_origin(sent.action, context)),)


def _with_origin(value: Json, id: object, context: Context) -> Json:
    """An origin in place of a turn. Where the turn is still the one it was, so is the rest of the origin."""
    if "turnId" not in value or "origin" in value:
        return value
    turn, lifted = value["turnId"], without(value, "turnId")
    if turn is None:
        return lifted
    known = (context.state() or {}).get("annotations", ())
    before: Json = next((each["origin"] for each in known if each.get("id") == id), {})
    if before and (before.get("turnId") or "") == turn:
        return {**lifted, "origin": before}
    session = context.session or uris.annotations_owner(context.channel) or ""
    return {**lifted, "origin": {"session": session, **({"turnId": turn} if turn else {})}}


# Changesets


def _content_down(sent: Action, context: Context) -> Iterable[Action]:
    """Below, new content replaces the error as well: what is to stay is sent along."""
    error = context.facts.get("error")
    return (sent if error is None else sent._replace(action={**sent.action, "error": error}),)


def _content_up(sent: Action, context: Context) -> Iterable[Action]:
    error, state = sent.action.get("error"), context.state()
    content = sent._replace(action=without(sent.action, "error"))
    if error is not None:
        return content, sent._replace(action=_status("error", error=error))
    if state is not None and state.get("error") is not None:
        return content, sent._replace(action=_status(state["status"]))
    return (content,)


def _status(status: str, **error: Any) -> Json:
    return {"type": "changeset/statusChanged", "status": status, **error}


# Requests


def _create_session(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    fork = call.params.get("fork")
    if not isinstance(fork, dict):
        return (call._replace(params=without(call.params, "fork")),)
    return (Call(FORK_SESSION, {**without(call.params, "fork"), "source": fork}),)


def _fork_session(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    return (Call("createSession", renamed(call.params, "source", "fork")),)


def _initialized(result: Json, context: Context) -> Json:  # noqa: ARG001
    return without(result, "automations", "_meta")


def _code(old: int, new: int) -> Any:
    def convert(error: Json, context: Context) -> Json:  # noqa: ARG001
        return {**error, "code": new} if error.get("code") == old else error

    return convert


def _gone(value: Any, context: Context) -> Any:  # noqa: ARG001
    return DROP


_MISSING: Final = (int(ErrorCode.NOT_FOUND), int(ErrorCode.CONTENT_NOT_FOUND))

STEP: Final = Step(
    older=Version(0, 8, 0),
    introduced=actions_new_in(NEWER),
    shapes={
        "turn": Shape(_turn_down, _turn_up),
        "activeTurn": Shape(down=_unfailed),
        "message": Shape(down=_message_down),
        "sessionState": Shape(_session_down, _session_up),
        "sessionOrigin": Shape(down=_gone),
        "terminalState": Shape(_exit_down, _exit_up),
        "terminalInfo": Shape(_exit_down, _exit_up),
        "terminalClaim": Shape(_claim_down, _claim_up),
        "annotation": Shape(_turn_of_origin, _annotation_up),
        "snapshot": unseen(*AUTOMATION),
    },
    actions_down={
        "chat/responsePart": _response_part,
        "chat/error": _error_down,
        "annotations/updated": _updated_down,
        "changeset/contentChanged": _content_down,
    },
    actions_up={
        "chat/error": _error_up,
        "annotations/updated": _updated_up,
        "changeset/contentChanged": _content_up,
    },
    requests=(
        {**refused_before(NEWER), FORK_SESSION: _fork_session},
        {**refused_before(NEWER), "createSession": _create_session},
    ),
    unseen=frozenset(AUTOMATION),
    results={"initialize": Shape(down=_initialized)},
    method_errors={"resourceRead": Shape(down=_code(*_MISSING), up=_code(*reversed(_MISSING)))},
    resync={"chat/turnResume": Resync("a failed turn was resumed")},
    clocked=frozenset(
        {
            "chat/turnStarted",
            "chat/turnComplete",
            "chat/turnCancelled",
            "chat/error",
            "chat/truncated",
            "chat/inputRequested",
            "chat/inputAnswerChanged",
            "chat/inputCompleted",
        }
    ),
    raw_marks=(b'"kind":"error"', b'"kind":"automation"'),
)
