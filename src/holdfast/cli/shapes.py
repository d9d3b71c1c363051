"""What `--json` prints, as types. `scripts/cli_reference.py` makes the JSON Schemas in docs/schemas from them.

Names are stable: keys are added, and none changes its meaning. A key that has nothing to say is absent. Values that
are the protocol's own (turns, actions, states) are printed as the protocol has them and are objects here.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import msgspec

from holdfast.protocol.common import URI, Number, Timestamp

__all__ = ["OUTPUTS"]

Value: TypeAlias = dict[str, Any]

State: TypeAlias = Literal["idle", "in-progress", "input-needed", "error"]


class Shape(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Base of what is printed."""


class Agent(Shape, frozen=True, kw_only=True):
    """An agent of the host. `agent` is what `new --agent` takes."""

    agent: str
    name: str
    description: str
    models: tuple[str, ...]


class Model(Shape, frozen=True, kw_only=True):
    """A model an agent can use. `model` is what `send --model` takes."""

    model: str
    agent: str
    name: str
    max_context_window: Number | None = None
    max_output_tokens: Number | None = None
    vision: bool | None = None


class Chat(Shape, frozen=True, kw_only=True):
    """A chat of a session."""

    chat: URI
    title: str
    state: State | None = None


class Session(Shape, frozen=True, kw_only=True):
    """A session as lists show it. `chat` is the default one, which most commands talk to."""

    session: URI
    title: str
    agent: str
    state: State
    read: bool
    archived: bool
    created_at: Timestamp
    modified_at: Timestamp
    chat: URI | None = None
    activity: str | None = None
    directories: tuple[URI, ...] | None = None
    chats: tuple[Chat, ...] | None = None


class SessionChange(Shape, frozen=True, kw_only=True):
    """A line of `sessions --watch`: first `listed` for each that is there, then what happens."""

    change: Literal["listed", "added", "changed", "removed"]
    session: URI
    summary: Session | None = None


class Created(Shape, frozen=True, kw_only=True):
    """What was made: a session and its default chat, or a new chat in a session."""

    session: URI
    chat: URI


class Failure(Shape, frozen=True, kw_only=True):
    """Why a turn failed."""

    type: str
    message: str


class Question(Shape, frozen=True, kw_only=True):
    """A question of a form. `id` is the name `answer` takes; `options` the ids it may have as a value."""

    id: str
    kind: str
    message: str
    required: bool
    options: tuple[str, ...] | None = None
    default: Any = None


class Wait(Shape, frozen=True, kw_only=True):
    """Something that waits for a person. `id` is what `approve`, `deny` and `answer` take."""

    id: str
    session: URI
    chat: URI
    kind: Literal["approval", "result", "question", "authentication", "client-tool", "unknown"]
    message: str
    tool: str | None = None
    input: str | None = None
    options: tuple[str, ...] | None = None
    questions: tuple[Question, ...] | None = None
    url: URI | None = None


class Sent(Shape, frozen=True, kw_only=True):
    """How a turn ended, or that it runs or is queued (`--no-wait`), or what it waits for (exit code 5).

    `text` is the answer. `turn` is absent and `queued` there while the message waits behind another turn.
    """

    session: URI
    chat: URI
    state: Literal["complete", "cancelled", "error", "running", "queued", "waiting"]
    text: str
    turn: str | None = None
    queued: str | None = None
    error: Failure | None = None
    usage: Value | None = None
    waits: tuple[Wait, ...] | None = None


class Action(Shape, frozen=True, kw_only=True):
    """A line of `tail`: an action of the protocol, on the channel it happened on.

    `state` in its place is all there is of a channel that is new, or of which actions were missed.
    """

    session: URI
    channel: URI
    action: Value | None = None
    state: Value | None = None


class Pending(Shape, frozen=True, kw_only=True):
    """A message in the queue."""

    id: str
    text: str


class Shown(Shape, frozen=True, kw_only=True):
    """A session with the history of one of its chats, `chat`: `turns` as the protocol has them, oldest first.

    `isWhole` says whether that is all of it; `--turns 0` asks for that.
    """

    session: URI
    chat: URI
    title: str
    agent: str
    state: State
    read: bool
    archived: bool
    modified_at: Timestamp
    chats: tuple[Chat, ...]
    turns: tuple[Value, ...]
    is_whole: bool
    activity: str | None = None
    directories: tuple[URI, ...] | None = None
    active_turn: Value | None = None
    queue: tuple[Pending, ...] | None = None
    waits: tuple[Wait, ...] | None = None
    config: Value | None = None


class Decided(Shape, frozen=True, kw_only=True):
    """What was decided about something that waited."""

    id: str
    session: URI
    decision: Literal["approved", "denied", "accepted", "declined", "cancelled"]


class Cancelled(Shape, frozen=True, kw_only=True):
    """The turn that was cancelled; without one, nothing ran."""

    session: URI
    chat: URI
    turn: str | None = None


class Queue(Shape, frozen=True, kw_only=True):
    """The messages that wait for their turn, first one first."""

    session: URI
    chat: URI
    queue: tuple[Pending, ...]


class Steered(Shape, frozen=True, kw_only=True):
    """A message for the turn that runs."""

    session: URI
    chat: URI
    id: str


class Renamed(Shape, frozen=True, kw_only=True):
    """A session and its title."""

    session: URI
    title: str


class Archived(Shape, frozen=True, kw_only=True):
    """Whether a session is archived now."""

    session: URI
    archived: bool


class Removed(Shape, frozen=True, kw_only=True):
    """A session that was removed, or is back (`removed` false). `until` is how long it can be restored."""

    session: URI
    removed: bool
    title: str | None = None
    until: Timestamp | None = None


class Content(Shape, frozen=True, kw_only=True):
    """Content that turns refer to by `uri`. `data` is base64."""

    uri: URI
    content_type: str
    data: str


class Export(Shape, frozen=True, kw_only=True):
    """A whole session, as `export --format json` writes and `import` reads it.

    `session`, `chats` (with all their turns) and `annotations` are states of the protocol, `protocol` its version.
    """

    format: Literal["holdfast-session"]
    version: Literal[1]
    protocol: str
    uri: URI
    session: Value
    chats: tuple[Value, ...]
    contents: tuple[Content, ...]
    created_at: Timestamp | None = None
    annotations: Value | None = None


class HostStatus(Shape, frozen=True, kw_only=True):
    """The host of a data directory. `silent`: its process is there and does not answer. `uptime` is in seconds.

    `address` and `socket` are where it listens, `memory` is in bytes.
    """

    state: Literal["running", "starting", "silent", "stopped"]
    data_dir: str
    pid: int | None = None
    started: Timestamp | None = None
    uptime: int | None = None
    version: str | None = None
    address: str | None = None
    socket: str | None = None
    log: str | None = None
    sessions: int | None = None
    turns_running: int | None = None
    connections: int | None = None
    memory: int | None = None


class Up(HostStatus, frozen=True, kw_only=True):
    """The host that runs now. `new`: it was started for this. `url` has the token in it with `--with-token` only."""

    url: str
    new: bool


class Down(Shape, frozen=True, kw_only=True):
    """The host that was stopped."""

    data_dir: str
    pid: int


class ServiceStatus(Shape, frozen=True, kw_only=True):
    """The host as a service of the system."""

    manager: Literal["systemd", "launchd"]
    file: str
    installed: bool
    active: bool


class Finding(Shape, frozen=True, kw_only=True):
    """What one check found, and what to do about it if that is something."""

    check: str
    state: Literal["ok", "warning", "wrong", "skipped"]
    says: str
    fix: str | None = None


class ReplayDifference(Shape, frozen=True, kw_only=True):
    """Something that came back otherwise, and where."""

    where: str
    says: str


class Replayed(Shape, frozen=True, kw_only=True):
    """What was said again, and what came back otherwise. `notes` say what could not be said or waited for."""

    connections: int
    messages: int
    differences: tuple[ReplayDifference, ...]
    notes: tuple[str, ...]


OUTPUTS: Final[dict[str, Any]] = {
    "agents": tuple[Agent, ...],
    "models": tuple[Model, ...],
    "sessions": tuple[Session, ...],
    "sessions-watch": SessionChange,
    "new": Created,
    "send": Sent,
    "tail": Action,
    "show": Shown,
    "waiting": tuple[Wait, ...],
    "decided": tuple[Decided, ...],
    "cancel": Cancelled,
    "queue": Queue,
    "steer": Steered,
    "fork": Created,
    "rename": Renamed,
    "archive": tuple[Archived, ...],
    "rm": tuple[Removed, ...],
    "export": Export,
    "import": Created,
    "up": Up,
    "down": Down,
    "status": HostStatus,
    "service": ServiceStatus,
    "doctor": tuple[Finding, ...],
    "replay": Replayed,
}
"""Name of a schema -> what it describes: one value, or one line of `sessions --watch` and `tail`."""
