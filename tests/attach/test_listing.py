"""People at terminals, with a real host: the list of sessions, and older turns."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from aio import aio
from attach.seat import Room, Seat, seated
from served import hosting


@aio
async def test_what_needs_you_is_on_top_and_one_key_away(stack: AsyncExitStack, tmp_path: Path) -> None:
    process = await stack.enter_async_context(hosting(tmp_path))
    room = await stack.enter_async_context(Room(process.url))
    done = await room.session("Done", "models")
    waiting = await room.session("Waiting")
    await room.session("Newest", "models")
    seat = await stack.enter_async_context(seated(process.url))
    await seat.sees("Done", "Waiting", "Newest", "Recent 3")
    waiting.send("approve")
    await seat.sees("Needs you 1", "1 needs you ^g")
    lines = seat.screen.splitlines()
    assert [line.split()[1] if line.startswith("?") else line.split()[0] for line in lines[1:6]] == [
        "Needs",
        "Waiting",
        "Recent",
        "Newest",
        "Done",
    ]
    await seat.press("ctrl+g")
    await seat.sees("Waiting  demo", "^y Allow once")
    await seat.press("ctrl+y")
    await seat.sees("✓ Run command")
    await seat.misses("1 needs you")
    await seat.press("ctrl+l")
    await seat.sees("Recent 3")
    # The list stays on the session it was on.
    assert seat.app.main.list.highlighted_uri == waiting.uri
    await seat.press("end")
    assert seat.app.main.list.highlighted_uri == done.uri
    await seat.press("enter")
    await seat.sees("❯ models")
    assert seat.controller.session is not None
    assert seat.controller.session.uri == done.uri


@aio
async def test_sessions_are_renamed_archived_searched_and_deleted(stack: AsyncExitStack, tmp_path: Path) -> None:
    process = await stack.enter_async_context(hosting(tmp_path))
    room = await stack.enter_async_context(Room(process.url))
    await room.session("Pears", "models")
    await room.session("Apples", "models")
    seat = await stack.enter_async_context(seated(process.url))
    await seat.sees("Apples", "Pears")
    await seat.press("r")
    await seat.sees("Rename")
    await seat.type(" and more")
    await seat.press("enter")
    await seat.sees("Apples and more")
    await seat.press("a")
    await seat.sees("1 session archived · A shows")
    await seat.misses("Apples")
    await seat.press("A")
    await seat.sees("Archived 1", "Apples and more")
    await seat.press("slash")
    await seat.type("pear")
    await seat.misses("Apples")
    await seat.press("enter", "d")
    await seat.sees("Delete “Pears”?")
    await seat.press("n")
    await seat.sees("Pears")
    await seat.press("d", "y")
    await seat.misses("Pears")


@aio
async def test_a_session_that_somebody_deletes_closes(room: Room) -> None:
    session = await room.session("Short life")
    seat = await room.sit(session)
    await seat.sees("Short life  demo")
    await session.dispose()
    await seat.misses("Short life")
    await seat.sees("n makes a session")


@aio
async def test_older_turns_come_when_somebody_scrolls_up(room: Room) -> None:
    session = await room.session("History")
    for number in range(60):
        await session.send(f"long 1 0 {number:02d}")
    seat = await room.sit(session)
    await seat.sees("❯ long 1 0 59")
    chat = seat.controller.chat
    assert chat is not None
    assert len(chat.turns) == 50
    await seat.press("escape", "g")
    await seat.until(lambda _: len(chat.turns) == 60, "the older turns")
    # What was on the screen stands still while older turns come in above it.
    await seat.sees("❯ long 1 0 10")
    await seat.press("g")
    await seat.sees("❯ long 1 0 00")
    await seat.press("G")
    await seat.sees("❯ long 1 0 59")


def read(seat: Seat) -> list[str]:
    """The transcript without its last line and the scrollbar."""
    return [line[:78].rstrip() for line in seat.screen.splitlines()[2:18]]


@aio
async def test_somebody_who_reads_above_is_not_moved_by_what_comes(room: Room) -> None:
    session = await room.session("Still", *["markdown"] * 2)
    seat = await room.sit(session)
    await seat.sees("tokens")
    await seat.press("pageup", "pageup")
    await seat.pilot.pause()
    before = read(seat)
    turn = session.send("long 50 0")
    await turn
    await seat.sees("▼ more")
    assert read(seat) == before
