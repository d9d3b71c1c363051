"""The one owner of the connection: what is open, what is known of it, and what a person may do about it.

Knows no screen. Whoever shows it is told that something changed and looks for themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from enum import Flag, auto
from types import TracebackType
from typing import Final

from msgspec.structs import replace

from holdfast.attach.library import Library
from holdfast.attach.model.asks import AskView, Choice
from holdfast.attach.model.chat import selection
from holdfast.attach.model.form import Entry, Field, answers, drafted
from holdfast.client.asks import Approval, Ask, AuthenticationNeeded, Question, ResultApproval
from holdfast.client.catalogue import Catalogue
from holdfast.client.chat import Chat, message_of
from holdfast.client.errors import Gone, Interrupted
from holdfast.client.host import Host
from holdfast.client.session import Session
from holdfast.client.status import Status
from holdfast.protocol import status
from holdfast.protocol.chat import actions as chat_actions
from holdfast.protocol.chat.inputs import ChatInputRequest, ChatInputResponseKind
from holdfast.protocol.chat.messages import Message, MessageAttachment
from holdfast.protocol.common import URI, ModelSelection
from holdfast.protocol.errors import UsageError
from holdfast.protocol.session import actions as session_actions
from holdfast.protocol.session.state import SessionSummary

__all__ = ["Changed", "Controller"]

_MOST_SESSIONS: Final = 2000
"""How many sessions the list holds: the newest. More than anybody looks through; a search finds among these."""


class Changed(Flag):
    """What is to be looked at again."""

    STATUS = auto()
    LIST = auto()
    SESSION = auto()
    CHAT = auto()
    CONTENTS = auto()


class Controller:
    """Use it with `async with`. Everything that asks the host raises `HoldfastError` when that goes wrong."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.session: Session | None = None
        self.chat: Chat | None = None
        self.library = Library(host, lambda: self.tell(Changed.CONTENTS))
        self.is_loading = False
        self.tell: Callable[[Changed], None] = lambda _: None
        self._catalogue: Catalogue | None = None
        self._stop: list[Callable[[], None]] = []
        self._wish: object = None
        self._one_at_a_time = asyncio.Lock()

    async def __aenter__(self) -> Controller:
        self._catalogue = await self.host.catalogue(limit=_MOST_SESSIONS).__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._catalogue is not None, "entered"
        self._listen_no_more()
        await self._catalogue.__aexit__(kind, error, trace)

    async def watch(self) -> None:
        """Tell of what belongs to no chat, until this is cancelled: how we stand with the host, the list."""
        assert self._catalogue is not None, "entered"
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch_events())
            group.create_task(self._watch_list(self._catalogue))

    async def _watch_events(self) -> None:
        async with self.host.events() as events:
            async for _ in events:
                self.tell(Changed.STATUS)
        self.tell(Changed.STATUS)

    async def _watch_list(self, catalogue: Catalogue) -> None:
        async with catalogue.changes() as changes:
            async for _ in changes:
                self.tell(Changed.LIST)

    # What is known

    @property
    def sessions(self) -> tuple[SessionSummary, ...]:
        """The sessions of the host, newest first."""
        return self._catalogue.sessions if self._catalogue is not None else ()

    @property
    def is_live(self) -> bool:
        return self.host.status is Status.LIVE

    @property
    def triggers(self) -> tuple[str, ...]:
        """The characters with which completions begin."""
        return tuple(self.host.initialized.completion_trigger_characters or ())

    # Opening

    async def open(self, uri: URI, chat: URI | None = None) -> None:
        """Show a session, and of it one chat: the default one if none is said. The one before is left."""
        wish = self._wish = object()
        async with self._one_at_a_time:
            # Somebody who walks through the list wants only where they stopped.
            if wish is self._wish:
                await self._open(uri, chat)

    async def _open(self, uri: URI, chat: URI | None) -> None:
        session = await self.host.session(uri)
        opened = await session.open_chat(chat) if chat else session.chat
        before, self.session, self.chat = self.session, session, opened
        self._listen_no_more()
        self._stop = [
            session.listen(lambda channel, _: self._heard(Changed.SESSION, session, channel)),
            opened.listen(lambda channel, _: self._heard(Changed.CHAT, session, channel)),
        ]
        self.tell(Changed.SESSION | Changed.CHAT)
        if before is not None and before is not session and before.is_followed:
            await before.close()

    def _heard(self, what: Changed, session: Session, channel: object) -> None:
        if channel is None and self.session is session and self.host.status is not Status.GONE:
            # The chat or the whole session was deleted. Of a host that is gone the last is kept on the screen.
            if what is Changed.SESSION or not session.is_followed:
                self.session = None
            self.chat = None
            self._listen_no_more()
        self.tell(what)

    def _listen_no_more(self) -> None:
        for stop in self._stop:
            stop()
        self._stop = []

    async def create(self, agent: str | None, directory: str | None, title: str | None) -> None:
        """Make a session and show it."""
        session = await self.host.create_session(agent, directory=directory or None, title=title or None)
        await self.open(session.uri)

    # Saying something. The chat is named, because by the time it is done another may be open

    async def send(self, chat: Chat, text: str, attachments: Sequence[MessageAttachment] = ()) -> None:
        """Say something, and wait until the host has it; while a turn runs it waits in the queue."""
        turn = chat.send(_message(chat, text, attachments))
        _clear_draft(chat)
        try:
            await turn.accepted()
        except (Gone, Interrupted):
            if chat.is_followed:
                raise
            # The chat was left: whoever opens it again sees what became of it.
        finally:
            turn.close()

    async def steer(self, chat: Chat, text: str, attachments: Sequence[MessageAttachment] = ()) -> None:
        """Tell the agent something while it works."""
        message = _message(chat, text, attachments)
        _clear_draft(chat)
        await chat.steer(message)

    async def set_draft(self, chat: Chat, text: str, model: ModelSelection | None = None) -> None:
        """Show the others what is being typed. What else the draft holds, the chosen model for one, stays."""
        draft = chat.draft
        if model is not None or (draft is not None and (text or draft.model or draft.agent)):
            kept = draft or message_of("")
            await chat.set_draft(replace(kept, text=text, model=model or kept.model))
        else:
            await chat.set_draft(text)

    async def resume(self, chat: Chat) -> None:
        """Go on with the last turn, which failed."""
        if chat.turns:
            await self.host.dispatch(chat.uri, chat_actions.TurnResume(turn_id=chat.turns[-1].id))

    # Answering

    def _ask(self, view: AskView) -> Ask:
        waiting = self.session.waiting if self.session is not None else ()
        for ask in waiting:
            if ask.id == view.id:
                return ask
        raise Gone("somebody has answered this already")

    async def decide(
        self, view: AskView, choice: Choice, *, edited: str | None = None, reason: str | None = None
    ) -> None:
        """Approve or deny what a tool asks, or the use of its result."""
        match self._ask(view):
            case Approval() as ask if choice.approves:
                await ask.approve(choice.option, edited_input=edited)
            case Approval() as ask:
                await ask.deny(reason, option=choice.option)
            case ResultApproval() as ask:
                await (ask.approve() if choice.approves else ask.deny())
            case _:
                raise UsageError("this is not decided with yes or no")

    def input_of(self, view: AskView) -> str | None:
        """The input of a tool that asks, as it is; None if it is kept elsewhere."""
        ask = self._ask(view)
        return ask.input if isinstance(ask, Approval) else None

    async def sign_in(self, view: AskView, token: str) -> None:
        """Give the host the token that a tool waits for."""
        ask = self._ask(view)
        if not isinstance(ask, AuthenticationNeeded):
            raise UsageError("this wants no token")
        await self.host.authenticate(ask.resource, token)

    def request_of(self, view: AskView) -> ChatInputRequest | None:
        """A form as it stands; None once it is answered."""
        waiting = self.session.waiting if self.session is not None and self.session.is_followed else ()
        return next((ask.request for ask in waiting if ask.id == view.id and isinstance(ask, Question)), None)

    async def complete_form(self, view: AskView, request: ChatInputRequest, entries: Mapping[str, Entry]) -> None:
        """Submit a form."""
        await self._complete_form(view, request, ChatInputResponseKind.ACCEPT, entries)

    async def decline_form(self, view: AskView, request: ChatInputRequest) -> None:
        await self._complete_form(view, request, ChatInputResponseKind.DECLINE, None)

    async def _complete_form(
        self,
        view: AskView,
        request: ChatInputRequest,
        response: ChatInputResponseKind,
        entries: Mapping[str, Entry] | None,
    ) -> None:
        given = answers(request, entries) if entries is not None else None
        action = chat_actions.InputCompleted(request_id=request.id, response=response, answers=given or None)
        await self.host.dispatch(view.chat, action)

    async def draft_answer(self, view: AskView, request: ChatInputRequest, field: Field, entry: Entry) -> None:
        """Let the others see what is being entered."""
        action = chat_actions.InputAnswerChanged(
            request_id=request.id, question_id=field.id, answer=drafted(field, entry)
        )
        await self.host.dispatch(view.chat, action)

    # Sessions of the list, and the rest

    async def rename(self, uri: URI, title: str) -> None:
        """Give a session of the list another title."""
        await self.host.dispatch(uri, session_actions.TitleChanged(title=title))

    async def archive(self, uri: URI, archived: bool) -> None:
        """Put a session of the list away, or take it out again."""
        await self.host.dispatch(uri, session_actions.IsArchivedChanged(is_archived=archived))

    async def dispose(self, uri: URI) -> None:
        """Delete a session with everything in it."""
        await self.host.dispose_session(uri)

    @property
    def is_unread(self) -> bool:
        """Whether something in the open session has not been read, as far as the host knows."""
        session = self.session
        return session is not None and self.is_live and session.is_followed and not session.status & status.IS_READ

    async def read(self) -> None:
        """What is on the screen has been read."""
        if self.session is not None:
            await self.session.mark_read()

    async def load_older(self) -> None:
        """Have the next older turns, if there are any and they are not on their way."""
        if self.is_loading or self.chat is None or not self.chat.is_followed:
            return
        self.is_loading = True
        self.tell(Changed.CHAT)
        try:
            await self.chat.load_older()
        finally:
            self.is_loading = False
            self.tell(Changed.CHAT)


def _message(chat: Chat, text: str, attachments: Sequence[MessageAttachment]) -> Message:
    model, agent = selection(chat.state)
    return message_of(text, attachments, model, agent)


def _clear_draft(chat: Chat) -> None:
    """It was sent. Whether the host hears that is nobody's worry: the next draft says the same."""
    if chat.draft is not None:
        chat.dispatch(chat.uri, chat_actions.DraftChanged())
