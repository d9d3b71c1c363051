"""People at terminals, with a real host: approving, denying, answering, signing in."""

from __future__ import annotations

from aio import aio
from attach.seat import Room, Seat
from holdfast.client.asks import Approval, Question
from holdfast.client.session import Session
from holdfast.protocol.chat import tools
from holdfast.protocol.chat.inputs import ChatInputDraftAnswer, ChatInputTextAnswerValue
from holdfast.protocol.chat.parts import ToolCallResponsePart


async def asked(room: Room, title: str, text: str) -> tuple[Session, Seat]:
    """Somebody sits in front of a session in which something waits."""
    session = await room.session(title)
    session.send(text)
    seat = await room.sit(session)
    await seat.until(lambda _: seat.app.main.conversation.asks, "what waits")
    return session, seat


async def call_of(session: Session) -> tools.ToolCallState:
    """The tool call of the last turn, once that has ended."""
    await session.chat.wait_idle()
    parts = session.chat.turns[-1].response_parts
    return next(part.tool_call for part in parts if isinstance(part, ToolCallResponsePart))


@aio
async def test_one_key_approves_while_somebody_writes(room: Room) -> None:
    session, seat = await asked(room, "Approve", "approve")
    await seat.type("half a sentence")
    await seat.press("ctrl+y")
    await seat.sees("✓ Run command", "half a sentence")
    call = await call_of(session)
    assert isinstance(call, tools.ToolCallCompletedState)
    assert call.selected_option is not None
    assert call.selected_option.id == "once"


@aio
async def test_one_key_denies(room: Room) -> None:
    session, seat = await asked(room, "Deny", "approve")
    await seat.press("ctrl+n")
    await seat.sees("⊘ Run command  denied")
    assert isinstance(await call_of(session), tools.ToolCallCancelledState)


@aio
async def test_letters_decide_only_while_nobody_writes(room: Room) -> None:
    _, seat = await asked(room, "Letters", "approve")
    await seat.type("yes")
    await seat.sees("│ yes", "^y Allow once")
    await seat.press("escape")
    await seat.sees(" y Allow once", "2 Allow for this session")
    await seat.press("2")
    await seat.sees("✓ Run command", "I will not ask again in this session")


@aio
async def test_what_just_came_up_is_not_approved_by_a_key_that_was_meant_before(room: Room) -> None:
    session = await room.session("Settle")
    session.send("approve")
    seat = await room.sit(session, settle=3600.0)
    await seat.sees("^y Allow once")
    await seat.press("ctrl+y")
    await seat.sees("This just came up")
    assert len(session.waiting) == 1


@aio
async def test_a_closer_look_shows_everything_and_decides(room: Room) -> None:
    _, seat = await asked(room, "Look", "edit")
    await seat.sees("edit greeting.py  +3 −2")
    await seat.press("ctrl+o")
    await seat.sees("1 - def greet(name):", "2 + ", "decide later", "e edit it, then approve")
    await seat.press("escape")
    await seat.sees("^o look closer")
    await seat.press("ctrl+o")
    await seat.sees("decide later")
    await seat.press("n")
    await seat.sees("⊘ Edit file  denied")


@aio
async def test_an_edit_is_changed_before_it_is_made(room: Room) -> None:
    session, seat = await asked(room, "Edit", "edit")
    await seat.press("escape", "e")
    await seat.sees("Change the input, then approve it")
    await seat.press("ctrl+home")
    await seat.type("# mine")
    await seat.press("enter", "ctrl+s")
    await seat.sees("Edited, with your changes")
    call = await call_of(session)
    assert isinstance(call, tools.ToolCallCompletedState)
    assert str(call.tool_input).startswith("# mine\n")
    # What was made stays on the screen as a diff.
    await seat.sees("+ # mine")


@aio
async def test_a_denial_can_say_why(room: Room) -> None:
    session, seat = await asked(room, "Why", "approve")
    await seat.press("ctrl+o")
    await seat.sees("d deny and say why")
    await seat.press("d")
    await seat.sees("Why not?")
    await seat.type("too risky")
    await seat.press("enter")
    await seat.sees("⊘ Run command  denied")
    call = await call_of(session)
    assert isinstance(call, tools.ToolCallCancelledState)
    assert call.reason_message == "too risky"


@aio
async def test_several_asks_are_decided_one_after_the_other(room: Room) -> None:
    _, seat = await asked(room, "Parallel", "parallel")
    await seat.sees("1 more")
    await seat.press("ctrl+y")
    await seat.until(lambda screen: "1 more" not in screen and "^y" in screen, "the second ask")
    await seat.press("ctrl+n")
    await seat.misses("^y")


@aio
async def test_what_was_decided_elsewhere_closes_the_closer_look(room: Room) -> None:
    session, seat = await asked(room, "First", "approve")
    await seat.press("ctrl+o")
    await seat.sees("decide later")
    (ask,) = session.waiting
    assert isinstance(ask, Approval)
    await ask.approve()
    await seat.sees("Somebody else was first", "✓ Run command")
    await seat.misses("decide later")


@aio
async def test_a_result_is_let_through_or_withheld(room: Room) -> None:
    _, seat = await asked(room, "Review", "review")
    await seat.sees("May the result of Read notes be used?", "Launch: 3 May", "^y use it")
    await seat.press("ctrl+n")
    await seat.sees("⊘ Read notes  withheld")


@aio
async def test_the_risk_arrives_while_somebody_looks(room: Room) -> None:
    _, seat = await asked(room, "Risk", "risk")
    await seat.sees("risk: being judged")
    await seat.sees("risk · 80 %: It can overwrite the work of others")
    await seat.press("ctrl+y")
    await seat.sees("✓ Push commits")


@aio
async def test_a_token_is_given(room: Room) -> None:
    _, seat = await asked(room, "Token", "mcp")
    await seat.sees("List issues wants a token", "for: Demo issues", "^o sign in")
    await seat.press("ctrl+o")
    await seat.type("secret")
    await seat.sees("••••••")
    assert "secret" not in seat.screen
    await seat.press("enter")
    await seat.sees("✓ List issues", "Two issues are open")


@aio
async def test_a_form_with_every_kind_of_question_is_filled_in_by_keys(room: Room) -> None:
    session, seat = await asked(room, "Form", "form")
    await seat.sees("8 questions", "^o answer")
    await seat.press("ctrl+o")
    await seat.sees("Name *  What is the boat called?", "Holdfast")
    await seat.press(*["backspace"] * 8)
    await seat.press("ctrl+s")
    await seat.sees("needs an answer")
    await seat.type("Fairwind")
    await seat.press("tab", "tab", "tab")  # mail, date, length
    await seat.type("1")
    await seat.sees("at least 2")
    await seat.type("2.5")
    await seat.misses("at least 2")
    await seat.press("tab", "tab")  # berths, engine
    await seat.press("down", "space")
    await seat.sees("(•) no")
    await seat.press("tab", "tab")  # rig, in own words
    await seat.type("a raft")
    await seat.press("tab", "down", "down", "space")  # gear
    await seat.sees("[x] Life raft")
    await seat.press("ctrl+s")
    answers = ["Name: Fairwind", "Length: 12.5", "Berths: 4", "Engine: no", "Rig: a raft", "Gear: Anchor, Life raft"]
    await seat.sees(*answers, "Date: skipped")
    await session.chat.wait_idle()


@aio
async def test_a_form_is_filled_in_together(room: Room) -> None:
    session, one = await asked(room, "Both", "form")
    other = await room.sit(session)
    await one.sees("8 questions")
    await one.press("ctrl+o")
    await other.sees("8 questions")
    await other.press("ctrl+o")
    await one.sees("Holdfast")
    await other.sees("Holdfast")
    await one.type("!")
    await other.sees("Holdfast!")
    await other.press("tab")
    await other.type("x")
    await one.sees("crew@example.comx", "Holdfast!")
    (question,) = session.waiting
    assert isinstance(question, Question)
    assert question.answers["name"] == ChatInputDraftAnswer(value=ChatInputTextAnswerValue(value="Holdfast!"))
    await one.press("ctrl+n")
    await one.sees("You would rather not say")
    await other.sees("Somebody else was first", "You would rather not say")


@aio
async def test_a_form_can_wait(room: Room) -> None:
    _, seat = await asked(room, "Later", "form")
    await seat.press("ctrl+o")
    await seat.sees("submit")
    await seat.press("escape")
    await seat.sees("^o answer")
    await seat.press("ctrl+y")  # there is nothing to approve: it opens again
    await seat.sees("submit")


@aio
async def test_a_page_to_look_at_is_named(room: Room) -> None:
    _, seat = await asked(room, "Link", "link")
    await seat.sees("https://demo.holdfast.example/review")
    await seat.press("ctrl+o")
    await seat.sees("Look at https://demo.holdfast.example/review, then come back", "^s done")
    await seat.press("ctrl+s")
    await seat.sees("Thank you for looking")


@aio
async def test_a_helper_asks_in_a_chat_of_its_own(room: Room) -> None:
    session, seat = await asked(room, "Helper", "subagent")
    await seat.sees("in Count the tests", "^y Allow once", " main   Count the tests ?")
    await seat.press("escape", "right_square_bracket")
    await seat.sees("❯ from a tool", "? Count tests", "y Allow once")
    await seat.misses("in Count the tests")
    # A helper's chat is for reading: there is nothing to write in.
    await seat.press("i")
    assert not seat.app.main.conversation.writing.display
    await seat.press("y")
    await seat.sees("There are 128 tests")
    await seat.press("left_square_bracket")
    await seat.sees("My helper reports")
    assert not session.waiting
