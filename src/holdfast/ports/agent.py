"""What an agent is told, and what it says.

A turn runs under a `TurnKey`. Its `generation` changes whenever the turn is started or resumed: what an agent
says under an older one came too late and is dropped.

An agent speaks in the protocol's own actions: it sends the `chat/*` actions a host may originate for the turn
(parts, deltas, tool calls, questions, usage), and the host orders, records and spreads them. How the turn ended
is a message of its own, so that a turn ends exactly once.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct, field

from holdfast.protocol.chat.commands import CompletionItem
from holdfast.protocol.chat.inputs import ChatInputAnswer, ChatInputResponseKind
from holdfast.protocol.chat.messages import Message
from holdfast.protocol.chat.tools import ConfirmationOption, ToolCallCancellationReason, ToolCallResult, ToolInput
from holdfast.protocol.codec import Wire
from holdfast.protocol.common import (
    URI,
    ErrorInfo,
    JsonObject,
    ModelSelection,
    StringOrMarkdown,
    ToolDefinition,
)
from holdfast.protocol.root.commands import SessionConfigValueItem
from holdfast.protocol.session.state import SessionConfigSchema

__all__ = [
    "AgentEffect",
    "AgentEvent",
    "AgentQuery",
    "AgentSaid",
    "CancelTurn",
    "ChatGone",
    "ChatTruncated",
    "CheckToken",
    "ClientTool",
    "ClientToolDone",
    "CloseSession",
    "CompleteConfig",
    "CompleteInput",
    "ConfigChanged",
    "Deliver",
    "Delivery",
    "InputAnswered",
    "OpenSession",
    "Progress",
    "ResolveConfig",
    "ResolvedConfig",
    "ResultDecided",
    "SessionOpened",
    "SpawnChat",
    "StartTurn",
    "Steered",
    "SteeringTaken",
    "SteeringWithdrawn",
    "TitleSuggested",
    "TokenGiven",
    "ToolDecided",
    "Transcript",
    "TurnEnded",
    "TurnKey",
    "UnknownProperty",
    "WorkerTurn",
]


class TurnKey(Struct, frozen=True):
    """One run of one turn."""

    session: URI
    chat: URI
    turn_id: str
    generation: int


class ClientTool(Struct, frozen=True):
    """A tool that a client brings and runs itself."""

    client_id: str
    tool: ToolDefinition


class Transcript(Struct, frozen=True):
    """Another chat's history that came with a message: encoded turns, oldest first, fixed when it was accepted."""

    chat: URI
    turns: tuple[bytes, ...]


# Host to agent


class OpenSession(Struct, frozen=True):
    """Make ready for a session; answered by `SessionOpened`. Also said again after a restart of the host."""

    provider: str
    session: URI
    directories: tuple[URI, ...]
    config: JsonObject
    progress: bool = False
    """Somebody wants to hear `Progress` until the answer."""


class CloseSession(Struct, frozen=True):
    provider: str
    session: URI


class ConfigChanged(Struct, frozen=True):
    """The session's configuration is now this. Takes effect with the next turn at the latest."""

    provider: str
    session: URI
    config: JsonObject
    directories: tuple[URI, ...]


class StartTurn(Struct, frozen=True):
    """Run a turn. `history` counts the completed turns before it; the agent may ask to read them.

    `resumed`: the turn failed before and goes on; what it said so far is in `said`, an encoded array of parts.
    `context` is what the model should know and nobody sees: what a side chat was opened about.
    """

    provider: str
    key: TurnKey
    message: Message
    history: int
    config: JsonObject
    directories: tuple[URI, ...]
    client_tools: tuple[ClientTool, ...]
    model: ModelSelection | None = None
    transcripts: tuple[Transcript, ...] = ()
    context: Transcript | None = None
    resumed: bool = False
    said: bytes | None = None


class CancelTurn(Struct, frozen=True):
    """Stop: the turn is over for everybody else. Nothing more is wanted from it."""

    key: TurnKey


class ChatTruncated(Struct, frozen=True):
    """The model's memory of this chat ends after so many turns."""

    provider: str
    session: URI
    chat: URI
    turns: int


class ChatGone(Struct, frozen=True):
    provider: str
    session: URI
    chat: URI


class ToolDecided(Struct, frozen=True):
    """Somebody confirmed or denied a tool call. Approved: run it with this input."""

    tool_call_id: str
    approved: bool
    tool_input: ToolInput | None = None
    option: ConfirmationOption | None = None
    reason: ToolCallCancellationReason | None = None
    reason_message: StringOrMarkdown | None = None
    suggestion: Message | None = None


class ResultDecided(Struct, frozen=True):
    """Somebody let a result through to the model, or withheld it."""

    tool_call_id: str
    approved: bool


class ClientToolDone(Struct, frozen=True):
    """The client that owns a tool finished a call of it, or the host gave up waiting."""

    tool_call_id: str
    result: ToolCallResult


class TokenGiven(Struct, frozen=True):
    """Somebody authenticated: a tool call that waited for that runs again."""

    tool_call_id: str


class InputAnswered(Struct, frozen=True):
    """A question was answered, declined or cancelled."""

    request_id: str
    response: ChatInputResponseKind
    answers: dict[str, ChatInputAnswer] = field(default_factory=dict)


class Steered(Struct, frozen=True):
    """A message for the running turn, in place of any before it that was not used.

    Say `SteeringTaken` when it is used; unused it waits for the next turn.
    """

    id: str
    message: Message


class SteeringWithdrawn(Struct, frozen=True):
    """The message for the running turn was taken back. One that was used already stays used."""

    id: str


Delivery: TypeAlias = (
    ToolDecided | ResultDecided | ClientToolDone | TokenGiven | InputAnswered | Steered | SteeringWithdrawn
)


class Deliver(Struct, frozen=True):
    """Something a running turn waits for."""

    key: TurnKey
    delivery: Delivery


AgentEffect: TypeAlias = (
    OpenSession | CloseSession | ConfigChanged | StartTurn | CancelTurn | ChatTruncated | ChatGone | Deliver
)


# Agent to host


class SessionOpened(Struct, frozen=True):
    """The session can be used, or why not."""

    session: URI
    error: ErrorInfo | None = None


class Progress(Struct, frozen=True):
    """How far opening a session has come. `total` absent: unknown."""

    session: URI
    progress: float
    total: float | None = None
    message: str | None = None


class AgentSaid(Struct, frozen=True):
    """An action of the running turn, or of a worker's turn it started. The action carries the key's turn id."""

    key: TurnKey
    action: Wire


class TurnEnded(Struct, frozen=True):
    """The turn is over: normally, or with an error from which it may or may not be resumed."""

    key: TurnKey
    error: ErrorInfo | None = None
    resumable: bool = False


class SteeringTaken(Struct, frozen=True):
    key: TurnKey
    id: str


class TitleSuggested(Struct, frozen=True):
    """A title for the session, used unless somebody chose one."""

    session: URI
    title: str


class SpawnChat(Struct, frozen=True):
    """A tool call of the turn hands work to a chat of its own. The agent chose its URI."""

    key: TurnKey
    tool_call_id: str
    chat: URI
    title: str
    hidden: bool = False


class WorkerTurn(Struct, frozen=True):
    """A turn begins in a spawned chat. `worker` is its key, `parent` the turn that spawned the chat."""

    parent: TurnKey
    worker: TurnKey
    message: Message


AgentEvent: TypeAlias = (
    SessionOpened | Progress | AgentSaid | TurnEnded | SteeringTaken | TitleSuggested | SpawnChat | WorkerTurn
)


# Questions the host asks an agent outside any turn. The connection that asked waits for the answer.


class ResolveConfig(Struct, frozen=True):
    """-> `ResolvedConfig`. No side effects."""

    provider: str
    directory: URI | None
    config: str
    """Encoded JSON object: the values chosen so far."""


class ResolvedConfig(Struct, frozen=True):
    """The complete set of options in that context; `values` are the given ones plus defaults, less invalid ones."""

    schema: SessionConfigSchema
    values: JsonObject


class CompleteConfig(Struct, frozen=True):
    """Values for one option -> `tuple[SessionConfigValueItem, ...]`, or `UnknownProperty`."""

    provider: str
    directory: URI | None
    config: str
    property: str
    query: str


class UnknownProperty(Struct, frozen=True):
    """The agent has no such option."""


class CompleteInput(Struct, frozen=True):
    """Completions while a message is typed -> `tuple[CompletionItem, ...]`. `offset` counts UTF-16 units."""

    provider: str
    session: URI
    chat: URI
    text: str
    offset: int


class CheckToken(Struct, frozen=True):
    """Is this token good for this resource? -> `bool`"""

    provider: str
    resource: str
    token: str
    scopes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"CheckToken(provider={self.provider!r}, resource={self.resource!r}, token=…)"


AgentQuery: TypeAlias = ResolveConfig | CompleteConfig | CompleteInput | CheckToken
AgentAnswer: TypeAlias = (
    ResolvedConfig | UnknownProperty | tuple[SessionConfigValueItem, ...] | tuple[CompletionItem, ...] | bool
)
