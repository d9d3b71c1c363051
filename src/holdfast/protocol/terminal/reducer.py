"""What each action does to a terminal's state (06-terminal, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from holdfast.protocol import text
from holdfast.protocol.codec import Unknown, Wire
from holdfast.protocol.reducing import Handler, by_table, put
from holdfast.protocol.terminal import actions
from holdfast.protocol.terminal.state import (
    TerminalCommandPart,
    TerminalContentPart,
    TerminalExited,
    TerminalState,
    TerminalUnclassifiedPart,
)

__all__ = ["reduce"]


def data(state: TerminalState, action: actions.Data) -> TerminalState:
    """Append to the running command, else to trailing output, else begin a new part."""
    content = state.content
    last = content[-1] if content else None
    grown: TerminalContentPart
    if isinstance(last, TerminalCommandPart) and not last.is_complete:
        grown = replace(last, output=text.append(last.output, action.data))
    elif isinstance(last, TerminalUnclassifiedPart):
        grown = replace(last, value=text.append(last.value, action.data))
    else:
        return replace(state, content=(*content, TerminalUnclassifiedPart(value=action.data)))
    return replace(state, content=(*content[:-1], grown))


def resized(state: TerminalState, action: actions.Resized) -> TerminalState:
    return put(state, cols=action.cols, rows=action.rows)


def claimed(state: TerminalState, action: actions.Claimed) -> TerminalState:
    return put(state, claim=action.claim)


def title_changed(state: TerminalState, action: actions.TitleChanged) -> TerminalState:
    return put(state, title=action.title)


def cwd_changed(state: TerminalState, action: actions.CwdChanged) -> TerminalState:
    return put(state, cwd=action.cwd)


def exited(state: TerminalState, action: actions.Exited) -> TerminalState:
    return replace(state, lifecycle=TerminalExited(exit_code=action.exit_code))


def cleared(state: TerminalState, _: actions.Cleared) -> TerminalState:
    return replace(state, content=()) if state.content else state


def command_detection_available(state: TerminalState, _: actions.CommandDetectionAvailable) -> TerminalState:
    return put(state, supports_command_detection=True)


def command_executed(state: TerminalState, action: actions.CommandExecuted) -> TerminalState:
    command = TerminalCommandPart(
        command_id=action.command_id,
        command_line=action.command_line,
        output="",
        timestamp=action.timestamp,
        is_complete=False,
    )
    return replace(state, content=(*state.content, command), supports_command_detection=True)


def command_finished(state: TerminalState, action: actions.CommandFinished) -> TerminalState:
    """Complete every command part with this id; exit code and duration are overwritten, also with absent."""

    def finished(part: TerminalContentPart) -> TerminalContentPart:
        if not isinstance(part, TerminalCommandPart) or part.command_id != action.command_id:
            return part
        return put(part, is_complete=True, exit_code=action.exit_code, duration_ms=action.duration_ms)

    content = tuple(finished(part) for part in state.content)
    if all(after is before for after, before in zip(content, state.content, strict=True)):
        return state
    return replace(state, content=content)


_TABLE: Final[dict[type, Handler]] = {
    actions.Data: data,
    actions.Resized: resized,
    actions.Claimed: claimed,
    actions.TitleChanged: title_changed,
    actions.CwdChanged: cwd_changed,
    actions.Exited: exited,
    actions.Cleared: cleared,
    actions.CommandDetectionAvailable: command_detection_available,
    actions.CommandExecuted: command_executed,
    actions.CommandFinished: command_finished,
    # `actions.Input` is not here: a pty cannot be predicted, so input changes no state.
}


reduce: Final[Callable[[TerminalState, Wire | Unknown], TerminalState]] = by_table(_TABLE)
"""The state after an action; the same object if it changes nothing."""
