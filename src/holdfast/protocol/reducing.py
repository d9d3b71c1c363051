"""Small tools that every reducer is made of.

Reducers are arithmetic: no clock, no ids, no logging, no mutation. When nothing changes, the very same state
object comes back, so that `after is before` is a cheap question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from holdfast.protocol.codec import Unknown, Wire
from holdfast.protocol.common import URI, JsonObject

__all__ = [
    "Handler",
    "by_table",
    "entry_id",
    "exchanged",
    "find",
    "merged_values",
    "put",
    "upsert",
    "with_directory",
    "without",
    "without_directory",
]

S = TypeVar("S", bound=Wire)
T = TypeVar("T")

Handler = Callable[[Any, Any], Any]
"""Takes a state and one type of action. A table maps action types to handlers."""

_SCALARS: Final = (str, int, float, bool, type(None))


def by_table(table: Mapping[type, Handler]) -> Callable[[S, Wire | Unknown], S]:
    """Make a reducer of a table; an action the table does not list changes nothing."""
    find_handler = table.get

    def reduce(state: S, action: Wire | Unknown) -> S:
        """The state after an action; the same object if it changes nothing."""
        handler = find_handler(type(action))
        return state if handler is None else handler(state, action)

    return reduce


def put(value: S, /, **changes: Any) -> S:
    """Replace attributes. Setting a string, number, flag or None to what it already is changes nothing."""
    for name, new in changes.items():
        current = getattr(value, name)
        if current is not new and not (isinstance(new, _SCALARS) and current == new):
            return replace(value, **changes)
    return value


def find(items: tuple[T, ...] | None, key: Callable[[T], object], value: object) -> int:
    """The index of the first entry with this key, or -1."""
    for index, item in enumerate(items or ()):
        if key(item) == value:
            return index
    return -1


def upsert(items: tuple[T, ...] | None, item: T, key: Callable[[T], object]) -> tuple[T, ...]:
    """Put an entry where one with its key is, or at the end."""
    items = items or ()
    index = find(items, key, key(item))
    return (*items, item) if index < 0 else exchanged(items, index, item)


def exchanged(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    """The tuple with another entry in one place. By way of a list: that copies twice and is still the fastest."""
    copy = list(items)
    copy[index] = item
    return tuple(copy)


def without(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    """The tuple less one entry."""
    return items[:index] + items[index + 1 :]


def entry_id(entry: object) -> object:
    """The `id` of an entry of an open union, known or not; None if it has none."""
    return entry.raw.get("id") if isinstance(entry, Unknown) else getattr(entry, "id", None)


def merged_values(values: JsonObject, changes: JsonObject, replace_all: bool | None) -> JsonObject:
    """Configuration values after a change: a shallow merge, or the new values alone."""
    return dict(changes) if replace_all else {**values, **changes}


def with_directory(directories: tuple[URI, ...] | None, directory: URI) -> tuple[URI, ...] | None:
    """Append a directory that is not there yet."""
    return directories if directories and directory in directories else (*(directories or ()), directory)


def without_directory(directories: tuple[URI, ...] | None, directory: URI) -> tuple[URI, ...] | None:
    """Remove the first occurrence of a directory; the list may become empty but stays."""
    if not directories or directory not in directories:
        return directories
    return without(directories, directories.index(directory))
