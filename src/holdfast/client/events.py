"""What happens in a turn, as values to match on.

    async for event in session.send("Fix the failing test"):
        match event:
            case holdfast.Text(text): print(text, end="")
            case holdfast.Approval() as ask: await ask.approve()

What waits for a person (`Approval`, `Question`, …) is in `asks`. Events follow from the state of the turn, not from
single messages: whatever happens to the connection, each thing is told once and in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from holdfast.client.asks import Ask
from holdfast.protocol.chat.messages import Message
from holdfast.protocol.chat.parts import ResourceResponsePart
from holdfast.protocol.chat.state import TurnState
from holdfast.protocol.common import ErrorInfo, UsageInfo

__all__ = [
    "Attachment",
    "Ended",
    "Event",
    "Failed",
    "Notice",
    "Other",
    "Reasoning",
    "Rewritten",
    "Started",
    "Text",
    "ToolFinished",
    "ToolOutput",
    "ToolReady",
    "ToolStarted",
    "Usage",
    "joined",
]


@dataclass(frozen=True, slots=True)
class Started:
    """The turn runs. The first event of every turn."""

    message: Message
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """More of what the agent says, as Markdown. `part_id` tells one block from the next."""

    text: str
    part_id: str = ""
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """More of what the agent thinks."""

    text: str
    part_id: str = ""
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The agent calls a tool; its input may still be on its way. `call` is a tool call state of the protocol."""

    call: Any
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolReady:
    """A tool call runs: nobody had to be asked, or somebody said yes."""

    call: Any
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a running tool has put out so far, all of it."""

    call: Any
    content: tuple[Any, ...]
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call is over: completed, with or without success, or cancelled."""

    call: Any
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the turn has cost so far."""

    usage: UsageInfo
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A word from around the agent."""

    text: str
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Attachment:
    """Content kept outside the turn: `await host.read(event.part.uri)`."""

    part: ResourceResponsePart
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """A part of a kind this version does not know."""

    part: Any
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn went wrong. It may go on nevertheless if it is `resumable`: `chat.resume()`."""

    error: ErrorInfo
    resumable: bool = False
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What was told of the turn does not hold any more; it is told again from its beginning."""

    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The turn is over. The last event of every turn; `state` is None if the turn was taken back."""

    state: TurnState | None
    duration: float | None = None
    turn_id: str = ""


Event: TypeAlias = (
    Started
    | Text
    | Reasoning
    | ToolStarted
    | ToolReady
    | ToolOutput
    | ToolFinished
    | Usage
    | Notice
    | Attachment
    | Other
    | Failed
    | Rewritten
    | Ended
    | Ask
)

# Text that waits for a slow reader is joined up to this many characters: longer ones would be copied too often.
_JOINED: Final = 64_000


def joined(waiting: Event, event: Event) -> Event | None:
    """Two events as one that says the same, if there is one."""
    if (
        isinstance(event, Text | Reasoning)
        and isinstance(waiting, Text | Reasoning)
        and type(event) is type(waiting)
        and waiting.part_id == event.part_id
        and waiting.turn_id == event.turn_id
        and len(waiting.text) < _JOINED
    ):
        return type(event)(waiting.text + event.text, part_id=event.part_id, turn_id=event.turn_id)
    return None
