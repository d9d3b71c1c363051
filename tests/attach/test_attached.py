"""People at terminals, with a real host: saying things, and seeing what comes of it."""

from __future__ import annotations

from aio import aio
from attach.seat import Room
from holdfast.protocol.chat.messages import SimpleMessageAttachment
from holdfast.protocol.chat.state import TurnState
from holdfast.protocol.status import IS_READ


@aio
async def test_a_new_session_is_made_by_keys_and_its_answer_streams_in(room: Room) -> None:
    seat = await room.sit()
    await seat.press("ctrl+t")
    await seat.sees("New session", "Demo")
    await seat.press("enter")
    await seat.sees("Untitled", "send")
    await seat.say("long 400 200")
    await seat.sees("❯ long 400 200", "● working", "queue")
    first = seat.screen
    await seat.until(lambda screen: screen != first and "● working" in screen, "more of the answer while it runs")
    await seat.until(lambda screen: "tokens" in screen and "working" not in screen, "the end of the turn")


@aio
async def test_what_is_open_has_been_read(room: Room) -> None:
    session = await room.session("Unread", "hello")
    assert not session.status & IS_READ
    seat = await room.sit(session)
    await seat.sees("❯ hello")
    async with session.changes() as changes:
        while not session.status & IS_READ:
            await anext(changes)


@aio
async def test_a_second_person_sees_it_all(room: Room) -> None:
    session = await room.session("Together")
    one, other = await room.sit(session), await room.sit(session)
    await one.say("approve make it")
    await one.sees("^y Allow once")
    await other.sees("❯ approve make it", "^y Allow once", "input: make it")
    await other.press("ctrl+y")
    await one.sees("✓ Run command  Ran make it", "Next time I ask again")
    await one.misses("^y Allow once")
    await other.sees("✓ Run command  Ran make it", "Next time I ask again")


@aio
async def test_while_a_turn_runs_messages_queue_and_start_when_it_ends(room: Room) -> None:
    seat = await room.sit(await room.session("Queue"))
    await seat.say("wait")
    await seat.sees("I wait until you stop me")
    await seat.say("hello")
    await seat.say("models")
    await seat.sees("⧗ queued 1  hello", "⧗ queued 2  models", "❯ wait")
    # What was queued last is taken back, and stands in the composer again.
    await seat.press("escape", "u")
    await seat.misses("queued 2")
    assert seat.app.main.conversation.writing.text == "models"
    await seat.press(*["backspace"] * 6)
    await seat.press("ctrl+x")
    await seat.sees("cancelled")
    await seat.say("usage")
    await seat.sees("❯ usage")


@aio
async def test_a_running_turn_is_steered(room: Room) -> None:
    seat = await room.sit(await room.session("Steer"))
    await seat.say("wait")
    await seat.sees("● Waiting")
    await seat.type("left please")
    await seat.press("ctrl+s")
    await seat.sees("You told me:", "▌ left please")
    await seat.press("ctrl+x")
    await seat.sees("cancelled")


@aio
async def test_steering_when_nothing_runs_just_says_it(room: Room) -> None:
    seat = await room.sit(await room.session("Idle"))
    await seat.type("models")
    await seat.press("ctrl+s")
    await seat.sees("❯ models", "tokens")


@aio
async def test_a_turn_is_cancelled(room: Room) -> None:
    session = await room.session("Cancel")
    seat = await room.sit(session)
    await seat.say("wait")
    await seat.sees("● Waiting for you to cancel")
    await seat.press("ctrl+x")
    await seat.sees("─ cancelled")
    assert session.chat.turns[-1].state is TurnState.CANCELLED


@aio
async def test_a_turn_that_failed_halfway_is_resumed(room: Room) -> None:
    seat = await room.sit(await room.session("Flaky"))
    await seat.say("flaky")
    await seat.sees("✗ The line is busy", "^r resume")
    await seat.press("ctrl+r")
    await seat.sees("All done, although not in one go", "✗ The line is busy")
    await seat.misses("^r resume")


@aio
async def test_slash_completions_are_offered_taken_and_attached(room: Room) -> None:
    session = await room.session("Slash")
    seat = await room.sit(session)
    await seat.type("/mo")
    await seat.sees("/models")
    await seat.type("d")
    await seat.until(lambda screen: screen.count("/mod") == 2, "one completion")
    await seat.press("tab")
    await seat.until(lambda _: seat.app.main.conversation.writing.text == "/models ", "the completed word")
    await seat.press("enter")
    await seat.sees("❯ /models", "tokens")
    (attachment,) = session.chat.turns[-1].message.attachments or ()
    assert isinstance(attachment, SimpleMessageAttachment)
    assert attachment.meta is not None
    assert attachment.meta["command"] == "models"


@aio
async def test_completions_are_walked_through_and_dismissed(room: Room) -> None:
    seat = await room.sit(await room.session("Walk"))
    await seat.type("/")
    await seat.sees("/hello", "/help")
    await seat.press("down", "enter")
    await seat.until(lambda _: seat.app.main.conversation.writing.text == "/help ", "the second completion")
    await seat.press(*["backspace"] * 5)
    await seat.sees("/hello")
    await seat.press("escape")
    await seat.misses("/hello")
    assert seat.app.focused is seat.app.main.conversation.writing.composer


@aio
async def test_text_of_several_lines_is_sent_as_it_is(room: Room) -> None:
    session = await room.session("Lines")
    seat = await room.sit(session)
    await seat.type("models one")
    await seat.press("ctrl+j")
    await seat.type("two")
    await seat.press("enter")
    await seat.sees("❯ models one", "    two", "tokens")
    assert session.chat.turns[-1].message.text == "models one\ntwo"


@aio
async def test_nothing_that_a_terminal_would_obey_comes_to_the_screen(room: Room) -> None:
    session = await room.session("Evil \x1b[31m title \x1b]0;x\x07")
    session.send("approve rm \x1b[2J\x07 \u202etxt.exe")
    seat = await room.sit(session)
    await seat.sees("Evil title", "rm ␇ \ufffdtxt.exe")
    assert not [each for each in seat.screen if ord(each) < 32 and each != "\n"]


@aio
async def test_thoughts_and_tools_unfold_and_fold(room: Room) -> None:
    seat = await room.sit(await room.session("Fold", "think"))
    await seat.sees("▸ thought")
    await seat.press("escape", "up", "up")
    await seat.press("enter")
    await seat.sees("▾ thought", "│ ")
    await seat.press("enter")
    await seat.sees("▸ thought")
    await seat.press("f")
    await seat.sees("▾ thought")
    await seat.press("f")
    await seat.sees("▸ thought")


@aio
async def test_a_block_is_viewed_whole_and_copied(room: Room) -> None:
    seat = await room.sit(await room.session("View", "markdown"))
    await seat.sees("tokens")
    await seat.press("escape", "g")
    await seat.sees("▌ ❯ markdown")
    await seat.press("c")
    await seat.sees("Copied.")
    assert seat.app.clipboard == "markdown"
    await seat.press("v")
    await seat.sees("↑↓ scroll")
    await seat.press("escape")
    await seat.misses("↑↓ scroll")


@aio
async def test_the_help_shows_all_keys(room: Room) -> None:
    seat = await room.sit(await room.session("Help"))
    await seat.press("f1")
    await seat.sees("Keys", "approve what waits")
    await seat.press("pagedown")
    await seat.sees("While you read")
    await seat.press("escape")
    await seat.sees("⏎ send")
