"""A new session: which agent, where, and what it is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from holdfast.attach.model import words
from holdfast.protocol.root.state import AgentInfo

__all__ = ["NewScreen"]


class NewScreen(ModalScreen[tuple[str, str, str] | None]):
    """Gives agent, directory and title; None if it was not meant."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel"),
        Binding("ctrl+s", "make", "make", priority=True),
    ]

    def __init__(self, agents: Sequence[AgentInfo], directory: str) -> None:
        super().__init__()
        self._agents = agents
        self._directory = directory

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text("New session", style="bold"))
            yield OptionList(*(Option(_agent(each), id=each.provider) for each in self._agents), compact=True)
            yield Static(Text("Directory on the host", style="dim"))
            yield Input(self._directory, id="directory", select_on_focus=False)
            yield Static(Text("Title", style="dim"))
            yield Input(placeholder="the agent finds one", id="title")
            yield Static(Text("⏎ make  tab next  esc cancel", style="dim"))

    def on_mount(self) -> None:
        agents = self.query_one(OptionList)
        agents.highlighted = 0
        agents.focus()

    def on_option_list_option_selected(self) -> None:
        self.action_make()

    def on_input_submitted(self) -> None:
        self.action_make()

    def action_make(self) -> None:
        option = self.query_one(OptionList).highlighted_option
        if option is None or option.id is None:
            return
        directory, title = (self.query_one(f"#{name}", Input).value.strip() for name in ("directory", "title"))
        self.dismiss((option.id, directory, title))


def _agent(agent: AgentInfo) -> Text:
    about = words.one_line(agent.description)
    return Text.assemble(words.one_line(agent.display_name), (f"  {about}", "dim"), no_wrap=True, overflow="ellipsis")
