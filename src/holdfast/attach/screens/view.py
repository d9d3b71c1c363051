"""Something long on a screen of its own: the help, a whole block, what waits for a decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from holdfast.attach.model.asks import AskView, Choice
from holdfast.attach.model.contents import Contents
from holdfast.attach.paint.bars import keys_text
from holdfast.attach.paint.blocks import says
from holdfast.attach.paint.console import Line, lines_of
from holdfast.attach.paint.sections import sections_lines

__all__ = ["DecideScreen", "Pager", "ViewScreen"]

Draw = Callable[[int], list[Line]]
"""The lines for a width."""


class Pager(ScrollView, can_focus=True):
    """Lines to scroll through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "up", show=False),
        Binding("down,j", "scroll_down", "down", show=False),
        Binding("pageup,b", "page_up", "page up", show=False),
        Binding("pagedown,space", "page_down", "page down", show=False),
        Binding("home,g", "scroll_home", "top", show=False),
        Binding("end,G", "scroll_end", "end", show=False),
    ]

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self._draw = draw
        self._strips: list[Strip] = []

    def draw(self, draw: Draw | None = None) -> None:
        """Show something else, or the same again."""
        self._draw = draw or self._draw
        width = self.scrollable_content_region.width
        self._strips = [Strip(line) for line in self._draw(max(width - 2, 1))]
        self.virtual_size = Size(width, len(self._strips))
        self.refresh()

    def on_resize(self, _: events.Resize) -> None:
        self.draw()

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        strip = self._strips[line] if line < len(self._strips) else Strip.blank(0)
        return strip.adjust_cell_length(self.size.width).apply_style(self.rich_style)


class ViewScreen(Screen[None]):
    """Lines, and Escape to go back."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,v,f1", "dismiss(None)", "back")]

    def __init__(self, title: str, draw: Draw) -> None:
        super().__init__()
        self._title, self._draw = title, draw

    def compose(self) -> ComposeResult:
        yield Static(Text(self._title, style="bold", no_wrap=True, overflow="ellipsis"), classes="bar")
        yield Pager(self._draw)
        yield Static(keys_text([("↑↓", "scroll"), ("esc", "back")], 78), classes="bar")


class DecideScreen(Screen[Choice | str | None]):
    """Everything a tool has to say before somebody decides; gives the choice, or what to do first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "back"),
        Binding("y,ctrl+y", "choose('y')", "yes", priority=True),
        Binding("n,ctrl+n", "choose('n')", "no", priority=True),
        *(Binding(str(number), f"choose('{number}')", show=False) for number in range(1, 10)),
        Binding("e", "edit", "edit"),
        Binding("d", "reason", "deny and say why"),
    ]

    def __init__(self, ask: AskView, contents: Contents) -> None:
        super().__init__()
        self.ask = ask
        self._contents = contents

    def compose(self) -> ComposeResult:
        yield Static(Text.assemble(("? ", "bold yellow"), (self.ask.title, "bold"), no_wrap=True), classes="bar")
        yield Pager(self._lines)
        with VerticalScroll(id="choices"):
            yield Static(self._choices())

    def _lines(self, width: int) -> list[Line]:
        return [
            *lines_of(says(self.ask.says), width),
            [],
            *sections_lines(self.ask.sections, width, self._contents, None),
        ]

    def _choices(self) -> Text:
        keys: list[tuple[str, str]] = [(choice.key, choice.label) for choice in self.ask.choices]
        if self.ask.is_editable:
            keys.append(("e", "edit it, then approve"))
        if self.ask.choice(approves=False) is not None:
            keys.append(("d", "deny and say why"))
        return Text("\n").join(_key(key, label) for key, label in [*keys, ("esc", "decide later")])

    def renew(self, ask: AskView) -> None:
        """The same wait has more to say, or its content was read."""
        self.ask = ask
        self.query_one(Pager).draw()
        self.query_one("#choices Static", Static).update(self._choices())

    def action_choose(self, key: str) -> None:
        for choice in self.ask.choices:
            if choice.key == key:
                self.dismiss(choice)

    def action_edit(self) -> None:
        if self.ask.is_editable:
            self.dismiss("edit")

    def action_reason(self) -> None:
        if self.ask.choice(approves=False) is not None:
            self.dismiss("reason")


def _key(key: str, label: str) -> Text:
    return Text.assemble((f"{key:>4} ", "bold cyan"), label)
