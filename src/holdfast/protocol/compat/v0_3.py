"""0.3 and 0.4: the chat split. Below, a session is one conversation, and shows its default chat; others are not seen.

A session's state is merged with the chat that the host, or a lift, puts beside it under a private key. Activity is
the chat's; marks such as read and archived stay the session's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from holdfast.protocol import uris
from holdfast.protocol.compat.attachments import shown_as_label
from holdfast.protocol.compat.channels import unseen
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import (
    Action,
    Call,
    ConvertAction,
    Resync,
    Shape,
    Step,
    actions_new_in,
    dropping,
    refused_before,
    without,
)
from holdfast.protocol.compat.v0_4_summary import BESIDE
from holdfast.protocol.status import ACTIVITY, with_activity
from holdfast.protocol.timestamps import from_milliseconds
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

NEWER: Final = Version(0, 4, 0)
MOST_ACTIONS: Final = 4
"""As many as one action may become."""

CONVERSATION: Final = ("turns", "activeTurn", "steeringMessage", "queuedMessages", "inputRequests")
"""What a session had, and has left to its chats."""

OF_A_CHAT: Final = {
    name: f"session/{name.partition('/')[2]}" for name in actions_new_in(NEWER) if name[:5] == "chat/"
}
"""Actions of chats, by what they were called when a session was one."""


UNSEEN: Final = ("chat", "annotations")
"""Kinds of channels that were new. What is watched could be followed before, but had no snapshot."""

ON_EITHER: Final = ("session/titleChanged", "session/isReadChanged", "session/isArchivedChanged")
"""What a client may dispatch on a session or on a chat of it."""


# States


def _session_down(state: Json, context: Context) -> Json:  # noqa: ARG001
    chat: Json = (state.get(BESIDE) or {}).get("chat") or {}
    shown: Json = {key: chat[key] for key in CONVERSATION if key in chat}
    lowered = {**without(state, "chats", "defaultChat", BESIDE), "turns": [], **shown}
    summary = state.get("summary")
    if not isinstance(summary, dict) or "status" not in chat:
        return lowered
    return {**lowered, "summary": {**summary, "status": with_activity(summary["status"], chat["status"] & ACTIVITY)}}


def _session_up(state: Json, context: Context) -> Json:
    summary = state.get("summary")
    if not isinstance(summary, dict):
        return state
    resource = context.default_chat or uris.default_chat(summary["resource"])
    listed: Json = {
        "resource": resource,
        "title": summary["title"],
        "status": summary["status"] & ACTIVITY,
        "modifiedAt": from_milliseconds(summary["modifiedAt"]),
    }
    held: Json = {key: state[key] for key in CONVERSATION if key in state}
    chat = {**listed, **held}
    return {
        **without(state, *CONVERSATION),
        "chats": [listed],
        "defaultChat": resource,
        BESIDE: {**(state.get(BESIDE) or {}), "chat": chat},
    }


# Actions


def _to_session(name: str) -> ConvertAction:
    def down(sent: Action, context: Context) -> Iterable[Action]:
        if sent.channel != context.default_chat or not context.session:
            return ()
        # Only tool calls had `_meta` in their actions.
        action = sent.action if "/toolCall" in name else without(sent.action, "_meta")
        return (Action(context.session, "session", {**action, "type": name}),)

    return down


def _to_chat(name: str) -> ConvertAction:
    def up(sent: Action, context: Context) -> Iterable[Action]:
        chat = context.default_chat or uris.default_chat(sent.channel)
        # A reducer below takes the `_meta` of a tool call from its beginning alone.
        action = (
            without(sent.action, "_meta") if "/toolCall" in name and name != "chat/toolCallStart" else sent.action
        )
        return (Action(chat, "chat", {**action, "type": name}),)

    return up


def _of_the_session(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    """What a chat is called, and its marks: below, only the session has those, and is told apart."""
    return () if sent.kind == "chat" else (sent,)


def _remarked(action: Json, context: Context) -> bool:  # noqa: ARG001
    return "_meta" in action


_REMARKED: Final = Resync("the metadata of a tool call changed after its start", _remarked)


def _content_changed(sent: Action, context: Context) -> Iterable[Action]:
    """Below, files are told one by one. What is too much for that is in the next snapshot."""
    if _is_too_much(sent.action, context):
        return
    yield sent._replace(action={"type": "changeset/cleared"})
    for file in sent.action.get("files") or ():
        yield sent._replace(action={"type": "changeset/fileSet", "file": file})
    if sent.action.get("operations") is not None:
        operations = sent.action["operations"]
        yield sent._replace(action={"type": "changeset/operationsChanged", "operations": operations})


def _is_too_much(action: Json, context: Context) -> bool:  # noqa: ARG001
    return 1 + len(action.get("files") or ()) + (action.get("operations") is not None) > MOST_ACTIONS


# What stands in messages, tool calls and changesets


def _message_down(message: Json, context: Context) -> Json:  # noqa: ARG001
    """Below, only users and the system speak."""
    origin = message.get("origin")
    if not isinstance(origin, dict) or origin.get("kind") not in ("agent", "tool"):
        return message
    return {**message, "origin": {**origin, "kind": "systemNotification"}}


def _content_down(block: Json, context: Context) -> Json:  # noqa: ARG001
    """A subagent's chat cannot be seen: what is said about it can."""
    if block.get("type") != "subagent":
        return block
    said = (block.get("title"), block.get("description"))
    return {"type": "text", "text": ": ".join(each for each in said if each)}


def _content_up(block: Json, context: Context) -> Json:
    """A subagent's session is, above, the chat in it."""
    if block.get("type") != "subagent":
        return block
    session = str(block.get("resource"))
    about = context.about(session)
    known = about.default_chat if about.session == session else ""
    return {**block, "resource": known or uris.default_chat(session)}


def _operation_down(operation: Json, context: Context) -> Json:
    return _status_down(without(operation, "group"), context)


def _status_down(value: Json, context: Context) -> Json:  # noqa: ARG001
    return {**value, "status": "idle"} if value.get("status") == "disabled" else value


# Requests


def _at_chat(call: Call, context: Context) -> Iterable[Call]:
    chat = context.about(str(call.params.get("channel"))).default_chat
    return (call._replace(params={**call.params, "channel": chat}) if chat else call,)


def _at_session(call: Call, context: Context) -> Iterable[Call]:
    channel = str(call.params.get("channel"))
    session = context.about(channel).session or uris.default_chat_owner(channel)
    return (call._replace(params={**call.params, "channel": session}) if session else call,)


_OF_A_CHAT_TOO: Final = ("fetchTurns", "completions")


STEP: Final = Step(
    older=Version(0, 3, 0),
    introduced=actions_new_in(NEWER),
    shapes={
        "sessionState": Shape(_session_down, _session_up),
        "sessionSummary": dropping("annotations"),
        "rootState": dropping("_meta"),
        "snapshot": unseen(*UNSEEN, "resourceWatch"),
        "message": Shape(down=_message_down),
        "attachment": shown_as_label("annotations", "resource", "annotationIds"),
        "resultContent": Shape(_content_down, _content_up),
        "configProperty": dropping("additionalProperties"),
        "errorInfo": dropping("_meta"),
        "changesetOperation": Shape(down=_operation_down),
        "action:changeset/operationStatusChanged": Shape(down=_status_down),
    },
    actions_down={
        **{name: _to_session(older) for name, older in OF_A_CHAT.items()},
        "changeset/contentChanged": _content_changed,
        **dict.fromkeys(ON_EITHER, _of_the_session),
    },
    actions_up={older: _to_chat(name) for name, older in OF_A_CHAT.items()},
    requests=(
        {**refused_before(NEWER), **dict.fromkeys(_OF_A_CHAT_TOO, _at_session)},
        {**refused_before(NEWER), **dict.fromkeys(_OF_A_CHAT_TOO, _at_chat)},
    ),
    resync={
        "session/defaultChatChanged": Resync(
            "another chat became the default one, and nothing else of a session is seen"
        ),
        **{name: _REMARKED for name in OF_A_CHAT if "/toolCall" in name and name != "chat/toolCallStart"},
        "changeset/contentChanged": Resync("many files of a changeset were replaced at once", _is_too_much),
    },
    unseen=frozenset(UNSEEN),
    one_conversation=True,
    raw_marks=(b'"kind":"error"', b'"kind":"agent"', b'"kind":"tool"', b'"type":"annotations"', b'"type":"subagent"'),
)
