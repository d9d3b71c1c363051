"""What is followed, by whom, until when."""

from __future__ import annotations

import asyncio

import pytest

import holdfast
from aio import aio
from client.lines import Line
from holdfast.client.mirror import Change
from holdfast.protocol import uris
from holdfast.protocol.chat.state import TurnState
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.testing import Actor, local_host, waits


@aio
async def test_closing_twice_lets_go_once() -> None:
    async with local_host() as local, local.connect() as host:
        session = await host.create_session()
        async with await host.subscribe(session.uri) as subscription:
            await session.close()
            await session.close()
            assert subscription.state is not None
        await subscription.close()
        assert not session.is_followed
        with pytest.raises(holdfast.Gone):
            session.send("hello")


@aio
async def test_what_was_closed_does_not_close_what_came_in_its_place() -> None:
    async with local_host() as local, local.connect() as host, local.connect() as other:
        session = await host.create_session()
        await other.dispose_session(session.uri)
        await host.ping()
        assert not session.is_followed
        await other.restore_session(session.uri)
        again = await host.session(session.uri)
        assert again is not session
        await session.close()
        assert (await again.send("hello")).state is TurnState.COMPLETE


@aio
async def test_a_listener_misses_nothing_between_the_state_and_itself() -> None:
    async with local_host() as local, local.connect() as one:
        session = await one.create_session()
        line = Line(local)
        async with holdfast.connect(line.dial) as other:
            heard: list[Change] = []
            line.may_come_in.clear()
            waiting = other.subscribe(session.uri, listener=lambda _, changes: heard.extend(changes))
            line.may_come_in.set()
            # The answer and what comes after it arrive in one go.
            subscription = await waiting
            titles = []
            for title in ("One", "Two"):
                await session.rename(title)
                titles.append(title)
            await other.ping()
            assert heard[0].is_renewed
            assert [getattr(change.action, "title", None) for change in heard if change.action] == titles
            await subscription.close()
            await session.rename("Three")
            await other.ping()
            assert subscription.state is None
            assert len([change for change in heard if change.action]) == 2


@aio
async def test_a_listener_of_what_is_not_there_is_not_kept() -> None:
    async with local_host() as local, local.connect() as host:
        for wrong in ("ahp-session:/none", "ahp-chat:/none"):
            with pytest.raises(RpcError) as error:
                await host.subscribe(wrong, listener=lambda *_: None)
            assert error.value.code in (ErrorCode.SESSION_NOT_FOUND, ErrorCode.NOT_FOUND)
        session = await host.create_session()
        with pytest.raises(RpcError):
            await session.open_chat("ahp-chat:/none", listener=lambda *_: None)
        assert set(host._connection.mirror.channels) == {uris.ROOT, session.uri, session.chat.uri}


@aio
async def test_who_waits_for_a_chat_that_is_deleted_hears_so() -> None:
    async with local_host([Actor(waits())]) as local, local.connect() as host, local.connect() as other:
        session = await host.create_session()
        await session.send("wait").accepted()
        await other.dispose_session(session.uri)
        with pytest.raises(holdfast.Gone):
            await session.chat.wait_idle()


@aio
async def test_what_is_let_go_while_coming_back_stays_let_go() -> None:
    async with local_host() as local:
        line = Line(local)
        retry = holdfast.Retry(first=0, most=0)
        async with holdfast.connect(line.dial, retry=retry) as host, local.connect() as other:
            session = await host.create_session()
            same = await other.session(session.uri)
            line.may_come_in.clear()
            await line.cut()
            events = host.events()
            async for event in events:
                if getattr(event, "status", None) is holdfast.Status.CATCHING_UP:
                    break
            await session.close()
            line.may_come_in.set()
            await host.ping()
            await same.rename("Unheard")
            await host.ping()
            assert local.house is not None
            assert {len(each.subscriptions) for each in local.house.host.connections.values()} == {1, 3}


@aio
async def test_what_is_asked_as_the_connection_ends_is_asked_again() -> None:
    async with local_host() as local, local.connect() as host:
        session = await host.create_session()
        for pause in range(12):  # wherever the break is noticed
            local.drop()
            for _ in range(pause):
                await asyncio.sleep(0)
            asked = asyncio.create_task(host.list_sessions())
            renamed = asyncio.create_task(session.rename(f"Name {pause}"))
            assert [each.resource for each in (await asked).items] == [session.uri]
            await renamed
            assert session.title == f"Name {pause}"
