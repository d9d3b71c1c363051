"""The steps between 1.0 and one older version, as one conversion for each kind of message.

`lower_*` turns what 1.0 says into what the older version says, `lift_*` the other way: a host lowers what it
sends and lifts what it receives, a client of an older host the reverse (`older_host` has what that takes).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from holdfast.protocol.codec import decode, encode
from holdfast.protocol.compat import (
    v0_1,
    v0_2,
    v0_3,
    v0_4,
    v0_5_0,
    v0_5_1,
    v0_5_2,
    v0_6,
    v0_7,
    v0_8,
    v0_9,
)
from holdfast.protocol.compat.context import NOWHERE, Context, Json
from holdfast.protocol.compat.layout import STATE_SHAPES, params_shape, result_shape
from holdfast.protocol.compat.step import DROP, Action, Call, Step
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.versions import Version, older_form

__all__ = ["PRIVATE", "STEPS", "Bridge", "bridge_for", "form_of", "public"]

STEPS: Final[tuple[Step, ...]] = (
    v0_9.STEP,
    v0_8.STEP,
    v0_7.STEP,
    v0_6.STEP,
    v0_5_2.STEP,
    v0_5_1.STEP,
    v0_5_0.STEP,
    v0_4.STEP,
    v0_3.STEP,
    v0_2.STEP,
    v0_1.STEP,
)
"""Newest first. Serving one version less is taking its step away, here and in `versions.BASELINES`."""

PRIVATE: Final = "x-holdfast"
"""What begins so is between this host and its bridge, and is never sent: keys of a state, and actions."""

PENDING: Final = "chat/pendingMessageSet"

OWN_REQUESTS: Final = frozenset({v0_5_0.READ_TURNS, v0_8.FORK_SESSION})
"""What only a bridge asks of its host."""

MOST_ENVELOPES: Final = 4
"""How many envelopes one may become: as many numbers lie between two of the host's."""


class Bridge:
    """Between 1.0 and one older version."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)
        self.version: Version = self.steps[-1].older
        self.unseen = frozenset[str]().union(*(step.unseen for step in self.steps))
        self.whole_history = any(step.whole_history for step in self.steps)
        self.one_conversation = any(step.one_conversation for step in self.steps)
        self.answers_last = any(step.answers_last for step in self.steps)
        self.clocked = frozenset[str]().union(*(step.clocked for step in self.steps))
        self._touched: dict[str, bool] = {}
        self._as_said: dict[str, bool] = {}

    def __repr__(self) -> str:
        return f"<Bridge to {self.version}>"

    # Actions

    def touches(self, type: str) -> bool:  # noqa: A002 - the protocol's word
        """Whether an action of this type may look different below; most do not."""
        found = self._touched.get(type)
        if found is None:
            found = type.startswith(PRIVATE) or any(step.touches_action(type) for step in self.steps)
            self._touched[type] = found
        return found

    def is_meant_as_said(self, type: str) -> bool:  # noqa: A002
        """Whether an action of this type from below is always the same here."""
        found = self._as_said.get(type)
        if found is None:
            private = type.startswith(PRIVATE)
            found = not private and not any(step.touches_action_below(type) for step in self.steps)
            self._as_said[type] = found
        return found

    def lower_action(self, sent: Action, context: Context) -> list[Action]:
        """What to send below instead of an action."""
        found = [sent]
        for step in self.steps:
            if context.facts:
                context = replace(context, facts=step.lower("facts", context.facts, context))
            found = [lowered for each in found for lowered in step.lower_action(each, context)]
        return [each for each in found if not each.type.startswith(PRIVATE)]

    def lift_action(self, sent: Action, context: Context) -> list[Action]:
        """What an action from below means; nothing, where it is not the other side's to say."""
        found = [] if sent.type.startswith(PRIVATE) else [sent]
        for step in reversed(self.steps):
            found = [lifted for each in found for lifted in step.lift_action(each, context)]
        return [self._keeping(each, context) if each.type == PENDING else each for each in found]

    def _keeping(self, sent: Action, context: Context) -> Action:
        """A pending message that is changed, with what its author below was not shown of it."""
        known = _pending(context.chat_state() or {}, sent.action)
        message = sent.action.get("message")
        if known is None or not isinstance(message, dict):
            return sent
        shown = self.lower("message", known, context)
        hidden = {key: value for key, value in known.items() if key not in shown}
        return sent._replace(action={**sent.action, "message": {**message, **hidden}}) if hidden else sent

    def lower_envelope(self, envelope: Json, context: Context) -> list[Json]:
        """The envelopes to send below instead of one; the last has its number, the others the ones before."""
        sent = Action(envelope.get("channel", ""), context.kind, envelope["action"])
        found = self.lower_action(sent, context)
        assert len(found) <= MOST_ENVELOPES, f"{sent.type} became {len(found)} actions"
        first = envelope["serverSeq"] - len(found) + 1
        return [
            self.enveloped({**envelope, "channel": each.channel, "action": each.action, "serverSeq": number}, context)
            for number, each in enumerate(found, first)
        ]

    def enveloped(self, envelope: Json, context: Context = NOWHERE) -> Json:
        """An envelope around an action in the older form already."""
        for step in self.steps:
            own = step.shapes.get("envelope")
            if own is not None and own.down is not None:
                envelope = own.down(envelope, context)
        return envelope

    def lift_envelope(self, envelope: Json, context: Context) -> list[Json]:
        """The envelopes of 1.0 that an older host's envelope stands for. All have its number."""
        for step in reversed(self.steps):
            own = step.shapes.get("envelope")
            if own is not None and own.up is not None:
                envelope = own.up(envelope, context)
        about = context.about(envelope["channel"])
        found = self.lift_action(Action(envelope["channel"], about.kind, envelope["action"]), about)
        return [{**envelope, "channel": each.channel, "action": each.action} for each in found]

    def resync(self, type: str, action: Json, context: Context) -> str | None:  # noqa: A002
        """Why clients below have to fetch snapshots after an action of 1.0; None if they need not."""
        for step in self.steps:
            rule = step.resync.get(type)
            if rule is not None and rule.when(action, context):
                return rule.why
        return None

    def may_resync(self, type: str) -> bool:  # noqa: A002
        return any(type in step.resync for step in self.steps)

    # Values

    def lower(self, shape: str, value: Any, context: Context = NOWHERE) -> Any:
        """A value of a shape of `layout`. May be `DROP`."""
        for step in self.steps:
            if value is DROP:
                break
            value = step.lower(shape, value, context)
        return value

    def lift(self, shape: str, value: Any, context: Context = NOWHERE) -> Any:
        for step in reversed(self.steps):
            if value is DROP:
                break
            value = step.lift(shape, value, context)
        return value

    def lower_state(self, kind: str, state: Json, context: Context = NOWHERE) -> Json:
        """The state of a channel. Its companions, under a private key, are used and left out."""
        lowered = self.lower(STATE_SHAPES[kind], state, context)
        return {key: value for key, value in lowered.items() if not key.startswith(PRIVATE)}

    def lift_state(self, kind: str, state: Json, context: Context = NOWHERE) -> Json:
        """The state of a channel, with companions under a private key where 1.0 has more than one place."""
        lifted: Json = self.lift(STATE_SHAPES[kind], state, context)
        return lifted

    def lower_turn(self, row: bytes) -> bytes:
        """A completed turn, encoded, as it is encoded below. Most are the same, as a look at their bytes tells."""
        steps = [step for step in self.steps if step.may_convert(row)]
        if not steps:
            return row
        turn: Any = decode(dict, row)
        for step in steps:
            turn = step.lower("turn", turn, NOWHERE)
        return encode(turn)

    # Requests and their answers

    def lower_request(self, method: str, params: Json, context: Context = NOWHERE) -> Call:
        """A newer client's request to an older host. `METHOD_NOT_FOUND` if there is nothing like it."""
        found = self._lowered(Call(method, params), context, "requests")
        return _only(found, method)

    def lift_request(self, method: str, params: Json, context: Context = NOWHERE) -> Call:
        """An older client's request. `METHOD_NOT_FOUND` if there was no such thing."""
        known = {key: value for key, value in params.items() if not key.startswith(PRIVATE)}
        asked = Call(method, params if len(known) == len(params) else known)
        found = [] if method in OWN_REQUESTS else self._lifted(asked, context, "requests")
        return _only(found, method)

    def is_notified_as_said(self, method: str) -> bool:
        """Whether a notification from below is always the same here."""
        return not any(step.touches_call_below(method) for step in self.steps)

    def lower_notification(self, method: str, params: Json, context: Context = NOWHERE) -> list[Call]:
        return self._lowered(Call(method, params), context, "notifications")

    def lift_notification(self, method: str, params: Json, context: Context = NOWHERE) -> list[Call]:
        return self._lifted(Call(method, params), context, "notifications")

    def _lowered(self, call: Call, context: Context, table: str) -> list[Call]:
        found = [call]
        for step in self.steps:
            found = [last for each in found for last in _lower_call(step, each, context, table)]
        return found

    def _lifted(self, call: Call, context: Context, table: str) -> list[Call]:
        found = [call]
        for step in reversed(self.steps):
            found = [last for each in found for last in _lift_call(step, each, context, table)]
        return found

    def lower_result(self, method: str, result: Any, context: Context = NOWHERE) -> Any:
        """The result of a request; `method` is its name in 1.0."""
        for step in self.steps:
            result = step.lower(result_shape(method), result, context)
            own = step.results.get(method)
            if own is not None and own.down is not None:
                result = own.down(result, context)
        return public(result)

    def lift_result(self, method: str, result: Any, context: Context = NOWHERE) -> Any:
        for step in reversed(self.steps):
            own = step.results.get(method)
            if own is not None and own.up is not None:
                result = own.up(result, context)
            result = step.lift(result_shape(method), result, context)
        return result

    def lower_error(self, method: str, error: Json, context: Context = NOWHERE) -> Json:
        """The `error` of a failed request; `method` is its name in 1.0."""
        for step in self.steps:
            for shape in (step.method_errors.get(method), step.errors):
                if shape is not None and shape.down is not None:
                    error = shape.down(error, context)
        return error

    def lift_error(self, method: str, error: Json, context: Context = NOWHERE) -> Json:
        for step in reversed(self.steps):
            for shape in (step.errors, step.method_errors.get(method)):
                if shape is not None and shape.up is not None:
                    error = shape.up(error, context)
        return error


def _pending(chat: Json, action: Json) -> Json | None:
    """The message that a chat has under the id of an action already."""
    steering = chat.get("steeringMessage")
    pending = chat.get("queuedMessages") or () if action.get("kind") == "queued" else (steering or {},)
    return next((each["message"] for each in pending if each.get("id") == action.get("id")), None)


def _only(found: list[Call], method: str) -> Call:
    if len(found) != 1:
        raise RpcError(ErrorCode.METHOD_NOT_FOUND, f"there is no {method[:100]} in the negotiated version")
    return found[0]


def _lower_call(step: Step, call: Call, context: Context, table: str) -> Iterable[Call]:
    inner = call._replace(params=step.lower(params_shape(call.method), call.params, context))
    own = getattr(step, table)[0].get(call.method)
    every = step.every_call[0]
    for each in (inner,) if own is None else own(inner, context):
        yield from (each,) if every is None else every(each, context)


def _lift_call(step: Step, call: Call, context: Context, table: str) -> Iterable[Call]:
    every = step.every_call[1]
    for each in (call,) if every is None else every(call, context):
        own = getattr(step, table)[1].get(each.method)
        for known in (each,) if own is None else own(each, context):
            yield known._replace(params=step.lift(params_shape(known.method), known.params, context))


def public(result: Any) -> Any:
    """A result without what its snapshots carry for the bridge."""
    if not isinstance(result, dict):
        return result
    if isinstance(result.get("snapshot"), dict):
        return {**result, "snapshot": _public_snapshot(result["snapshot"])}
    if isinstance(result.get("snapshots"), list):
        return {**result, "snapshots": [_public_snapshot(each) for each in result["snapshots"]]}
    return result


def _public_snapshot(snapshot: Json) -> Json:
    state = snapshot.get("state")
    if not isinstance(state, dict) or not any(key.startswith(PRIVATE) for key in state):
        return snapshot
    return {**snapshot, "state": {key: value for key, value in state.items() if not key.startswith(PRIVATE)}}


def form_of(version: str, *values: Any) -> Bridge | None:
    """The bridge to the form that values of a version are in: that of its pre-release, where they show it."""
    bridge = bridge_for(version)
    if bridge is None or bridge.version != v0_7.BEFORE_0_8.older or not any(map(v0_7.has_flag, values)):
        return bridge
    return Bridge((*bridge.steps, v0_7.BEFORE_0_8))


@cache
def _bridge_to(form: Version) -> Bridge:
    bridge = Bridge([step for step in STEPS if step.older >= form])
    assert bridge.version == form, f"{form} is served without a step of its own"
    return bridge


def bridge_for(version: str) -> Bridge | None:
    """The bridge to a negotiated version; None for one that needs none."""
    form = older_form(version)
    return None if form is None else _bridge_to(form)
