"""One agent session: its chats, its settings, and what in it waits for a person."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.client.asks import Ask, ask_of
from holdfast.client.broadcast import Feed
from holdfast.client.chat import Chat, ModelLike, changes_of, message_of
from holdfast.client.errors import Gone
from holdfast.client.following import Listener, Wish
from holdfast.client.mirror import Change
from holdfast.client.tools import ToolBox
from holdfast.client.turn import Turn
from holdfast.protocol import uris
from holdfast.protocol.chat.commands import ChatSource, CreateChatParams, ForkChatSource, SideChatSource
from holdfast.protocol.chat.messages import Message, MessageAttachment
from holdfast.protocol.chat.state import ChatSummary, SideChatSelection
from holdfast.protocol.common import URI, AgentSelection
from holdfast.protocol.session import actions
from holdfast.protocol.session.commands import (
    DisposeSessionParams,
    MoveChatParams,
    MoveChatResult,
    MoveToNewSession,
    MoveToSession,
)
from holdfast.protocol.session.state import SessionState

if TYPE_CHECKING:
    from holdfast.client.connection import Connection

__all__ = ["Session"]

_RECENT = 50
"""How many turns of a chat are fetched when it is opened; `Chat.load_older` has the others."""


class Session:
    """Made by `Host`. While it is open it follows the session and its default chat."""

    def __init__(self, connection: Connection, uri: URI) -> None:
        self.uri = uri
        self._connection = connection
        self._chats: dict[URI, Chat] = {}
        self._default: Chat | None = None
        self._wish: Wish | None = None
        self.tools = ToolBox(connection, self)

    def __repr__(self) -> str:
        title = f" {self.title!r}" if self._connection.mirror.state(self.uri) is not None else ""
        return f"<Session {self.uri}{title}>"

    def _repr_html_(self) -> str:
        from html import escape

        chats = "".join(f"<li>{escape(chat.title or chat.resource)}</li>" for chat in self.chats)
        return f"<b>{escape(self.title or 'Untitled')}</b> <code>{escape(self.uri)}</code><ul>{chats}</ul>"

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # What it is

    @property
    def is_followed(self) -> bool:
        """Whether there is a state to look at."""
        channel = self._connection.mirror.channels.get(self.uri)
        return channel is not None and channel.is_known

    @property
    def state(self) -> SessionState:
        """The state with our own actions in it, answered or not. Raises `Gone` if the session is not followed."""
        state: SessionState | None = self._connection.mirror.state(self.uri)
        if state is None:
            raise Gone(f"the session {self.uri} is not followed, or is no more")
        return state

    @property
    def title(self) -> str:
        return self.state.title

    @property
    def status(self) -> int:
        """The bits of `holdfast.protocol.status`."""
        return self.state.status

    @property
    def chats(self) -> tuple[ChatSummary, ...]:
        """Its catalogue of chats; `open_chat` opens one."""
        return self.state.chats

    @property
    def chat(self) -> Chat:
        """The default chat."""
        if self._default is None:
            raise Gone(f"the session {self.uri} has no default chat")
        return self._default

    @property
    def waiting(self) -> tuple[Ask, ...]:
        """What waits for a person, in all its chats. Answering needs no chat to be open."""
        asks = (ask_of(entry, self._connection.dispatch) for entry in self.state.input_needed or ())
        return tuple(ask for ask in asks if ask is not None)

    # Talking

    def send(
        self,
        text: str | Message,
        *,
        attachments: Sequence[MessageAttachment] = (),
        model: ModelLike = None,
        agent: str | AgentSelection | None = None,
    ) -> Turn:
        """Begin a turn in the default chat, or queue its message if one runs."""
        return self.chat.send(text, attachments=attachments, model=model, agent=agent)

    async def open_chat(self, uri: URI, *, listener: Listener | None = None) -> Chat:
        """Follow a chat of this session; one that is open already is returned as it is.

        `listener` is told of every change from the first state on, until the chat is closed.
        """
        chat = self._chats.get(uri)
        if chat is None or not chat.is_followed:
            chat = Chat(self._connection, self, uri)
        try:
            await chat.open(_RECENT, listener)
        except BaseException:
            await chat.close()
            raise
        self._chats[uri] = chat
        return chat

    async def create_chat(
        self,
        text: str | Message | None = None,
        *,
        fork: tuple[URI, str] | None = None,
        side: tuple[URI, str] | None = None,
        selection: str | None = None,
        directories: Sequence[URI] | None = None,
        uri: URI | None = None,
    ) -> Chat:
        """A new chat, which begins with `text` if there is any.

        `fork` (chat and turn) copies the history through that turn; `side` gives it to the model and shows nothing,
        with `selection` as what it is about.
        """
        uri = uri or uris.chat(str(uuid.uuid4()))
        source: ChatSource | None = None
        if fork is not None:
            source = ForkChatSource(chat=fork[0], turn_id=fork[1])
        elif side is not None:
            quoted = None if selection is None else SideChatSelection(text=selection)
            source = SideChatSource(chat=side[0], turn_id=side[1], selection=quoted)
        params = CreateChatParams(
            channel=self.uri,
            chat=uri,
            initial_message=None if text is None else message_of(text),
            source=source,
            working_directories=None if directories is None else tuple(directories),
        )
        await self._connection.request("createChat", params)
        return await self.open_chat(uri)

    async def move_chat(self, chat: URI, to: URI | None = None, *, after: URI | None = None) -> URI:
        """Move a chat behind another, to another session, or, without `to`, into a new one, whose URI is returned."""
        destination = MoveToNewSession() if to is None else MoveToSession(session=to, after=after)
        params = MoveChatParams(channel=chat, destination=destination)
        result: MoveChatResult = await self._connection.request("moveChat", params)
        return result.session

    # Settings

    async def rename(self, title: str) -> None:
        await self._connection.dispatch(self.uri, actions.TitleChanged(title=title))

    async def archive(self, archived: bool = True) -> None:
        await self._connection.dispatch(self.uri, actions.IsArchivedChanged(is_archived=archived))

    async def mark_read(self, read: bool = True) -> None:
        await self._connection.dispatch(self.uri, actions.IsReadChanged(is_read=read))

    async def configure(self, **values: Any) -> None:
        """Change options of the session, by their names in `state.config.schema`."""
        await self._connection.dispatch(self.uri, actions.ConfigChanged(config=values))

    def tool(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
    ) -> Any:
        """Offer a Python function to the agent. A decorator, with or without arguments.

        Its parameters, their types and its docstring are what the agent sees. It runs here, when the agent calls it;
        what it returns or raises is the result.
        """
        if function is not None:
            self.tools.add(function, name=name, description=description)
            return function

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            self.tools.add(function, name=name, description=description)
            return function

        return decorate

    # Watching and ending

    def changes(self) -> Feed[Change]:
        """Every change of the session's state, own actions included. Close what is returned."""
        return changes_of(self.listen)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have a function called with every change, at once; what is returned ends that."""
        return self._connection.following.listen(self.uri, listener)

    async def open(self) -> None:
        """Follow the session and its default chat; `Host` does so."""
        self._wish = await self._connection.hold(self.uri)
        try:
            await self.open_default()
        except BaseException:
            await self.close()
            raise

    async def open_default(self) -> None:
        """Follow the default chat, which a session that is being created may get late."""
        default = self.state.default_chat
        if default is not None:
            self._default = await self.open_chat(default)

    async def dispose(self) -> None:
        """Delete the session with everything in it. A Holdfast host can restore it for a while."""
        await self._connection.request("disposeSession", DisposeSessionParams(channel=self.uri))
        await self.close()

    async def close(self) -> None:
        """Follow it no more; it goes on at the host, without the tools that are offered here. Again is harmless."""
        await self.tools.close()
        for chat in self._chats.values():
            await chat.close()
        self._chats.clear()
        wish, self._wish = self._wish, None
        if wish is not None:
            self._connection.release(self.uri, wish)
