"""Forms: every kind of question."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.agents.scripted.scenarios.questions import QUESTIONS
from holdfast.attach.model import form
from holdfast.attach.model.form import Entry
from holdfast.protocol.chat import inputs
from holdfast.protocol.codec import Unknown

REQUEST = inputs.ChatInputRequest(id="q", questions=QUESTIONS)
FIELDS = {field.id: field for field in form.fields(REQUEST)}


def field(question: Any) -> form.Field:
    return form.fields(inputs.ChatInputRequest(id="q", questions=(question,)))[0]


def submitted(value: Any) -> inputs.ChatInputSubmittedAnswer:
    return inputs.ChatInputSubmittedAnswer(value=value)


def test_a_form_says_what_it_expects() -> None:
    assert {id: (each.kind, each.hint) for id, each in FIELDS.items()} == {
        "name": ("text", "1 to 40 characters"),
        "email": ("text", "a mail address"),
        "date": ("text", "a date: YYYY-MM-DD"),
        "length": ("number", "a number 2 to 400"),
        "berths": ("integer", "a whole number 0 to 12"),
        "engine": ("boolean", "yes or no"),
        "rig": ("one", "choose one"),
        "gear": ("many", "choose 1 to 3"),
    }
    assert [id for id, each in FIELDS.items() if each.is_required] == ["name", "rig"]
    assert FIELDS["rig"].has_text
    assert len(FIELDS["gear"].options) == 4


def test_a_form_begins_with_what_it_proposes() -> None:
    assert form.start(REQUEST) == {
        "name": Entry("Holdfast"),
        "email": Entry("crew@example.com"),
        "date": Entry(),
        "length": Entry(),
        "berths": Entry("4"),
        "engine": Entry(flag=True),
        "rig": Entry(chosen=("sloop",)),
        "gear": Entry(chosen=("anchor",)),
    }


def test_what_somebody_entered_already_goes_before_the_proposal() -> None:
    draft = inputs.ChatInputDraftAnswer(value=inputs.ChatInputTextAnswerValue(value="Fairwind"))
    request = inputs.ChatInputRequest(id="q", questions=QUESTIONS, answers={"name": draft})
    assert form.start(request)["name"] == Entry("Fairwind")


def test_the_answers_are_submitted_and_what_is_empty_is_skipped() -> None:
    entries = {**form.start(REQUEST), "length": Entry("12.5"), "gear": Entry("my own", chosen=("raft",))}
    assert form.answers(REQUEST, entries) == {
        "name": submitted(inputs.ChatInputTextAnswerValue(value="Holdfast")),
        "email": submitted(inputs.ChatInputTextAnswerValue(value="crew@example.com")),
        "date": inputs.ChatInputSkipped(),
        "length": submitted(inputs.ChatInputNumberAnswerValue(value=12.5)),
        "berths": submitted(inputs.ChatInputNumberAnswerValue(value=4)),
        "engine": submitted(inputs.ChatInputBooleanAnswerValue(value=True)),
        "rig": submitted(inputs.ChatInputSelectedAnswerValue(value="sloop")),
        "gear": submitted(inputs.ChatInputSelectedManyAnswerValue(value=("raft",), freeform_values=("my own",))),
    }


@pytest.mark.parametrize(
    ("id", "entry", "wrong"),
    [
        ("name", Entry(), "needs an answer"),
        ("name", Entry(" "), "needs an answer"),
        ("name", Entry("x" * 41), "at most 40 characters"),
        ("name", Entry("x" * 40), ""),
        ("email", Entry("nobody"), "expects a mail address"),
        ("email", Entry(), ""),
        ("date", Entry("2026-02-30"), "expects a date: YYYY-MM-DD"),
        ("date", Entry("2026-02-28"), ""),
        ("length", Entry("long"), "is not a number"),
        ("length", Entry("nan"), "is not a number"),
        ("length", Entry("1_0"), "is not a number"),
        ("length", Entry("1"), "at least 2"),
        ("length", Entry("400.5"), "at most 400"),
        ("berths", Entry("1.5"), "is not a whole number"),
        ("berths", Entry("13"), "at most 12"),
        ("engine", Entry(), ""),
        ("rig", Entry(), "needs an answer"),
        ("rig", Entry("my own"), ""),
        ("gear", Entry(chosen=("anchor", "radio", "raft"), text="more"), "at most 3 choices"),
        ("gear", Entry(chosen=("anchor", "radio", "raft")), ""),
    ],
)
def test_what_is_wrong_is_said(id: str, entry: Entry, wrong: str) -> None:
    assert form.problem(FIELDS[id], entry) == wrong


@pytest.mark.parametrize(
    ("format", "good", "bad"),
    [("uri", "https://example.com/x", "no address"), ("date-time", "2026-02-28T12:00", "noon"), ("color", "x", "")],
)
def test_formats(format: str, good: str, bad: str) -> None:  # noqa: A002
    question = field(inputs.ChatInputTextQuestion(id="x", message="?", format=format))
    assert form.problem(question, Entry(good)) == ""
    assert bool(form.problem(question, Entry(bad))) == bool(bad)


def test_an_answer_in_own_words_takes_the_place_of_the_option() -> None:
    value = form.value_of(FIELDS["rig"], Entry("my own", chosen=("sloop",)))
    assert value == inputs.ChatInputSelectedAnswerValue(value="", freeform_values=("my own",))


def test_what_is_entered_comes_back_from_its_answer() -> None:
    entries = {
        **form.start(REQUEST),
        "length": Entry("12.5"),
        "gear": Entry("own", chosen=("raft",)),
        "engine": Entry(flag=False),
    }
    for id, each in FIELDS.items():
        draft = form.drafted(each, entries[id])
        assert form.entry_of(draft) == entries[id]
        assert form.is_same(each, entries[id], draft)
    assert not form.is_same(FIELDS["name"], Entry("x"), None)
    assert form.is_same(FIELDS["date"], Entry(), None)


def test_a_question_of_the_future_is_shown_and_left_out_of_the_answers() -> None:
    request = inputs.ChatInputRequest(
        id="q", questions=(Unknown({"id": "x", "kind": "drawing", "message": "Draw!"}), QUESTIONS[0])
    )
    odd = form.fields(request)[0]
    assert (odd.message, odd.kind) == ("Draw!", "unknown")
    assert "drawing" in odd.hint
    assert form.problem(odd, Entry()) == ""
    assert list(form.answers(request, form.start(request))) == ["name"]
