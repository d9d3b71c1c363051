"""Answers to forms, from the words somebody wrote."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.agents.scripted.scenarios.questions import QUESTIONS
from holdfast.cli.answers import hint, pairs, read, simple_value, values
from holdfast.cli.exits import Exit, Stopped
from holdfast.protocol.chat.inputs import (
    ChatInputAnswer,
    ChatInputDraftAnswer,
    ChatInputNumberQuestion,
    ChatInputRequest,
    ChatInputSelectedAnswerValue,
    ChatInputSelectedManyAnswerValue,
    ChatInputSkipped,
    ChatInputTextAnswerValue,
    ChatInputTextQuestion,
)
from holdfast.protocol.codec import Unknown

BY_ID = {question.id: question for question in QUESTIONS if not isinstance(question, Unknown)}
FORM = ChatInputRequest(id="q", questions=QUESTIONS)


@pytest.mark.parametrize(
    ("id", "text", "value"),
    [
        ("name", "Seagull", "Seagull"),
        ("length", "7", 7),
        ("length", "7.5", 7.5),
        ("berths", "4", 4),
        ("engine", "YES", True),
        ("engine", "off", False),
        ("rig", " ketch ", "ketch"),
        ("gear", "anchor, Life raft", ["anchor", "Life raft"]),
    ],
)
def test_words_become_values_of_the_kind_that_is_asked_for(id: str, text: str, value: Any) -> None:
    found = read(BY_ID[id], text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("id", "text", "problem"),
    [
        ("name", "", "name: expected 1 to 40 characters"),
        ("length", "1", "length: expected 2 to 400"),
        ("length", "long", "length: expected a number, got 'long'"),
        ("length", "inf", "length: expected a number, got 'inf'"),
        ("berths", "2.5", "berths: expected a whole number, got '2.5'"),
        ("engine", "perhaps", "engine: expected yes or no, got 'perhaps'"),
        ("gear", "a,b,c,d", "gear: expected 1 to 3 of them"),
    ],
)
def test_what_does_not_fit_says_what_would(id: str, text: str, problem: str) -> None:
    with pytest.raises(Stopped) as stopped:
        read(BY_ID[id], text)
    assert (str(stopped.value), stopped.value.code) == (problem, Exit.USAGE)


def test_defaults_fill_in_what_nobody_wrote() -> None:
    assert values(FORM, {"rig": "sloop"}) == {
        "name": "Holdfast",
        "email": "crew@example.com",
        "berths": 4,
        "engine": True,
        "rig": "sloop",
    }


def test_what_others_began_to_write_counts_before_defaults() -> None:
    drafts: dict[str, ChatInputAnswer] = {
        "name": ChatInputDraftAnswer(value=ChatInputTextAnswerValue(value="Gull")),
        "rig": ChatInputDraftAnswer(value=ChatInputSelectedAnswerValue(value="", freeform_values=("junk",))),
        "gear": ChatInputDraftAnswer(
            value=ChatInputSelectedManyAnswerValue(value=("anchor",), freeform_values=("cat",))
        ),
        "email": ChatInputSkipped(),
        "date": Unknown({"state": "new"}),
    }
    form = ChatInputRequest(id="q", questions=QUESTIONS, answers=drafts)
    found = values(form, {"engine": "no"})
    assert found == {
        "name": "Gull",
        "email": "crew@example.com",
        "berths": 4,
        "engine": False,
        "rig": "junk",
        "gear": ["anchor", "cat"],
    }


def test_what_has_to_be_answered_and_is_not_is_named() -> None:
    with pytest.raises(Stopped) as stopped:
        values(FORM, {})
    assert str(stopped.value) == "'rig' has to be answered: How is it rigged? [sloop/ketch/schooner]"


def test_a_question_that_is_not_asked_is_not_answered() -> None:
    with pytest.raises(Stopped, match=r"there is no question 'colour'; the questions are name, email"):
        values(FORM, {"colour": "blue"})
    with pytest.raises(Stopped, match="there is no question 'colour'; it asks none"):
        values(ChatInputRequest(id="q", url="https://example.com"), {"colour": "blue"})


@pytest.mark.parametrize(
    ("id", "shown"),
    [
        ("name", " [1 to 40 characters]"),
        ("date", ""),
        ("berths", " [0 to 12]"),
        ("engine", " [yes/no]"),
        ("gear", " [anchor/radio/raft/kettle; several with commas]"),
    ],
)
def test_hints_say_what_may_be_said(id: str, shown: str) -> None:
    assert hint(BY_ID[id]) == shown


def test_a_range_may_be_open() -> None:
    assert hint(ChatInputNumberQuestion(id="n", message="?", min=3)) == " [3 or more]"
    assert hint(ChatInputTextQuestion(id="t", message="?", max=3)) == " [3 characters at most]"


def test_pairs() -> None:
    assert pairs(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    for word in ("a", "=1"):
        with pytest.raises(Stopped, match="expected KEY=VALUE"):
            pairs([word])


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ('"7"', "7"), ("auto", "auto"), ("true", True), ("[1]", [1]), ("", "")]
)
def test_simple_values(text: str, value: Any) -> None:
    assert simple_value(text) == value
