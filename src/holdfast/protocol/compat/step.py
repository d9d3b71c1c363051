"""One step between a version and the next newer one: a table of small conversions, and how it is applied.

A step converts *shapes* (see `layout`); the walk finds them wherever they stand. On the way down what is inside
is converted first, then the object around it; on the way up the other way round, so that a conversion always
sees its object in the newer version's inner form and the layout of one side only. Conversions never change what
they are given; they return the very same object where nothing is to be done, or `DROP` for what the other
version cannot express.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.layout import (
    LAYOUT,
    SNAPSHOT_STATE,
    STATE_SHAPES,
    action_shape,
    kind_of_state,
    nested,
    params_shape,
    reachable,
)
from holdfast.protocol.versions import ACTIONS, METHODS, NOTIFICATIONS, Version

__all__ = [
    "DROP",
    "Action",
    "Call",
    "Resync",
    "Shape",
    "Step",
    "actions_new_in",
    "dropping",
    "not_sent",
    "refused_before",
    "renamed",
    "unsaid_before",
    "without",
]


class _Drop:
    def __repr__(self) -> str:
        return "DROP"


DROP: Final = _Drop()
"""Instead of a value: the other version has nothing like it; it is left out of its list, map or object."""

Convert: TypeAlias = Callable[[Any, Context], Any]


class Shape(NamedTuple):
    """Both ways of one shape; None where there is nothing to do."""

    down: Convert | None = None
    up: Convert | None = None


UNCHANGED: Final = Shape()


class Action(NamedTuple):
    """An action and the channel it goes to, as one version writes them."""

    channel: str
    kind: str
    """The channel's kind, in the words of that version."""
    action: Json

    @property
    def type(self) -> str:
        return str(self.action.get("type", ""))


class Call(NamedTuple):
    """A request or a notification: its method and params."""

    method: str
    params: Json


ConvertAction: TypeAlias = Callable[[Action, Context], Iterable[Action]]
ConvertCall: TypeAlias = Callable[[Call, Context], Iterable[Call]]
"""None at all: it does not exist there. A request becomes exactly one, or is refused."""


class Resync(NamedTuple):
    """When an action, in 1.0 form, leaves clients below with a state that no action of theirs can mend."""

    why: str
    """What happened, for people; `docs/versions.md` lists it."""
    when: Callable[[Json, Context], bool] = lambda action, context: True  # noqa: ARG005


@dataclass(frozen=True)
class Step:
    """`older` is the version below; above it is the next one in `versions.BASELINES` (0.10.0 apart).

    `introduced` names the actions that are new above: what has no conversion of its own in `actions_down` is not
    sent below. `down`/`up` of a table are keyed by what the value is called on the side it comes from.
    """

    older: Version
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    introduced: frozenset[str] = frozenset()
    actions_down: Mapping[str, ConvertAction] = field(default_factory=dict)
    actions_up: Mapping[str, ConvertAction] = field(default_factory=dict)
    every_action: tuple[ConvertAction | None, ConvertAction | None] = (None, None)
    """Down and up of all actions, after (down) or before (up) their own conversion: for what all have in common."""
    requests: tuple[Mapping[str, ConvertCall], Mapping[str, ConvertCall]] = field(default_factory=lambda: ({}, {}))
    """Down (a newer client's, to an older host) and up (an older client's, to this host)."""
    notifications: tuple[Mapping[str, ConvertCall], Mapping[str, ConvertCall]] = field(
        default_factory=lambda: ({}, {})
    )
    """Down (this host's, to an older client) and up (an older host's, to this client). `action` is not among them."""
    every_call: tuple[ConvertCall | None, ConvertCall | None] = (None, None)
    """Down and up of all requests and notifications, after (down) or before (up) their own conversion."""
    results: Mapping[str, Shape] = field(default_factory=dict)
    """By the method's name above."""
    errors: Shape = UNCHANGED
    """The `error` object of a failed request, whatever the method."""
    method_errors: Mapping[str, Shape] = field(default_factory=dict)
    """The same for one method, by its name above."""
    resync: Mapping[str, Resync] = field(default_factory=dict)
    """Actions of 1.0 whose effect cannot be told below: the client is made to fetch snapshots."""
    clocked: frozenset[str] = frozenset()
    """Actions, by their names in 1.0, after which a reducer below sets `modifiedAt` to its own clock."""
    unseen: frozenset[str] = frozenset()
    """The kinds of channels that are new above: below, they are not there."""
    whole_history: bool = False
    """Below, a snapshot has all turns: there are no pages."""
    one_conversation: bool = False
    """Below, a session is its default chat, and there are no others."""
    answers_last: bool = False
    """Below, a reducer takes a question that is answered to the end of its turn."""
    raw_marks: tuple[bytes, ...] | None = None
    """What an encoded completed turn contains if this step may have to convert it; None: convert every one."""

    _rows: dict[str, tuple[tuple[str, str, str], ...]] = field(default_factory=dict, init=False, repr=False)
    _touched: dict[str, bool] = field(default_factory=dict, init=False, repr=False)
    """What was worked out before, by shape: what in it is of interest, and whether anything is."""

    def lower(self, shape: str, value: Any, context: Context) -> Any:
        """A value of a shape, as the older version has it."""
        context = _within(shape, value, context)
        value = self._inside(shape, value, context, self.lower)
        own = self.shapes.get(self._actual(shape, value))
        return value if own is None or own.down is None else own.down(value, context)

    def lift(self, shape: str, value: Any, context: Context) -> Any:
        """A value of a shape, as the newer version has it."""
        context = _within(shape, value, context)
        own = self.shapes.get(self._actual(shape, value))
        if own is not None and own.up is not None:
            value = own.up(value, context)
        return value if value is DROP else self._inside(shape, value, context, self.lift)

    def _actual(self, shape: str, value: Any) -> str:
        if shape != SNAPSHOT_STATE or not isinstance(value, dict):
            return shape
        return STATE_SHAPES.get(kind_of_state(value) or "", shape)

    def _inside(self, shape: str, value: Any, context: Context, convert: Callable[[str, Any, Context], Any]) -> Any:
        """Convert what stands inside an object. The same object, if nothing in it changed."""
        if not isinstance(value, dict):
            return value
        changed: Json | None = None
        for key, inner, held in self._row(self._actual(shape, value)):
            if key not in value:
                continue
            before = value[key]
            after = _held(before, held, inner, context, convert)
            if after is not before:
                changed = dict(value) if changed is None else changed
                if after is DROP:
                    del changed[key]
                else:
                    changed[key] = after
        return value if changed is None else changed

    def _row(self, shape: str) -> tuple[tuple[str, str, str], ...]:
        """The keys of a shape in which something may have to be converted: what is there, and how it is held."""
        found = self._rows.get(shape)
        if found is None:
            row = ((key, *nested(spec)) for key, spec in LAYOUT.get(shape, {}).items())
            found = self._rows[shape] = tuple(each for each in row if self.touches(each[1]))
        return found

    def touches(self, shape: str) -> bool:
        """Whether this step converts a shape or anything that may stand in it."""
        found = self._touched.get(shape)
        if found is None:
            found = self._touched[shape] = not self.shapes.keys().isdisjoint(reachable(shape))
        return found

    def touches_action(self, type: str) -> bool:  # noqa: A002 - the protocol's word
        """Whether an action of this type may look different, or be absent, below."""
        return (
            self.every_action[0] is not None
            or type in self.introduced
            or type in self.actions_down
            or self.touches(action_shape(type))
        )

    def touches_action_below(self, type: str) -> bool:  # noqa: A002 - the protocol's word
        """Whether an action of this type, from below, may mean something else above."""
        return self.every_action[1] is not None or type in self.actions_up or self.touches(action_shape(type))

    def touches_call_below(self, method: str) -> bool:
        """Whether a notification from below may."""
        return self.every_call[1] is not None or method in self.notifications[1] or self.touches(params_shape(method))

    def lower_action(self, sent: Action, context: Context) -> Iterable[Action]:
        """What is sent below instead of an action: nothing, one, or a few in order."""
        if not self.touches_action(sent.type):
            return (sent,)
        inner = sent._replace(action=self.lower(action_shape(sent.type), sent.action, context))
        own = self.actions_down.get(sent.type)
        if own is not None:
            found = own(inner, context)
        elif sent.type in self.introduced:
            return ()
        else:
            found = (inner,)
        every = self.every_action[0]
        return found if every is None else tuple(last for each in found for last in every(each, context))

    def lift_action(self, sent: Action, context: Context) -> Iterable[Action]:
        """What an action from below means above."""
        every = self.every_action[1]
        for each in (sent,) if every is None else every(sent, context):
            own = self.actions_up.get(each.type)
            for known in (each,) if own is None else own(each, context):
                shape = action_shape(known.type)
                yield known._replace(action=self.lift(shape, known.action, context)) if self.touches(shape) else known


def _within(shape: str, value: Any, context: Context) -> Context:
    """The context of what stands in a value: a snapshot's is that of its channel."""
    if shape != "snapshot" or not isinstance(value, dict):
        return context
    return context.at(str(value.get("resource", "")))


def _held(value: Any, held: str, shape: str, context: Context, convert: Callable[[str, Any, Context], Any]) -> Any:
    """Convert one value, each of a list, or each of a map. Other things than declared are left as they are."""
    if held == "[]":
        if not isinstance(value, list):
            return value
        items = [convert(shape, each, context) for each in value]
        same = all(one is other for one, other in zip(items, value, strict=True))
        return value if same else [each for each in items if each is not DROP]
    if held == "{}":
        if not isinstance(value, dict):
            return value
        found = {key: convert(shape, each, context) for key, each in value.items()}
        same = all(found[key] is value[key] for key in value)
        return value if same else {key: each for key, each in found.items() if each is not DROP}
    # A list where one object is declared is another thing of the same name, and none of ours.
    return value if value is None or isinstance(value, list) else convert(shape, value, context)


# Small words that most steps need


def actions_new_in(version: Version) -> frozenset[str]:
    """The actions that a version brought."""
    return frozenset(name for name, info in ACTIONS.items() if info.since == version)


def refused_before(version: Version) -> dict[str, ConvertCall]:
    """The requests that a version brought, as conversions to nothing at all."""

    def nothing(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
        return ()

    return {name: nothing for name, since in METHODS.items() if since == version}


def unsaid_before(version: Version) -> dict[str, ConvertCall]:
    """The same for the notifications that a version brought."""

    def nothing(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
        return ()

    return {name: nothing for name, since in NOTIFICATIONS.items() if since == version}


def not_sent(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    """An action that the other version has no words for."""
    return ()


def dropping(*keys: str) -> Shape:
    """A shape that below is without some keys."""

    def down(value: Json, context: Context) -> Json:  # noqa: ARG001
        return without(value, *keys)

    return Shape(down=down)


def without(value: Json, *keys: str) -> Json:
    """The object without some keys; itself if it has none of them."""
    if value.keys().isdisjoint(keys):
        return value
    return {key: each for key, each in value.items() if key not in keys}


def renamed(value: Json, old: str, new: str) -> Json:
    """The object with a key under another name; itself if it does not have the key."""
    if old not in value:
        return value
    return {new if key == old else key: each for key, each in value.items()}
