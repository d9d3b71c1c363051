"""What happened in a turn, told from its states: each thing once, in order, whatever was missed.

Pure but for the asks, which can be answered. A `Follower` is shown the chat whenever it changed and says what is new
since it looked last. A delta alone is taken at its word, so that streamed text is never joined to be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.client.asks import Question, Say, ask_of_call, plain
from holdfast.client.events import (
    Attachment,
    Ended,
    Event,
    Failed,
    Notice,
    Other,
    Reasoning,
    Rewritten,
    Started,
    Text,
    ToolFinished,
    ToolOutput,
    ToolReady,
    ToolStarted,
    Usage,
)
from holdfast.client.mirror import Change
from holdfast.protocol.chat import actions as chat
from holdfast.protocol.chat.parts import (
    ErrorResponsePart,
    InputRequestResponsePart,
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResourceResponsePart,
    SystemNotificationResponsePart,
    ToolCallResponsePart,
)
from holdfast.protocol.chat.state import ActiveTurn, ChatState, Turn
from holdfast.protocol.chat.tools import (
    ToolCallCancelledState,
    ToolCallCompletedState,
    ToolCallRunningState,
)
from holdfast.protocol.envelope import StateAction

__all__ = ["Follower", "turn_in"]


def turn_in(state: ChatState, turn_id: str) -> ActiveTurn | Turn | None:
    """A turn of a chat, running or not."""
    active = state.active_turn
    if active is not None and active.id == turn_id:
        return active
    return next((turn for turn in reversed(state.turns) if turn.id == turn_id), None)


class Follower:
    """Follows one turn. `is_over` once it told the end; a turn that is resumed is followed by another."""

    def __init__(self, turn_id: str, say: Say, *, after: ActiveTurn | Turn | None = None) -> None:
        self.turn_id = turn_id
        self.is_over = False
        self._say = say
        self._seen: ActiveTurn | Turn | None = after
        self._chat = ""

    def look(self, state: ChatState, changes: Sequence[Change], *, has_begun: bool = False) -> list[Event]:
        """What is new. `changes` are what the chat's state differs by since the last look, if that is known.

        A turn that is not there has yet to begin, unless it was seen or it is known that it `has_begun`.
        """
        if self.is_over:
            return []
        self._chat = state.resource
        turn = turn_in(state, self.turn_id)
        if turn is None:
            return self._vanished() if has_begun or self._seen is not None else []
        if turn is self._seen:
            return []
        if len(changes) == 1 and isinstance(turn, ActiveTurn):
            delta = self._delta(changes[0].action, turn)
            if delta is not None:
                self._seen = turn
                return [delta]
        if self._seen is not None and not _continues(self._seen, turn):
            self._seen = None
            return [Rewritten(turn_id=self.turn_id), *self._told(turn)]
        return list(self._told(turn))

    def _vanished(self) -> list[Event]:
        self.is_over = True
        return [Ended(None, turn_id=self.turn_id)]

    def _delta(self, action: StateAction | None, turn: ActiveTurn) -> Event | None:
        """A delta that extended a part which was seen already."""
        if not isinstance(action, chat.Delta | chat.Reasoning) or action.turn_id != self.turn_id:
            return None
        seen = self._seen
        if seen is None or len(seen.response_parts) != len(turn.response_parts) or not action.content:
            return None
        kind = Text if isinstance(action, chat.Delta) else Reasoning
        return kind(action.content, part_id=action.part_id, turn_id=self.turn_id)

    def _told(self, turn: ActiveTurn | Turn) -> Iterator[Event]:
        seen, self._seen = self._seen, turn
        if seen is None:
            yield Started(turn.message, turn_id=self.turn_id)
        before = () if seen is None else seen.response_parts
        for index, part in enumerate(turn.response_parts):
            old = before[index] if index < len(before) else None
            if old is not part:
                yield from self._part(old, part)
        if turn.usage is not None and (seen is None or seen.usage != turn.usage):
            yield Usage(turn.usage, turn_id=self.turn_id)
        if isinstance(turn, Turn):
            self.is_over = True
            yield Ended(turn.state, None if turn.duration is None else float(turn.duration), turn_id=self.turn_id)

    def _part(self, old: Any, part: Any) -> Iterator[Event]:
        match part:
            case MarkdownResponsePart() | ReasoningResponsePart():
                more = part.text[len(old.text) if old is not None else 0 :]
                kind = Text if isinstance(part, MarkdownResponsePart) else Reasoning
                if more:
                    yield kind(more, part_id=part.id, turn_id=self.turn_id)
            case ToolCallResponsePart():
                yield from self._call(None if old is None else old.tool_call, part.tool_call)
            case InputRequestResponsePart():
                if part.response is None and (old is None or old.request.id != part.request.id):
                    yield Question(chat=self._chat, turn_id=self.turn_id, request=part.request, say=self._say)
            case ErrorResponsePart() if old is None:
                yield Failed(part.error, resumable=part.resumable is True, turn_id=self.turn_id)
            case SystemNotificationResponsePart() if old is None:
                yield Notice(plain(part.content), turn_id=self.turn_id)
            case ResourceResponsePart() if old is None:
                yield Attachment(part, turn_id=self.turn_id)
            case _ if old is None:
                yield Other(part, turn_id=self.turn_id)

    def _call(self, old: Any, call: Any) -> Iterator[Event]:
        if old is None:
            yield ToolStarted(call, turn_id=self.turn_id)
        is_new = type(old) is not type(call)
        match call:
            case ToolCallRunningState():
                if is_new:
                    yield ToolReady(call, turn_id=self.turn_id)
                if call.content and (is_new or old.content != call.content):
                    yield ToolOutput(call, call.content, turn_id=self.turn_id)
            case ToolCallCompletedState() | ToolCallCancelledState() if is_new:
                yield ToolFinished(call, turn_id=self.turn_id)
            case _ if is_new:
                ask = ask_of_call(call, chat=self._chat, turn_id=self.turn_id, say=self._say)
                if ask is not None:
                    yield ask


def _continues(seen: ActiveTurn | Turn, turn: ActiveTurn | Turn) -> bool:
    """Whether a turn begins with everything that was seen of it."""
    if len(turn.response_parts) < len(seen.response_parts):
        return False
    return all(
        old is new or _grew(old, new) for old, new in zip(seen.response_parts, turn.response_parts, strict=False)
    )


def _grew(old: Any, new: Any) -> bool:
    if type(old) is not type(new):
        return False
    match new:
        case MarkdownResponsePart() | ReasoningResponsePart():
            return bool(old.id == new.id and new.text.startswith(old.text))
        case ToolCallResponsePart():
            return getattr(old.tool_call, "tool_call_id", None) == getattr(new.tool_call, "tool_call_id", None)
        case InputRequestResponsePart():
            return True
        case _:
            return bool(old == new)
