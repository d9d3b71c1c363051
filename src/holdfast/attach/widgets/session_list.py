"""The list of sessions."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from holdfast.attach.model import words
from holdfast.attach.model.sessions import TITLES, Group, Listing, Row

__all__ = ["SessionList"]

_MARKS: Final = {
    Group.NEEDS_YOU: ("?", "bold yellow"),
    Group.WORKING: ("●", "cyan"),
    Group.RECENT: (" ", ""),
    Group.ARCHIVED: (" ", "dim"),
}

_WIDE: Final = 60
"""Columns from which a row has room for everything on one line."""


class SessionList(OptionList):
    """Keeps its highlight on the session it is on, wherever that moves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "open", key_display="⏎"),
        Binding("j", "cursor_down", "down", show=False),
        Binding("k", "cursor_up", "up", show=False),
        Binding("n", "tell('new')", "new"),
        Binding("r", "tell('rename')", "rename"),
        Binding("a", "tell('archive')", "archive"),
        Binding("d", "tell('delete')", "delete", show=False),
        Binding("slash", "tell('search')", "search", key_display="/"),
        Binding("A", "tell('archived')", "archived", show=False),
    ]

    class Wanted(Message):
        """Something is to be done, with the highlighted session if there is one."""

        def __init__(self, what: str, uri: str | None) -> None:
            super().__init__()
            self.what = what
            self.uri = uri

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._listing = Listing(())
        self._current: str | None = None
        self._width = 0
        self._goes_to: str | None = None

    def show(self, listing: Listing, current: str | None) -> None:
        """Show these sessions; `current` is the open one."""
        shown = (self._listing, self._current, self._width)
        if current != self._current:
            self._goes_to = current  # also while the list is not on the screen
        self._listing, self._current, self._width = listing, current, self.scrollable_content_region.width
        if not self._width or shown == (self._listing, self._current, self._width):
            return
        wanted, self._goes_to = self._goes_to or self.highlighted_uri, None
        options = list(self._options_of(listing, current))
        ids = [option.id for option in options]
        if ids == [option.id for option in self.options]:
            for index, option in enumerate(options):
                self.replace_option_prompt_at_index(index, option.prompt)
        else:
            self.set_options(options)
        if wanted in ids:
            self.highlighted = ids.index(wanted)
        elif listing.rows:
            self.highlighted = 1

    @property
    def highlighted_uri(self) -> str | None:
        option = self.highlighted_option
        return option.id if option is not None else None

    def action_tell(self, what: str) -> None:
        self.post_message(self.Wanted(what, self.highlighted_uri))

    def on_resize(self, _: events.Resize) -> None:
        self.show(self._listing, self._current)

    def _options_of(self, listing: Listing, current: str | None) -> list[Option]:
        options: list[Option] = []
        group: Group | None = None
        for row in listing.rows:
            if row.group is not group:
                group = row.group
                number = sum(each.group is group for each in listing.rows)
                options.append(
                    Option(Text(f"{TITLES[group]} {number}", style="dim"), id=f"group {group}", disabled=True)
                )
            options.append(Option(_prompt(row, row.uri == current, self._width), id=row.uri))
        if not listing.rows:
            options.append(Option(Text("Nothing here. n makes a session.", style="dim"), id="nothing", disabled=True))
        if listing.hidden:
            more = f"{words.count(listing.hidden, 'session')} archived · A shows"
            options.append(Option(Text(more, style="dim"), id="hidden", disabled=True))
        return options


def _prompt(row: Row, is_current: bool, width: int) -> Text:
    """A row: one line where there is room, else two."""
    mark, style = ("✗", "red") if row.has_failed else _MARKS[row.group]
    title_style = "bold" if row.is_unread or is_current else ""
    head = Text.assemble((f"{mark} ", style), no_wrap=True)
    details = " · ".join(filter(None, (row.agent, row.detail)))
    if width >= _WIDE:
        room = width - 2 - len(row.age) - 2
        title = Text(words.shorten(row.title, max(room * 3 // 5, 10)), style=title_style)
        line = Text.assemble(head, title, ("  " + details, "dim"), no_wrap=True)
        line.truncate(room + 2, overflow="ellipsis", pad=True)
        return Text.assemble(line, (f"  {row.age}", "dim"), no_wrap=True)
    room = max(width - 3 - len(row.age), 4)
    title = Text(row.title, style=title_style)
    title.truncate(room - 2, overflow="ellipsis", pad=True)
    below = Text("  " + details, style="dim")
    below.truncate(max(width - 1, 4), overflow="ellipsis")
    return Text.assemble(head, title, (f" {row.age}", "dim"), "\n", below, no_wrap=True)
