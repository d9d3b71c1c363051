"""What the host holds in memory: channels, and the units that own them.

Objects here are mutable boxes around immutable states. Nobody outside `batch` assigns to them, so that
everything a transaction changed can be put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from holdfast.host.outgoing import About
from holdfast.ports.agent import StartTurn, TurnKey
from holdfast.ports.journal import ROOT_UNIT, SessionRow
from holdfast.protocol.annotations.state import AnnotationsState
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.common import URI, JsonObject, Timestamp
from holdfast.protocol.root.state import RootState
from holdfast.protocol.session.state import SessionState, SessionSummary

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "AnnotationsChannel",
    "Backend",
    "Channel",
    "Chat",
    "Root",
    "RootChannel",
    "Session",
    "SessionChannel",
    "Unit",
]

# A head is written again once this much came after it, or as much as the head itself is long.
_TAIL: Final = 16_000


class Channel:
    """One channel: its state, and how far the journal has it."""

    kind: str

    def __init__(self, uri: URI, unit: Unit, state: Any) -> None:
        self.uri = uri
        self.unit = unit
        self.state: Any = state
        self.head_size = 0
        self.tail_size = 0
        self.unsaved = True
        """The next commit must write the head: it is new, or changed in a way no action says."""
        self.moved_at = 0
        """What this channel was before this number, or whether it was at all, is for no replay to tell."""

    @property
    def head_due(self) -> bool:
        return self.unsaved or self.tail_size > max(_TAIL, self.head_size)

    def about(self, type: str, facts: JsonObject | None = None) -> About:  # noqa: A002 - the protocol's word
        """What is known of an action that happens here now."""
        return About(self.kind, type, self.unit.uri, self.unit.default_chat, facts)


class RootChannel(Channel):
    kind = "root"
    state: RootState


class SessionChannel(Channel):
    kind = "session"
    state: SessionState
    unit: Session


class AnnotationsChannel(Channel):
    kind = "annotations"
    state: AnnotationsState
    unit: Session


class Chat(Channel):
    """A chat. Completed turns are rows of the journal: `state.turns` is empty between actions."""

    kind = "chat"
    state: ChatState
    unit: Session

    def __init__(self, uri: URI, unit: Session, state: ChatState, turns: int = 0) -> None:
        super().__init__(uri, unit, state)
        self.turns = turns
        self.cuts = 0
        """How often turns were taken away in this life of the host."""
        self.generation = 0
        self.run: TurnKey | None = None
        """The turn an agent is working on."""
        self.parent: TurnKey | None = None
        """For a worker's turn: the turn whose agent runs it."""
        self.streams: dict[str, tuple[str, int]] = {}
        """In which part each stream of the running turn goes on, and that part's length; see `shaping`."""

    @property
    def default(self) -> bool:
        return self.unit.session.state.default_chat == self.uri


class Unit:
    """What is owned, ordered and committed together."""

    uri: URI

    @property
    def default_chat(self) -> URI:
        """The chat that input to the unit is for, if there is one."""
        return ""

    def channels(self) -> Iterator[Channel]:
        """Every channel of the unit."""
        raise NotImplementedError


class Root(Unit):
    uri = ROOT_UNIT

    def __init__(self, state: RootState) -> None:
        self.root = RootChannel(ROOT_UNIT, self, state)

    def channels(self) -> Iterator[Channel]:
        yield self.root


class Backend:
    """How far the agent is with a session in this life of the host."""

    CLOSED = "closed"
    OPENING = "opening"
    OPEN = "open"


class Session(Unit):
    """A session with its chats and annotations."""

    def __init__(self, uri: URI, state: SessionState, created_at: Timestamp) -> None:
        self.uri = uri
        self.session = SessionChannel(uri, self, state)
        self.chats: dict[URI, Chat] = {}
        self.annotations: AnnotationsChannel | None = None
        self.created_at = created_at
        self.creator: str | None = None
        self.title_chosen = False
        """Somebody chose the title; the host does not overwrite it."""
        self.listed = False
        """Announced: in lists, counted, its changes told to the root's subscribers."""
        self.importing = False
        """On its way in: not to be seen, and worth nothing after a restart."""
        self.disposed_at: Timestamp | None = None
        self.published: SessionSummary | None = None
        """The summary as the root's subscribers have it."""
        self.row: SessionRow | None = None
        """The catalogue row as the journal has it."""
        self.backend = Backend.CLOSED
        self.waiting: tuple[StartTurn, ...] = ()
        """Turns to start once the backend is open."""
        self.progress: tuple[int, str] | None = None
        """Which connection wants progress of the creation, and its token."""
        self.progress_made = 0.0
        self.progress_total: float | None = None
        self.legacy: JsonObject = {}
        """What older clients chose and 1.0 has no place for: a model, an agent (`protocol.compat`)."""
        self.used_at = 0
        """Monotonic milliseconds of the last use, for unloading."""

    @property
    def default_chat(self) -> URI:
        return self.session.state.default_chat or ""

    def channels(self) -> Iterator[Channel]:
        yield self.session
        yield from self.chats.values()
        if self.annotations is not None:
            yield self.annotations

    @property
    def provisional(self) -> bool:
        return not self.listed

    @property
    def busy(self) -> bool:
        return any(chat.state.active_turn is not None for chat in self.chats.values())

    @property
    def works_beside(self) -> bool:
        """Whether work goes on that belongs to no turn."""
        return any(chat.state.background_work for chat in self.chats.values())
