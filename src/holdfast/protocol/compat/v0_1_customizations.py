"""In 0.1 a customization was a reference by URI; in a session, one with a switch and a status around it.

Below, only plugins and directories are shown, and nothing of what is in them. Above, the id of what came from
below is its URI; a reference's description has no place there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import Action, Shape

__all__ = ["ALL_OF_A_SESSION", "REFERENCES", "all_changed", "toggled_down", "toggled_up"]

CONTAINERS: Final = ("plugin", "directory")
SAME: Final = ("uri", "icons", "nonce")
"""What a reference and a customization call alike."""

TROUBLED: Final = ("degraded", "error")
"""Load states that must say why."""


def _reference(entry: Json) -> Json:
    return {"displayName": entry.get("name"), **{key: entry[key] for key in SAME if key in entry}}


def _customization(reference: Json) -> Json:
    named = {"type": "plugin", "id": reference.get("uri"), "name": reference.get("displayName"), "enabled": True}
    return {**named, **{key: reference[key] for key in SAME if key in reference}}


def _in_session(entry: Json) -> Json:
    load = entry.get("load") or {}
    found = {
        "customization": _reference(entry),
        "enabled": entry.get("enabled", True),
        "clientId": entry.get("clientId"),
        "status": load.get("kind"),
        "statusMessage": load.get("message"),
    }
    return {key: each for key, each in found.items() if each is not None}


def _from_session(entry: Json) -> Json:
    found = {**_customization(entry["customization"]), "enabled": entry.get("enabled", True)}
    if entry.get("clientId") is not None:
        found["clientId"] = entry["clientId"]
    status = entry.get("status")
    if status is None:
        return found
    why = {"message": entry.get("statusMessage") or ""} if status in TROUBLED else {}
    return {**found, "load": {"kind": status, **why}}


def _holding(down: Callable[[Json], Json], up: Callable[[Json], Json]) -> Shape:
    """What has a list of `customizations`."""

    def lowered(value: Json, context: Context) -> Json:  # noqa: ARG001
        entries = value.get("customizations")
        if not isinstance(entries, list):
            return value
        return {**value, "customizations": [down(each) for each in entries if each.get("type") in CONTAINERS]}

    def lifted(value: Json, context: Context) -> Json:  # noqa: ARG001
        entries = value.get("customizations")
        return {**value, "customizations": [up(each) for each in entries]} if isinstance(entries, list) else value

    return Shape(lowered, lifted)


REFERENCES: Final = _holding(_reference, _customization)
"""Of an agent or a client."""

ALL_OF_A_SESSION: Final = _holding(_in_session, _from_session)
"""Of a session's state, or of the action that replaces them."""


def all_changed(sent: Action, context: Context) -> Iterable[Action]:
    """One is changed or gone: below, all are told again."""
    entries = context.facts.get("customizations")
    if not isinstance(entries, list):
        return
    told = [_in_session(each) for each in entries if each.get("type") in CONTAINERS]
    yield sent._replace(action={"type": "session/customizationsChanged", "customizations": told})


def toggled_down(sent: Action, context: Context) -> Iterable[Action]:
    """What is inside a container is not there to be switched."""
    if context.facts.get("child"):
        return
    uri = context.facts.get("uri") or sent.action.get("id")
    action = {**{key: each for key, each in sent.action.items() if key != "id"}, "uri": uri}
    yield sent._replace(action=action)


def toggled_up(sent: Action, context: Context) -> Iterable[Action]:
    uri = sent.action.get("uri")
    action = {**{key: each for key, each in sent.action.items() if key != "uri"}, "id": _id(uri, context)}
    yield sent._replace(action=action)


def _id(uri: Any, context: Context) -> Any:
    entries = (context.session_state() or {}).get("customizations") or ()
    return next((each.get("id") for each in entries if each.get("uri") == uri), uri)
