"""0.6 and 0.7. One working directory became several, a fork one of two sources of a chat; input may be a reference.

A terminal block's result was a block of its own, and there were no attachments of chats.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from holdfast.protocol.compat.attachments import shown_as_label
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import Action, Call, Resync, Shape, Step, actions_new_in, without
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

NEWER: Final = Version(0, 7, 0)


# Directories


def _directory_down(value: Json, context: Context) -> Json:  # noqa: ARG001
    if "workingDirectories" not in value:
        return value
    directories, rest = value["workingDirectories"], without(value, "workingDirectories")
    return {**rest, "workingDirectory": directories[0]} if directories else rest


def _directory_up(value: Json, context: Context) -> Json:  # noqa: ARG001
    if "workingDirectory" not in value:
        return value
    directory, rest = value["workingDirectory"], without(value, "workingDirectory")
    return rest if directory is None else {**rest, "workingDirectories": [directory]}


def _primary_changed(action: Json, context: Context) -> bool:  # noqa: ARG001
    return bool(context.facts.get("primaryChanged"))


_MOVED: Final = Resync("the first of the directories changed", _primary_changed)


# Where chats come from


def _origin_down(origin: Json, context: Context) -> Json:  # noqa: ARG001
    """Below, a side chat looks like a fork."""
    return {**without(origin, "selection"), "kind": "fork"} if origin.get("kind") == "sideChat" else origin


def _source_down(source: Json, context: Context) -> Json:  # noqa: ARG001
    return without(source, "kind") if source.get("kind") == "fork" else source


def _source_up(source: Json, context: Context) -> Json:  # noqa: ARG001
    return source if "kind" in source else {"kind": "fork", **source}


def _create_chat_down(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    """An older host knows no source but a fork, and no directories of a chat's own."""
    source = call.params.get("source")
    if isinstance(source, dict) and "kind" in source:
        return ()
    return (call._replace(params=without(call.params, "workingDirectories")),)


# Tool calls


def _text_input_only(value: Json, context: Context) -> Json:  # noqa: ARG001
    """A reference to input is left out: there is no text in it to show."""
    return without(value, "toolInput") if isinstance(value.get("toolInput"), dict) else value


def _ready_down(sent: Action, context: Context) -> Iterable[Action]:
    """Below, a call made ready again forgets its input unless it is told once more."""
    action = without(_text_input_only(sent.action, context), "contributor", "intention")
    known = context.facts.get("toolInput")
    if sent.action.get("toolInput") is None and isinstance(known, str):
        action = {**action, "toolInput": known}
    return (sent._replace(action=action),)


def _delta_down(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    return (sent if "content" in sent.action else sent._replace(action={**sent.action, "content": ""}),)


def _content_down(value: Json, context: Context) -> Json:  # noqa: ARG001
    """What became of a terminal's command stands in a block after it."""
    content = value.get("content")
    if not isinstance(content, list) or not any(_is_block(each, "terminal") for each in content):
        return value
    return {**value, "content": [block for each in content for block in _split(each)]}


def _split(block: Any) -> Iterable[Any]:
    if not _is_block(block, "terminal"):
        return (block,)
    terminal, result = without(block, "result", "isPty"), block.get("result")
    if not isinstance(result, dict):
        return (terminal,)
    return terminal, {"type": "terminalComplete", "resource": block.get("resource"), **result}


def _content_up(value: Json, context: Context) -> Json:  # noqa: ARG001
    content = value.get("content")
    if not isinstance(content, list) or not any(_is_block(each, "terminalComplete") for each in content):
        return value
    merged: list[Any] = []
    for block in content:
        at = _terminal_before(merged, block) if _is_block(block, "terminalComplete") else None
        if at is None:
            merged.append(block)
        else:
            merged[at] = {**merged[at], "result": without(block, "type", "resource", "cwd")}
    return {**value, "content": merged}


def _terminal_before(blocks: list[Any], complete: Json) -> int | None:
    """The last terminal block of the same resource; none if it has its result already."""
    for at in reversed(range(len(blocks))):
        block = blocks[at]
        if _is_block(block, "terminal") and block.get("resource") == complete.get("resource"):
            return None if "result" in block else at
    return None


def _is_block(block: Any, type: str) -> bool:  # noqa: A002 - the protocol's word
    return isinstance(block, dict) and block.get("type") == type


def _tool_call_down(call: Json, context: Context) -> Json:
    return _content_down(_text_input_only(call, context), context)


def _content_changed_down(sent: Action, context: Context) -> Iterable[Action]:
    return (sent._replace(action=_content_down(sent.action, context)),)


def _content_changed_up(sent: Action, context: Context) -> Iterable[Action]:
    return (sent._replace(action=_content_up(sent.action, context)),)


# The rest


def _capabilities(capabilities: Json, context: Context) -> Json:  # noqa: ARG001
    lowered = without(capabilities, "multipleWorkingDirectories")
    chats = lowered.get("multipleChats")
    if not isinstance(chats, dict) or "sideChat" not in chats:
        return lowered
    return {**lowered, "multipleChats": without(chats, "sideChat")}


def _terminal_down(state: Json, context: Context) -> Json:  # noqa: ARG001
    return without(state, "isPty")


def _redescribed(action: Json, context: Context) -> bool:  # noqa: ARG001
    return bool(context.facts.get("described"))


_DIRECTORY: Final = Shape(_directory_down, _directory_up)

STEP: Final = Step(
    older=Version(0, 6, 0),
    introduced=actions_new_in(NEWER),
    shapes={
        "sessionState": _DIRECTORY,
        "sessionSummary": _DIRECTORY,
        "chatState": _DIRECTORY,
        "chatSummary": _DIRECTORY,
        "params:createSession": _DIRECTORY,
        "chatOrigin": Shape(down=_origin_down),
        "chatSource": Shape(_source_down, _source_up),
        "toolCall": Shape(_tool_call_down, _content_up),
        "toolResult": Shape(_content_down, _content_up),
        "attachment": shown_as_label("chat", "resource", "endTurn"),
        "agentCapabilities": Shape(down=_capabilities),
        "terminalState": Shape(down=_terminal_down),
    },
    actions_down={
        "chat/toolCallReady": _ready_down,
        "chat/toolCallDelta": _delta_down,
        "chat/toolCallContentChanged": _content_changed_down,
    },
    actions_up={"chat/toolCallContentChanged": _content_changed_up},
    requests=({"createChat": _create_chat_down}, {}),
    resync={
        "session/workingDirectorySet": _MOVED,
        "session/workingDirectoryRemoved": _MOVED,
        "session/workingDirectoryReplaced": _MOVED,
        "chat/workingDirectorySet": _MOVED,
        "chat/workingDirectoryRemoved": _MOVED,
        "chat/toolCallReady": Resync("whose a tool call is, or what for, changed after its start", _redescribed),
    },
    raw_marks=(b'"toolInput":{', b'"type":"terminal"', b'"type":"chat"'),
)
