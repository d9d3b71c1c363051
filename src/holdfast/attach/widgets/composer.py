"""Where people type: Enter sends, the box grows with the text."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

__all__ = ["Composer"]


class Composer(TextArea):
    """Tells what was typed and when it is to be sent. While `picks` is set, the list above has the arrows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "send", priority=True, key_display="⏎"),
        Binding("ctrl+j,shift+enter,alt+enter", "newline", "new line", show=False, priority=True),
        Binding("tab", "pick", "complete", show=False, priority=True),
        Binding("escape", "leave", "read", key_display="esc", priority=True),
        Binding("up", "up", "up", show=False, priority=True),
        Binding("down", "down", "down", show=False, priority=True),
    ]

    class Sent(Message):
        """Enter was pressed on some text."""

    class Left(Message):
        """Escape was pressed, or up in an empty box: the keys are to be the transcript's."""

    class Picked(Message):
        """What is highlighted among the completions is wanted."""

    class Walked(Message):
        """The highlight among the completions is to move."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    class Dismissed(Message):
        """No completion is wanted."""

    class Typed(Message):
        """A person changed the text or moved in it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            compact=True,
            placeholder="Write a message",
        )
        self.picks = False

    @property
    def cursor(self) -> int:
        """The cursor as an offset into the text."""
        row, column = self.cursor_location
        lines = self.text.split("\n")
        return sum(len(line) + 1 for line in lines[:row]) + column

    def put(self, text: str, cursor: int | None = None) -> None:
        """Replace what stands here; that is nobody's typing."""
        with self.prevent(TextArea.Changed, TextArea.SelectionChanged):
            self.text = text
            before = text[: len(text) if cursor is None else cursor]
            self.move_cursor((before.count("\n"), len(before) - (before.rfind("\n") + 1)))

    def action_submit(self) -> None:
        self.post_message(self.Picked() if self.picks else self.Sent())

    def action_newline(self) -> None:
        self.insert("\n")

    def action_pick(self) -> None:
        if self.picks:
            self.post_message(self.Picked())
        else:
            self.post_message(self.Left())

    def action_leave(self) -> None:
        self.post_message(self.Dismissed() if self.picks else self.Left())

    def action_up(self) -> None:
        if self.picks:
            self.post_message(self.Walked(-1))
        elif not self.text:
            self.post_message(self.Left())
        else:
            self.action_cursor_up()

    def action_down(self) -> None:
        if self.picks:
            self.post_message(self.Walked(1))
        else:
            self.action_cursor_down()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.post_message(self.Typed())

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self.post_message(self.Typed())

    def on_blur(self, _: events.Blur) -> None:
        if self.picks:
            self.post_message(self.Dismissed())
