"""Talking to a host through the SDK: over TCP, a unix socket and the pipes of a command."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import holdfast
from aio import run
from holdfast.protocol.chat.state import TurnState
from served import HostProcess, hosting

_PATIENCE = 20


@asynccontextmanager
async def connected(directory: Path, by: str) -> AsyncIterator[holdfast.Host]:
    if by == "stdio":
        command = [sys.executable, "-m", "holdfast", "serve", "--stdio", "--data-dir", str(directory / "data")]
        async with holdfast.connect(command) as host:
            yield host
        return
    async with (
        hosting(directory) as process,
        holdfast.connect(target(process, by), data_dir=directory / "data") as host,
    ):
        yield host


def target(process: HostProcess, by: str) -> str | None:
    return {"websocket": process.url, "local": None}[by]


@pytest.mark.parametrize("by", ["websocket", "local", "stdio"])
def test_a_turn_is_told_from_its_start_to_its_end(tmp_path: Path, by: str) -> None:
    async def conversation() -> None:
        async with connected(tmp_path, by) as host:
            session = await host.create_session(agent="demo", directory=tmp_path)
            events = [event async for event in session.send("hello")]
            assert isinstance(events[0], holdfast.Started)
            assert isinstance(events[-1], holdfast.Ended)
            assert events[-1].state is TurnState.COMPLETE
            said = "".join(event.text for event in events if isinstance(event, holdfast.Text))
            assert said == (await session.send("hello")).text
            assert len(session.chat.turns) == 2

    run(conversation, _PATIENCE)


def test_what_waits_for_a_person_is_answered_where_it_is_told(tmp_path: Path) -> None:
    async def conversation() -> None:
        async with hosting(tmp_path) as process, holdfast.connect(process.url) as host:
            session = await host.create_session()
            finished = []
            async for event in session.send("approve"):
                match event:
                    case holdfast.Approval() as ask:
                        assert [each.id for each in session.waiting]
                        await ask.approve()
                    case holdfast.ToolFinished(call):
                        finished.append(call.success)
            assert finished == [True]
            assert session.waiting == ()

    run(conversation, _PATIENCE)


def test_a_turn_goes_on_after_the_host_was_killed(tmp_path: Path) -> None:
    async def conversation() -> None:
        async with hosting(tmp_path) as process, holdfast.connect(data_dir=tmp_path / "data") as host:
            session = await host.create_session()
            told: list[str] = []
            turn = session.send("long 200 100")
            async for event in turn:
                if isinstance(event, holdfast.Text):
                    told.append(event.text)
                    if len(told) == 20:
                        await process.kill()
                        await process.start()
                if isinstance(event, holdfast.Failed):
                    assert event.resumable
            assert (await turn).state is TurnState.ERROR
            told += [event.text async for event in session.chat.resume() if isinstance(event, holdfast.Text)]
            parts = session.chat.turns[-1].response_parts
            whole = "".join(part.text for part in parts if hasattr(part, "text"))
            assert "".join(told) == whole
            assert host.status is holdfast.Status.LIVE

    run(conversation, 60)


def test_what_is_said_while_nobody_is_there_is_said_when_somebody_is(tmp_path: Path) -> None:
    async def conversation() -> None:
        async with hosting(tmp_path) as process, holdfast.connect(data_dir=tmp_path / "data") as host:
            session = await host.create_session()
            events = host.events()
            await process.kill()
            async for event in events:
                if getattr(event, "status", None) is holdfast.Status.CONNECTING:
                    break
            turn = session.send("hello")
            renamed = asyncio.create_task(session.rename("Held"))
            await process.start()
            await renamed
            assert (await turn).state is TurnState.COMPLETE
            assert session.title == "Held"

    run(conversation, 60)


def test_a_refusal_is_raised_and_leaves_no_trace(tmp_path: Path) -> None:
    async def conversation() -> None:
        async with hosting(tmp_path) as process, holdfast.connect(process.url) as host:
            session = await host.create_session()
            before = session.chat.state
            with pytest.raises(holdfast.Refused, match="turn"):
                await session.chat.truncate("no such turn")
            assert session.chat.state == before

    run(conversation, _PATIENCE)


def test_nobody_there_is_said_in_a_sentence(tmp_path: Path) -> None:
    async def conversation() -> None:
        with pytest.raises(holdfast.NoHost, match="start one with `holdfast serve`"):
            await holdfast.connect(data_dir=tmp_path)
        with pytest.raises(holdfast.NoHost, match=r"cannot connect to ws://127\.0\.0\.1:9/"):
            await holdfast.connect("ws://127.0.0.1:9/?tkn=secret")
        async with hosting(tmp_path) as process:
            with pytest.raises(holdfast.NoHost, match="wants its token"):
                await holdfast.connect(process.url.partition("?")[0], token="wrong")

    run(conversation, _PATIENCE)


def test_functions_are_tools(tmp_path: Path) -> None:
    def add(a: int, b: int = 2) -> int:
        """Add two numbers."""
        return a + b

    async def conversation() -> None:
        async with hosting(tmp_path) as process, holdfast.connect(process.url) as host:
            session = await host.create_session(tools=[add])
            (client,) = session.state.active_clients
            (tool,) = client.tools
            assert tool.description == "Add two numbers."
            assert tool.input_schema is not None
            assert tool.input_schema["required"] == ["a"]
            turn = session.send('client add {"a": 40}')
            calls = [event.call async for event in turn if isinstance(event, holdfast.ToolFinished)]
            assert [call.content[0].text for call in calls] == ["42"]

    run(conversation, _PATIENCE)


def test_two_clients_begin_at_once_and_one_waits_for_the_other(tmp_path: Path) -> None:
    async def conversation() -> None:
        async with (
            hosting(tmp_path) as process,
            holdfast.connect(process.url) as one,
            holdfast.connect(process.url) as other,
        ):
            session = await one.create_session()
            same = await other.session(session.uri)
            turns = [await session.send("hello").accepted(), await same.send("usage").accepted()]
            outcomes = [await turn for turn in turns]
            assert [outcome.state for outcome in outcomes] == [TurnState.COMPLETE] * 2
            said = [turn.message.text for turn in session.chat.turns]
            assert said == ["hello", "usage"]
            assert same.chat.state == session.chat.state

    run(conversation, _PATIENCE)


def test_a_turn_that_was_not_wanted_after_all_waits_in_the_queue(tmp_path: Path) -> None:
    async def conversation() -> None:
        async with (
            hosting(tmp_path) as process,
            holdfast.connect(process.url) as one,
            holdfast.connect(process.url) as other,
        ):
            session = await one.create_session()
            same = await other.session(session.uri)
            first, second = session.send("hello"), same.send("usage")  # neither knows of the other
            assert {(await first).state, (await second).state} == {TurnState.COMPLETE}
            assert {first.queued_id == "", second.queued_id == ""} == {True, False}

    run(conversation, _PATIENCE)


def test_what_was_said_last_leaves_before_we_do(tmp_path: Path) -> None:
    async def conversation() -> None:
        async with hosting(tmp_path) as process:
            async with holdfast.connect(process.url) as host:
                session = await host.create_session()
                session.send("hello")
            async with holdfast.connect(process.url) as host:
                chat = (await host.session(session.uri)).chat
                await chat.wait_idle()
                assert [turn.message.text for turn in chat.turns] == ["hello"]

    run(conversation, _PATIENCE)


def test_a_session_that_somebody_deletes_is_gone(tmp_path: Path) -> None:
    async def conversation() -> None:
        async with (
            hosting(tmp_path) as process,
            holdfast.connect(process.url) as one,
            holdfast.connect(process.url) as other,
        ):
            session = await one.create_session()
            turn = session.send("wait")
            await turn.accepted()
            await other.dispose_session(session.uri)
            with contextlib.suppress(holdfast.Gone):  # the host need not tell how it ended
                assert (await turn).state is TurnState.CANCELLED
            await one.ping()
            assert not session.is_followed
            with pytest.raises(holdfast.Gone):
                session.send("hello")
            with pytest.raises(holdfast.RpcError):
                await one.session(session.uri)

    run(conversation, _PATIENCE)


@pytest.mark.parametrize("version", ["0.9.0", "0.6.0"])
def test_a_host_of_an_older_version_is_spoken_to_in_its_own(tmp_path: Path, version: str) -> None:
    async def conversation() -> None:
        async with (
            hosting(tmp_path) as process,
            holdfast.connect(data_dir=tmp_path / "data", versions=[version]) as host,
            holdfast.connect(data_dir=tmp_path / "data") as newest,
        ):
            assert host.protocol_version == version
            session = await host.create_session("demo", directory=tmp_path, title="Old")
            async for event in session.send("tour"):
                if isinstance(event, holdfast.Approval | holdfast.ResultApproval):
                    await event.approve()
                elif isinstance(event, holdfast.Question):
                    await event.decline()
            await process.kill()
            await process.start()
            assert (await session.send("flaky")).state is TurnState.ERROR
            same = await newest.session(session.uri)
            assert [turn.message.text for turn in same.chat.turns] == ["tour", "flaky"]
            assert [turn.state for turn in same.chat.turns] == [turn.state for turn in session.chat.turns]
            text = [part.text for part in same.chat.turns[0].response_parts if hasattr(part, "text")]
            assert text == [part.text for part in session.chat.turns[0].response_parts if hasattr(part, "text")]
            assert session.title == same.title == "Old"

    run(conversation, 60)
