"""Finding the parts of the active turn by their id, and knowing how many of them wait for a person.

Ids may repeat: text goes to the first part that has one, a tool action to every call. So a search has to look at
all parts, and while a turn with many of them streams, that would cost more than everything else an action does.
What a search found is therefore held, for the exact tuple of parts it holds for, and goes on to the tuple that an
action makes of it: a memo that can only be right or absent, and never changes a result.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from holdfast.protocol.chat.parts import MarkdownResponsePart, ReasoningResponsePart, ToolCallResponsePart
from holdfast.protocol.codec import Unknown

__all__ = ["Places", "claim_places", "hold_places", "part_id", "release_places"]

# How many turns may be written to by turns without searching again. Each keeps one turn's parts alive, which its
# chat does anyway unless the turn was cut off: those that end are released.
_MOST_TURNS: Final = 256


class Places:
    """What is known of one tuple of parts. Whoever claimed it may change it, and holds it for the next tuple."""

    __slots__ = ("_by_id", "_repeated", "parts", "waiting")
    parts: tuple[Any, ...]
    waiting: int | None
    """How many parts wait; None if nobody has counted."""
    _by_id: dict[str, int] | None
    _repeated: dict[str, tuple[int, ...]]

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts
        self.waiting = None if parts else 0
        self._by_id = None if parts else {}
        self._repeated = {}

    def first(self, wanted: str) -> int:
        """The index of the first part with this id, or -1."""
        by_id = self._by_id
        return (self._search() if by_id is None else by_id).get(wanted, -1)

    def all(self, wanted: str) -> tuple[int, ...]:
        """The indices of all parts with this id, in order."""
        by_id = self._by_id
        index = (self._search() if by_id is None else by_id).get(wanted)
        if index is None:
            return ()
        return (self._repeated and self._repeated.get(wanted)) or (index,)

    def append(self, part: Any, *, waits: bool) -> None:
        """A part comes at the end."""
        if self._by_id is not None:
            self._add(self._by_id, len(self.parts), part_id(part))
        if self.waiting is not None:
            self.waiting += waits

    def _search(self) -> dict[str, int]:
        by_id: dict[str, int] = {}
        self._by_id = by_id
        for index, id in enumerate(map(part_id, self.parts)):
            self._add(by_id, index, id)
        return by_id

    def _add(self, by_id: dict[str, int], index: int, id: object) -> None:
        # Only strings: no action names anything else, and a dict might not take it.
        if type(id) is str:
            first = by_id.setdefault(id, index)
            if first != index:
                self._repeated[id] = (*self._repeated.get(id, (first,)), index)


# From the identity of a tuple of parts to what is known of it.
_held: Final[dict[int, Places]] = {}


def part_id(part: Any) -> object:
    """The id of a response part; None for kinds that have none."""
    kind = type(part)
    if kind is MarkdownResponsePart or kind is ReasoningResponsePart:
        return part.id
    if kind is ToolCallResponsePart:
        call = part.tool_call
        return call.raw.get("toolCallId") if type(call) is Unknown else call.tool_call_id
    return part.raw.get("id") if kind is Unknown else None


def claim_places(parts: tuple[Any, ...]) -> Places:
    """What is known of these parts, perhaps nothing yet. Nobody else has it until it is held again."""
    places = _held.pop(id(parts), None)
    return places if places is not None and places.parts is parts else Places(parts)


def hold_places(parts: tuple[Any, ...], places: Places) -> None:
    """Keep what is known of `parts`, which may have been made of those it was claimed for."""
    places.parts = parts
    if len(_held) >= _MOST_TURNS:
        with suppress(RuntimeError, StopIteration):  # another thread holds or claims at this moment
            _held.pop(next(iter(_held)), None)
    _held[id(parts)] = places


def release_places(parts: tuple[Any, ...]) -> None:
    """Forget a turn that ended."""
    _held.pop(id(parts), None)
