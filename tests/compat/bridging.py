"""Short words for tests of conversions: an action, a value or a call, taken to an older version or from it."""

from __future__ import annotations

import copy
from typing import Any

from holdfast.protocol.compat.bridge import Bridge, bridge_for
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import Action

__all__ = [
    "CHAT",
    "SESSION",
    "about",
    "bridge",
    "lifted",
    "lifted_value",
    "lowered",
    "lowered_value",
]

SESSION = "ahp-session:/s"
CHAT = "ahp-chat:/c"


def bridge(version: str) -> Bridge:
    found = bridge_for(version)
    assert found is not None, f"{version} needs no bridge"
    return found


def about(kind: str = "session", **known: Any) -> Context:
    channel = {"session": SESSION, "chat": CHAT, "root": "ahp-root://"}.get(kind, f"x-{kind}:/1")
    return Context(channel=channel, kind=kind, session=SESSION, default_chat=CHAT, **known)


def lowered(version: str, action: Json, **known: Any) -> list[Json]:
    """What is sent to a client of that version instead of an action."""
    return _acted(bridge(version).lower_action, action, **known)


def lifted(version: str, action: Json, **known: Any) -> list[Json]:
    """What an action of that version means."""
    return _acted(bridge(version).lift_action, action, **known)


def _acted(convert: Any, action: Json, **known: Any) -> list[Json]:
    kind = action["type"].partition("/")[0]
    context, before = about(kind, **known), copy.deepcopy(action)
    found = [each.action for each in convert(Action(context.channel, kind, action), context)]
    assert action == before, "conversions leave alone what they are given"
    return found


def lowered_value(version: str, shape: str, value: Any, **known: Any) -> Any:
    before = copy.deepcopy(value)
    found = bridge(version).lower(shape, value, about(**known))
    assert value == before, "conversions leave alone what they are given"
    return found


def lifted_value(version: str, shape: str, value: Any, **known: Any) -> Any:
    before = copy.deepcopy(value)
    found = bridge(version).lift(shape, value, about(**known))
    assert value == before, "conversions leave alone what they are given"
    return found
