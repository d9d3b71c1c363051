"""The open chat: its header, the transcript, what waits for a person, what is going on, and where to write."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from holdfast.attach.controller import Controller
from holdfast.attach.model import asks as asking
from holdfast.attach.model import tools, words
from holdfast.attach.model.asks import AskView
from holdfast.attach.model.transcript import Block, Reader, Tool
from holdfast.attach.paint import bars
from holdfast.attach.widgets.bar import Bar
from holdfast.attach.widgets.transcript import Transcript
from holdfast.attach.widgets.writing import Perform, Writing
from holdfast.protocol.chat.state import ChatInteractivity, ChatState
from holdfast.protocol.common import ContentRef

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
        can_write = state.interactivity in (None, ChatInteractivity.FULL)
        self.writing.display = can_write
        blocks = self._reader.read(state, chat.confirmed, is_loading=self._controller.is_loading)
        self.transcript.show(blocks, self._controller.contents)
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
            contents=self._controller.contents,
        )
        panel.show(text)
        self._read(tools.references(ask.sections))

    # Content by reference

    def _read_content(self, blocks: list[Block]) -> None:
        sections = (block.view.sections for block in blocks if isinstance(block, Tool) and block.view.has_edits)
        self._read(reference for each in sections for reference in tools.references(each))

    def _read(self, references: Iterable[ContentRef]) -> None:
        wanted = [each for each in references if self._controller.is_wanted(each)]
        if wanted:
            self._perform("read what was changed", self._controller.load, wanted)
