"""Answers to the questions of a form, from the words somebody wrote. Pure.

`KEY=VALUE` for one question, with the id of the question as KEY. Options are named by id or label, several with
commas between them. What comes out are plain values, which the SDK turns into answers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.output import line
from holdfast.protocol.chat.inputs import (
    ChatInputBooleanQuestion,
    ChatInputDraftAnswer,
    ChatInputIntegerQuestion,
    ChatInputMultiSelectQuestion,
    ChatInputNumberQuestion,
    ChatInputRequest,
    ChatInputSelectedAnswerValue,
    ChatInputSelectedManyAnswerValue,
    ChatInputSingleSelectQuestion,
    ChatInputSubmittedAnswer,
    ChatInputTextQuestion,
)
from holdfast.protocol.codec import Unknown

__all__ = ["hint", "pairs", "read", "simple_value", "standing", "values"]

_YES: Final = frozenset({"yes", "y", "true", "on", "1"})
_NO: Final = frozenset({"no", "n", "false", "off", "0"})


def pairs(words: Iterable[str]) -> dict[str, str]:
    """`KEY=VALUE` words by key. Raises `Stopped` for a word that is none."""
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise Stopped(Exit.USAGE, f"expected KEY=VALUE, got {line(word)!r}")
        found[key] = value
    return found


def simple_value(text: str) -> Any:
    """A value for an option: JSON if it is some, otherwise the text itself. `7` is a number, `"7"` is not."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def values(request: ChatInputRequest, given: Mapping[str, str]) -> dict[str, Any]:
    """A value for each question: what was written, else what it has already. Raises `Stopped` for what cannot be."""
    questions = {each.id: each for each in request.questions or () if not isinstance(each, Unknown)}
    for key in given:
        if key not in questions:
            known = f"the questions are {', '.join(questions)}" if questions else "it asks none"
            raise Stopped(Exit.USAGE, f"there is no question {line(key)!r}; {known}")
    found = {}
    for id, question in questions.items():
        value = read(question, given[id]) if id in given else standing(request, question)
        if value is not None:
            found[id] = value
        elif question.required:
            raise Stopped(Exit.USAGE, f"{id!r} has to be answered: {line(question.message)}{hint(question)}")
    return found


def standing(request: ChatInputRequest, question: Any) -> Any:
    """The value a question has before anybody says more: what somebody wrote already, else its default."""
    match (request.answers or {}).get(question.id):
        case ChatInputDraftAnswer(value=value) | ChatInputSubmittedAnswer(value=value):
            return _plain(value)
        case _:
            return getattr(question, "default_value", None)


def _plain(value: Any) -> Any:
    match value:
        case ChatInputSelectedManyAnswerValue():
            return [*value.value, *(value.freeform_values or ())]
        case ChatInputSelectedAnswerValue(value="", freeform_values=(freeform, *_)):
            return freeform
        case Unknown():
            return None
        case _:
            return value.value


def read(question: Any, text: str) -> Any:
    """The value of one answer. Raises `Stopped` with what would fit."""
    try:
        return _READERS[type(question)](question, text)
    except ValueError as problem:
        raise Stopped(Exit.USAGE, f"{question.id}: {problem}") from None


def hint(question: Any) -> str:
    """What may be said, in brackets."""
    match question:
        case ChatInputBooleanQuestion():
            return " [yes/no]"
        case ChatInputSingleSelectQuestion() | ChatInputMultiSelectQuestion():
            several = "; several with commas" if isinstance(question, ChatInputMultiSelectQuestion) else ""
            return f" [{'/'.join(option.id for option in question.options)}{several}]"
        case _ if question.min is not None or question.max is not None:
            return f" [{_range(question)}]"
        case _:
            return ""


def _range(question: Any) -> str:
    unit = _UNITS.get(type(question), "")
    if question.max is None:
        return f"{question.min}{unit} or more"
    if question.min is None:
        return f"{question.max}{unit} at most"
    return f"{question.min} to {question.max}{unit}"


_UNITS: Final[dict[type, str]] = {ChatInputTextQuestion: " characters", ChatInputMultiSelectQuestion: " of them"}


def _check_range(question: Any, value: float) -> None:
    low, high = question.min, question.max
    if (low is not None and value < low) or (high is not None and value > high):
        raise ValueError(f"expected {_range(question)}")


def _text(question: ChatInputTextQuestion, text: str) -> str:
    _check_range(question, len(text))
    return text


def _number(question: ChatInputNumberQuestion, text: str) -> float:
    parse, expected = _NUMBERS[type(question)]
    try:
        value = parse(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"expected {expected}, got {line(text)!r}")
    _check_range(question, value)
    return value


def _whole_if_possible(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


_NUMBERS: Final[dict[type, tuple[Callable[[str], float], str]]] = {
    ChatInputIntegerQuestion: (int, "a whole number"),
    ChatInputNumberQuestion: (_whole_if_possible, "a number"),
}


def _boolean(_: ChatInputBooleanQuestion, text: str) -> bool:
    word = text.strip().casefold()
    if word not in _YES | _NO:
        raise ValueError(f"expected yes or no, got {line(text)!r}")
    return word in _YES


def _one(_: ChatInputSingleSelectQuestion, text: str) -> str:
    return text.strip()


def _several(question: ChatInputMultiSelectQuestion, text: str) -> list[str]:
    chosen = [word.strip() for word in text.split(",") if word.strip()]
    _check_range(question, len(chosen))
    return chosen


_READERS: Final[dict[type, Callable[[Any, str], Any]]] = {
    ChatInputTextQuestion: _text,
    ChatInputNumberQuestion: _number,
    ChatInputIntegerQuestion: _number,
    ChatInputBooleanQuestion: _boolean,
    ChatInputSingleSelectQuestion: _one,
    ChatInputMultiSelectQuestion: _several,
}
