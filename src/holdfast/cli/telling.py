"""A turn as it happens: what the agent says on stdout, what it does on stderr.

On a terminal that shows both, progress begins on a line of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from holdfast.cli.output import clean, emit, is_person, remark
from holdfast.cli.render.blocks import file_of, tool_of
from holdfast.cli.render.plain import tool_line
from holdfast.client import events

__all__ = ["Teller"]


class Teller:
    """`text` off: nothing goes to stdout. `progress` off: nothing goes to stderr."""

    def __init__(self, *, text: bool = True, progress: bool = True, reasoning: bool = False) -> None:
        self._has_text = text
        self._has_progress = progress
        self._has_reasoning = reasoning
        self._is_between = False
        self._tail = "\n\n"
        self._for_person = is_person()
        self._shares_screen = self._for_person and is_person(sys.stderr)

    def tell(self, event: Any) -> None:
        """Show an event, if there is something to show of it."""
        teller = _TELLERS.get(type(event))
        if teller is not None:
            teller(self, event)
        if not isinstance(event, events.Text | events.Reasoning | events.Usage):
            self._is_between = True

    def end(self) -> None:
        """Close the last line."""
        self._newlines(1)

    def _newlines(self, count: int) -> None:
        """Have the text on stdout end with so many newlines at least."""
        missing = count - (len(self._tail) - len(self._tail.rstrip("\n")))
        if missing > 0:
            self._write("\n" * missing)

    def _write(self, text: str) -> None:
        # A reader gets what was said to the letter; a terminal is not to be steered by it.
        emit(clean(text) if self._for_person else text)
        self._tail = (self._tail + text)[-2:]

    def note(self, text: str) -> None:
        """Progress, whatever it is."""
        if not self._has_progress:
            return
        if self._shares_screen:
            self.end()
        remark(text)

    def _text(self, event: events.Text) -> None:
        if not self._has_text or not event.text:
            return
        # A text may go on in a new part; only what comes between two parts tells them apart.
        if self._is_between:
            self._newlines(2)
            self._is_between = False
        self._write(event.text)

    def _reasoning(self, event: events.Reasoning) -> None:
        if self._has_reasoning:
            if self._shares_screen:
                self.end()
            sys.stderr.write(clean(event.text))
            sys.stderr.flush()

    def _tool(self, event: events.ToolReady | events.ToolFinished) -> None:
        tool = tool_of(event.call)
        self.note(tool_line(tool))
        for note in tool.notes if isinstance(event, events.ToolFinished) else ():
            self.note(f"  {note}")

    def _notice(self, event: events.Notice) -> None:
        self.note(f"* {event.text}")

    def _rewritten(self, _: events.Rewritten) -> None:
        self.note("* the connection was lost, and what was said changed meanwhile; it is told again")

    def _attachment(self, event: events.Attachment) -> None:
        self.note(f"* {file_of(event.part).name}")


_TELLERS: Final[dict[type, Callable[[Teller, Any], None]]] = {
    events.Text: Teller._text,
    events.Reasoning: Teller._reasoning,
    events.ToolReady: Teller._tool,
    events.ToolFinished: Teller._tool,
    events.Notice: Teller._notice,
    events.Rewritten: Teller._rewritten,
    events.Attachment: Teller._attachment,
}
