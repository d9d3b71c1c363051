"""Comparing the state a client reduced with the state a host shows: they are equal, but for what no action says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from holdfast.protocol.status import ACTIVITY

__all__ = ["comparable"]

# Channel -> fields that the host changes without an action. The only exceptions there are.
_SILENT: Final[Mapping[str, frozenset[str]]] = {
    "session": frozenset({"activity", "project", "origin", "annotations"}),
    "chat": frozenset({"title", "origin", "interactivity", "changes"}),
}


def comparable(kind: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """A channel's state, as JSON, without what reducing cannot know."""
    kept = {key: value for key, value in state.items() if key not in _SILENT.get(kind, ())}
    if kind == "session":
        kept["status"] &= ~ACTIVITY
    return kept
