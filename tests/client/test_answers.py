"""Plain values as answers to a form."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.client.answers import answers_to, default_of
from holdfast.protocol.chat.inputs import ChatInputRequest
from holdfast.protocol.codec import convert, to_json
from holdfast.protocol.errors import UsageError

CHOICES = [{"id": "r", "label": "Red"}, {"id": "b", "label": "Blue", "recommended": True}]
FORM = convert(
    ChatInputRequest,
    {
        "id": "form",
        "questions": [
            {"kind": "text", "id": "name", "message": "?", "defaultValue": "Ada"},
            {"kind": "number", "id": "size", "message": "?"},
            {"kind": "integer", "id": "count", "message": "?"},
            {"kind": "boolean", "id": "sure", "message": "?", "defaultValue": False},
            {"kind": "single-select", "id": "colour", "message": "?", "options": CHOICES},
            {"kind": "multi-select", "id": "colours", "message": "?", "options": CHOICES},
            {"kind": "single-select", "id": "any", "message": "?", "options": CHOICES, "allowFreeformInput": True},
            {"kind": "multi-select", "id": "many", "message": "?", "options": [], "allowFreeformInput": True},
            {"kind": "hologram", "id": "newer", "message": "?"},
        ],
    },
)


def submitted(kind: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"state": "submitted", "value": {"kind": kind, "value": value, **more}}


@pytest.mark.parametrize(
    ("question", "value", "answer"),
    [
        ("name", "", submitted("text", "")),
        ("size", 2.5, submitted("number", 2.5)),
        ("size", 2, submitted("number", 2)),
        ("count", 3, submitted("number", 3)),
        ("sure", False, submitted("boolean", False)),
        ("colour", "r", submitted("selected", "r")),
        ("colour", "Blue", submitted("selected", "b")),
        ("colours", ["Blue", "r"], submitted("selected-many", ["b", "r"])),
        ("colours", [], submitted("selected-many", [])),
        ("any", "Green", submitted("selected", "", freeformValues=["Green"])),
        ("many", ["x", "y"], submitted("selected-many", [], freeformValues=["x", "y"])),
        ("name", None, {"state": "skipped"}),
    ],
)
def test_a_value_becomes_the_answer_its_question_takes(question: str, value: Any, answer: dict[str, Any]) -> None:
    assert to_json(answers_to(FORM, {question: value})) == {question: answer}


@pytest.mark.parametrize(
    ("question", "value", "why"),
    [
        ("name", 3, "takes text, not 3"),
        ("size", "3", "takes a number, not '3'"),
        ("size", True, "takes a number, not True"),
        ("count", 2.5, "takes a whole number, not 2.5"),
        ("count", True, "takes a whole number, not True"),
        ("sure", "yes", "takes True or False, not 'yes'"),
        ("colour", "Green", "takes one of b, r, not 'Green'"),
        ("colour", ["r"], "takes one of its choices"),
        ("colours", "r", "takes a list of its choices, not 'r'"),
        ("nobody", 1, "has no question 'nobody'; it has 'name'"),
        ("newer", 1, "has no question 'newer'"),
    ],
)
def test_what_does_not_fit_is_said_in_words(question: str, value: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        answers_to(FORM, {question: value})


def test_a_form_without_questions_takes_no_answers() -> None:
    empty = convert(ChatInputRequest, {"id": "link", "url": "https://example.org/"})
    assert answers_to(empty, {}) == {}
    with pytest.raises(UsageError, match="asks nothing"):
        answers_to(empty, {"name": "x"})


def test_a_question_proposes_its_default() -> None:
    proposed = [default_of(question) for question in FORM.questions or ()]
    assert proposed == ["Ada", None, None, False, "b", ["b"], "b", None, None]
