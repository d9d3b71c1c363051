"""What the protocol package costs: decoding, encoding, reducing, importing.

    python bench/protocol.py [--rounds 7]

Every figure is a median over rounds, in CPU time of this process, with the spread beside it; the import is
measured in processes of its own, after one that warms the byte code. Nothing here is asserted: tests do not
measure time.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from msgspec import Raw
from msgspec.structs import replace

from holdfast.protocol.chat import actions
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.chat.parts import (
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResponsePart,
    ToolCallResponsePart,
)
from holdfast.protocol.chat.reducer import reduce
from holdfast.protocol.chat.state import ActiveTurn, ChatState, Turn, TurnState
from holdfast.protocol.chat.tools import (
    ToolCallCompletedState,
    ToolCallConfirmationReason,
    ToolCallResult,
    ToolResultTextContent,
)
from holdfast.protocol.codec import Wire, decode, encode, raw
from holdfast.protocol.envelope import ActionEnvelope, decode_envelope

_STARTED = "2026-01-01T00:00:00.000Z"
_USER = MessageOrigin(kind=MessageKind.USER)
_DELTA = "twenty bytes of text"


def _parts(count: int, characters: int) -> tuple[ResponsePart, ...]:
    """A mix of what turns hold: mostly text, some tool calls."""
    made: list[ResponsePart] = []
    for index in range(count):
        if index % 5 == 4:
            call = ToolCallCompletedState(
                tool_call_id=f"call-{index}",
                tool_name="bash",
                display_name="Run command",
                invocation_message="ls -la",
                tool_input='{"command":"ls -la"}',
                confirmed=ToolCallConfirmationReason.NOT_NEEDED,
                success=True,
                past_tense_message="Ran ls -la",
                content=(ToolResultTextContent(text="x" * characters),),
            )
            made.append(ToolCallResponsePart(tool_call=call))
        elif index % 5 == 3:
            made.append(ReasoningResponsePart(id=f"part-{index}", content="y" * characters))
        else:
            made.append(MarkdownResponsePart(id=f"part-{index}", content="z" * characters))
    return tuple(made)


def _chat(turns: int, active_parts: int) -> ChatState:
    history = tuple(
        Turn(
            id=f"turn-{index}",
            started_at=_STARTED,
            duration=1200,
            message=Message(text="Please look at this.", origin=_USER),
            response_parts=_parts(5, 420),
            state=TurnState.COMPLETE,
        )
        for index in range(turns)
    )
    active = ActiveTurn(
        id="now",
        started_at=_STARTED,
        message=Message(text="Go on.", origin=_USER),
        response_parts=(*_parts(active_parts - 1, 100), MarkdownResponsePart(id="last", content="")),
    )
    return ChatState(
        resource="ahp-chat:/bench",
        title="Bench",
        status=8,
        modified_at=_STARTED,
        turns=history,
        active_turn=active,
    )


class _Report:
    """Runs each measurement in rounds and prints its median and spread."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def row(self, name: str, unit: str, measure: Callable[[], float], target: str = "") -> float:
        gc.collect()
        values = [measure() for _ in range(self.rounds)]
        median = statistics.median(values)
        spread = f"{min(values):,.3g} … {max(values):,.3g}"
        print(f"{name:<52} {median:>12,.3g} {unit:<10} {spread:<24} {target}")
        return median


def _seconds(work: Callable[[], object], repeat: int) -> float:
    before = time.process_time()
    for _ in range(repeat):
        work()
    return (time.process_time() - before) / repeat


def _nanoseconds(work: Callable[[], object]) -> Callable[[], float]:
    return lambda: _seconds(work, 50_000) * 1e9


def _milliseconds(work: Callable[[], object]) -> Callable[[], float]:
    return lambda: _seconds(work, 5) * 1e3


def _reduced(start: ChatState, stream: list[Wire], times: int = 1) -> float:
    """Actions per second."""
    before = time.process_time()
    for _ in range(times):
        state = start
        for action in stream:
            state = reduce(state, action)
    return times * len(stream) / (time.process_time() - before)


def _tool_call_life(turn: str, call: str) -> list[Wire]:
    def named(kind: type[Wire], **fields: object) -> Wire:
        return kind(turn_id=turn, tool_call_id=call, **fields)

    return [
        named(actions.ToolCallStart, tool_name="bash", display_name="Run command"),
        *(named(actions.ToolCallDelta, content='{"command":') for _ in range(4)),
        named(actions.ToolCallReady, invocation_message="ls", tool_input='{"command":"ls"}'),
        named(actions.ToolCallConfirmed, approved=True, confirmed=ToolCallConfirmationReason.USER_ACTION),
        named(actions.ToolCallContentChanged, content=(ToolResultTextContent(text="a\n"),)),
        named(
            actions.ToolCallComplete,
            result=ToolCallResult(
                success=True, past_tense_message="Ran ls", content=(ToolResultTextContent(text="a\nb\n"),)
            ),
        ),
    ]


def _lives(turn: str, count: int) -> list[Wire]:
    return [action for call in range(count) for action in _tool_call_life(turn, f"new-{call}")]


def _tool_calls() -> list[Wire]:
    """Forty turns of ten tool calls each, behind whatever history the chat has."""
    stream: list[Wire] = []
    for index in range(40):
        turn = f"tools-{index}"
        message = Message(text="Use your tools.", origin=_USER)
        stream.append(actions.TurnStarted(turn_id=turn, started_at=_STARTED, message=message))
        stream += _lives(turn, 10)
        stream.append(actions.TurnComplete(turn_id=turn, duration=10))
    return stream


def _streamed(megabytes: int) -> float:
    """Milliseconds to receive that much text in one part, and to read it once at the end."""
    state = _chat(0, 1)
    action = actions.Delta(turn_id="now", part_id="last", content=_DELTA)
    count = megabytes * 1_000_000 // len(_DELTA)
    before = time.process_time()
    for _ in range(count):
        state = reduce(state, action)
    size = len(encode(state))
    assert size > megabytes * 1_000_000
    return (time.process_time() - before) * 1000


_IMPORT = (
    "import time; before = time.process_time()\n"
    "import holdfast.protocol.methods, holdfast.protocol.reducers, holdfast.protocol.uris\n"
    "print((time.process_time() - before) * 1000)"
)


def _import() -> float:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    found = subprocess.run(
        [sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True, env=environment
    )
    return float(found.stdout)


def main() -> None:
    """Run everything and print a table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=7)
    report = _Report(options.parse_args().rounds)
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, medians of {report.rounds} rounds\n")

    wire = json.dumps(
        {
            "channel": "ahp-chat:/4f6c1f8e-8a52-4c9a-9f5e-0f1f6a3b2c1d",
            "action": {"type": "chat/delta", "turnId": "turn-17", "partId": "part-3", "content": _DELTA},
            "serverSeq": 1_790_000_000_123,
        },
        separators=(",", ":"),
    ).encode()
    envelope = decode_envelope(wire)
    report.row("envelope of a delta: decode", "ns", _nanoseconds(lambda: decode_envelope(wire)))
    report.row("  the same through the open union", "ns", _nanoseconds(lambda: decode(ActionEnvelope, wire)))
    report.row("envelope of a delta: encode", "ns", _nanoseconds(lambda: encode(envelope)))

    chat = _chat(2000, 50)
    data = encode(chat)
    print(f"\nchat of 2,000 turns and 50 active parts: {len(data) / 1e6:.2f} MB")
    report.row("  decode", "ms", _milliseconds(lambda: decode(ChatState, data)))
    report.row("  encode", "ms", _milliseconds(lambda: encode(chat)), "<= 5")
    rows: tuple[Raw, ...] = tuple(raw(turn) for turn in chat.turns)
    held = replace(chat, turns=rows)
    assert encode(held) == data
    report.row("  encode, turns held as bytes", "ms", _milliseconds(lambda: encode(held)), "<= 1")

    print("\nreducing")
    delta = actions.Delta(turn_id="now", part_id="last", content=_DELTA)
    tokens: list[Wire] = [delta] * 50_000
    report.row("  tokens into the last of 50 parts", "per s", lambda: _reduced(chat, tokens), ">= 700,000")
    tools = _tool_calls()
    report.row("  tool-call lives", "per s", lambda: _reduced(chat, tools), ">= 500,000")
    few, many = _lives("now", 10), _lives("now", 200)
    report.row("  10 of them behind 50 parts", "per s", lambda: _reduced(chat, few, 200), ">= 500,000")
    report.row("  200 of them behind 50 parts", "per s", lambda: _reduced(chat, many, 10), ">= 500,000")
    one = report.row("  1 MB of text in 20-byte deltas", "ms", lambda: _streamed(1))
    two = report.row("  2 MB of text in 20-byte deltas", "ms", lambda: _streamed(2))
    print(f"{'  2 MB / 1 MB':<52} {two / one:>12.2f} {'':<10} {'':<24} <= 2.3")

    print()
    _import()
    report.row("importing every module of holdfast.protocol", "ms", _import, "<= 60")


if __name__ == "__main__":
    main()
