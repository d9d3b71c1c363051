"""Scenarios that ask the user: a form with every kind of question, and one that opens a page."""

from __future__ import annotations

from typing import Final

from holdfast.agents.scripted.play import Play
from holdfast.protocol.chat.inputs import (
    ChatInputAnswer,
    ChatInputBooleanAnswerValue,
    ChatInputBooleanQuestion,
    ChatInputIntegerQuestion,
    ChatInputMultiSelectQuestion,
    ChatInputNumberAnswerValue,
    ChatInputNumberQuestion,
    ChatInputOption,
    ChatInputQuestion,
    ChatInputRequest,
    ChatInputResponseKind,
    ChatInputSelectedAnswerValue,
    ChatInputSelectedManyAnswerValue,
    ChatInputSingleSelectQuestion,
    ChatInputSkipped,
    ChatInputSubmittedAnswer,
    ChatInputTextAnswerValue,
    ChatInputTextQuestion,
)
from holdfast.protocol.codec import Unknown

__all__ = ["QUESTIONS", "form", "link"]

QUESTIONS: Final[tuple[ChatInputQuestion, ...]] = (
    ChatInputTextQuestion(
        id="name",
        title="Name",
        message="What is the boat called?",
        min=1,
        max=40,
        default_value="Holdfast",
        required=True,
    ),
    ChatInputTextQuestion(
        id="email",
        title="Mail",
        message="Where do we send the papers?",
        format="email",
        default_value="crew@example.com",
    ),
    ChatInputTextQuestion(id="date", title="Date", message="When does it sail?", format="date"),
    ChatInputNumberQuestion(id="length", title="Length", message="How long is it, in metres?", min=2, max=400),
    ChatInputIntegerQuestion(
        id="berths", title="Berths", message="How many people sleep aboard?", min=0, max=12, default_value=4
    ),
    ChatInputBooleanQuestion(id="engine", title="Engine", message="Does it have an engine?", default_value=True),
    ChatInputSingleSelectQuestion(
        id="rig",
        title="Rig",
        message="How is it rigged?",
        required=True,
        allow_freeform_input=True,
        options=(
            ChatInputOption(id="sloop", label="Sloop", description="One mast, two sails", recommended=True),
            ChatInputOption(id="ketch", label="Ketch", description="Two masts, the taller one in front"),
            ChatInputOption(id="schooner", label="Schooner", description="Two masts, the taller one behind"),
        ),
    ),
    ChatInputMultiSelectQuestion(
        id="gear",
        title="Gear",
        message="What is aboard? Choose one to three.",
        min=1,
        max=3,
        allow_freeform_input=True,
        options=(
            ChatInputOption(id="anchor", label="Anchor", recommended=True),
            ChatInputOption(id="radio", label="Radio"),
            ChatInputOption(id="raft", label="Life raft"),
            ChatInputOption(id="kettle", label="Kettle"),
        ),
    ),
)
"""One question of every kind, and three of kind `text`."""


async def form(play: Play) -> None:
    """Ask with a form, then say what was answered."""
    await play.say("Let us register a boat. Only the name and the rig are required.\n\n")
    answered = await play.turn.ask(
        ChatInputRequest(id=play.turn.new_id(), message="Please tell me about your boat.", questions=QUESTIONS)
    )
    if answered.response == ChatInputResponseKind.DECLINE:
        await play.say("You would rather not say. That is fine.\n")
        return
    if answered.response == ChatInputResponseKind.CANCEL:
        await play.say("You closed the form. Say `form` to see it again.\n")
        return
    await play.say("Thank you! This is what I wrote down:\n\n")
    for question in QUESTIONS:
        assert not isinstance(question, Unknown), "the demo asks only what it knows"
        await play.say(f"- **{question.title}**: {_answer(question, answered.answers.get(question.id))}\n")


def _answer(question: ChatInputQuestion, answer: ChatInputAnswer | None) -> str:
    match answer:
        case ChatInputSkipped(freeform_values=values):
            return "skipped" + (f" ({', '.join(values)})" if values else "")
        case ChatInputSubmittedAnswer(value=value):
            return _value(question, value)
        case _:
            return "no answer"


def _value(question: ChatInputQuestion, value: object) -> str:
    match value:
        case ChatInputBooleanAnswerValue():
            return "yes" if value.value else "no"
        case ChatInputTextAnswerValue() | ChatInputNumberAnswerValue():
            return str(value.value)
        case ChatInputSelectedAnswerValue():
            return _labels(question, (value.value,), value.freeform_values)
        case ChatInputSelectedManyAnswerValue():
            return _labels(question, value.value, value.freeform_values)
        case _:
            return "something I cannot read"


def _labels(question: ChatInputQuestion, chosen: tuple[str, ...], freeform: tuple[str, ...] | None) -> str:
    labels = {}
    if isinstance(question, ChatInputSingleSelectQuestion | ChatInputMultiSelectQuestion):
        labels = {option.id: option.label for option in question.options}
    names = [labels.get(id, id) for id in chosen if id]
    return ", ".join([*names, *(freeform or ())]) or "nothing"


async def link(play: Play) -> None:
    """Ask the user to look at a page and come back."""
    await play.say("Some things are better done in a browser.\n\n")
    answered = await play.turn.ask(
        ChatInputRequest(
            id=play.turn.new_id(),
            message="Please look at this page, then come back. It does not really exist.",
            url="https://demo.holdfast.example/review",
        )
    )
    if answered.response == ChatInputResponseKind.ACCEPT:
        await play.say("Thank you for looking. I go on.\n")
    else:
        await play.say("You did not want to open it, so I go on without.\n")
