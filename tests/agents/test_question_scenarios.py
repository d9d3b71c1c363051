"""Scenarios that ask the user."""

from __future__ import annotations

import pytest

from agents.stage import Reply, Stage
from holdfast.agents.scripted.scenarios.questions import QUESTIONS
from holdfast.protocol.chat.inputs import (
    ChatInputAnswer,
    ChatInputBooleanAnswerValue,
    ChatInputDraftAnswer,
    ChatInputNumberAnswerValue,
    ChatInputResponseKind,
    ChatInputSelectedAnswerValue,
    ChatInputSelectedManyAnswerValue,
    ChatInputSkipped,
    ChatInputSubmittedAnswer,
    ChatInputTextAnswerValue,
)
from holdfast.protocol.codec import Unknown, to_json

ACCEPT = ChatInputResponseKind.ACCEPT

early_and_late = pytest.mark.parametrize("early", [False, True], ids=["late", "early"])


def test_the_form_has_every_kind_of_question() -> None:
    questions = [to_json(question) for question in QUESTIONS]
    assert {question["kind"] for question in questions} == {
        "text",
        "number",
        "integer",
        "boolean",
        "single-select",
        "multi-select",
    }
    keys = {key for question in questions for key in question}
    assert keys >= {"format", "required", "defaultValue", "allowFreeformInput", "min", "max", "title"}
    assert any(option.get("recommended") for question in questions for option in question.get("options", ()))


@early_and_late
def test_form_says_what_was_answered(early: bool) -> None:
    answers: dict[str, ChatInputAnswer] = {
        "name": ChatInputSubmittedAnswer(value=ChatInputTextAnswerValue(value="Fairwind")),
        "email": ChatInputDraftAnswer(value=ChatInputTextAnswerValue(value="half@")),
        "length": ChatInputSubmittedAnswer(value=ChatInputNumberAnswerValue(value=9.5)),
        "berths": ChatInputSubmittedAnswer(value=ChatInputNumberAnswerValue(value=3)),
        "engine": ChatInputSubmittedAnswer(value=ChatInputBooleanAnswerValue(value=False)),
        "rig": ChatInputSubmittedAnswer(value=ChatInputSelectedAnswerValue(value="ketch")),
        "gear": ChatInputSubmittedAnswer(
            value=ChatInputSelectedManyAnswerValue(value=("raft", "kettle"), freeform_values=("a cat",))
        ),
    }
    turned = Stage(replies=[Reply(ACCEPT, answers)], early=early).play("form")
    assert turned.text.endswith(
        "- **Name**: Fairwind\n- **Mail**: no answer\n- **Date**: no answer\n- **Length**: 9.5\n- **Berths**: 3\n"
        "- **Engine**: no\n- **Rig**: Ketch\n- **Gear**: Life raft, Kettle, a cat\n"
    )
    (part,) = turned.questions
    assert part.response is ACCEPT
    assert part.request.answers == answers


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ChatInputSkipped(), "skipped"),
        (ChatInputSkipped(freeform_values=("no idea",)), "skipped (no idea)"),
        (
            ChatInputSubmittedAnswer(value=ChatInputSelectedAnswerValue(value="", freeform_values=("Lugger",))),
            "Lugger",
        ),
        (ChatInputSubmittedAnswer(value=ChatInputSelectedManyAnswerValue(value=())), "nothing"),
        (ChatInputSubmittedAnswer(value=Unknown({"kind": "hologram"})), "something I cannot read"),
    ],
)
def test_form_understands_unusual_answers(answer: ChatInputAnswer, expected: str) -> None:
    turned = Stage(replies=[Reply(ACCEPT, {"rig": answer})]).play("form")
    assert f"- **Rig**: {expected}\n" in turned.text


@pytest.mark.parametrize(
    ("name", "response", "expected"),
    [
        ("form", "decline", "You would rather not say"),
        ("form", "cancel", "You closed the form"),
        ("link", "accept", "Thank you for looking"),
        ("link", "decline", "I go on without"),
        ("link", "cancel", "I go on without"),
    ],
)
def test_every_way_to_end_a_question(name: str, response: str, expected: str) -> None:
    turned = Stage(replies=[Reply(ChatInputResponseKind(response))]).play(name)
    assert expected in turned.text
    assert turned.questions[0].response == response


def test_link_opens_a_page() -> None:
    assert Stage().play("link").questions[0].request.url == "https://demo.holdfast.example/review"
