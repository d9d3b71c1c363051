"""0.5.2 and 0.6. Open questions moved from the chat into the running turn, turns got times.

Tool calls may ask for a token, or be asked about anew while they wait. A question of a chat without a running
turn is lost on the way up: above there is no place for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import (
    DROP,
    Action,
    Resync,
    Shape,
    Step,
    actions_new_in,
    dropping,
    renamed,
    without,
)
from holdfast.protocol.status import IN_PROGRESS, INPUT_NEEDED, with_activity
from holdfast.protocol.timestamps import to_milliseconds
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

NEWER: Final = Version(0, 6, 0)
LONG_AGO: Final = "1970-01-01T00:00:00.000Z"
"""When a turn began of which nothing is known."""

ASKING: Final = ("pending-confirmation", "pending-result-confirmation")
"""The states of a tool call that wait for a person, as 0.5.2 knows them."""


# Questions


def _is_open(part: Any) -> bool:
    return isinstance(part, dict) and part.get("kind") == "inputRequest" and part.get("response") is None


def _answered_only(turn: Json) -> Json:
    parts = turn.get("responseParts")
    if not isinstance(parts, list) or not any(map(_is_open, parts)):
        return turn
    return {**turn, "responseParts": [part for part in parts if not _is_open(part)]}


def _chat_down(chat: Json, context: Context) -> Json:  # noqa: ARG001
    turn = chat.get("activeTurn")
    if not isinstance(turn, dict):
        return chat
    parts = turn.get("responseParts") or ()
    requests = [part["request"] for part in parts if _is_open(part)]
    lowered = {**chat, "activeTurn": _answered_only(turn), "inputRequests": requests} if requests else chat
    status = chat.get("status")
    if not requests and isinstance(status, int) and status & INPUT_NEEDED == INPUT_NEEDED and not _asks(parts):
        # A call that waits for a token: below, it runs.
        return {**lowered, "status": with_activity(status, IN_PROGRESS)}
    return lowered


def _asks(parts: Iterable[Any]) -> bool:
    return any((part.get("toolCall") or {}).get("status") in ASKING for part in parts)


def _chat_up(chat: Json, context: Context) -> Json:
    """The questions at the end of the running turn, and a time for when that began."""
    lifted, turn = without(chat, "inputRequests"), chat.get("activeTurn")
    if not isinstance(turn, dict):
        return lifted
    asked = [{"kind": "inputRequest", "request": request} for request in chat.get("inputRequests") or ()]
    started = turn.get("startedAt") or chat.get("modifiedAt") or context.now or LONG_AGO
    parts = [*(turn.get("responseParts") or ()), *asked]
    return {**lifted, "activeTurn": {**turn, "startedAt": started, "responseParts": parts}}


def _part_down(part: Json, context: Context) -> Json:  # noqa: ARG001
    return without(part, "_meta") if part.get("kind") == "systemNotification" else part


def _response_part(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    """An open question is no part below."""
    if not _is_open(sent.action.get("part")):
        return (sent,)
    return (sent._replace(action={"type": "chat/inputRequested", "request": sent.action["part"]["request"]}),)


def _out_of_place(action: Json, context: Context) -> bool:  # noqa: ARG001
    return bool(context.facts.get("followed"))


# Times


def _turn_down(turn: Json, context: Context) -> Json:  # noqa: ARG001
    return without(_answered_only(turn), "startedAt", "duration")


def _started(action: Json, context: Context) -> Json:
    return action if "startedAt" in action else {**action, "startedAt": context.now or LONG_AGO}


def _ended(action: Json, context: Context) -> Json:
    return action if "duration" in action else {**action, "duration": _so_far(context)}


def _so_far(context: Context) -> int:
    """How long the running turn has been running; 0 where that is not known."""
    turn = (context.chat_state() or {}).get("activeTurn")
    try:
        return max(0, to_milliseconds(context.now) - to_milliseconds(turn["startedAt"])) if turn else 0
    except ValueError:
        return 0


# Tool calls


def _tool_call_down(call: Json, context: Context) -> Json:  # noqa: ARG001
    lowered = without(call, "riskAssessment")
    return {**without(lowered, "auth"), "status": "running"} if call.get("status") == "auth-required" else lowered


def _ready_down(sent: Action, context: Context) -> Iterable[Action]:
    """One that waits already is not made ready again below, but it can be approved."""
    action = without(sent.action, "riskAssessment")
    if not context.facts.get("waited"):
        return (sent._replace(action=action),)
    if not action.get("confirmed"):
        return ()
    kept: Json = {key: action[key] for key in ("turnId", "toolCallId", "confirmed", "_meta") if key in action}
    return (sent._replace(action={"type": "chat/toolCallConfirmed", **kept, "approved": True}),)


def _ready_up(sent: Action, context: Context) -> Iterable[Action]:
    """What was not made ready again below is not above, either."""
    turn = (context.about(sent.channel).state() or {}).get("activeTurn") or {}
    calls = (part.get("toolCall") or {} for part in turn.get("responseParts") or ())
    waits = any(
        call.get("toolCallId") == sent.action.get("toolCallId") and call.get("status") == "pending-confirmation"
        for call in calls
    )
    return () if waits else (sent,)


def _complete_down(sent: Action, context: Context) -> Iterable[Action]:
    """One that waits for a token runs below, but it can only fail, and nobody is asked about its result."""
    failed = context.facts.get("failed")
    if failed is None:
        return (sent,)
    if not failed:
        return ()
    action = without(sent.action, "requiresResultConfirmation")
    return (sent._replace(action={**action, "result": {**action["result"], **failed}}),)


def _remarked(action: Json, context: Context) -> bool:  # noqa: ARG001
    return bool(context.facts.get("remarked"))


_REMARKED: Final = Resync("the metadata of a tool call changed while it waited for a token", _remarked)


def _retold(action: Json, context: Context) -> bool:  # noqa: ARG001
    return bool(context.facts.get("retold"))


# Sessions and changesets


def _wait_down(wait: Json, context: Context) -> Any:  # noqa: ARG001
    return DROP if wait.get("kind") == "toolAuthentication" else wait


def _session_down(state: Json, context: Context) -> Json:  # noqa: ARG001
    return without(state, "inputNeeded") if state.get("inputNeeded") == [] else state


def _input_needed(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    return (sent,) if "request" in sent.action else ()


def _reviewed_down(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    action = renamed(sent.action, "files", "fileIds")
    return (sent._replace(action={**action, "type": "changeset/filesReviewedChanged"}),)


def _reviewed_up(sent: Action, context: Context) -> Iterable[Action]:
    """Only a host said so, below: what a client says is left as unknown as it was."""
    if context.client_id:
        return (sent,)
    action = renamed(sent.action, "fileIds", "files")
    return (sent._replace(action={**action, "type": "changeset/filesReviewChanged"}),)


_ENDED: Final = Shape(dropping("duration").down, _ended)

STEP: Final = Step(
    older=Version(0, 5, 2),
    introduced=actions_new_in(NEWER),
    shapes={
        "chatState": Shape(_chat_down, _chat_up),
        "part": Shape(down=_part_down),
        "turn": Shape(down=_turn_down),
        "activeTurn": dropping("startedAt"),
        "toolCall": Shape(down=_tool_call_down),
        "inputNeeded": Shape(down=_wait_down),
        "sessionState": Shape(down=_session_down),
        "changeset": dropping("capabilities"),
        "mcpServerState": dropping("oauthClient"),
        "params:authenticate": dropping("scopes"),
        "action:chat/turnStarted": Shape(dropping("startedAt").down, _started),
        "action:chat/turnComplete": _ENDED,
        "action:chat/turnCancelled": _ENDED,
        "action:chat/error": _ENDED,
    },
    actions_down={
        "chat/responsePart": _response_part,
        "chat/toolCallReady": _ready_down,
        "chat/toolCallComplete": _complete_down,
        "session/inputNeededSet": _input_needed,
        "changeset/filesReviewChanged": _reviewed_down,
    },
    actions_up={"chat/toolCallReady": _ready_up, "changeset/filesReviewedChanged": _reviewed_up},
    resync={
        "chat/toolCallReady": Resync("a tool call that waits for a person was described anew", _retold),
        "chat/toolCallAuthRequired": _REMARKED,
        "chat/toolCallAuthResolved": _REMARKED,
        "chat/inputCompleted": Resync("a question was answered after its turn had gone on", _out_of_place),
    },
    answers_last=True,
    raw_marks=(
        b'"startedAt"',
        b'"duration"',
        b'"inputRequest"',
        b'"riskAssessment"',
        b'"auth-required"',
        b'"systemNotification"',
    ),
)
