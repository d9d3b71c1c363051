"""People at terminals, with a real host: what several people type at the same time."""

from __future__ import annotations

from aio import aio
from attach.seat import Room, Seat
from holdfast.client.chat import message_of
from holdfast.protocol.chat.actions import DraftChanged


def written(seat: Seat) -> str:
    return seat.app.main.conversation.writing.text


@aio
async def test_people_see_each_other_type(room: Room) -> None:
    session = await room.session("Typing")
    one, other = await room.sit(session), await room.sit(session)
    await one.type("Hello y")
    await other.sees("✎ typed elsewhere  Hello y", "^e takes it")
    await one.type("ou")
    await other.sees("✎ typed elsewhere  Hello you")
    assert "elsewhere" not in one.screen
    # What is written here does not change under anybody's hands.
    await other.type("Mine")
    await one.sees("✎ typed elsewhere  Mine")
    assert (written(one), written(other)) == ("Hello you", "Mine")


@aio
async def test_what_somebody_typed_is_taken_over_and_then_followed(room: Room) -> None:
    session = await room.session("Taking")
    one, other = await room.sit(session), await room.sit(session)
    await one.type("Hello")
    await other.sees("typed elsewhere  Hello")
    await other.press("ctrl+e")
    await other.misses("elsewhere")
    assert written(other) == "Hello"
    await one.type(" you")
    await other.until(lambda _: written(other) == "Hello you", "what is typed there")
    await other.type("!")
    await one.sees("typed elsewhere  Hello you!")


@aio
async def test_a_chat_opens_with_the_draft_that_was_left_there(room: Room) -> None:
    session, second = await room.session("Left"), await room.session("Else")
    await session.chat.set_draft("unfinished bus")
    seat = await room.sit(session)
    await seat.sees("│ unfinished bus")
    await seat.type("iness")
    # Leaving does not lose what was typed last.
    seat.app.main.open(second.uri)
    await seat.sees("Else  demo")
    assert written(seat) == ""
    async with session.chat.changes() as changes:
        while session.chat.draft is None or session.chat.draft.text != "unfinished business":
            await anext(changes)
    seat.app.main.open(session.uri)
    await seat.sees("│ unfinished business")


@aio
async def test_sending_clears_the_draft_for_everybody(room: Room) -> None:
    session = await room.session("Clear")
    one, other = await room.sit(session), await room.sit(session)
    await one.type("models")
    await other.sees("typed elsewhere  models")
    await one.press("enter")
    await other.sees("❯ models", "tokens")
    await other.misses("elsewhere")
    assert session.chat.draft is None
    assert written(one) == ""


@aio
async def test_a_chosen_model_stays_chosen(room: Room) -> None:
    session = await room.session("Model")
    seat = await room.sit(session)
    seat.app.main.desk.model()
    await seat.sees("Model of what you send next", "demo-thoughtful")
    await seat.press("down", "enter")
    await seat.until(lambda _: session.chat.draft is not None, "the choice in the draft")
    await seat.say("models")
    await seat.sees("❯ models", "tokens")
    model = session.chat.turns[-1].message.model
    assert model is not None
    assert model.id == "demo-thoughtful"
    await seat.say("usage")
    await seat.sees("❯ usage", "These numbers are made up")
    await session.chat.wait_idle()
    assert session.chat.turns[-1].message.model == model


@aio
async def test_no_letter_is_lost_while_others_type_and_answers_stream(room: Room) -> None:
    session = await room.session("Fast")
    seat = await room.sit(session)
    session.send("long 4000 4000")
    await seat.sees("● working")
    text = "the quick brown fox jumps over the lazy dog " * 3
    for index, letter in enumerate(text):
        seat.app.main.conversation.writing.composer.insert(letter)
        if index % 4 == 0:
            session.chat.dispatch(session.chat.uri, DraftChanged(draft=message_of(f"theirs {index}")))
        await seat.pilot.pause(0)
    await seat.sees("✎ typed elsewhere  theirs")
    assert written(seat) == text
