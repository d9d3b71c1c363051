"""0.1 and 0.2: channels. Below, nothing has a `channel`: actions name a session or terminal, requests their subject.

The root was `agenthost:/root`; notifications were wrapped in one called `notification`; sessions had no changesets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.layout import kind_of_state
from holdfast.protocol.compat.step import (
    DROP,
    Action,
    Call,
    Shape,
    Step,
    actions_new_in,
    dropping,
    refused_before,
    unsaid_before,
    without,
)
from holdfast.protocol.compat.v0_1_customizations import (
    ALL_OF_A_SESSION,
    REFERENCES,
    all_changed,
    toggled_down,
    toggled_up,
)
from holdfast.protocol.compat.v0_4 import wrapped
from holdfast.protocol.errors import ErrorCode
from holdfast.protocol.uris import ROOT, is_root
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

NEWER: Final = Version(0, 2, 0)
OLD_ROOT: Final = "agenthost:/root"

SUBJECT: Final = {
    "subscribe": "resource",
    "unsubscribe": "resource",
    "createSession": "session",
    "disposeSession": "session",
    "fetchTurns": "session",
    "completions": "session",
    "createTerminal": "terminal",
    "disposeTerminal": "terminal",
}
"""What a call names its channel by. The others are about the root, and name nothing."""

LISTS: Final = {"initialize": "initialSubscriptions", "reconnect": "subscriptions"}
"""Lists of channels in params."""

OWNERS: Final = ("session", "terminal")
"""Kinds of channels that an action names by a key of the same name."""

WRAPPED: Final = "notification"
NOTIFIED: Final = {
    "root/sessionAdded": "notify/sessionAdded",
    "root/sessionRemoved": "notify/sessionRemoved",
    "root/sessionSummaryChanged": "notify/sessionSummaryChanged",
    "auth/required": "notify/authRequired",
}
UNSEEN: Final = ("changeset", "resourceWatch")
"""Kinds of channels that were new."""


# Channels


def _old(uri: Any) -> Any:
    return OLD_ROOT if isinstance(uri, str) and is_root(uri) else uri


def _new(uri: Any) -> Any:
    return ROOT if isinstance(uri, str) and is_root(uri, before_0_2=True) else uri


def _relisted(value: Json, key: str | None, convert: Any) -> Json:
    if key is None or not isinstance(value.get(key), list):
        return value
    return {**value, key: [convert(each) for each in value[key]]}


def _channel_of(action: Any) -> Any:
    """The channel an action of 0.1 names; the root if it names none."""
    owners = (action.get(owner) for owner in OWNERS) if isinstance(action, dict) else ()
    return next((each for each in owners if isinstance(each, str)), ROOT)


# Actions


def _named(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    owner = sent.type.partition("/")[0]
    if owner not in OWNERS:
        return (sent,)
    return (sent._replace(action={**sent.action, owner: sent.channel}),)


def _unnamed(sent: Action, context: Context) -> Iterable[Action]:  # noqa: ARG001
    owner = sent.type.partition("/")[0]
    if owner not in OWNERS or owner not in sent.action:
        return (sent,)
    channel = sent.channel or sent.action[owner]
    return (Action(channel, sent.kind or owner, without(sent.action, owner)),)


def _envelope_up(envelope: Json, context: Context) -> Json:  # noqa: ARG001
    return {"channel": _channel_of(envelope.get("action")), **envelope}


def _diffs_up(sent: Action, context: Context) -> Iterable[Action]:
    """What changed in files is told by changesets since. Only a host said so."""
    return () if context.client_id else (wrapped(sent, "0.1.0", "0.1.0"),)


# Calls


def _call_down(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    params = without(call.params, "channel")
    subject = SUBJECT.get(call.method)
    if subject is not None and "channel" in call.params:
        params = {subject: _old(call.params["channel"]), **params}
    return (call._replace(params=_relisted(params, LISTS.get(call.method), _old)),)


def _call_up(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    if call.method == WRAPPED or "channel" in call.params:
        return (call,)
    subject = SUBJECT.get(call.method)
    if call.method == "dispatchAction":
        channel = _channel_of(call.params.get("action"))
    else:
        channel = ROOT if subject is None else _new(call.params.get(subject))
    params = call.params if subject is None else without(call.params, subject)
    return (call._replace(params={"channel": channel, **_relisted(params, LISTS.get(call.method), _new)}),)


def _wrapped(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    return (Call(WRAPPED, {"notification": {"type": NOTIFIED[call.method], **without(call.params, "channel")}}),)


def _unwrapped(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    inner = call.params.get("notification") or {}
    methods = (method for method, type in NOTIFIED.items() if type == inner.get("type"))  # noqa: A001
    return tuple(Call(method, {"channel": ROOT, **without(inner, "type")}) for method in methods)


def _written(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    """Below, a write replaces the whole content, whatever that is: another one is refused."""
    replaces = call.params.get("mode") in (None, "truncate") and not call.params.get("position")
    return (call._replace(params=without(call.params, "mode", "position")),) if _is_plain(call, replaces) else ()


def _is_plain(call: Call, replaces: bool) -> bool:
    return replaces and call.params.get("ifMatch") is None


# Results


def _snapshot_down(snapshot: Json, context: Context) -> Any:  # noqa: ARG001
    if kind_of_state(snapshot.get("state") or {}) in UNSEEN:
        return DROP
    return {**snapshot, "resource": _old(snapshot.get("resource"))}


def _snapshot_up(snapshot: Json, context: Context) -> Json:  # noqa: ARG001
    return {**snapshot, "resource": _new(snapshot.get("resource"))}


def _missing_down(result: Json, context: Context) -> Json:  # noqa: ARG001
    return _relisted(result, "missing", _old)


def _missing_up(result: Json, context: Context) -> Json:  # noqa: ARG001
    return _relisted(result, "missing", _new)


def _error_down(error: Json, context: Context) -> Json:  # noqa: ARG001
    """There was no code for a conflict."""
    return {**error, "code": int(ErrorCode.INTERNAL_ERROR)} if error.get("code") == ErrorCode.CONFLICT else error


STEP: Final = Step(
    older=Version(0, 1, 0),
    introduced=actions_new_in(NEWER) | {"session/agentChanged"},
    shapes={
        "message": dropping("_meta"),
        "envelope": Shape(dropping("channel").down, _envelope_up),
        "snapshot": Shape(_snapshot_down, _snapshot_up),
        "sessionState": ALL_OF_A_SESSION,
        "action:session/customizationsChanged": ALL_OF_A_SESSION,
        "agent": REFERENCES,
        "activeClient": REFERENCES,
        "sessionSummary": dropping("changesets", "agent"),
        "result:initialize": dropping("telemetry"),
    },
    actions_down={
        "session/customizationUpdated": all_changed,
        "session/customizationRemoved": all_changed,
        "session/customizationToggled": toggled_down,
    },
    actions_up={"session/customizationToggled": toggled_up, "session/diffsChanged": _diffs_up},
    every_action=(_named, _unnamed),
    requests=(
        {**refused_before(NEWER), "resourceWrite": _written},
        refused_before(NEWER),
    ),
    notifications=(
        {**unsaid_before(NEWER), **dict.fromkeys(NOTIFIED, _wrapped)},
        {WRAPPED: _unwrapped},
    ),
    unseen=frozenset(UNSEEN),
    every_call=(_call_down, _call_up),
    results={"reconnect": Shape(_missing_down, _missing_up)},
    errors=Shape(down=_error_down),
)
