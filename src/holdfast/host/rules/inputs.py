"""What clients may answer: open questions, with fitting values (04-chat, section 8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from holdfast.host import turns
from holdfast.host.verdict import Allowed, Refused, Rules, Verdict
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.inputs import (
    ChatInputAnswer,
    ChatInputBooleanAnswerValue,
    ChatInputBooleanQuestion,
    ChatInputDraftAnswer,
    ChatInputIntegerQuestion,
    ChatInputMultiSelectQuestion,
    ChatInputNumberAnswerValue,
    ChatInputNumberQuestion,
    ChatInputQuestion,
    ChatInputRequest,
    ChatInputResponseKind,
    ChatInputSelectedAnswerValue,
    ChatInputSelectedManyAnswerValue,
    ChatInputSingleSelectQuestion,
    ChatInputSubmittedAnswer,
    ChatInputTextAnswerValue,
    ChatInputTextQuestion,
)
from holdfast.protocol.chat.parts import InputRequestResponsePart
from holdfast.protocol.codec import Unknown

if TYPE_CHECKING:
    from holdfast.host.core import Host
    from holdfast.host.dispatch import Dispatched

__all__ = ["RULES"]

# Question -> the kind of value that answers it.
_VALUES: Final[dict[type, type]] = {
    ChatInputTextQuestion: ChatInputTextAnswerValue,
    ChatInputNumberQuestion: ChatInputNumberAnswerValue,
    ChatInputIntegerQuestion: ChatInputNumberAnswerValue,
    ChatInputBooleanQuestion: ChatInputBooleanAnswerValue,
    ChatInputSingleSelectQuestion: ChatInputSelectedAnswerValue,
    ChatInputMultiSelectQuestion: ChatInputSelectedManyAnswerValue,
}


def _open(sent: Dispatched, request_id: str) -> ChatInputRequest | None:
    turn = sent.channel.state.active_turn
    for part in turn.response_parts if turn else ():
        if isinstance(part, InputRequestResponsePart) and part.response is None and part.request.id == request_id:
            return part.request
    return None


_CLOSED: Final = Refused("there is no open question with this id")


def input_answer_changed(host: Host, sent: Dispatched, action: actions.InputAnswerChanged) -> Verdict:  # noqa: ARG001
    request = _open(sent, action.request_id)
    if request is None:
        return _CLOSED
    question = _question(request, action.question_id)
    if question is None:
        return Refused(f"the form has no question {action.question_id[:100]!r}")
    why = _unfit(question, action.answer) if action.answer is not None else None
    return Refused(why) if why else Allowed()


def input_completed(host: Host, sent: Dispatched, action: actions.InputCompleted) -> Verdict:
    request = _open(sent, action.request_id)
    if request is None:
        return _CLOSED
    if not action.response.is_known:
        return Refused(f"a question is not answered with {str(action.response)[:100]!r}")
    answers = {**(request.answers or {}), **(action.answers or {})}
    why = _incomplete(request, answers) if action.response == ChatInputResponseKind.ACCEPT else None
    for id, answer in (action.answers or {}).items():
        question = _question(request, id)
        why = why or (_unfit(question, answer) if question is not None else f"the form has no question {id[:100]!r}")
    if why:
        return Refused(why)
    chat: Any = sent.channel
    return Allowed(after=(lambda: turns.input_answered(host, chat, action, answers),))


def _question(request: ChatInputRequest, id: str) -> ChatInputQuestion | None:
    return next((each for each in request.questions or () if _id(each) == id), None)


def _id(question: ChatInputQuestion) -> str:
    return str(question.raw.get("id")) if isinstance(question, Unknown) else question.id


def _unfit(question: ChatInputQuestion, answer: ChatInputAnswer) -> str | None:
    """Why an answer does not fit its question. Kinds this version does not know fit everything."""
    if isinstance(answer, Unknown):
        return f"the answer to {_id(question)[:100]!r} is neither draft nor submitted nor skipped"
    expected = _VALUES.get(type(question))
    if expected is None or not isinstance(answer, ChatInputDraftAnswer | ChatInputSubmittedAnswer):
        return None
    if not isinstance(answer.value, expected):
        return f"the answer to {_id(question)[:100]!r} is of the wrong kind"
    return None


def _incomplete(request: ChatInputRequest, answers: dict[str, ChatInputAnswer]) -> str | None:
    """Why a form cannot be accepted: a required answer is missing, or a submitted one breaks its bounds."""
    for question in request.questions or ():
        if isinstance(question, Unknown):
            continue
        answer = answers.get(question.id)
        if isinstance(answer, ChatInputSubmittedAnswer):
            why = _out_of_bounds(question, answer.value)
            if why:
                return f"{question.id}: {why}"
        elif question.required:
            return f"{question.id} needs an answer"
    return None


def _out_of_bounds(question: Any, value: Any) -> str | None:
    check = _BOUNDS.get(type(question))
    return check(question, value) if check is not None and isinstance(value, _VALUES[type(question)]) else None


def _within(question: Any, amount: float, what: str) -> str | None:
    if question.min is not None and amount < question.min:
        return f"at least {question.min}{what}"
    if question.max is not None and amount > question.max:
        return f"at most {question.max}{what}"
    return None


def _text(question: ChatInputTextQuestion, value: ChatInputTextAnswerValue) -> str | None:
    return _within(question, len(value.value), " characters")


def _number(question: ChatInputNumberQuestion, value: ChatInputNumberAnswerValue) -> str | None:
    return _within(question, value.value, "")


def _integer(question: ChatInputIntegerQuestion, value: ChatInputNumberAnswerValue) -> str | None:
    return "a whole number" if value.value != int(value.value) else _number(question, value)


def _single(question: ChatInputSingleSelectQuestion, value: ChatInputSelectedAnswerValue) -> str | None:
    offered = {option.id for option in question.options}
    if value.value in offered or (question.allow_freeform_input and value.freeform_values):
        return None
    return "one of the options"


def _many(question: ChatInputMultiSelectQuestion, value: ChatInputSelectedManyAnswerValue) -> str | None:
    offered = {option.id for option in question.options}
    if not set(value.value) <= offered:
        return "only the options"
    free = len(value.freeform_values or ()) if question.allow_freeform_input else 0
    return _within(question, len(value.value) + free, " choices")


_BOUNDS: Final[dict[type, Callable[[Any, Any], str | None]]] = {
    ChatInputTextQuestion: _text,
    ChatInputNumberQuestion: _number,
    ChatInputIntegerQuestion: _integer,
    ChatInputSingleSelectQuestion: _single,
    ChatInputMultiSelectQuestion: _many,
}

RULES: Final[Rules] = {
    actions.InputAnswerChanged: input_answer_changed,
    actions.InputCompleted: input_completed,
}
