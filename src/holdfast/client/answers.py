"""Plain Python values as answers to a question form, and what is wrong with them in words.

Pure. A question is named by its id; a choice by its id or its label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from holdfast.protocol.chat.inputs import (
    ChatInputAnswer,
    ChatInputBooleanAnswerValue,
    ChatInputBooleanQuestion,
    ChatInputIntegerQuestion,
    ChatInputMultiSelectQuestion,
    ChatInputNumberAnswerValue,
    ChatInputNumberQuestion,
    ChatInputRequest,
    ChatInputSelectedAnswerValue,
    ChatInputSelectedManyAnswerValue,
    ChatInputSingleSelectQuestion,
    ChatInputSkipped,
    ChatInputSubmittedAnswer,
    ChatInputTextAnswerValue,
    ChatInputTextQuestion,
)
from holdfast.protocol.codec import Unknown
from holdfast.protocol.errors import UsageError

__all__ = ["answers_to", "default_of"]


def answers_to(request: ChatInputRequest, values: Mapping[str, Any]) -> dict[str, ChatInputAnswer]:
    """The answers that `values`, by question id, make. None skips a question. Raises `UsageError`."""
    questions = {question.id: question for question in request.questions or () if not isinstance(question, Unknown)}
    strangers = sorted(set(values) - set(questions))
    if strangers:
        raise UsageError(
            f"the form has no question {', '.join(map(repr, strangers))}; it has {', '.join(map(repr, questions))}"
            if questions
            else "this form asks nothing"
        )
    return {id: _answer(questions[id], value) for id, value in values.items()}


def default_of(question: Any) -> Any:
    """What a question proposes itself: its default, or the choices it recommends; None if nothing."""
    match question:
        case ChatInputSingleSelectQuestion():
            return next((option.id for option in question.options if option.recommended), None)
        case ChatInputMultiSelectQuestion():
            return [option.id for option in question.options if option.recommended] or None
        case _:
            return getattr(question, "default_value", None)


def _answer(question: Any, value: Any) -> ChatInputAnswer:
    if value is None:
        return ChatInputSkipped()
    return ChatInputSubmittedAnswer(value=_KINDS[type(question)](question, value))


def _text(question: ChatInputTextQuestion, value: Any) -> ChatInputTextAnswerValue:
    return ChatInputTextAnswerValue(value=_is(question, value, str, "text"))


def _number(question: ChatInputNumberQuestion, value: Any) -> ChatInputNumberAnswerValue:
    if isinstance(value, bool):
        raise _wrong(question, "a number", value)
    return ChatInputNumberAnswerValue(value=_is(question, value, (int, float), "a number"))


def _integer(question: ChatInputIntegerQuestion, value: Any) -> ChatInputNumberAnswerValue:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(question, "a whole number", value)
    return ChatInputNumberAnswerValue(value=value)


def _boolean(question: ChatInputBooleanQuestion, value: Any) -> ChatInputBooleanAnswerValue:
    return ChatInputBooleanAnswerValue(value=_is(question, value, bool, "True or False"))


def _one(question: ChatInputSingleSelectQuestion, value: Any) -> ChatInputSelectedAnswerValue:
    chosen, other = _choices(question, (_is(question, value, str, "one of its choices"),))
    if chosen:
        return ChatInputSelectedAnswerValue(value=chosen[0])
    return ChatInputSelectedAnswerValue(value="", freeform_values=other)


def _many(question: ChatInputMultiSelectQuestion, value: Any) -> ChatInputSelectedManyAnswerValue:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise _wrong(question, "a list of its choices", value)
    chosen, other = _choices(question, tuple(value))
    return ChatInputSelectedManyAnswerValue(value=chosen, freeform_values=other or None)


def _choices(
    question: ChatInputSingleSelectQuestion | ChatInputMultiSelectQuestion, values: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ids = {option.id for option in question.options}
    by_label = {option.label: option.id for option in question.options}
    chosen: list[str] = []
    other: list[str] = []
    for value in values:
        if value in ids:
            chosen.append(value)
        elif value in by_label:
            chosen.append(by_label[value])
        elif question.allow_freeform_input:
            other.append(value)
        else:
            raise _wrong(question, f"one of {', '.join(sorted(ids))}", value)
    return tuple(chosen), tuple(other)


_KINDS: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ChatInputTextQuestion: _text,
    ChatInputNumberQuestion: _number,
    ChatInputIntegerQuestion: _integer,
    ChatInputBooleanQuestion: _boolean,
    ChatInputSingleSelectQuestion: _one,
    ChatInputMultiSelectQuestion: _many,
}


def _is(question: Any, value: Any, kinds: type | tuple[type, ...], expected: str) -> Any:
    if not isinstance(value, kinds):
        raise _wrong(question, expected, value)
    return value


def _wrong(question: Any, expected: str, value: Any) -> UsageError:
    return UsageError(f"question {question.id!r} takes {expected}, not {value!r}")
