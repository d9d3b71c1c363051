"""Small questions: a line of text, a longer text, one of several things, yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

__all__ = ["ConfirmScreen", "EditScreen", "PickScreen", "PromptScreen"]


class PromptScreen(ModalScreen[str | None]):
    """Asks for a line. Escape gives None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]

    def __init__(self, title: str, value: str = "", *, about: str = "", password: bool = False) -> None:
        super().__init__()
        self._title, self._value, self._about, self._password = title, value, about, password

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._title, style="bold"))
            if self._about:
                yield Static(Text(self._about, style="dim"))
            yield Input(self._value, password=self._password, select_on_focus=False)
            yield Static(Text("⏎ ok  esc cancel", style="dim"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class EditScreen(ModalScreen[str | None]):
    """Asks for a longer text: `^s` takes it, Escape gives None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "take", "take", priority=True),
        Binding("escape", "dismiss(None)", "cancel", priority=True),
    ]

    def __init__(self, title: str, value: str) -> None:
        super().__init__()
        self._title, self._value = title, value

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog large"):
            yield Static(Text(self._title, style="bold"))
            yield TextArea(self._value, soft_wrap=True, show_line_numbers=False, compact=True)
            yield Static(Text("^s takes it  esc cancel", style="dim"))

    def action_take(self) -> None:
        self.dismiss(self.query_one(TextArea).text)


class PickScreen(ModalScreen[str | None]):
    """Asks for one of several things, by id. Escape gives None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel"),
        Binding("j", "move(1)", "down", show=False),
        Binding("k", "move(-1)", "up", show=False),
    ]

    def __init__(self, title: str, choices: Sequence[tuple[str, str, str]], current: str | None = None) -> None:
        super().__init__()
        self._title, self._choices, self._current = title, choices, current

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._title, style="bold"))
            yield OptionList(*(Option(_line(label, about), id=id) for id, label, about in self._choices))
            yield Static(Text("↑↓ move  ⏎ take  esc cancel", style="dim"))

    def on_mount(self) -> None:
        ids = [id for id, _, _ in self._choices]
        choices = self.query_one(OptionList)
        choices.highlighted = ids.index(self._current) if self._current in ids else 0
        choices.focus()

    def action_move(self, by: int) -> None:
        choices = self.query_one(OptionList)
        choices.action_cursor_down() if by > 0 else choices.action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)


def _line(label: str, about: str) -> Text:
    return Text.assemble(label, (f"  {about}" if about else "", "dim"))


class ConfirmScreen(ModalScreen[bool]):
    """Asks whether something is really wanted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "yes"),
        Binding("n,escape", "dismiss(False)", "no"),
    ]

    def __init__(self, title: str, about: str) -> None:
        super().__init__()
        self._title, self._about = title, about

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._title, style="bold"))
            yield Static(Text(self._about, style="dim"))
            yield Static(Text("y yes  n no", style="dim"))
