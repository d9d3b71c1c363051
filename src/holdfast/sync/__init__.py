"""The everyday part of `holdfast` without `await`, for scripts and notebooks.

    with holdfast.sync.connect() as host:
        session = host.create_session("demo", directory=".")
        for event in session.send("Fix the failing test"):
            match event:
                case holdfast.Text(text): print(text, end="")
                case holdfast.sync.Approval() as ask: ask.approve()

Everything happens in a thread of its own, so that the connection is kept while nobody calls. Names, arguments and
errors are those of `holdfast`; states are the same values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.client import chat as async_chat
from holdfast.client import host as async_host
from holdfast.client import session as async_session
from holdfast.client import turn as async_turn
from holdfast.client.status import Status
from holdfast.client.targets import TargetLike
from holdfast.client.turn import Outcome
from holdfast.protocol.chat.messages import Message, PendingMessage
from holdfast.protocol.chat.state import ChatState, ChatSummary
from holdfast.protocol.chat.state import Turn as TurnRecord
from holdfast.protocol.common import URI
from holdfast.protocol.root.state import AgentInfo, RootState, SessionModelInfo
from holdfast.protocol.session.state import SessionState, SessionSummary
from holdfast.sync.asks import Approval, Ask, AuthenticationNeeded, Question, ResultApproval, in_sync
from holdfast.sync.loop import LoopThread

__all__ = [
    "Approval",
    "Ask",
    "AuthenticationNeeded",
    "Chat",
    "Host",
    "Question",
    "ResultApproval",
    "Session",
    "Turn",
    "connect",
]


class Turn:
    """Iterate over its events, or ask for its `outcome`. See `holdfast.Turn`."""

    def __init__(self, loop: LoopThread, turn: async_turn.Turn) -> None:
        self._loop = loop
        self._turn = turn

    def __repr__(self) -> str:
        return repr(self._turn)

    def __iter__(self) -> Iterator[Any]:
        return (in_sync(self._loop, event) for event in self._loop.iterate(aiter(self._turn)))

    @property
    def id(self) -> str:
        return self._turn.id

    @property
    def is_over(self) -> bool:
        return self._turn.is_over

    def accepted(self) -> Turn:
        """Wait until the host has taken the message."""
        self._loop.run(self._turn.accepted())
        return self

    def outcome(self) -> Outcome:
        """Wait for the end."""
        return self._loop.run(_outcome(self._turn))

    def cancel(self) -> None:
        """Stop it, or take it out of the queue."""
        self._loop.run(self._turn.cancel())


async def _outcome(turn: async_turn.Turn) -> Outcome:
    return await turn


class Chat:
    """One conversation. See `holdfast.Chat`."""

    def __init__(self, loop: LoopThread, chat: async_chat.Chat) -> None:
        self._loop = loop
        self._chat = chat

    def __repr__(self) -> str:
        return repr(self._chat)

    @property
    def uri(self) -> URI:
        return self._chat.uri

    @property
    def state(self) -> ChatState:
        return self._chat.state

    @property
    def title(self) -> str:
        return self._chat.title

    @property
    def turns(self) -> tuple[TurnRecord, ...]:
        return self._chat.turns

    @property
    def is_busy(self) -> bool:
        return self._chat.is_busy

    @property
    def queued(self) -> tuple[PendingMessage, ...]:
        return self._chat.queued

    def send(self, text: str | Message, **options: Any) -> Turn:
        """Begin a turn, or queue its message if one runs."""
        return Turn(self._loop, self._loop.call(self._chat.send, text, **options))

    def resume(self) -> Turn:
        """Go on with the last turn, which failed."""
        return Turn(self._loop, self._loop.call(self._chat.resume))

    def current(self) -> Turn | None:
        """The turn that runs, from its beginning; None if none does."""
        turn = self._loop.call(self._chat.current)
        return None if turn is None else Turn(self._loop, turn)

    def queue(self, text: str | Message, **options: Any) -> str:
        return self._loop.run(self._chat.queue(text, **options))

    def steer(self, text: str | Message, **options: Any) -> str:
        return self._loop.run(self._chat.steer(text, **options))

    def unqueue(self, pending_id: str) -> None:
        self._loop.run(self._chat.unqueue(pending_id))

    def cancel(self) -> None:
        """Stop the turn that runs, if one does."""
        self._loop.run(self._chat.cancel())

    def truncate(self, turn_id: str | None = None) -> None:
        """Take back everything after a turn; without one, everything."""
        self._loop.run(self._chat.truncate(turn_id))

    def history(self) -> Iterator[TurnRecord]:
        """All turns that are over, newest first."""
        return self._loop.iterate(self._chat.history())

    def wait_idle(self) -> None:
        """Wait until no turn runs and none waits in the queue."""
        self._loop.run(self._chat.wait_idle())

    def rename(self, title: str) -> None:
        self._loop.run(self._chat.rename(title))

    def dispose(self) -> None:
        """Delete the chat, with its history."""
        self._loop.run(self._chat.dispose())


class Session:
    """One agent session. See `holdfast.Session`."""

    def __init__(self, loop: LoopThread, session: async_session.Session) -> None:
        self._loop = loop
        self._session = session

    def __repr__(self) -> str:
        return repr(self._session)

    def _repr_html_(self) -> str:
        return self._session._repr_html_()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def uri(self) -> URI:
        return self._session.uri

    @property
    def state(self) -> SessionState:
        return self._session.state

    @property
    def title(self) -> str:
        return self._session.title

    @property
    def chat(self) -> Chat:
        """The default chat."""
        return Chat(self._loop, self._session.chat)

    @property
    def chats(self) -> tuple[ChatSummary, ...]:
        return self._session.chats

    @property
    def waiting(self) -> tuple[Ask, ...]:
        """What waits for a person, in all its chats."""
        return tuple(in_sync(self._loop, ask) for ask in self._session.waiting)

    def send(self, text: str | Message, **options: Any) -> Turn:
        """Begin a turn in the default chat, or queue its message if one runs."""
        return self.chat.send(text, **options)

    def open_chat(self, uri: URI) -> Chat:
        return Chat(self._loop, self._loop.run(self._session.open_chat(uri)))

    def create_chat(self, text: str | Message | None = None, **options: Any) -> Chat:
        """A new chat; see `holdfast.Session.create_chat`."""
        return Chat(self._loop, self._loop.run(self._session.create_chat(text, **options)))

    def tool(self, function: Any = None, /, **options: Any) -> Any:
        """Offer a Python function to the agent; see `holdfast.Session.tool`."""
        return self._loop.call(self._session.tool, function, **options)

    def rename(self, title: str) -> None:
        self._loop.run(self._session.rename(title))

    def archive(self, archived: bool = True) -> None:
        self._loop.run(self._session.archive(archived))

    def mark_read(self, read: bool = True) -> None:
        self._loop.run(self._session.mark_read(read))

    def configure(self, **values: Any) -> None:
        self._loop.run(self._session.configure(**values))

    def dispose(self) -> None:
        """Delete the session with everything in it."""
        self._loop.run(self._session.dispose())

    def close(self) -> None:
        """Follow it no more; it goes on at the host."""
        self._loop.run(self._session.close())


class Host:
    """A host. Made by `connect`; close it, or use it with `with`. See `holdfast.Host`."""

    def __init__(self, loop: LoopThread, host: async_host.Host, *, shares_loop: bool = False) -> None:
        self._loop = loop
        self._host = host
        self._shares_loop = shares_loop

    def __repr__(self) -> str:
        return repr(self._host)

    def _repr_html_(self) -> str:
        return self._host._repr_html_()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def status(self) -> Status:
        return self._host.status

    @property
    def root(self) -> RootState:
        return self._host.root

    @property
    def agents(self) -> tuple[AgentInfo, ...]:
        return self._host.agents

    def models(self, agent: str | None = None) -> tuple[SessionModelInfo, ...]:
        return self._host.models(agent)

    def create_session(
        self,
        agent: str | None = None,
        *,
        directory: str | Path | None = None,
        directories: Sequence[str | Path] = (),
        config: Mapping[str, Any] | None = None,
        title: str | None = None,
        **options: Any,
    ) -> Session:
        """A new session, ready to talk to; see `holdfast.Host.create_session`."""
        made = self._host.create_session(
            agent, directory=directory, directories=directories, config=config, title=title, **options
        )
        return Session(self._loop, self._loop.run(made))

    def session(self, uri: URI) -> Session:
        """Follow a session that is there."""
        return Session(self._loop, self._loop.run(self._host.session(uri)))

    def sessions(self, *, limit: int | None = None) -> Iterator[SessionSummary]:
        """The sessions, newest first, fetched as they are asked for."""
        return self._loop.iterate(self._host.sessions(limit=limit))

    def dispose_session(self, uri: URI) -> None:
        self._loop.run(self._host.dispose_session(uri))

    def restore_session(self, uri: URI) -> None:
        self._loop.run(self._host.restore_session(uri))

    def authenticate(self, resource: str, token: str) -> None:
        self._loop.run(self._host.authenticate(resource, token))

    def ping(self) -> float:
        return self._loop.run(self._host.ping())

    def close(self) -> None:
        """Leave. Sessions go on at the host; again is harmless."""
        if self.status is not Status.GONE:
            self._loop.run(self._host.close())
        if not self._shares_loop:
            self._loop.close()


def connect(target: TargetLike = None, **options: Any) -> Host:
    """Connect to a host and stay connected; see `holdfast.connect`."""
    loop = LoopThread()

    async def connected() -> async_host.Host:
        return await async_host.connect(target, **options)

    try:
        return Host(loop, loop.run(connected()))
    except BaseException:
        loop.close()
        raise
