"""One step between a version and the next newer one: a table of small conversions, and how it is applied.

A step converts *shapes* (see `layout`); `walk` finds them wherever they stand. Conversions never change what they
are given; they return the very same object where nothing is to be done, or `DROP` for what the other version cannot
express.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.layout import action_shape, params_shape
from holdfast.protocol.compat.walk import DROP, Shape, Walk
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
    """What a completed turn, encoded in 1.0, contains if this step may have to convert it; None: every one."""

    down: Walk = field(init=False, repr=False)
    up: Walk = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "down", Walk(self.shapes, up=False))
        object.__setattr__(self, "up", Walk(self.shapes, up=True))

    def lower(self, shape: str, value: Any, context: Context) -> Any:
        """A value of a shape, as the older version has it."""
        convert = self.down.of(shape)
        return value if convert is None else convert(value, context)

    def lift(self, shape: str, value: Any, context: Context) -> Any:
        """A value of a shape, as the newer version has it."""
        convert = self.up.of(shape)
        return value if convert is None else convert(value, context)

    def may_convert(self, row: bytes) -> bool:
        """Whether an encoded completed turn, as 1.0 has it, may look different below."""
        return self.raw_marks is None or any(mark in row for mark in self.raw_marks)

    def touches_action(self, type: str) -> bool:  # noqa: A002 - the protocol's word
        """Whether an action of this type may look different, or be absent, below."""
        return (
            self.every_action[0] is not None
            or type in self.introduced
            or type in self.actions_down
            or self.down.of(action_shape(type)) is not None
        )

    def touches_action_below(self, type: str) -> bool:  # noqa: A002 - the protocol's word
        """Whether an action of this type, from below, may mean something else above."""
        known = self.every_action[1] is not None or type in self.actions_up
        return known or self.up.of(action_shape(type)) is not None

    def touches_call_below(self, method: str) -> bool:
        """Whether a notification from below may."""
        known = self.every_call[1] is not None or method in self.notifications[1]
        return known or self.up.of(params_shape(method)) is not None

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
                lifted = self.lift(action_shape(known.type), known.action, context)
                yield known if lifted is known.action else known._replace(action=lifted)


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
