"""What events tell of a turn is what its state says in the end, wherever the connection breaks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from aio import aio, run
from client.lines import Line
from holdfast.agents.turn import TurnContext
from holdfast.client.events import Event
from holdfast.protocol.chat.parts import (
    MarkdownResponsePart,
    ReasoningResponsePart,
    SystemNotificationResponsePart,
    ToolCallResponsePart,
)
from holdfast.protocol.chat.state import Turn
from holdfast.protocol.chat.tools import ToolResultTextContent
from holdfast.testing import Actor, asks, calls, local_host, says, thinks, uses


async def slowly(turn: TurnContext) -> None:
    call = await turn.tool("slow", "Slow")
    for letter in "{}":
        await call.stream_input(letter)
    await call.run("Working", tool_input="{}")
    for done in ("1", "2"):
        await call.show([ToolResultTextContent(text=done)])
    await calls("nested")(turn)
    await turn.part(SystemNotificationResponsePart(content="A word."))


RICH: Final = Actor(
    thinks("Let ", "me ", "think."),
    says("First ", "I ", "look. "),
    calls("look", {"at": "it"}, result="seen"),
    says("Then ", "I ask. "),
    calls("touch", ask=True, editable=True),
    asks("Which?", colour=("red", "blue")),
    calls("show", review=True),
    thinks("Hm."),
    slowly,
    uses(input_tokens=3, output_tokens=4),
    says("That ", "is ", "all."),
)
FRAMES: Final = 75
"""More than such a turn is told in."""


async def answer(ask: Event) -> None:
    """Where it is not known whether the answer was heard, the question is told again if it was not."""
    with contextlib.suppress(holdfast.Interrupted):
        match ask:
            case holdfast.Approval() | holdfast.ResultApproval():
                await ask.approve()
            case holdfast.Question():
                await ask.answer(colour="blue")


class Story:
    """What events told, put together."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.parts: list[tuple[str, str]] = []
        self.calls: dict[str, list[str]] = {}

    def hear(self, event: Event) -> None:
        self.events.append(event)
        match event:
            case holdfast.Rewritten():
                self.parts.clear()
                self.calls.clear()
            case holdfast.Text(text, part_id) | holdfast.Reasoning(text, part_id):
                if self.parts and self.parts[-1][0] == part_id:
                    self.parts[-1] = (part_id, self.parts[-1][1] + text)
                else:
                    self.parts.append((part_id, text))
            case holdfast.ToolStarted(call) | holdfast.ToolReady(call) | holdfast.ToolFinished(call):
                self.calls.setdefault(call.tool_call_id, []).append(type(event).__name__)

    def check(self, turn: Turn) -> None:
        assert isinstance(self.events[0], holdfast.Started)
        assert isinstance(self.events[-1], holdfast.Ended)
        assert sum(isinstance(event, holdfast.Ended) for event in self.events) == 1
        texts = [p for p in turn.response_parts if isinstance(p, MarkdownResponsePart | ReasoningResponsePart)]
        assert self.parts == [(part.id, part.text) for part in texts]
        calls = [p.tool_call for p in turn.response_parts if isinstance(p, ToolCallResponsePart)]
        assert list(self.calls) == [getattr(call, "tool_call_id", None) for call in calls]
        for told in self.calls.values():
            assert told[0] == "ToolStarted"
            assert told[-1] == "ToolFinished"
            assert len(set(told)) == len(told)


async def tell(events: AsyncIterator[Event], story: Story, *, answering: bool = False) -> None:
    async for event in events:
        story.hear(event)
        if answering:
            await answer(event)
        if isinstance(event, holdfast.Ended):
            return


class Break:
    """After so many messages the connection breaks, and is mended by a replay or, if it is `deep`, by snapshots."""

    def __init__(self, after: int, *, deep: bool = False) -> None:
        self.after = after
        self.deep = deep

    def __repr__(self) -> str:
        return f"Break({self.after}, deep={self.deep})"


def listen(*breaks: Break) -> int:
    """Follow a rich turn over a line with breaks; how many breaks did not come about is returned."""
    waiting = list(breaks)

    async def conversation() -> None:
        async with local_host([RICH]) as local:
            line = Line(local)
            async with holdfast.connect(line.dial, retry=holdfast.Retry(first=0, most=0)) as host:
                session = await host.create_session()

                def prepare() -> None:
                    if waiting:
                        line.breaks_after = waiting[0].after

                def broke() -> None:
                    if waiting.pop(0).deep:
                        # Of what the host does not know it has to show all there is.
                        host._connection.mirror.last_seen = 2**53 - 1
                    prepare()

                line.broke = broke
                prepare()
                of_turn, of_chat = Story(), Story()
                turn = session.send("go")
                async with session.chat.events() as events, asyncio.TaskGroup() as tasks:
                    tasks.create_task(tell(events, of_chat))
                    tasks.create_task(tell(aiter(turn), of_turn, answering=True))
                for story in (of_turn, of_chat):
                    story.check(session.chat.turns[-1])

    run(conversation)
    return len(waiting)


def test_everything_is_told_once() -> None:
    assert listen() == 0


@pytest.mark.parametrize("deep", [False, True], ids=["replayed", "shown anew"])
def test_a_break_at_any_message_changes_nothing(deep: bool) -> None:
    missed = [listen(Break(after, deep=deep)) for after in range(FRAMES)]
    assert missed == sorted(missed), "the line broke at every message there was"
    assert 50 < missed.index(1) < FRAMES


breaks = st.builds(Break, st.integers(0, 20), deep=st.booleans())


@settings(max_examples=60)
@given(st.lists(breaks, min_size=2, max_size=8))
def test_any_number_of_breaks_change_nothing(found: list[Break]) -> None:
    listen(*found)


@aio
async def test_who_comes_later_is_told_from_the_beginning() -> None:
    stories: list[Story] = []
    clients: list[holdfast.Host] = []
    listening: list[asyncio.Task[None]] = []

    async def join() -> None:
        clients.append(await local.connect())
        chat = (await clients[-1].session(session.uri)).chat
        current = chat.current()
        assert current is not None
        stories.append(Story())
        listening.append(asyncio.create_task(tell(aiter(current), stories[-1])))

    async def play(turn: TurnContext) -> None:
        for step in RICH.steps:
            await join()
            await step(turn)

    async with local_host([Actor(play)]) as local, local.connect() as host:
        session = await host.create_session()
        async for event in session.send("go"):
            await answer(event)
        await asyncio.gather(*listening)
        for story in stories:
            story.check(session.chat.turns[-1])
        for client in clients:
            await client.close()
    assert len(stories) == len(RICH.steps)
