"""A host, a session and a chat that stand still: what is shown of states made by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from attach import made
from attach.seat import Seat, in_front_of
from holdfast.attach.app import AttachApp
from holdfast.attach.controller import Controller
from holdfast.client.chat import Chat
from holdfast.client.host import Host
from holdfast.client.session import Session
from holdfast.client.status import Status
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.connection.commands import InitializeResult
from holdfast.protocol.root.state import AgentInfo, SessionModelInfo
from holdfast.protocol.session.state import SessionState, SessionSummary

__all__ = ["AGENTS", "Still", "showing"]

AGENTS = (
    AgentInfo(
        provider="demo",
        display_name="Demo",
        description="Plays everything an agent can do",
        models=(SessionModelInfo(id="swift", provider="demo", name="Swift"),),
    ),
    AgentInfo(provider="other", display_name="Other", description="", models=()),
)


class _Host:
    """What is looked at of a host."""

    def __init__(self, status: Status, reason: str) -> None:
        self.status = status
        self.reason = reason
        self.address = "ws://127.0.0.1:7447/"
        self.client_id = "me"
        self.agents = AGENTS
        self.initialized = InitializeResult(protocol_version="1.0.0", server_seq=0, snapshots=())


class _Session:
    def __init__(self, state: SessionState) -> None:
        self.uri = made.SESSION
        self.state = state
        self.status = state.status
        self.chats = state.chats
        self.waiting = ()
        self.is_followed = True


class _Chat:
    def __init__(self, state: ChatState) -> None:
        self.uri = state.resource
        self.state = self.confirmed = state
        self.draft = state.draft
        self.queued = state.queued_messages or ()
        self.steering = state.steering_message
        self.is_busy = state.active_turn is not None
        self.is_followed = True


class Still(Controller):
    """Nothing happens here."""

    def __init__(
        self,
        session: SessionState | None = None,
        chat: ChatState | None = None,
        sessions: Sequence[SessionSummary] = (),
        *,
        status: Status = Status.LIVE,
        reason: str = "",
    ) -> None:
        super().__init__(cast(Host, _Host(status, reason)))
        self.session = cast(Session, _Session(session)) if session is not None else None
        self.chat = cast(Chat, _Chat(chat)) if chat is not None else None
        self._sessions = tuple(sessions)

    @property
    def sessions(self) -> tuple[SessionSummary, ...]:
        return self._sessions

    async def watch(self) -> None:
        """Nothing changes."""

    @property
    def is_unread(self) -> bool:
        return False

    async def read(self) -> None:
        """Nobody is told."""

    def become(self, chat: ChatState) -> None:
        """The same chat, with another state."""
        old = cast(Any, self.chat)
        old.__init__(chat)


@asynccontextmanager
async def showing(controller: Still, size: tuple[int, int]) -> AsyncIterator[Seat]:
    """The application in front of it."""
    app = AttachApp(controller, now=lambda: made.NOW, settle=0.0)
    async with in_front_of(app, size) as seat:
        await seat.until(lambda screen: "F1" in screen, "the keys")
        yield seat
