"""What an older version needs to know beside an action: recorded when the action happened, from the states around it.

Few actions have any. What is recorded travels with the envelope into the journal, so that a replay is lowered
exactly as the live action was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import to_builtins

from holdfast.protocol.chat.actions import ToolCallReady
from holdfast.protocol.chat.parts import ToolCallResponsePart
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.chat.tools import ToolCallPendingConfirmationState
from holdfast.protocol.codec import Wire
from holdfast.protocol.compat.context import Json
from holdfast.protocol.session.state import SessionState

__all__ = ["FACTS", "of"]

Record = Callable[[Any, Any, Any], Json]
"""State before, action, state after."""


def _shown_client(before: SessionState, action: Wire, after: SessionState) -> Json:  # noqa: ARG001
    """Up to 0.4 one active client is shown: the one that came last."""
    return {"shown": _plain(after.active_clients[-1]) if after.active_clients else None}


def _primary_directory(before: Any, action: Wire, after: Any) -> Json:  # noqa: ARG001
    """Up to 0.6 there is one directory: whether it is another one now."""
    first = (before.working_directories or (None,))[0]
    second = (after.working_directories or (None,))[0]
    return {"primaryChanged": True} if first != second else {}


def _waited_already(before: ChatState, action: ToolCallReady, after: ChatState) -> Json:  # noqa: ARG001
    """Up to 0.5.2 a call that waits for a person is not made ready again."""
    parts = before.active_turn.response_parts if before.active_turn else ()
    waited = any(
        isinstance(part, ToolCallResponsePart)
        and isinstance(part.tool_call, ToolCallPendingConfirmationState)
        and part.tool_call.tool_call_id == action.tool_call_id
        for part in parts
    )
    return {"waited": True} if waited else {}


def _plain(value: Wire) -> Any:
    return to_builtins(value, enc_hook=str)


FACTS: Final[Mapping[str, Record]] = {
    "session/activeClientSet": _shown_client,
    "session/activeClientRemoved": _shown_client,
    "session/workingDirectorySet": _primary_directory,
    "session/workingDirectoryRemoved": _primary_directory,
    "session/workingDirectoryReplaced": _primary_directory,
    "chat/workingDirectorySet": _primary_directory,
    "chat/workingDirectoryRemoved": _primary_directory,
    "chat/toolCallReady": _waited_already,
}


def of(type: str, before: Any, action: Wire, after: Any) -> Json:  # noqa: A002 - the protocol's word
    """The facts of an action; mostly none."""
    record = FACTS.get(type)
    return {} if record is None else record(before, action, after)
