"""The host in memory: what people test their agents and clients with."""

from __future__ import annotations

import asyncio

import pytest

import holdfast
from aio import aio
from holdfast.protocol.chat.state import TurnState
from holdfast.testing import (
    Actor,
    ManualClock,
    TurnContext,
    asks,
    calls,
    calls_client,
    fails,
    failure,
    local_host,
    says,
    thinks,
    uses,
    waits,
)


@aio
async def test_the_demo_agent_is_there_without_asking() -> None:
    async with local_host() as local, local.connect() as host:
        session = await host.create_session()
        assert [agent.provider for agent in host.agents] == ["demo"]
        assert (await session.send("long 500 1")).state is TurnState.COMPLETE


@aio
async def test_an_actor_plays_its_steps() -> None:
    actor = Actor(
        thinks("Hm", "m."),
        "Let me look.",
        calls("ls", {"path": "."}, result="a.txt"),
        uses(input_tokens=3),
        says("There is ", "a.txt."),
    )
    async with local_host([actor]) as local, local.connect() as host:
        session = await host.create_session()
        events = [event async for event in session.send("What is here?")]
        assert [type(event).__name__ for event in events] == [
            "Started",
            "Reasoning",
            "Text",
            "ToolStarted",
            "ToolReady",
            "ToolFinished",
            "Usage",
            "Text",
            "Ended",
        ]
        assert session.chat.turns[0].usage is not None
        assert actor.heard == ["What is here?"]
        actor.plays("Something else.")
        assert (await session.send("And now?")).text == "Something else."


@aio
async def test_what_an_actor_asks_is_answered() -> None:
    heard = []

    async def play(turn: TurnContext) -> None:
        heard.append(await asks("Which?", colour=("red", "blue"), count=int, sure=bool)(turn))
        heard.append(await calls("paint", ask=True)(turn))
        heard.append(await calls("look", review=True, result=failure("look", "too dark"))(turn))

    async with local_host([Actor(play)]) as local, local.connect() as host:
        session = await host.create_session()
        async for event in session.send("Paint it"):
            match event:
                case holdfast.Question() as form:
                    await form.answer(colour="blue", count=2, sure=True)
                case holdfast.Approval() as ask:
                    await ask.deny()
                case holdfast.ResultApproval() as ask:
                    await ask.approve()
        assert heard == [{"colour": "blue", "count": 2, "sure": True}, False, True]


@aio
async def test_an_actor_calls_functions_of_clients() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    results = []

    async def play(turn: TurnContext) -> None:
        results.append(await calls_client("add", {"a": 40, "b": 2})(turn))

    actor = Actor(play)
    async with local_host([actor]) as local, local.connect() as host:
        session = await host.create_session(tools=[add])
        assert (await session.send("Add")).state is TurnState.COMPLETE
        assert [block.text for result in results for block in result.content or ()] == ["42"]
        await session.tools.close()
        assert (await session.send("Add")).state is TurnState.ERROR


@aio
async def test_a_turn_that_failed_is_resumed() -> None:
    actor = Actor("One. ", fails("The line is busy.", resumable=True))
    async with local_host([actor]) as local, local.connect() as host:
        session = await host.create_session()
        outcome = await session.send("Count")
        assert outcome.error is not None
        assert outcome.error.message == "The line is busy."
        actor.plays("Two.")
        assert (await session.chat.resume()).text == "One. Two."


@aio
async def test_clients_come_back_after_a_break_and_a_restart() -> None:
    released = asyncio.Event()
    actor = Actor("One. ", waits(released), "Two.")
    async with local_host([actor]) as local, local.connect() as host:
        session = await host.create_session()
        turn = await session.send("Count").accepted()
        local.drop()
        released.set()
        assert (await turn).text == "One. Two."

        released.clear()
        turn = await session.send("Count on").accepted()
        await local.restart()
        assert (await turn).state is TurnState.ERROR
        assert [each.message.text for each in session.chat.turns] == ["Count", "Count on"]


@aio
async def test_nobody_gets_through_to_a_host_that_cannot_be_reached() -> None:
    async with local_host([Actor("Yes?")]) as local, local.connect() as host:
        session = await host.create_session()
        async with local.unreachable():
            with pytest.raises(holdfast.NoHost):
                await local.connect()
            turn = session.send("Hello?")
            assert not turn.is_over
        assert (await turn).text == "Yes?"


@aio
async def test_time_passes_when_a_test_says_so() -> None:
    actor = Actor(calls_client("gone"))
    async with local_host([actor], clock=ManualClock(), client_tool_timeout=60, grace=10) as local:
        async with local.connect(client_id="laptop") as host:
            session = await host.create_session(tools=[gone])
            uri = session.uri
        async with local.connect() as host:
            session = await host.session(uri)
            assert [client.client_id for client in session.state.active_clients] == []
        laptop = await local.connect(client_id="laptop", retry=holdfast.Retry(attempts=0))
        session = await laptop.create_session(tools=[gone])
        local.drop()
        async with local.connect() as host:
            same = await host.session(session.uri)
            assert [client.client_id for client in same.state.active_clients] == ["laptop"]
            await local.advance(11)
            assert same.state.active_clients == ()
        await laptop.close()


def gone() -> None:
    """Never runs."""


@aio
async def test_a_slow_reader_is_told_in_pieces_what_it_missed() -> None:
    actor = Actor(says(*["x" * 2_000] * 300))
    async with local_host([actor], outbox_high_water=1) as local, local.connect() as host, local.connect() as other:
        session = await host.create_session()
        same = await other.session(session.uri)
        assert (await session.send("Much")).text == "x" * 600_000
        await same.chat.wait_idle()
        assert same.chat.turns == session.chat.turns
