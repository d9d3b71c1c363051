"""The application: the screens, how they look, and what the command palette offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from holdfast.attach.controller import Controller
from holdfast.attach.screens.desk import SETTLE
from holdfast.attach.screens.main import MainScreen

__all__ = ["AttachApp"]


def _now() -> datetime:
    return datetime.now(UTC)


class AttachApp(App[None]):
    """`now` is what time it is; `settle` for how many seconds a new ask takes no decision."""

    TITLE = "holdfast"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "quit", priority=True)]

    def __init__(self, controller: Controller, *, now: Callable[[], datetime] = _now, settle: float = SETTLE) -> None:
        super().__init__()
        self.controller = controller
        self.main = MainScreen(controller, now, settle)

    def get_default_screen(self) -> Screen[None]:
        return self.main

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:  # noqa: ARG002
        """What there is beyond the keys."""
        desk, session = self.main.desk, self.controller.session
        yield SystemCommand("New session", "Choose an agent and where it works", desk.new)
        if session is not None:
            uri = session.uri
            yield SystemCommand("Rename", "Give this session another title", lambda: desk.session("rename", uri))
            yield SystemCommand("Archive", "Put this session away, or back", lambda: desk.session("archive", uri))
            yield SystemCommand("Delete", "With everything in it", lambda: desk.session("delete", uri))
            yield SystemCommand("Model", "Choose the model of what you send next", desk.model)
            yield SystemCommand(
                "Take back", "The message that was queued last", self.main.conversation.action_unqueue
            )
        yield SystemCommand("Help", "All keys", desk.help)
        yield SystemCommand("Theme", "Change the colours", self.action_change_theme)
        yield SystemCommand("Quit", "Sessions go on at the host", self.action_quit)
