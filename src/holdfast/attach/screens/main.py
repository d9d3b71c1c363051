"""The main screen: the sessions, the open chat, what waits, and where people write.

Nothing is decided here: `model` says what is shown, `Controller` talks to the host. Changes are gathered and painted
at most so many times a second, less often where painting is slow.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, ClassVar, Final, ParamSpec, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input

from holdfast.attach.controller import Changed, Controller
from holdfast.attach.model import keys as keyboard
from holdfast.attach.model import sessions
from holdfast.attach.model.chat import can_resume
from holdfast.attach.paint import bars
from holdfast.attach.screens.desk import Desk
from holdfast.attach.widgets.bar import Bar
from holdfast.attach.widgets.conversation import Conversation
from holdfast.attach.widgets.session_list import SessionList
from holdfast.attach.widgets.sessions import Sessions
from holdfast.attach.widgets.transcript import Transcript
from holdfast.protocol.errors import HoldfastError

__all__ = ["MainScreen"]

P = ParamSpec("P")

_FRAME: Final = 0.04
"""Seconds between two paintings: 25 a second look like flowing text and leave a terminal over SSH its time."""

_SHARE: Final = 4
"""Painting takes at most a quarter of the time: after a slow one comes a longer pause."""

_EVERYTHING: Final = ~Changed(0)


class MainScreen(Screen[None]):
    """On a narrow terminal the list and the chat take turns."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - declared so by Textual

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "decide(True)", "approve", priority=True),
        Binding("ctrl+n", "decide(False)", "deny", priority=True),
        Binding("ctrl+o", "look", "look closer", priority=True),
        Binding("ctrl+g", "next_waiting", "next that needs you", priority=True),
        Binding("ctrl+l", "toggle_list", "sessions", priority=True),
        Binding("ctrl+t", "new", "new session", priority=True),
        Binding("f1", "help", "help", priority=True),
        # While the transcript has the keys:
        Binding("y", "decide(True)", show=False),
        Binding("n", "decide(False)", show=False),
        *(Binding(str(number), f"choose('{number}')", show=False) for number in range(1, 10)),
        Binding("o", "look", show=False),
        Binding("e", "edit", show=False),
        Binding("v", "view", show=False),
        Binding("c", "copy", show=False),
        Binding("left_square_bracket", "walk_chats(-1)", show=False),
        Binding("right_square_bracket", "walk_chats(1)", show=False),
        Binding("i,escape,tab", "write", show=False),
        Binding("question_mark", "help", show=False),
    ]

    def __init__(self, controller: Controller, now: Callable[[], datetime], settle: float) -> None:
        super().__init__()
        self._controller = controller
        self._now = now
        self.desk = Desk(self, controller, self.perform, settle)
        self._dirty = Changed(0)
        self._is_dirty = asyncio.Event()

    def compose(self) -> ComposeResult:
        yield Bar(id="status", classes="bar")
        with Horizontal():
            yield Sessions(id="sessions")
            yield Conversation(self._controller, self.perform, id="conversation")
        yield Bar(id="keys", classes="bar")

    @property
    def conversation(self) -> Conversation:
        return self.query_one(Conversation)

    @property
    def list(self) -> SessionList:
        return self.query_one(SessionList)

    @property
    def sessions(self) -> Sessions:
        return self.query_one(Sessions)

    def on_mount(self) -> None:
        self._controller.tell = self.changed
        self.set_interval(1.0, self._tick)
        self.run_worker(self._controller.watch())
        self.run_worker(self._keep_painting())
        if self._controller.session is None:
            self.show_list(True)
            self.changed(_EVERYTHING)
        else:
            self.show_all()

    # Painting

    def changed(self, what: Changed) -> None:
        """Something is to be painted, together with whatever else changes until then."""
        self._dirty |= what
        self._is_dirty.set()

    async def _keep_painting(self) -> None:
        while await self._is_dirty.wait():
            began = time.monotonic()
            what, self._dirty = self._dirty, Changed(0)
            self._is_dirty.clear()
            self._paint(what)
            await asyncio.sleep(max(_FRAME, _SHARE * (time.monotonic() - began)))

    def show_all(self) -> None:
        """Another session is open: show all of it at once, and let people write."""
        self._paint(_EVERYTHING)
        self.write()

    def _paint(self, what: Changed) -> None:
        with self.app.batch_update():
            if what & (Changed.SESSION | Changed.CHAT | Changed.CONTENTS | Changed.STATUS):
                self.conversation.show_session()
                self.conversation.show_chat(self._now())
                self.desk.renew(self.conversation.asks)
                if self._controller.session is None and not self.has_class("-list"):
                    self.show_list(True)
            if what & (Changed.LIST | Changed.STATUS | Changed.SESSION):
                self._show_list()
                self._show_status()
            self._show_keys()
        if what & (Changed.SESSION | Changed.CHAT) and self._controller.is_unread:
            self.perform("mark the session as read", self._controller.read)

    def _tick(self) -> None:
        """Time goes by: ages and durations."""
        state = self.conversation.state
        if state is not None and state.active_turn is not None:
            self.conversation.show_waiting(self._now())
        self._show_list()

    @on(Conversation.Resized)
    def _resized(self) -> None:
        self.changed(_EVERYTHING)

    def on_resize(self) -> None:
        self.changed(_EVERYTHING)

    def _show_list(self) -> None:
        session = self._controller.session
        self.sessions.show(self._controller.sessions, self._now(), session.uri if session is not None else None)

    def _show_status(self) -> None:
        host = self._controller.host
        needs = sessions.need_you(self._controller.sessions)
        text = bars.status_text(
            host.status.value, host.reason, host.address, needs, self._next_waiting() is not None, self.size.width - 2
        )
        self.query_one("#status", Bar).show(text)
        self.set_class(not self._controller.is_live, "-away")

    def _show_keys(self) -> None:
        text = bars.keys_text(keyboard.keys(self._keys_now()), self.size.width - 2, last=keyboard.LAST)
        self.query_one("#keys", Bar).show(text)

    def _keys_now(self) -> keyboard.Now:
        state, session = self.conversation.state, self._controller.session
        return keyboard.Now(
            focus=self._focus(),
            has_session=session is not None,
            has_ask=bool(self.conversation.asks),
            is_busy=state is not None and state.active_turn is not None,
            can_resume=state is not None and can_resume(state),
            has_queue=state is not None and bool(state.queued_messages or state.steering_message),
            has_several_chats=session is not None and session.is_followed and len(session.chats) > 1,
            others_need_you=self._next_waiting() is not None,
        )

    def _focus(self) -> keyboard.Focus:
        if isinstance(self.focused, SessionList | Input):
            return keyboard.Focus.LIST
        return keyboard.Focus.TRANSCRIPT if isinstance(self.focused, Transcript) else keyboard.Focus.COMPOSER

    def on_descendant_focus(self, _: events.DescendantFocus) -> None:
        self.conversation.show_ask()
        self._show_keys()

    # Doing

    def perform(self, doing: str, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
        """Do something that asks the host; people are told if it goes wrong."""

        async def attempt() -> None:
            try:
                await work(*args, **kwargs)
            except HoldfastError as error:
                self.notify(f"Cannot {doing}: {error}", severity="error", markup=False)

        # Not a coroutine: one that is cancelled before it begins would never be awaited.
        self.run_worker(cast(Any, attempt))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Keys that mean nothing now are left to whoever has the focus."""
        return self.is_mounted and bool(self.conversation.asks) if action in ("decide", "look") else True

    def action_help(self) -> None:
        self.desk.help()

    def action_decide(self, approves: bool) -> None:
        self.desk.decide(self.conversation.asks, approves)

    def action_choose(self, key: str) -> None:
        self.desk.choose(self.conversation.asks, key)

    def action_look(self) -> None:
        self.desk.look(self.conversation.asks)

    def action_edit(self) -> None:
        self.desk.edit(self.conversation.asks)

    def action_view(self) -> None:
        self.desk.view(self.conversation.transcript.selected_block)

    def action_copy(self) -> None:
        self.desk.copy(self.conversation.transcript.selected_block)

    # Sessions and chats

    def show_list(self, shown: bool) -> None:
        """On a narrow terminal: the list instead of the chat, or the chat."""
        self.set_class(shown, "-list")
        if shown:
            self.list.focus()

    def write(self) -> None:
        """The keys are the composer's."""
        self.show_list(False)
        self.conversation.write()

    def action_write(self) -> None:
        if self._controller.session is not None:
            self.write()

    def action_toggle_list(self) -> None:
        if isinstance(self.focused, SessionList | Input) and self._controller.session is not None:
            self.write()
        else:
            self.show_list(True)

    def open(self, uri: str) -> None:
        """Show a session."""
        self.conversation.writing.leave()
        self.perform("open the session", self._open, uri)

    async def _open(self, uri: str) -> None:
        await self._controller.open(uri)
        self.show_all()

    @on(SessionList.OptionSelected)
    def _open_selected(self, event: SessionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.open(event.option_id)

    def _next_waiting(self) -> str | None:
        """The next session, other than the open one, that waits for a person."""
        session = self._controller.session
        return sessions.next_that_needs_you(self._controller.sessions, session.uri if session else None)

    def action_next_waiting(self) -> None:
        uri = self._next_waiting()
        if uri is not None:
            self.open(uri)

    def action_walk_chats(self, by: int) -> None:
        uri = self.conversation.neighbour(by)
        if uri is not None:
            self.conversation.writing.leave()
            self.perform("open the chat", self._walk_to, uri)

    async def _walk_to(self, chat: str) -> None:
        if self._controller.session is not None:
            await self._controller.open(self._controller.session.uri, chat)
            self._paint(_EVERYTHING)

    def action_new(self) -> None:
        self.desk.new()

    @on(SessionList.Wanted)
    def _wanted(self, event: SessionList.Wanted) -> None:
        if event.what == "new":
            self.desk.new()
        elif event.uri is not None:
            self.desk.session(event.what, event.uri)
