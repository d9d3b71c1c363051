"""How a step finds its shapes wherever they stand in a value, and converts them on the way.

On the way down what is inside is converted first, then the object around it; on the way up the other way round, so
that a conversion always sees its object in the newer version's inner form and the layout of one side only. Where
nothing is to be done the very same object comes back. A walk is made once for each shape and then only run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.layout import LAYOUT, SNAPSHOT_STATE, STATE_SHAPES, kind_of_state, nested, reachable

__all__ = ["DROP", "Convert", "Shape", "Walk"]


class _Drop:
    def __repr__(self) -> str:
        return "DROP"


DROP: Final = _Drop()
"""Instead of a value: the other version has nothing like it; it is left out of its list, map or object."""

Convert: TypeAlias = Callable[[Any, Context], Any]

_Rows: TypeAlias = list[tuple[str, Convert]]
"""The keys of a shape in which something may have to be converted, and what does that."""


class Shape(NamedTuple):
    """Both ways of one shape; None where there is nothing to do."""

    down: Convert | None = None
    up: Convert | None = None


class Walk:
    """One way of a step."""

    def __init__(self, shapes: Mapping[str, Shape], *, up: bool) -> None:
        found = ((name, shape.up if up else shape.down) for name, shape in shapes.items())
        self._own: dict[str, Convert] = {name: own for name, own in found if own is not None}
        self._up = up
        self._made: dict[str, Convert | None] = {}

    def of(self, shape: str) -> Convert | None:
        """What converts values of a shape; None if nothing in them ever is."""
        if shape not in self._made:
            self._make(shape)
        return self._made[shape]

    def _make(self, shape: str) -> None:
        if self._own.keys().isdisjoint(reachable(shape)):
            self._made[shape] = None
        elif shape == SNAPSHOT_STATE:
            self._made[shape] = self._state
        else:
            rows: _Rows = []
            # Before its rows: a shape may stand inside itself.
            self._made[shape] = self._around(shape, rows)
            rows += [(key, each) for key, spec in LAYOUT.get(shape, {}).items() if (each := self._held(spec))]

    def _state(self, value: Any, context: Context) -> Any:
        """One of several shapes, by its keys."""
        kind = kind_of_state(value) if isinstance(value, dict) else None
        convert = self.of(STATE_SHAPES[kind]) if kind is not None else None
        return value if convert is None else convert(value, context)

    def _around(self, shape: str, rows: _Rows) -> Convert:
        """The conversion of a shape: of its own, and of what stands in it."""
        own = self._own.get(shape)
        inside = _in_snapshot(rows) if shape == "snapshot" else _inside(rows)
        if own is None:
            return inside
        if self._up:
            return _one_then_other(own, inside)
        return _one_then_other(inside, own)

    def _held(self, spec: str) -> Convert | None:
        """The conversion of what a key holds: one value, a list or a map of them."""
        shape, held = nested(spec)
        convert = self.of(shape)
        return None if convert is None else _HOLDING[held](convert)


def _one_then_other(one: Convert, other: Convert) -> Convert:
    def both(value: Any, context: Context) -> Any:
        value = one(value, context)
        return value if value is DROP else other(value, context)

    return both


def _inside(rows: _Rows) -> Convert:
    def convert(value: Any, context: Context) -> Any:
        if not isinstance(value, dict):
            return value
        changed: Json | None = None
        for key, each in rows:
            if key in value:
                before = value[key]
                after = each(before, context)
                if after is not before:
                    changed = dict(value) if changed is None else changed
                    if after is DROP:
                        del changed[key]
                    else:
                        changed[key] = after
        return value if changed is None else changed

    return convert


def _in_snapshot(rows: _Rows) -> Convert:
    """What stands in a snapshot is about the snapshot's channel."""
    inside = _inside(rows)

    def convert(value: Any, context: Context) -> Any:
        if not isinstance(value, dict):
            return value
        return inside(value, context.at(str(value.get("resource", ""))))

    return convert


# How values are held. Other things than declared are left as they are.


def _alone(convert: Convert) -> Convert:
    def one(value: Any, context: Context) -> Any:
        # A list where one object is declared is another thing of the same name, and none of ours.
        return value if value is None or isinstance(value, list) else convert(value, context)

    return one


def _listed(convert: Convert) -> Convert:
    def each_one(value: Any, context: Context) -> Any:
        if not isinstance(value, list):
            return value
        found, same = [], True
        for each in value:
            after = convert(each, context)
            same = same and after is each
            if after is not DROP:
                found.append(after)
        return value if same else found

    return each_one


def _mapped(convert: Convert) -> Convert:
    def each_one(value: Any, context: Context) -> Any:
        if not isinstance(value, dict):
            return value
        found = {key: convert(each, context) for key, each in value.items()}
        same = all(found[key] is value[key] for key in value)
        return value if same else {key: each for key, each in found.items() if each is not DROP}

    return each_one


_HOLDING: Final[dict[str, Callable[[Convert], Convert]]] = {"": _alone, "[]": _listed, "{}": _mapped}
