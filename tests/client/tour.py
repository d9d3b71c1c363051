"""Every scenario of the demo agent, as somebody plays them through the SDK: `STEPS`, in an order that tells a story.

A step is one or more turns, each answered as a person would. `play` plays one and checks how it ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

import holdfast
from holdfast.client.events import Event
from holdfast.protocol.chat.state import TurnState

COMPLETE, CANCELLED, ERROR = TurnState.COMPLETE, TurnState.CANCELLED, TurnState.ERROR


def fitting(question: Any) -> Any:
    """A value that any question takes."""
    options = getattr(question, "options", None)
    if options is not None:
        first = options[0].id
        return [option.id for option in options[: int(question.min or 1)]] if hasattr(question, "min") else first
    kind = type(question).__name__
    if "Boolean" in kind:
        return True
    if "Number" in kind or "Integer" in kind:
        return question.default_value if question.default_value is not None else int(question.min or 1)
    formats = {"email": "ada@example.org", "uri": "https://example.org/", "date": "2026-01-02"}
    return formats.get(question.format or "", "2026-01-02T03:04:05.000Z" if question.format else "Ada")


async def answered(event: Event, host: holdfast.Host, *, yes: bool) -> None:
    """Answer what waits for a person; leave alone what does not."""
    match event:
        case holdfast.Approval() | holdfast.ResultApproval() as ask:
            await (ask.approve() if yes else ask.deny())
        case holdfast.Question() as form if form.questions and yes:
            await form.answer({question.id: fitting(question) for question in form.questions})
        case holdfast.Question() as form:
            await (form.answer() if yes else form.decline())
        case holdfast.AuthenticationNeeded() as ask:
            await host.authenticate(ask.resource, "a token")


async def said(turn: holdfast.Turn, host: holdfast.Host, *, yes: bool = True) -> holdfast.Outcome:
    """Follow a turn to its end, and see that what was told is what is there."""
    told = ""
    async for event in turn:
        await answered(event, host, yes=yes)
        if isinstance(event, holdfast.Text):
            told += event.text
        elif isinstance(event, holdfast.Rewritten):
            told = ""
    outcome = await turn
    assert outcome.turn is not None
    assert told == outcome.text
    return outcome


Play = Callable[[holdfast.Session, holdfast.Host], Awaitable[None]]


class Step(NamedTuple):
    name: str
    play: Play


def plainly(text: str, state: TurnState = COMPLETE, *, yes: bool = True) -> Step:
    async def play(session: holdfast.Session, host: holdfast.Host) -> None:
        outcome = await said(session.send(text), host, yes=yes)
        assert outcome.state is state, (text, outcome.error)

    return Step(text, play)


async def _wait(session: holdfast.Session, host: holdfast.Host) -> None:
    turn = await session.send("wait").accepted()
    await turn.cancel()
    assert (await said(turn, host)).state is CANCELLED


async def _queue_and_steer(session: holdfast.Session, host: holdfast.Host) -> None:
    turn = await session.send("steer 3 0.1").accepted()
    later = session.send("hello")
    await session.chat.steer("Look left")
    assert (await said(turn, host)).state is COMPLETE
    assert (await said(later, host)).state is COMPLETE
    assert session.chat.queued == ()


async def _flaky(session: holdfast.Session, host: holdfast.Host) -> None:
    failed = await said(session.send("flaky"), host)
    assert failed.state is ERROR
    again = session.chat.resume()
    async for event in again:
        await answered(event, host, yes=True)
    assert (await again).state is COMPLETE


async def _client(session: holdfast.Session, host: holdfast.Host) -> None:
    def tide(harbour: str) -> str:
        """How high the water is."""
        return f"High at {harbour}"

    session.tool(tide)
    await session.tools.offered()
    outcome = await said(session.send('client tide {"harbour": "Brest"}'), host)
    assert "High at Brest" in outcome.text


async def _subagent(session: holdfast.Session, host: holdfast.Host) -> None:
    turn = session.send("subagent")
    async with session.changes() as changes:
        following = asyncio.create_task(said(turn, host))
        while not following.done():
            for ask in session.waiting:
                try:
                    await answered(ask, host, yes=True)
                except holdfast.Refused:
                    continue  # the turn's own follower was quicker
            change = asyncio.ensure_future(anext(changes))
            await asyncio.wait({change, following}, return_when=asyncio.FIRST_COMPLETED)
            change.cancel()
        assert (await following).state is COMPLETE
    assert len(session.chats) > 1


async def _look_after(session: holdfast.Session, host: holdfast.Host) -> None:
    """What is done to a session and its chats, rather than said in them."""
    await session.rename("Toured")
    await session.mark_read()
    await session.archive()
    await session.archive(False)
    await session.chat.set_draft("I was about to")
    assert session.chat.draft is not None
    await session.chat.set_draft(None)
    last = session.chat.turns[-1].id
    fork = await session.create_chat("models", fork=(session.chat.uri, last))
    await fork.wait_idle()
    assert [turn.message.text for turn in fork.turns][-1] == "models"
    side = await session.create_chat("recall", side=(session.chat.uri, last))
    await side.wait_idle()
    await fork.dispose()
    await side.dispose()
    assert [item.insert_text for item in await session.chat.complete("/he")]
    assert session.title == "Toured"
    found = [summary.title async for summary in host.sessions() if summary.resource == session.uri]
    assert found == ["Toured"]


STEPS: Final = (
    *(plainly(text) for text in ("hello", "help", "tour", "markdown", "think", "long 50 0", "burst 300", "big 200")),
    *(
        plainly(text)
        for text in ("content", "approve", "edit", "parallel", "review", "risk", "reconfirm", "slow 3 0")
    ),
    *(
        plainly(text)
        for text in ("slow 3 0", "mcp", "form", "link", "recall", "models", "usage", "title On tour", "nonsense")
    ),
    plainly("deny", yes=False),
    plainly("approve", yes=False),
    plainly("form", yes=False),
    plainly("error", ERROR),
    Step("wait", _wait),
    Step("steer", _queue_and_steer),
    Step("flaky", _flaky),
    Step("client", _client),
    Step("subagent", _subagent),
    Step("look after", _look_after),
)
