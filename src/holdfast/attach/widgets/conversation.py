"""The open chat: its header, the transcript, what waits for a person, what is going on, and where to write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from holdfast.attach.controller import Changed, Controller
from holdfast.attach.model import asks as asking
from holdfast.attach.model import tools, words
from holdfast.attach.model.asks import AskView
from holdfast.attach.model.chat import can_resume, can_write, newest_waiting
from holdfast.attach.model.transcript import Block, Reader, Tool
from holdfast.attach.paint import bars
from holdfast.attach.widgets.bar import Bar
from holdfast.attach.widgets.composer import Composer
from holdfast.attach.widgets.transcript import Transcript
from holdfast.attach.widgets.writing import Perform, Writing
from holdfast.protocol.chat.messages import MessageAttachment
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.common import ContentRef
from holdfast.protocol.errors import HoldfastError

__all__ = ["Conversation"]

_ASK_SHARE: Final = 0.5
"""How much of the height an ask may take: people decide by what they see above it, too."""

WELCOME: Final = """\

  No session is open.

  ^t  makes a new one
  ^l  lists those there are
  F1  shows all keys
"""


class Conversation(Vertical):
    """Shows what the controller has open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "steer", "steer", priority=True),
        Binding("ctrl+x", "cancel", "cancel the turn", priority=True),
        Binding("ctrl+r", "resume", "resume", priority=True),
        Binding("ctrl+e", "take_over", "take the draft", priority=True),
        Binding("pageup", "scroll(-1)", "up", show=False, priority=True),
        Binding("pagedown", "scroll(1)", "down", show=False, priority=True),
        Binding("u", "unqueue", show=False),
    ]

    class Resized(Message):
        """Everything has to be laid out anew."""

    def __init__(self, controller: Controller, perform: Perform, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._controller = controller
        self._perform = perform
        self._reader = Reader()
        self._chat = ""
        self.asks: tuple[AskView, ...] = ()

    def compose(self) -> ComposeResult:
        yield Bar(id="header")
        yield Bar(id="tabs", hides=True)
        yield Static(WELCOME, id="welcome", markup=False)
        yield Transcript(id="transcript")
        yield Bar(id="ask", hides=True)
        yield Bar(id="waiting", hides=True)
        yield Writing(self._controller, self._perform, id="writing")

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def writing(self) -> Writing:
        return self.query_one(Writing)

    def bar(self, name: str) -> Bar:
        return self.query_one(f"#{name}", Bar)

    @property
    def state(self) -> ChatState | None:
        """The state of the open chat."""
        chat = self._controller.chat
        return chat.state if chat is not None and chat.is_followed else None

    # Showing

    def show_session(self) -> None:
        """The session changed, or another is open."""
        session = self._controller.session
        is_open = session is not None and session.is_followed
        for name in ("header", "transcript", "writing"):
            self.query_one(f"#{name}").display = is_open
        self.query_one("#welcome").display = not is_open
        if session is None or not is_open:
            self.asks = ()
            for name in ("tabs", "ask", "waiting"):
                self.bar(name).show(Text(""))
            return
        chat = self._controller.chat
        self.asks = asking.asks(session.state, chat.uri if chat is not None else None)
        width = self.size.width - 2
        others = sum(each.client_id != self._controller.host.client_id for each in session.state.active_clients)
        self.bar("header").show(bars.header_text(session.state, self.state, others, width))
        self.bar("tabs").show(bars.tabs_text(session.chats, chat.uri if chat is not None else "", width))
        self.show_ask()

    def show_chat(self, now: datetime) -> None:
        """The chat changed, or another is open."""
        chat, state = self._controller.chat, self.state
        if chat is None or state is None:
            return
        if chat.uri != self._chat:
            self._chat = chat.uri
            self._reader = Reader()
            self.transcript.forget()
            self.writing.open(chat)
        else:
            self.writing.hear()
        self.writing.display = can_write(state)
        blocks = self._reader.read(state, chat.confirmed, is_loading=self._controller.is_loading)
        self.transcript.show(blocks, self._controller.library.contents)
        self._read_content(blocks)
        self.show_waiting(now)

    def show_waiting(self, now: datetime) -> None:
        """What is going on, and for how long."""
        state = self.state
        if state is not None:
            width, is_live = self.size.width - 2, self._controller.is_live
            text = bars.waiting_text(state, self.writing.elsewhere, now, width, is_live=is_live)
            self.bar("waiting").show(text)

    def show_ask(self) -> None:
        """What waits for a person here."""
        panel = self.bar("ask")
        if not self.asks:
            panel.show(Text(""))
            return
        ask = self.asks[0]
        chat = self._controller.chat
        session = self._controller.session
        where = ""
        if session is not None and chat is not None and ask.chat != chat.uri:
            titles = {each.resource: each.title for each in session.chats}
            where = words.shorten(words.one_line(titles.get(ask.chat)) or "another chat", 24)
        text = bars.ask_text(
            ask,
            len(self.asks) - 1,
            where,
            plain_keys=self.transcript.has_focus,
            width=self.size.width - 4,
            height=max(int(self.size.height * _ASK_SHARE), 5),
            contents=self._controller.library.contents,
        )
        panel.show(text)
        self._read(tools.references(ask.sections))

    # Content by reference

    def _read_content(self, blocks: list[Block]) -> None:
        sections = (block.view.sections for block in blocks if isinstance(block, Tool) and block.view.has_edits)
        self._read(reference for each in sections for reference in tools.references(each))

    def _read(self, references: Iterable[ContentRef]) -> None:
        wanted = [each for each in references if self._controller.library.is_wanted(each)]
        if wanted:
            self._perform("read what was changed", self._controller.library.load, wanted)

    # Doing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """A key that means nothing now is left to the composer."""
        return action != "take_over" or (bool(self.writing.elsewhere) and not self.writing.text)

    def write(self) -> None:
        """The keys are the composer's, or the transcript's where nobody may write."""
        (self.writing.composer if self.writing.display else self.transcript).focus()

    @on(Composer.Left)
    def _read_on(self) -> None:
        self.transcript.focus()

    @on(Writing.Sent)
    def _sent(self, event: Writing.Sent) -> None:
        event.stop()
        self._send(event.text, event.attachments)

    def _send(self, text: str, attachments: Sequence[MessageAttachment]) -> None:
        chat = self._controller.chat
        if chat is None:
            return

        async def send() -> None:
            try:
                await self._controller.send(chat, text, attachments)
            except HoldfastError:
                self.writing.put_back(text)
                raise

        self.transcript.action_bottom()
        self._perform("send the message", send)

    def action_steer(self) -> None:
        """Tell the agent while it works; if it does not, just tell it."""
        chat = self._controller.chat
        text, attachments = self.writing.take_text()
        if not text or chat is None:
            return
        if not chat.is_busy:
            self._send(text, attachments)
        else:
            self._perform("steer the turn", self._controller.steer, chat, text, attachments)

    def action_cancel(self) -> None:
        chat = self._controller.chat
        if chat is not None and chat.is_busy:
            self._perform("cancel the turn", chat.cancel)

    def action_resume(self) -> None:
        chat = self._controller.chat
        if chat is not None and chat.is_followed and can_resume(chat.state):
            self._perform("resume the turn", self._controller.resume, chat)

    def action_unqueue(self) -> None:
        """Take back what waits, the newest first; its words stand in the composer again."""
        chat, state = self._controller.chat, self.state
        waiting = newest_waiting(state) if state is not None else None
        if chat is not None and waiting is not None:
            self._perform("take the message back", chat.unqueue, waiting.id)
            self.writing.put_back(waiting.message.text)
            self.write()

    def action_take_over(self) -> None:
        self.writing.take_over()
        self._controller.tell(Changed.CHAT)

    def action_scroll(self, direction: int) -> None:
        self.transcript.action_page(direction)

    @on(Transcript.NearTop)
    def _load_older(self) -> None:
        state = self.state
        if state is not None and state.turns_next_cursor is not None and not self._controller.is_loading:
            self._perform("load older turns", self._controller.load_older)

    def neighbour(self, by: int) -> str | None:
        """The chat so many places further in the session, around its end; None if there is only one."""
        session, chat = self._controller.session, self._controller.chat
        uris = [each.resource for each in bars.tabs(session.chats)] if session is not None else []
        if chat is None or chat.uri not in uris or len(uris) < 2:
            return None
        return uris[(uris.index(chat.uri) + by) % len(uris)]
