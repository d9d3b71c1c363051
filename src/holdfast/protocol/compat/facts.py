"""What an older version needs to know beside an action: recorded when the action happened, from the states around it.

Few actions have any. What is recorded travels with the envelope into the journal, so that a replay is lowered
exactly as the live action was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from holdfast.protocol.changeset.state import ChangesetState
from holdfast.protocol.chat.actions import InputCompleted, ToolCallComplete, ToolCallReady
from holdfast.protocol.chat.parts import InputRequestResponsePart, ToolCallResponsePart
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.chat.tools import (
    ToolCallAuthRequiredState,
    ToolCallCompletedState,
    ToolCallPendingConfirmationState,
    ToolCallRunningState,
)
from holdfast.protocol.codec import Wire, to_json
from holdfast.protocol.compat.context import Json
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.reducing import with_directory, without_directory
from holdfast.protocol.session.actions import CustomizationToggled, CustomizationUpdated, WorkingDirectoryReplaced
from holdfast.protocol.session.customizations import McpServerCustomization
from holdfast.protocol.session.state import SessionState

__all__ = ["FACTS", "of"]

Record = Callable[[Any, Any, Any], Json]
"""State before, action, state after."""


def _shown_client(before: SessionState, action: Wire, after: SessionState) -> Json:  # noqa: ARG001
    """Up to 0.4 one active client is shown: the one that came last."""
    return {"shown": to_json(after.active_clients[-1]) if after.active_clients else None}


def _primary_directory(before: Any, action: Wire, after: Any) -> Json:  # noqa: ARG001
    """Up to 0.6 there is one directory: whether it is another one now."""
    first = (before.working_directories or (None,))[0]
    second = (after.working_directories or (None,))[0]
    return {"primaryChanged": True} if first != second else {}


def _replaced_directory(before: SessionState, action: WorkingDirectoryReplaced, after: SessionState) -> Json:
    """In 0.7 it is one directory more and one less: whether that gives another order."""
    more = with_directory(before.working_directories, action.replacement)
    less = without_directory(more, action.directory) if action.directory != action.replacement else more
    return {**_primary_directory(before, action, after), "reordered": less != after.working_directories}


def _made_ready_again(before: ChatState, action: ToolCallReady, after: ChatState) -> Json:
    """Up to 0.5.2 a call that waits for a person is not made ready again; up to 0.6 it then forgets its input.

    Up to 0.6 it also stays whose it was at its start, and for what.
    """
    call, now = _tool_call(before, action.tool_call_id), _tool_call(after, action.tool_call_id)
    facts: Json = {}
    if any(getattr(call, name, None) != getattr(now, name, None) for name in ("contributor", "intention")):
        facts["described"] = True
    if isinstance(call, ToolCallPendingConfirmationState):
        facts["waited"] = True
        if _asked(call, now):
            facts["retold"] = True
    if isinstance(call, ToolCallPendingConfirmationState | ToolCallRunningState) and action.tool_input is None:
        facts |= {"toolInput": call.tool_input} if isinstance(call.tool_input, str) else {}
    return facts


def _asked(before: ToolCallPendingConfirmationState, after: object) -> bool:
    """Whether a call that waited tells something else now. How risky it is was never told so long ago."""
    if isinstance(after, ToolCallPendingConfirmationState):
        return replace(before, risk_assessment=None) != replace(after, risk_assessment=None)
    if isinstance(after, ToolCallRunningState):
        return (before.invocation_message, before.tool_input) != (after.invocation_message, after.tool_input)
    return False


def _challenged(before: ChatState, action: Any, after: ChatState) -> Json:
    """Up to 0.5.2 calls do not wait for tokens, and hear nothing about it: whether their metadata changed."""
    call, now = _tool_call(before, action.tool_call_id), _tool_call(after, action.tool_call_id)
    return {"remarked": True} if getattr(call, "meta", None) != getattr(now, "meta", None) else {}


def _failed(before: ChatState, action: ToolCallComplete, after: ChatState) -> Json:
    """Up to 0.5.2 a call that waits for a token runs: what became of it, nothing if it goes on waiting."""
    if not isinstance(_tool_call(before, action.tool_call_id), ToolCallAuthRequiredState):
        return {}
    call = _tool_call(after, action.tool_call_id)
    if not isinstance(call, ToolCallCompletedState):
        return {"failed": {}}
    content = {} if call.content is None else {"content": to_json(call.content)}
    return {"failed": {"success": call.success, **content}}


def _answered(before: ChatState, action: InputCompleted, after: ChatState) -> Json:  # noqa: ARG001
    """In 0.5.2 an answered question goes to the end of its turn: whether something else is there already."""
    parts = after.active_turn.response_parts if after.active_turn else ()
    last = parts[-1] if parts else None
    at_end = isinstance(last, InputRequestResponsePart) and last.request.id == action.request_id
    return {} if at_end or not parts else {"followed": True}


def _tool_call(chat: ChatState, id: str) -> object:
    parts = chat.active_turn.response_parts if chat.active_turn else ()
    calls = (part.tool_call for part in parts if isinstance(part, ToolCallResponsePart))
    return next((call for call in calls if getattr(call, "tool_call_id", None) == id), None)


def _toggled(before: SessionState, action: CustomizationToggled, after: SessionState) -> Json:  # noqa: ARG001
    """In 0.1 a customization is named by its URI; up to 0.5.1 only plugins and directories are switched."""
    entries = before.customizations or ()
    for entry in entries:
        if getattr(entry, "id", None) == action.id:
            return {"uri": getattr(entry, "uri", None), "server": isinstance(entry, McpServerCustomization)}
    for child in (child for entry in entries for child in getattr(entry, "children", None) or ()):
        if getattr(child, "id", None) == action.id:
            return {"child": True, "server": isinstance(child, McpServerCustomization)}
    return {}


def _all_customizations(before: SessionState, action: Wire, after: SessionState) -> Json:  # noqa: ARG001
    """In 0.1 customizations are told all at once, without what is inside them."""
    if before.customizations is after.customizations:
        return {}
    entries = to_json(after.customizations or ())
    return {"customizations": [{key: entry[key] for key in entry if key != "children"} for entry in entries]}


def _updated(before: SessionState, action: CustomizationUpdated, after: SessionState) -> Json:
    """Up to 0.2 servers are not shown on top: whether what was shown there became one."""
    facts = _all_customizations(before, action, after)
    if not isinstance(action.customization, McpServerCustomization):
        return facts
    id = action.customization.id
    known = next((each for each in before.customizations or () if getattr(each, "id", None) == id), None)
    hidden = known is not None and not isinstance(known, McpServerCustomization)
    return {**facts, "hidden": True} if hidden else facts


def _changeset_error(before: ChangesetState, action: Wire, after: ChangesetState) -> Json:  # noqa: ARG001
    """Up to 0.8 new content takes the error away."""
    return {} if after.error is None else {"error": to_json(after.error)}


FACTS: Final[Mapping[str, Record]] = {
    "session/activeClientSet": _shown_client,
    "session/activeClientRemoved": _shown_client,
    "session/workingDirectorySet": _primary_directory,
    "session/workingDirectoryRemoved": _primary_directory,
    "session/workingDirectoryReplaced": _replaced_directory,
    "chat/workingDirectorySet": _primary_directory,
    "chat/workingDirectoryRemoved": _primary_directory,
    "session/customizationToggled": _toggled,
    "session/customizationUpdated": _updated,
    "session/customizationRemoved": _all_customizations,
    "chat/toolCallReady": _made_ready_again,
    "chat/toolCallAuthRequired": _challenged,
    "chat/toolCallAuthResolved": _challenged,
    "chat/toolCallComplete": _failed,
    "chat/inputCompleted": _answered,
    "changeset/contentChanged": _changeset_error,
}


def of(type: str, before: Any, action: StateAction, after: Any) -> Json:  # noqa: A002 - the protocol's word
    """The facts of an action; mostly none."""
    record = FACTS.get(type)
    return {} if record is None else record(before, action, after)
