"""Answers to questions, as people read them."""

from __future__ import annotations

from holdfast.attach.model import words
from holdfast.protocol.chat import inputs
from holdfast.protocol.codec import Unknown

__all__ = ["answer_lines", "answer_text", "question_title"]


def question_title(question: inputs.ChatInputQuestion) -> str:
    """What a question is called, in a few words."""
    if isinstance(question, Unknown):
        return words.one_line(str(question.raw.get("title") or question.raw.get("message") or "question"))
    return words.one_line(question.title or question.message)


def answer_lines(request: inputs.ChatInputRequest) -> tuple[str, ...]:
    """`Name: Holdfast` for each question that was answered."""
    answers = request.answers or {}
    return tuple(
        f"{question_title(question)}: {text}"
        for question in request.questions or ()
        if (text := answer_text(question, answers.get(_id(question))))
    )


def _id(question: inputs.ChatInputQuestion) -> str:
    return str(question.raw.get("id", "")) if isinstance(question, Unknown) else question.id


def answer_text(question: inputs.ChatInputQuestion, answer: inputs.ChatInputAnswer | None) -> str:
    """What was answered; empty for no answer."""
    if isinstance(answer, inputs.ChatInputDraftAnswer | inputs.ChatInputSubmittedAnswer):
        return words.one_line(_value(question, answer.value))
    return ""


def _value(question: inputs.ChatInputQuestion, value: inputs.ChatInputAnswerValue) -> str:
    match value:
        case inputs.ChatInputBooleanAnswerValue():
            return "yes" if value.value else "no"
        case inputs.ChatInputSelectedAnswerValue():
            return _labels(question, (value.value,), value.freeform_values)
        case inputs.ChatInputSelectedManyAnswerValue():
            return _labels(question, value.value, value.freeform_values)
        case inputs.ChatInputTextAnswerValue() | inputs.ChatInputNumberAnswerValue():
            return str(value.value)
        case _:
            return "an answer this version does not know"


def _labels(question: inputs.ChatInputQuestion, chosen: tuple[str, ...], freeform: tuple[str, ...] | None) -> str:
    options = getattr(question, "options", None) or ()
    labels = {option.id: option.label for option in options}
    return ", ".join([*(labels.get(each, each) for each in chosen if each), *(freeform or ())])
