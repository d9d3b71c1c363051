"""People at terminals whose host goes away and comes back."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from aio import aio
from attach.seat import sitting
from holdfast.client.backoff import Retry
from holdfast.client.host import connect
from served import hosting


@aio
async def test_a_host_that_is_killed_is_missed_and_found_again(stack: AsyncExitStack, tmp_path: Path) -> None:
    process = await stack.enter_async_context(hosting(tmp_path))
    retry = Retry(first=0.01, most=0.1)
    host = await stack.enter_async_context(connect(data_dir=process.data_dir, retry=retry))
    session = await host.create_session("demo", title="Survivor")
    seat = await stack.enter_async_context(sitting(host, session.uri))
    await seat.say("approve")
    await seat.sees("● live", "^y Allow once")
    await process.kill()
    await seat.sees("◌ connecting")
    # What was there stays, and writing goes on.
    await seat.sees("❯ approve", "◌ last heard: waits for you")
    await seat.type("still here")
    await process.start()
    await seat.sees("● live", "│ still here")
    # The turn that ran has ended, as the host says.
    await seat.sees("✗ ")
    await seat.misses("^y Allow once")
    await seat.press(*["backspace"] * 10)
    await seat.say("models")
    await seat.sees("❯ models", "tokens")
    # And nobody else would know better.
    async with connect(process.url) as other:
        again = await other.session(session.uri)
        assert [turn.message.text for turn in again.chat.turns] == ["approve", "models"]


@aio
async def test_a_message_sent_while_the_host_is_away_is_sent_when_it_is_back(
    stack: AsyncExitStack, tmp_path: Path
) -> None:
    process = await stack.enter_async_context(hosting(tmp_path))
    host = await stack.enter_async_context(connect(data_dir=process.data_dir, retry=Retry(first=0.01, most=0.1)))
    session = await host.create_session("demo", title="Patience")
    seat = await stack.enter_async_context(sitting(host, session.uri))
    await seat.sees("● live")
    await process.kill()
    await seat.sees("◌ connecting")
    await seat.say("models")
    await seat.sees("❯ models", "sending …")
    await process.start()
    await seat.sees("● live", "tokens")
    await seat.misses("sending …")


@aio
async def test_a_host_that_is_given_up_is_gone_and_says_so(stack: AsyncExitStack, tmp_path: Path) -> None:
    process = await stack.enter_async_context(hosting(tmp_path))
    host = await stack.enter_async_context(connect(process.url, retry=Retry(first=0.001, most=0.001, attempts=3)))
    session = await host.create_session("demo", title="Lost")
    seat = await stack.enter_async_context(sitting(host, session.uri))
    await seat.sees("● live")
    await process.kill()
    await seat.sees("✗ gone", "^q quit")
    # Nothing that is pressed now makes it fall over.
    await seat.type("hello")
    await seat.press("enter")
    await seat.sees("Cannot send")
