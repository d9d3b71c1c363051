"""What the terminal client costs while an answer streams: a frame, and the first screen of a long chat.

    python bench/screens.py [--frames 200]

A frame is twenty deltas of the demo's kind, painted as the application paints them; the terminal is a headless one
of 80x24. Figures are CPU time of this process. Nothing here is asserted: tests do not measure time.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Iterator

from textual.app import App, ComposeResult

from holdfast.attach.model.transcript import Reader
from holdfast.attach.paint.markdown import Stream
from holdfast.attach.widgets.transcript import Transcript
from holdfast.protocol import status
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.chat.parts import MarkdownResponsePart
from holdfast.protocol.chat.reducer import reduce
from holdfast.protocol.chat.state import ActiveTurn, ChatState, Turn, TurnState

_STARTED = "2026-01-01T00:00:00.000Z"
_WORDS = ("a ship lies at anchor in the **bay** while the wind turns and the `tide` comes in. ").split(" ")  # noqa: SIM905 - a sentence
_ANSWER = "# Title\n\nSome *text* here.\n\n- one\n- two\n\n```python\ndef f():\n    pass\n```\n" * 3
_DELTAS = 20


def _message(text: str) -> Message:
    return Message(text=text, origin=MessageOrigin(kind=MessageKind.USER))


def _chat(turns: int) -> ChatState:
    """A chat with so many turns, and one that runs."""
    ended = tuple(
        Turn(
            id=f"t{number}",
            message=_message(f"question {number}"),
            response_parts=(MarkdownResponsePart(id="p", content=_ANSWER),),
            state=TurnState.COMPLETE,
        )
        for number in range(turns)
    )
    running = ActiveTurn(
        id="now",
        started_at=_STARTED,
        message=_message("go"),
        response_parts=(MarkdownResponsePart(id="p", content=""),),
    )
    return ChatState(
        resource="ahp-chat:/c",
        title="",
        status=status.IN_PROGRESS,
        modified_at=_STARTED,
        turns=ended,
        active_turn=running,
    )


def _deltas() -> Iterator[str]:
    while True:
        for number in range(400):
            yield "\n\n" if number % 100 == 99 else _WORDS[number % len(_WORDS)] + " "


class _Bench(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript(id="transcript")


async def _frames(turns: int, frames: int) -> None:
    state, reader, deltas, costs = _chat(turns), Reader(), _deltas(), []
    app = _Bench()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        began = time.process_time()
        transcript.show(reader.read(state), {})
        first = time.process_time() - began
        while not transcript.sheet.is_whole:
            await pilot.pause(0.01)
        for _ in range(frames):
            for _ in range(_DELTAS):
                state = reduce(state, actions.Delta(turn_id="now", part_id="p", content=next(deltas)))
            began = time.process_time()
            transcript.show(reader.read(state), {})
            await pilot.pause()
            costs.append(1000 * (time.process_time() - began))
    costs.sort()
    median, most = statistics.median(costs), costs[int(0.95 * len(costs))]
    print(
        f"{turns:>6} turns  first screen {1000 * first:4.0f} ms  a frame {median:5.1f} ms, 95 of 100 < {most:.1f} ms"
    )


def _text(size: int) -> None:
    """Text alone: an answer of so many characters in 400 steps, against rendering it whole."""
    pieces = _deltas()
    whole = ""
    while len(whole) < size:
        whole += next(pieces)
    stream, costs = Stream(78), []
    for end in range(size // 400, size + 1, size // 400):
        began = time.process_time()
        stream.lines(whole[:end])
        costs.append(1000 * (time.process_time() - began))
    began = time.process_time()
    Stream(78).lines(whole, grows=False)
    at_once = 1000 * (time.process_time() - began)
    print(f"{size:>7} characters   a step {statistics.median(costs):5.2f} ms   the whole {at_once:6.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=200)
    frames: int = parser.parse_args().frames
    for size in (2_000, 20_000, 100_000):
        _text(size)
    for turns in (10, 100, 1000):
        asyncio.run(_frames(turns, frames))


if __name__ == "__main__":
    main()
