"""0.9 and 1.0. What 1.0 added is left out below; nothing else changed.

Read and archived marks of a chat have no action below, so its state is shown without them; `session/chatUpdated`
tells them all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from holdfast.protocol.compat.channels import unseen
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import (
    Action,
    Call,
    Resync,
    Shape,
    Step,
    actions_new_in,
    dropping,
    refused_before,
    without,
)
from holdfast.protocol.status import IS_ARCHIVED, IS_READ
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

NEWER: Final = Version(1, 0, 0)
NEW_IN_CHATS: Final = ("changes", "movable", "changesets", "backgroundWork", "canvases")
CANVAS: Final = "canvas"
MARKS: Final = IS_READ | IS_ARCHIVED


def _chat_down(chat: Json, context: Context) -> Json:  # noqa: ARG001
    lowered, status = without(chat, *NEW_IN_CHATS), chat.get("status")
    return {**lowered, "status": status & ~MARKS} if isinstance(status, int) and status & MARKS else lowered


def _settled(value: Json, context: Context) -> Json:  # noqa: ARG001
    """A changeset's status: below, one that is worked on again looks like one that is worked on."""
    return {**value, "status": "computing"} if value.get("status") == "recomputing" else value


def _status_changed(sent: Action, context: Context) -> Iterable[Action]:
    return (sent._replace(action=_settled(sent.action, context)),)


def _chat_updated(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    """Not sent when only what is new above has changed."""
    return (sent,) if sent.action.get("changes") != {} else ()


def _summary_changed(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    return (call,) if call.params.get("changes") != {} else ()


def _capabilities(result: Json, context: Context) -> Json:  # noqa: ARG001
    automations = result.get("automations")
    if not isinstance(automations, dict) or "customizations" not in automations:
        return result
    return {**result, "automations": without(automations, "customizations")}


def _update_requested(sent: Action, context: Context) -> Iterable[Action]:
    """A client below does not know the template's customizations: what it writes keeps those that are there."""
    template = (sent.action.get("changes") or {}).get("session")
    if not isinstance(template, dict) or "customizations" in template:
        return (sent,)
    entries = (context.state() or {}).get("entries", ())
    entry = next((each for each in entries if each["resource"] == sent.action.get("resource")), None)
    kept = entry["definition"]["session"].get("customizations") if entry else None
    if kept is None:
        return (sent,)
    changes = {**sent.action["changes"], "session": {**template, "customizations": kept}}
    return (sent._replace(action={**sent.action, "changes": changes}),)


STEP: Final = Step(
    older=Version(0, 9, 0),
    introduced=actions_new_in(NEWER),
    shapes={
        "sessionSummary": dropping("chats", "defaultChat"),
        "chatState": Shape(down=_chat_down),
        "chatSummary": dropping("changes", "movable"),
        "changesetState": Shape(down=_settled),
        "mcpServerState": dropping("blocking"),
        "configProperty": dropping("minItems", "maxItems"),
        "snapshot": unseen(CANVAS),
    },
    actions_down={"changeset/statusChanged": _status_changed, "session/chatUpdated": _chat_updated},
    actions_up={"automation/updateRequested": _update_requested},
    requests=(refused_before(NEWER), refused_before(NEWER)),
    unseen=frozenset({CANVAS}),
    notifications=({"root/sessionSummaryChanged": _summary_changed}, {}),
    results={"initialize": Shape(down=_capabilities)},
    resync={"session/chatsReordered": Resync("chats were put in another order")},
    raw_marks=(),
)
"""1.0 is additive: what comes from below is as it should be."""
