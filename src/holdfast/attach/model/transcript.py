"""A chat as a list of blocks, from its oldest turn that is here to the one that runs.

A block remembers the value it was made from. Reducers keep what did not change, so whoever has lines for a block
whose `source` is the same object may use them again: a long answer costs its last block, not the transcript.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from holdfast.attach.model import tools, words
from holdfast.attach.model.answers import answer_lines
from holdfast.protocol.chat import parts
from holdfast.protocol.chat.messages import Message, MessageKind
from holdfast.protocol.chat.state import ActiveTurn, ChatState, Turn, TurnState
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import StringOrMarkdown
from holdfast.protocol.text import StreamedText

__all__ = [
    "Asked",
    "Block",
    "Ended",
    "Failed",
    "Linked",
    "Notice",
    "Older",
    "Prose",
    "Reader",
    "Said",
    "Strange",
    "Thinking",
    "Tool",
    "looks_same",
    "text_of",
]


@dataclass(frozen=True, slots=True)
class Base:
    """`key` is unique in the transcript and stays the same while the block grows or changes."""

    key: str
    source: object


@dataclass(frozen=True, slots=True)
class Older(Base):
    """There are older turns, which are not here."""

    is_loading: bool = False


@dataclass(frozen=True, slots=True)
class Said(Base):
    """What somebody asked for. `who` is empty for a person."""

    text: str
    attachments: tuple[str, ...] = ()
    who: str = ""
    is_sending: bool = False


@dataclass(frozen=True, slots=True)
class Prose(Base):
    """Markdown of the agent; `grows` while more may come."""

    text: StreamedText
    grows: bool = False


@dataclass(frozen=True, slots=True)
class Thinking(Base):
    text: StreamedText
    grows: bool = False


@dataclass(frozen=True, slots=True)
class Tool(Base):
    view: tools.ToolView


@dataclass(frozen=True, slots=True)
class Asked(Base):
    """A question to the user; `lines` are what was answered, `outcome` is empty while it is open."""

    message: str
    outcome: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notice(Base):
    text: StringOrMarkdown


@dataclass(frozen=True, slots=True)
class Linked(Base):
    """Content by reference."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Failed(Base):
    message: str
    kind: str
    is_resumable: bool = False


@dataclass(frozen=True, slots=True)
class Ended(Base):
    """The end of a turn, in a line; empty for one that needs no words."""

    text: str


@dataclass(frozen=True, slots=True)
class Strange(Base):
    """A part this version does not know."""

    kind: str


Block: TypeAlias = Older | Said | Prose | Thinking | Tool | Asked | Notice | Linked | Failed | Ended | Strange

_WHO: Final = {
    MessageKind.USER: "",
    MessageKind.AGENT: "another agent",
    MessageKind.TOOL: "a tool",
    MessageKind.SYSTEM_NOTIFICATION: "the system",
    MessageKind.AUTOMATION: "an automation",
}


_FLAGS: Final = ("grows", "is_sending", "is_loading", "is_resumable")


def looks_same(one: Block, other: Block) -> bool:
    """Whether two blocks were made from the same value, and in the same circumstances."""
    return (
        type(one) is type(other)
        and one.source is other.source
        and all(getattr(one, flag, None) == getattr(other, flag, None) for flag in _FLAGS)
    )


class Reader:
    """Reads one chat again and again, and reads each ended turn once."""

    def __init__(self) -> None:
        self._turns: dict[str, tuple[Turn, bool, tuple[Block, ...]]] = {}

    def read(self, state: ChatState, confirmed: ChatState | None = None, *, is_loading: bool = False) -> list[Block]:
        """The blocks of a chat. Turns that are not in the `confirmed` state are still being sent."""
        blocks: list[Block] = []
        if state.turns_next_cursor is not None:
            blocks.append(Older("older", state.turns_next_cursor, is_loading))
        turns: dict[str, tuple[Turn, bool, tuple[Block, ...]]] = {}
        for index, turn in enumerate(state.turns):
            is_last = index == len(state.turns) - 1 and state.active_turn is None
            can_resume = is_last and turn.state is TurnState.ERROR
            known = self._turns.get(turn.id)
            if known is None or known[0] is not turn or known[1] is not can_resume:
                known = (turn, can_resume, tuple(_ended_turn(turn, can_resume)))
            turns[turn.id] = known
            blocks += known[2]
        self._turns = turns
        if state.active_turn is not None:
            is_sending = confirmed is not None and not _has(confirmed, state.active_turn.id)
            blocks += _running_turn(state.active_turn, is_sending)
        return blocks


def _has(state: ChatState, turn_id: str) -> bool:
    active = state.active_turn
    return (active is not None and active.id == turn_id) or any(turn.id == turn_id for turn in state.turns)


def _ended_turn(turn: Turn, can_resume: bool) -> list[Block]:
    blocks: list[Block] = [_said(turn.id, turn.message, is_sending=False)]
    for index, part in enumerate(turn.response_parts):
        blocks.append(_part(turn.id, index, part, grows=False, can_resume=can_resume))
    return [*blocks, Ended(f"{turn.id}/end", turn, _ending(turn))]


def _running_turn(turn: ActiveTurn, is_sending: bool) -> list[Block]:
    last = len(turn.response_parts) - 1
    return [
        _said(turn.id, turn.message, is_sending),
        *(_part(turn.id, index, part, grows=index == last) for index, part in enumerate(turn.response_parts)),
    ]


def _said(turn_id: str, message: Message, is_sending: bool) -> Said:
    labels = tuple(
        words.one_line(str(each.raw.get("label", "attachment")) if isinstance(each, Unknown) else each.label)
        for each in message.attachments or ()
    )
    labels = tuple(label for label in labels if label not in message.text)  # the others stand there already
    who = _WHO.get(message.origin.kind, words.one_line(str(message.origin.kind)))
    return Said(f"{turn_id}/said", message, words.safe(message.text), labels, who, is_sending)


def _part(turn_id: str, index: int, part: parts.ResponsePart, *, grows: bool, can_resume: bool = False) -> Block:
    key = f"{turn_id}/{index}"
    match part:
        case parts.MarkdownResponsePart():
            return Prose(key, part, part.content, grows)
        case parts.ReasoningResponsePart():
            return Thinking(key, part, part.content, grows)
        case parts.ToolCallResponsePart():
            return Tool(key, part, tools.tool_view(part.tool_call))
        case parts.InputRequestResponsePart():
            return _asked(key, part)
        case parts.SystemNotificationResponsePart():
            return Notice(key, part, part.content)
        case parts.ResourceResponsePart():
            about = ", ".join(filter(None, (part.content_type or "", words.size(part.size_hint))))
            name = "" if part.uri.startswith("data:") else words.safe(part.uri)
            return Linked(key, part, name, words.safe(about))
        case parts.ErrorResponsePart():
            resumable = can_resume and bool(part.resumable)
            kind = words.one_line(part.error.error_type)
            return Failed(key, part, words.safe(part.error.message), kind, resumable)
        case Unknown():
            return Strange(key, part, words.one_line(str(part.raw.get("kind"))))
        case _:
            raise AssertionError(f"a part without a block: {type(part).__name__}")


def _asked(key: str, part: parts.InputRequestResponsePart) -> Asked:
    request = part.request
    questions = request.questions or ()
    message = words.plain(request.message) or words.count(len(questions), "question")
    if part.response is None:
        return Asked(key, part, message, "")
    return Asked(key, part, message, _OUTCOMES[part.response.value], answer_lines(request))


_OUTCOMES: Final = {"accept": "answered", "decline": "declined", "cancel": "dismissed"}


def _ending(turn: Turn) -> str:
    """How a turn ended: in few words, and none where there is nothing to say."""
    said: list[str] = []
    if turn.state is TurnState.CANCELLED:
        said.append("cancelled")
    said.append(words.duration(turn.duration))
    said += _usage(turn.usage)
    return " · ".join(filter(None, said))


def _usage(usage: Any) -> list[str]:
    if usage is None:
        return []
    tokens = [
        f"{number:,} {way}"
        for number, way in ((usage.input_tokens, "in"), (usage.output_tokens, "out"))
        if number is not None
    ]
    return [words.one_line(usage.model or ""), f"{' / '.join(tokens)} tokens" if tokens else ""]


def text_of(block: Block) -> str:
    """What is copied of a block."""
    match block:
        case Said() | Prose() | Thinking() | Ended():
            return words.safe(str(block.text))
        case Tool():
            bodies = (section.body for section in block.view.sections)
            texts = (words.safe(body) for body in bodies if isinstance(body, str))
            return "\n".join((f"{block.view.name}: {words.plain(block.view.says)}", *texts))
        case Notice():
            return words.plain(block.text)
        case Asked():
            return "\n".join((block.message, *block.lines))
        case Linked():
            return block.name or block.about
        case Failed():
            return block.message
        case Older() | Strange():
            return ""
