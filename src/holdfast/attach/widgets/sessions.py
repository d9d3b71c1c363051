"""The sessions of the host, with what is searched for and whether the archive is shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from holdfast.attach.model.sessions import listing
from holdfast.attach.widgets.session_list import SessionList
from holdfast.protocol.session.state import SessionSummary

__all__ = ["Sessions"]


class Sessions(Vertical):
    """The list, and above it the search while there is one."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._sessions: tuple[Sequence[SessionSummary], datetime, str | None] | None = None
        self._archived = False

    def compose(self) -> ComposeResult:
        search = Input(placeholder="search", id="search", compact=True)
        search.display = False
        yield search
        yield SessionList(id="list")

    @property
    def list(self) -> SessionList:
        return self.query_one(SessionList)

    @property
    def search(self) -> Input:
        return self.query_one("#search", Input)

    def show(self, sessions: Sequence[SessionSummary], now: datetime, current: str | None) -> None:
        """Show these; `current` is the open one."""
        self._sessions = sessions, now, current
        self.list.show(listing(sessions, now, search=self.search.value, archived=self._archived), current)

    def _again(self) -> None:
        if self._sessions is not None:
            self.show(*self._sessions)

    @on(SessionList.Wanted)
    def _wanted(self, event: SessionList.Wanted) -> None:
        if event.what == "search":
            event.stop()
            self.search.display = True
            self.search.focus()
        elif event.what == "archived":
            event.stop()
            self._archived = not self._archived
            self._again()

    @on(Input.Changed)
    def _searched(self, event: Input.Changed) -> None:
        event.stop()
        self._again()

    @on(Input.Submitted)
    def _search_ended(self, event: Input.Submitted) -> None:
        event.stop()
        self.search.display = bool(self.search.value)
        self.list.focus()
