"""A form: what is asked, what has been entered, what is wrong with it, and the answers it makes.

A form is shared: what is entered here is told to the others as a draft, and what they enter appears here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from holdfast.attach.model import words
from holdfast.protocol.chat import inputs
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import Number

__all__ = ["Entry", "Field", "answers", "drafted", "entry_of", "fields", "is_same", "problem", "start", "value_of"]


class Entry(NamedTuple):
    """What has been entered: only the parts that the kind of question has."""

    text: str = ""
    flag: bool | None = None
    chosen: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and self.flag is None and not self.chosen


class Field(NamedTuple):
    """One question as it is shown. `hint` says what is expected."""

    id: str
    kind: str
    title: str
    message: str
    hint: str
    is_required: bool
    options: tuple[inputs.ChatInputOption, ...]
    has_text: bool
    question: inputs.ChatInputQuestion


_KINDS: Final[dict[type, str]] = {
    inputs.ChatInputTextQuestion: "text",
    inputs.ChatInputNumberQuestion: "number",
    inputs.ChatInputIntegerQuestion: "integer",
    inputs.ChatInputBooleanQuestion: "boolean",
    inputs.ChatInputSingleSelectQuestion: "one",
    inputs.ChatInputMultiSelectQuestion: "many",
}


def fields(request: inputs.ChatInputRequest) -> tuple[Field, ...]:
    """The questions of a form. One of an unknown kind is shown and cannot be answered here."""
    return tuple(_field(question) for question in request.questions or ())


def _field(question: inputs.ChatInputQuestion) -> Field:
    if isinstance(question, Unknown):
        raw = question.raw
        message = words.one_line(str(raw.get("message") or ""))
        hint = f"a kind of question that this version does not know: {words.one_line(str(raw.get('kind')))}"
        title = words.one_line(str(raw.get("title") or ""))
        return Field(str(raw.get("id")), "unknown", title, message, hint, False, (), False, question)
    kind = _KINDS[type(question)]
    options: tuple[inputs.ChatInputOption, ...] = ()
    has_text = kind in ("text", "number", "integer")
    if isinstance(question, inputs.ChatInputSingleSelectQuestion | inputs.ChatInputMultiSelectQuestion):
        has_text, options = bool(question.allow_freeform_input), question.options
    return Field(
        id=question.id,
        kind=kind,
        title=words.one_line(question.title),
        message=words.one_line(question.message),
        hint=_hint(question),
        is_required=bool(question.required),
        options=options,
        has_text=has_text,
        question=question,
    )


_FORMATS: Final = {
    "email": "a mail address",
    "uri": "an address such as https://…",
    "date": "a date: YYYY-MM-DD",
    "date-time": "a date and time: YYYY-MM-DDTHH:MM",
}


def _hint(question: Any) -> str:
    """What is expected, in words."""
    match question:
        case inputs.ChatInputTextQuestion():
            bounds = _bounds(question.min, question.max)
            length = f"{bounds} characters" if bounds else ""
            shape = _FORMATS.get(question.format or "", words.one_line(question.format or ""))
            return ", ".join(filter(None, (shape, length)))
        case inputs.ChatInputNumberQuestion():
            what = "a whole number" if isinstance(question, inputs.ChatInputIntegerQuestion) else "a number"
            return " ".join(filter(None, (what, _bounds(question.min, question.max))))
        case inputs.ChatInputMultiSelectQuestion():
            bounds = _bounds(question.min, question.max)
            return f"choose {bounds}" if bounds else "choose any"
        case inputs.ChatInputSingleSelectQuestion():
            return "choose one"
        case _:
            return "yes or no"


def _bounds(least: Number | None, most: Number | None) -> str:
    if least is not None and most is not None:
        return f"{least:g} to {most:g}"
    if least is not None:
        return f"at least {least:g}"
    return f"at most {most:g}" if most is not None else ""


# What stands in the form at first


def start(request: inputs.ChatInputRequest) -> dict[str, Entry]:
    """What the form shows when it is opened: shared answers, else what the question proposes."""
    known = request.answers or {}
    return {
        field.id: entry_of(known[field.id]) if field.id in known else _proposed(field.question)
        for field in fields(request)
    }


def _proposed(question: Any) -> Entry:
    match question:
        case inputs.ChatInputTextQuestion():
            return Entry(text=question.default_value or "")
        case inputs.ChatInputNumberQuestion():
            return Entry(text="" if question.default_value is None else f"{question.default_value}")
        case inputs.ChatInputBooleanQuestion():
            return Entry(flag=question.default_value)
        case inputs.ChatInputSingleSelectQuestion():
            recommended = [option.id for option in question.options if option.recommended]
            return Entry(chosen=tuple(recommended[:1]))
        case inputs.ChatInputMultiSelectQuestion():
            return Entry(chosen=tuple(option.id for option in question.options if option.recommended))
        case _:
            return Entry()


def entry_of(answer: inputs.ChatInputAnswer | None) -> Entry:
    """An answer of somebody as what was entered."""
    if isinstance(answer, inputs.ChatInputSkipped):
        return Entry(text=", ".join(answer.freeform_values or ()))
    if not isinstance(answer, inputs.ChatInputDraftAnswer | inputs.ChatInputSubmittedAnswer):
        return Entry()
    value = answer.value
    match value:
        case inputs.ChatInputBooleanAnswerValue():
            return Entry(flag=value.value)
        case inputs.ChatInputTextAnswerValue() | inputs.ChatInputNumberAnswerValue():
            return Entry(text=f"{value.value}")
        case inputs.ChatInputSelectedAnswerValue():
            return Entry(text=", ".join(value.freeform_values or ()), chosen=(value.value,) if value.value else ())
        case inputs.ChatInputSelectedManyAnswerValue():
            return Entry(text=", ".join(value.freeform_values or ()), chosen=tuple(value.value))
        case _:
            return Entry()


# What is wrong, and the answers


def problem(field: Field, entry: Entry) -> str:
    """What is wrong with an entry, as a short sentence; empty if nothing is."""
    if field.kind == "unknown":
        return ""
    if entry.is_empty:
        return "needs an answer" if field.is_required else ""
    return _CHECKS[field.kind](field.question, entry)


def _text_problem(question: Any, entry: Entry) -> str:
    bounds = _outside(question, len(entry.text), " characters")
    check = _SHAPES.get(question.format or "")
    if bounds or check is None or check(entry.text):
        return bounds
    return f"expects {_FORMATS[question.format]}"


def _number_problem(question: Any, entry: Entry) -> str:
    number = _number(entry.text)
    if number is None:
        return "is not a number"
    if isinstance(question, inputs.ChatInputIntegerQuestion) and number != int(number):
        return "is not a whole number"
    return _outside(question, number, "")


def _many_problem(question: Any, entry: Entry) -> str:
    return _outside(question, len(entry.chosen) + bool(entry.text.strip()), " choices")


def _fine(question: Any, entry: Entry) -> str:  # noqa: ARG001 - the shape of a check
    return ""


def _outside(question: Any, amount: float, what: str) -> str:
    if question.min is not None and amount < question.min:
        return f"at least {question.min:g}{what}"
    if question.max is not None and amount > question.max:
        return f"at most {question.max:g}{what}"
    return ""


_CHECKS: Final[dict[str, Callable[[Any, Entry], str]]] = {
    "text": _text_problem,
    "number": _number_problem,
    "integer": _number_problem,
    "boolean": _fine,
    "one": _fine,
    "many": _many_problem,
}


def _number(text: str) -> Number | None:
    text = text.strip().replace("_", "x")
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text.strip())
        except ValueError:
            return False
        return True

    return check


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path))


_SHAPES: Final[dict[str, Callable[[str], bool]]] = {
    "email": lambda text: re.fullmatch(r"[^@\s]+@[^@\s]+", text.strip()) is not None,
    "uri": _is_uri,
    "date": _parses(date.fromisoformat),
    "date-time": _parses(datetime.fromisoformat),
}


def value_of(field: Field, entry: Entry) -> inputs.ChatInputAnswerValue | None:
    """The value of an entry; None if it is empty or makes none."""
    if entry.is_empty:
        return None
    free = (entry.text.strip(),) if field.has_text and entry.text.strip() else None
    match field.kind:
        case "text":
            return inputs.ChatInputTextAnswerValue(value=entry.text)
        case "number" | "integer":
            number = _number(entry.text)
            return None if number is None else inputs.ChatInputNumberAnswerValue(value=number)
        case "boolean":
            return inputs.ChatInputBooleanAnswerValue(value=bool(entry.flag))
        case "one":
            # An answer in own words takes the place of the options.
            chosen = "" if free else entry.chosen[0]
            return inputs.ChatInputSelectedAnswerValue(value=chosen, freeform_values=free)
        case "many":
            return inputs.ChatInputSelectedManyAnswerValue(value=entry.chosen, freeform_values=free)
        case _:
            return None


def drafted(field: Field, entry: Entry) -> inputs.ChatInputDraftAnswer | None:
    """The answer as the others see it while it is being entered."""
    value = value_of(field, entry)
    return None if value is None else inputs.ChatInputDraftAnswer(value=value)


def is_same(field: Field, entry: Entry, answer: inputs.ChatInputAnswer | None) -> bool:
    """Whether somebody's answer is what stands here already."""
    value = (
        answer.value if isinstance(answer, inputs.ChatInputDraftAnswer | inputs.ChatInputSubmittedAnswer) else None
    )
    return value_of(field, entry) == value


def answers(request: inputs.ChatInputRequest, entries: Mapping[str, Entry]) -> dict[str, inputs.ChatInputAnswer]:
    """The answers to submit. What was left empty is skipped."""
    made: dict[str, inputs.ChatInputAnswer] = {}
    for field in fields(request):
        if field.kind == "unknown":
            continue
        value = value_of(field, entries.get(field.id, Entry()))
        made[field.id] = inputs.ChatInputSkipped() if value is None else inputs.ChatInputSubmittedAnswer(value=value)
    return made
