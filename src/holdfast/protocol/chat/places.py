"""Finding a part of the active turn by its id.

The first part with an id is meant, even if a peer used the id twice, so a search has to start at the front.
While text streams into the last of many parts that search would cost more than everything else an action
does. The place of the part that was just written is therefore held, for the exact tuple it was written to:
a memo that can only be right or absent, and never changes a result.
"""

from __future__ import annotations

from typing import Any, Final

from holdfast.protocol.chat.parts import ToolCallResponsePart
from holdfast.protocol.codec import Unknown

__all__ = ["find_part", "hold_place", "part_id", "release_place"]

# How many streams may be written to in turn without searching again. Each keeps one turn's parts alive.
_MOST_PLACES: Final = 64

# From the identity of a tuple of parts to that tuple, the id of a part, and its index.
_places: Final[dict[int, tuple[tuple[Any, ...], str, int]]] = {}


def part_id(part: Any) -> object:
    """The id of a response part; None for kinds that have none."""
    if type(part) is ToolCallResponsePart:
        call = part.tool_call
        return call.raw.get("toolCallId") if isinstance(call, Unknown) else call.tool_call_id
    return part.raw.get("id") if isinstance(part, Unknown) else getattr(part, "id", None)


def find_part(parts: tuple[Any, ...], wanted: str) -> int:
    """The index of the first part with this id, or -1."""
    place = _places.pop(id(parts), None)
    if place is not None and place[0] is parts and place[1] == wanted:
        return place[2]
    for index, part in enumerate(parts):
        if part_id(part) == wanted:
            return index
    return -1


def hold_place(parts: tuple[Any, ...], held: str, index: int) -> None:
    """Remember where the part is that `parts` was just made for."""
    if len(_places) >= _MOST_PLACES:
        _places.pop(next(iter(_places)), None)
    _places[id(parts)] = (parts, held, index)


def release_place(parts: tuple[Any, ...]) -> None:
    """Forget a turn that ended."""
    _places.pop(id(parts), None)
