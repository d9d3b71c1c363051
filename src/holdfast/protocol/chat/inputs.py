"""Questions to the user and their answers (04-chat, section 8)."""

from __future__ import annotations

from typing import TypeAlias

from holdfast.protocol.codec import ClosedEnum, ClosedUnion, OpenUnion, Wire
from holdfast.protocol.common import URI, Number

__all__ = [
    "ChatInputAnswer",
    "ChatInputAnswerValue",
    "ChatInputBooleanAnswerValue",
    "ChatInputBooleanQuestion",
    "ChatInputDraftAnswer",
    "ChatInputIntegerQuestion",
    "ChatInputMultiSelectQuestion",
    "ChatInputNumberAnswerValue",
    "ChatInputNumberQuestion",
    "ChatInputOption",
    "ChatInputQuestion",
    "ChatInputRequest",
    "ChatInputResponseKind",
    "ChatInputSelectedAnswerValue",
    "ChatInputSelectedManyAnswerValue",
    "ChatInputSingleSelectQuestion",
    "ChatInputSkipped",
    "ChatInputSubmittedAnswer",
    "ChatInputTextAnswerValue",
    "ChatInputTextQuestion",
]


class ChatInputResponseKind(ClosedEnum):
    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"


class ChatInputOption(Wire, frozen=True, kw_only=True):
    id: str
    label: str
    description: str | None = None
    recommended: bool | None = None


class QuestionBase(Wire, frozen=True, kw_only=True):
    id: str
    message: str
    title: str | None = None
    required: bool | None = None


class ChatInputTextQuestion(QuestionBase, frozen=True, kw_only=True, tag_field="kind", tag="text"):
    """`format` is one of email, uri, date, date-time; `min` and `max` bound the length."""

    format: str | None = None
    min: Number | None = None
    max: Number | None = None
    default_value: str | None = None


class ChatInputNumberQuestion(QuestionBase, frozen=True, kw_only=True, tag_field="kind", tag="number"):
    min: Number | None = None
    max: Number | None = None
    default_value: Number | None = None


class ChatInputIntegerQuestion(ChatInputNumberQuestion, frozen=True, kw_only=True, tag="integer"):
    pass


class ChatInputBooleanQuestion(QuestionBase, frozen=True, kw_only=True, tag_field="kind", tag="boolean"):
    default_value: bool | None = None


class ChatInputSingleSelectQuestion(QuestionBase, frozen=True, kw_only=True, tag_field="kind", tag="single-select"):
    options: tuple[ChatInputOption, ...]
    allow_freeform_input: bool | None = None


class ChatInputMultiSelectQuestion(QuestionBase, frozen=True, kw_only=True, tag_field="kind", tag="multi-select"):
    """`min` and `max` bound the number of choices."""

    options: tuple[ChatInputOption, ...]
    allow_freeform_input: bool | None = None
    min: Number | None = None
    max: Number | None = None


ChatInputQuestion: TypeAlias = OpenUnion[
    ChatInputTextQuestion
    | ChatInputNumberQuestion
    | ChatInputIntegerQuestion
    | ChatInputBooleanQuestion
    | ChatInputSingleSelectQuestion
    | ChatInputMultiSelectQuestion
]


class ChatInputTextAnswerValue(Wire, frozen=True, kw_only=True, tag_field="kind", tag="text"):
    value: str


class ChatInputNumberAnswerValue(Wire, frozen=True, kw_only=True, tag_field="kind", tag="number"):
    value: Number


class ChatInputBooleanAnswerValue(Wire, frozen=True, kw_only=True, tag_field="kind", tag="boolean"):
    value: bool


class ChatInputSelectedAnswerValue(Wire, frozen=True, kw_only=True, tag_field="kind", tag="selected"):
    """`value` is the id of the option."""

    value: str
    freeform_values: tuple[str, ...] | None = None


class ChatInputSelectedManyAnswerValue(Wire, frozen=True, kw_only=True, tag_field="kind", tag="selected-many"):
    value: tuple[str, ...]
    freeform_values: tuple[str, ...] | None = None


ChatInputAnswerValue: TypeAlias = OpenUnion[
    ChatInputTextAnswerValue
    | ChatInputNumberAnswerValue
    | ChatInputBooleanAnswerValue
    | ChatInputSelectedAnswerValue
    | ChatInputSelectedManyAnswerValue
]


class ChatInputDraftAnswer(Wire, frozen=True, kw_only=True, tag_field="state", tag="draft"):
    value: ChatInputAnswerValue


class ChatInputSubmittedAnswer(Wire, frozen=True, kw_only=True, tag_field="state", tag="submitted"):
    value: ChatInputAnswerValue


class ChatInputSkipped(Wire, frozen=True, kw_only=True, tag_field="state", tag="skipped"):
    freeform_values: tuple[str, ...] | None = None


ChatInputAnswer: TypeAlias = ClosedUnion[ChatInputDraftAnswer | ChatInputSubmittedAnswer | ChatInputSkipped]


class ChatInputRequest(Wire, frozen=True, kw_only=True):
    """A form, or a URL to open; `answers` by question id, shared by all clients while they fill it in."""

    id: str
    message: str | None = None
    url: URI | None = None
    questions: tuple[ChatInputQuestion, ...] | None = None
    answers: dict[str, ChatInputAnswer] | None = None
