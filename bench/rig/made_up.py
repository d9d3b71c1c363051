"""Journals with much in them: copies of a session that a real host made, under other names."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports.journal import (
    AppendTurn,
    Commit,
    LoadUnit,
    PutHead,
    PutSession,
    SessionRow,
    StoredUnit,
    Write,
)
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.chat.parts import (
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResponsePart,
    ToolCallResponsePart,
)
from holdfast.protocol.chat.state import Turn, TurnState
from holdfast.protocol.chat.tools import (
    TerminalCommandResult,
    ToolCallCompletedState,
    ToolCallConfirmationReason,
    ToolResultTerminalContent,
)
from holdfast.protocol.codec import encode

__all__ = ["add_sessions", "add_turns"]

_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_PIECE: Final = 2_000
"""Sessions or turns in a commit."""


def add_sessions(data_dir: Path, session: str, count: int) -> None:
    """Fill the journal of a host that does not run with copies of one of its sessions, a minute apart."""
    journal = SqliteJournal(data_dir / "journal.db")
    opening = journal.open(_now())
    found: StoredUnit = journal.read(LoadUnit(session))
    seq = opening.epochs[-1].first
    writes: list[Write] = []
    for index in range(count):
        writes += _copy(found, index, seq)
        if index % _PIECE == _PIECE - 1 or index == count - 1:
            journal.commit(Commit(tuple(writes)))
            writes.clear()
    journal.close()


def _copy(found: StoredUnit, index: int, seq: int) -> Iterator[Write]:
    row = found.row
    assert row is not None, "a session has a row"
    names = {each.uri: f"{each.uri}{index:06}" for each in found.channels}
    at = (_BEGIN + timedelta(minutes=index)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    summary = _renamed(row.summary, names).replace(row.modified_at.encode(), at.encode())
    yield PutSession(SessionRow(names[found.uri], at, summary, True, False, row.extra))
    for position, each in enumerate(found.channels):
        yield PutHead(names[found.uri], names[each.uri], each.kind, seq, _renamed(each.state, names), position)


def _renamed(data: bytes, names: dict[str, str]) -> bytes:
    for name, other in names.items():
        data = data.replace(f'"{name}"'.encode(), f'"{other}"'.encode())
    return data


def add_turns(data_dir: Path, chat: str, count: int, *, with_terminal: bool = False) -> int:
    """Give a chat of a host that does not run completed turns of 2.8 kB; their size in bytes."""
    journal = SqliteJournal(data_dir / "journal.db")
    journal.open(_now())
    turn = _with_terminal(_turn()) if with_terminal else _turn()
    size = 0
    writes: list[Write] = []
    for index in range(count):
        data = encode(replace(turn, id=f"turn-{index:06}"))
        size += len(data)
        writes.append(AppendTurn(chat, f"turn-{index:06}", data))
        if index % _PIECE == _PIECE - 1 or index == count - 1:
            journal.commit(Commit(tuple(writes)))
            writes.clear()
    journal.close()
    return size


def _turn() -> Turn:
    parts: tuple[ResponsePart, ...] = (
        ReasoningResponsePart(id="part-0", content="Let me think about it. " * 20),
        *(MarkdownResponsePart(id=f"part-{index}", content="Words of an answer. " * 30) for index in range(1, 4)),
    )
    return Turn(
        id="turn",
        started_at="2026-01-01T00:00:00.000Z",
        duration=1200,
        message=Message(text="Please look at this.", origin=MessageOrigin(kind=MessageKind.USER)),
        response_parts=parts,
        state=TurnState.COMPLETE,
    )


def _with_terminal(turn: Turn) -> Turn:
    """A turn that reads otherwise in most older versions: what a command came to was told apart from its terminal."""
    block = ToolResultTerminalContent(
        resource="ahp-terminal:/1", title="sh", result=TerminalCommandResult(exit_code=0, preview="done")
    )
    call = ToolCallCompletedState(
        tool_call_id="call",
        tool_name="sh",
        display_name="Shell",
        invocation_message="Run the tests",
        tool_input="pytest",
        confirmed=ToolCallConfirmationReason.NOT_NEEDED,
        success=True,
        past_tense_message="Ran the tests",
        content=(block,),
    )
    return replace(turn, response_parts=(*turn.response_parts, ToolCallResponsePart(tool_call=call)))


def _now() -> int:
    return time.time_ns() // 1_000_000
