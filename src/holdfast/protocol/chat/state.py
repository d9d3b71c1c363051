"""State of a chat, its turns, and its entry in the session's catalogue (04-chat, sections 2, 3, 11)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from holdfast.protocol.canvas.state import CanvasReference
from holdfast.protocol.changeset.state import Changeset
from holdfast.protocol.chat.messages import Message, PendingMessage
from holdfast.protocol.chat.parts import ResponsePart
from holdfast.protocol.codec import ClosedEnum, OpenUnion, Wire
from holdfast.protocol.common import (
    URI,
    ChangesSummary,
    JsonObject,
    Number,
    Timestamp,
    UsageInfo,
)
from holdfast.protocol.status import Status

__all__ = [
    "ActiveTurn",
    "BackgroundWork",
    "ChatInteractivity",
    "ChatOrigin",
    "ChatState",
    "ChatSummary",
    "ForkOrigin",
    "ShellBackgroundWork",
    "SideChatOrigin",
    "SideChatSelection",
    "SubagentBackgroundWork",
    "ToolOrigin",
    "Turn",
    "TurnState",
    "UserOrigin",
]


class ChatInteractivity(ClosedEnum):
    FULL = "full"
    READ_ONLY = "read-only"
    HIDDEN = "hidden"


class TurnState(ClosedEnum):
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    ERROR = "error"


class SideChatSelection(Wire, frozen=True, kw_only=True):
    """A quotation that never changes; the part id only says where it came from."""

    text: str
    response_part_id: str | None = None


class UserOrigin(Wire, frozen=True, kw_only=True, tag_field="kind", tag="user"):
    pass


class ForkOrigin(Wire, frozen=True, kw_only=True, tag_field="kind", tag="fork"):
    chat: URI
    turn_id: str


class SideChatOrigin(Wire, frozen=True, kw_only=True, tag_field="kind", tag="sideChat"):
    chat: URI
    turn_id: str
    selection: SideChatSelection | None = None


class ToolOrigin(Wire, frozen=True, kw_only=True, tag_field="kind", tag="tool"):
    chat: URI
    tool_call_id: str


ChatOrigin: TypeAlias = OpenUnion[UserOrigin | ForkOrigin | SideChatOrigin | ToolOrigin]
"""The immediate source of a chat: a hint for display, never a hierarchy."""


class BackgroundWorkBase(Wire, frozen=True, kw_only=True):
    """Work that runs now, whatever turn started it."""

    id: str
    label: str
    started_at: Timestamp
    meta: JsonObject | None = field(default=None, name="_meta")


class ShellBackgroundWork(BackgroundWorkBase, frozen=True, kw_only=True, tag_field="kind", tag="shell"):
    command: str
    terminal: URI | None = None


class SubagentBackgroundWork(BackgroundWorkBase, frozen=True, kw_only=True, tag_field="kind", tag="subagent"):
    chat: URI


BackgroundWork: TypeAlias = OpenUnion[ShellBackgroundWork | SubagentBackgroundWork]


class ActiveTurn(Wire, frozen=True, kw_only=True):
    id: str
    started_at: Timestamp
    message: Message
    response_parts: tuple[ResponsePart, ...]
    usage: UsageInfo | None = None


class Turn(Wire, frozen=True, kw_only=True):
    """A turn that ended. `duration` (ms) is data, never computed from timestamps."""

    id: str
    message: Message
    response_parts: tuple[ResponsePart, ...]
    state: TurnState
    started_at: Timestamp | None = None
    duration: Number | None = None
    usage: UsageInfo | None = None


class ChatSummary(Wire, frozen=True, kw_only=True):
    """The fields of `ChatState` that the session's catalogue copies."""

    resource: URI
    title: str
    status: Status
    modified_at: Timestamp
    activity: str | None = None
    changes: ChangesSummary | None = None
    origin: ChatOrigin | None = None
    movable: bool | None = None
    interactivity: ChatInteractivity | None = None
    working_directories: tuple[URI, ...] | None = None


class ChatState(ChatSummary, frozen=True, kw_only=True):
    """`turns` may be only a tail: older ones exist exactly while `turns_next_cursor` is present."""

    turns: tuple[Turn, ...]
    turns_next_cursor: str | None = None
    active_turn: ActiveTurn | None = None
    steering_message: PendingMessage | None = None
    queued_messages: tuple[PendingMessage, ...] | None = None
    draft: Message | None = None
    changesets: tuple[Changeset, ...] | None = None
    background_work: tuple[BackgroundWork, ...] | None = None
    canvases: tuple[CanvasReference, ...] | None = None
    meta: JsonObject | None = field(default=None, name="_meta")
