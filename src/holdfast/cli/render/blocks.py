"""What there is to read in a turn: a list of blocks, the same for every format. Pure.

A part or tool content this version does not know is named, never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct

from holdfast.protocol import uris
from holdfast.protocol.chat.inputs import (
    ChatInputAnswer,
    ChatInputMultiSelectQuestion,
    ChatInputQuestion,
    ChatInputSelectedAnswerValue,
    ChatInputSelectedManyAnswerValue,
    ChatInputSingleSelectQuestion,
    ChatInputSkipped,
)
from holdfast.protocol.chat.messages import Message, MessageKind
from holdfast.protocol.chat.parts import (
    ErrorResponsePart,
    InputRequestResponsePart,
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResourceResponsePart,
    SystemNotificationResponsePart,
    ToolCallResponsePart,
)
from holdfast.protocol.chat.state import ActiveTurn, Turn, TurnState
from holdfast.protocol.chat.tools import (
    ToolCallCancelledState,
    ToolResultEmbeddedResourceContent,
    ToolResultFileEditContent,
    ToolResultResourceContent,
    ToolResultSubagentContent,
    ToolResultTerminalContent,
    ToolResultTextContent,
)
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import ContentRef, FileEdit, Markdown, Number, StringOrMarkdown, UsageInfo
from holdfast.protocol.errors import InvalidValue

__all__ = [
    "Asked",
    "Block",
    "Ended",
    "Failed",
    "File",
    "Notice",
    "Prose",
    "Said",
    "Thought",
    "Tool",
    "answer_words",
    "blocks_of",
    "edit_words",
    "ended_words",
    "file_of",
    "input_words",
    "place",
    "plain",
    "said",
    "size",
    "speaker",
    "tool_of",
]


class Said(Struct, frozen=True):
    """What somebody sent. `by` is a kind of the protocol: user, agent, tool, …"""

    by: str
    text: str
    attachments: tuple[str, ...]
    when: str | None


class Prose(Struct, frozen=True):
    """What the agent said, in Markdown."""

    markdown: str


class Thought(Struct, frozen=True):
    """What the agent thought, in Markdown."""

    markdown: str


class File(Struct, frozen=True):
    """Something to look at. `data` is base64, if it is here."""

    name: str
    content_type: str
    data: str | None = None


class Tool(Struct, frozen=True):
    """A tool call: its name for people, what it did or does, and how far it is."""

    name: str
    message: StringOrMarkdown
    status: str
    input: str | None
    output: str
    files: tuple[File, ...]
    notes: tuple[str, ...]


class Asked(Struct, frozen=True):
    """A question to people, and what they said: None while it is open."""

    message: str
    url: str | None
    answers: tuple[tuple[str, str], ...]
    response: str | None


class Notice(Struct, frozen=True):
    """Something the host or the agent wants known."""

    text: StringOrMarkdown


class Failed(Struct, frozen=True):
    """Why the turn ended early."""

    message: str


class Ended(Struct, frozen=True):
    """The end of a turn; `state` is running for one that has none."""

    state: str
    duration: Number | None
    usage: UsageInfo | None


Block: TypeAlias = Said | Prose | Thought | File | Tool | Asked | Notice | Failed | Ended


def blocks_of(turn: Turn | ActiveTurn) -> Iterator[Block]:
    """A turn from its message to its end."""
    yield said(turn.message, turn.started_at)
    for kind, parts in groupby(turn.response_parts, type):
        if kind is MarkdownResponsePart:
            # A long text goes on in a new part, in the middle of a sentence.
            yield from _prose("".join(part.text for part in parts if isinstance(part, MarkdownResponsePart)))
        else:
            for part in parts:
                yield from _PARTS.get(kind, _unknown)(part)
    if isinstance(turn, Turn):
        yield Ended(turn.state, turn.duration, turn.usage)
    else:
        yield Ended("running", None, turn.usage)


def said(message: Message, when: str | None = None) -> Said:
    """A message."""
    attachments = (getattr(each, "label", "an attachment of an unknown kind") for each in message.attachments or ())
    return Said(message.origin.kind, message.text, tuple(attachments), when)


# Parts


def _prose(text: str) -> Iterator[Block]:
    if text.strip():
        yield Prose(text)


def _thought(part: ReasoningResponsePart) -> Iterator[Block]:
    if part.text.strip():
        yield Thought(part.text)


def _tool(part: ToolCallResponsePart) -> Iterator[Block]:
    call = part.tool_call
    if isinstance(call, Unknown):
        yield Notice(f"a tool call in a state this version does not know: {call.raw.get('status')}")
        return
    yield tool_of(call)


def _asked(part: InputRequestResponsePart) -> Iterator[Block]:
    request = part.request
    given = request.answers or {}
    answers = tuple(
        (question.title or question.message, answer_words(question, given.get(question.id)))
        for question in request.questions or ()
        if not isinstance(question, Unknown)
    )
    yield Asked(request.message or "A question", request.url, answers, part.response)


def _resource(part: ResourceResponsePart) -> Iterator[Block]:
    yield file_of(part)


def _notice(part: SystemNotificationResponsePart) -> Iterator[Block]:
    yield Notice(part.content)


def _failed(part: ErrorResponsePart) -> Iterator[Block]:
    yield Failed(part.error.message)


def _unknown(part: Any) -> Iterator[Block]:
    yield Notice(f"something this version does not know: {part.raw.get('kind')}")


_PARTS: Final[dict[type, Callable[[Any], Iterator[Block]]]] = {
    ReasoningResponsePart: _thought,
    ToolCallResponsePart: _tool,
    InputRequestResponsePart: _asked,
    ResourceResponsePart: _resource,
    SystemNotificationResponsePart: _notice,
    ErrorResponsePart: _failed,
}


# Tools


def tool_of(call: Any) -> Tool:
    """A tool call in any state the protocol knows."""
    status = call.__struct_config__.tag
    message = getattr(call, "past_tense_message", None) or call.invocation_message or call.display_name
    contents = getattr(call, "content", None) or ()
    pieces = [_CONTENTS.get(type(content), _other_content)(content) for content in contents]
    files = tuple(piece.file for piece in pieces if piece.file is not None)
    notes = [piece.note for piece in pieces if piece.note]
    if getattr(call, "error", None) is not None:
        notes.append(call.error.message)
    if isinstance(call, ToolCallCancelledState):
        status = call.reason
        notes += [plain(call.reason_message)] if call.reason_message else []
    elif status == "completed" and not call.success:
        status = "failed"
    output = "".join(piece.text for piece in pieces)
    return Tool(call.display_name, message, status, input_words(call), output, files, tuple(notes))


def input_words(call: Any) -> str | None:
    """What a call is to be run with, as a person reads it."""
    given = getattr(call, "tool_input", None)
    if given is None:
        partial = getattr(call, "partial_input", None)
        return None if partial is None else str(partial)
    return given if isinstance(given, str) else f"({file_of(given).name})"


class _Piece(NamedTuple):
    """What one content of a tool call shows."""

    text: str = ""
    file: File | None = None
    note: str = ""


def _text(content: ToolResultTextContent) -> _Piece:
    return _Piece(content.text)


def _embedded(content: ToolResultEmbeddedResourceContent) -> _Piece:
    name = f"{content.content_type}, {size(len(content.data) * 3 // 4)}"
    return _Piece(file=File(name, content.content_type, content.data))


def _reference(content: ToolResultResourceContent) -> _Piece:
    return _Piece(file=file_of(content))


def _edit(content: ToolResultFileEditContent) -> _Piece:
    return _Piece(note=edit_words(FileEdit(before=content.before, after=content.after, diff=content.diff)))


def _terminal(content: ToolResultTerminalContent) -> _Piece:
    result = content.result
    code = f", exit code {result.exit_code}" if result is not None and result.exit_code is not None else ""
    preview = result.preview if result is not None and result.preview else ""
    return _Piece(preview, note=f"terminal: {content.title}{code}")


def _subagent(content: ToolResultSubagentContent) -> _Piece:
    return _Piece(note=f"worker: {content.title}")


def _other_content(content: Any) -> _Piece:
    return _Piece(note=f"content this version does not know: {content.raw.get('type')}")


_CONTENTS: Final[dict[type, Callable[[Any], _Piece]]] = {
    ToolResultTextContent: _text,
    ToolResultEmbeddedResourceContent: _embedded,
    ToolResultResourceContent: _reference,
    ToolResultFileEditContent: _edit,
    ToolResultTerminalContent: _terminal,
    ToolResultSubagentContent: _subagent,
}


def edit_words(edit: FileEdit) -> str:
    """`edited src/boat.py (+3 -1)`."""
    before, after = edit.before, edit.after
    if before is None or after is None:
        side = after or before
        words = f"{'created' if after else 'deleted'} {place(side.uri)}" if side else "changed a file"
    elif before.uri != after.uri:
        words = f"moved {place(before.uri)} to {place(after.uri)}"
    else:
        words = f"edited {place(after.uri)}"
    counts = edit.diff and [
        f"{sign}{count}" for sign, count in (("+", edit.diff.added), ("-", edit.diff.removed)) if count is not None
    ]
    return f"{words} ({' '.join(counts)})" if counts else words


# Questions


def answer_words(question: ChatInputQuestion, answer: ChatInputAnswer | None) -> str:
    """What somebody answered, or began to."""
    if answer is None or isinstance(answer, Unknown):
        return ""
    if isinstance(answer, ChatInputSkipped):
        return ", ".join(answer.freeform_values or ()) or "skipped"
    value = answer.value
    if isinstance(value, Unknown):
        return str(value.raw.get("value", ""))
    if isinstance(value.value, bool):
        return "yes" if value.value else "no"
    if isinstance(value, ChatInputSelectedAnswerValue | ChatInputSelectedManyAnswerValue):
        chosen = (value.value,) if isinstance(value.value, str) else value.value
        labels = _labels(question)
        return ", ".join([*(labels.get(id, id) for id in chosen if id), *(value.freeform_values or ())])
    return str(value.value)


def _labels(question: ChatInputQuestion) -> dict[str, str]:
    if isinstance(question, ChatInputSingleSelectQuestion | ChatInputMultiSelectQuestion):
        return {option.id: option.label for option in question.options}
    return {}


# Words


def speaker(by: str) -> str:
    """What whoever sent a message is called."""
    return "You" if by == MessageKind.USER else by


def ended_words(block: Ended) -> str:
    """How a turn ended, unless that is well, how long it took and what it cost; empty if there is nothing to say."""
    facts = (
        block.state if block.state != TurnState.COMPLETE else "",
        f"{block.duration / 1000:.1f} s" if block.duration is not None else "",
        usage_words(block.usage),
    )
    return ", ".join(fact for fact in facts if fact)


def plain(text: StringOrMarkdown) -> str:
    """The words of either kind of text."""
    return text.markdown if isinstance(text, Markdown) else text


def place(uri: str) -> str:
    """A file's path, or the URI of what is none."""
    try:
        return uris.file_path(uri)
    except InvalidValue:
        return uri


def size(count: Number) -> str:
    """`12 kB`."""
    for unit, factor in (("MB", 1_000_000), ("kB", 1000)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count} bytes"


def file_of(content: ContentRef) -> File:
    """Content that is kept elsewhere, or in its own URI."""
    inline = _INLINE.fullmatch(content.uri)
    kind = content.content_type or (inline[1] if inline else "")
    facts = [] if inline else [place(content.uri)]
    facts += [kind] if kind else []
    facts += [size(content.size_hint)] if content.size_hint is not None else []
    data = inline[3] if inline and inline[2] else None
    return File(", ".join(facts) or "a file", kind or "application/octet-stream", data)


# A `data:` URI: its type, whether it is base64, and the data.
_INLINE: Final = re.compile(r"data:([^;,]*)(?:;[^;,]+)*?(;base64)?,(.*)", re.DOTALL)


def usage_words(usage: UsageInfo | None) -> str:
    """`1200 tokens in (300 cached), 80 out, model demo-large`; empty if nothing is known."""
    if usage is None:
        return ""
    cached = f" ({usage.cache_read_tokens} cached)" if usage.cache_read_tokens else ""
    facts = [f"{usage.input_tokens} tokens in{cached}"] if usage.input_tokens is not None else []
    facts += [f"{usage.output_tokens} out"] if usage.output_tokens is not None else []
    facts += [f"model {usage.model}"] if usage.model else []
    return ", ".join(facts)
