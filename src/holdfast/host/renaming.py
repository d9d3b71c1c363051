"""References in JSON that follow when what they name gets another name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from holdfast.protocol.common import URI

__all__ = ["renamed"]

# The keys under which states and turns refer to channels and content.
_REFERENCES: Final = frozenset({"uri", "resource", "chat", "session", "defaultChat"})


def renamed(value: Any, names: Mapping[URI, URI]) -> Any:
    """The value with every reference to something renamed changed; the value itself if there is none."""
    if isinstance(value, dict):
        changed = {key: _entry(key, entry, names) for key, entry in value.items()}
        return value if all(changed[key] is entry for key, entry in value.items()) else changed
    if isinstance(value, list):
        entries = [renamed(entry, names) for entry in value]
        return value if all(new is old for new, old in zip(entries, value, strict=True)) else entries
    return value


def _entry(key: str, value: Any, names: Mapping[URI, URI]) -> Any:
    if isinstance(value, str):
        return names.get(value, value) if key in _REFERENCES else value
    return renamed(value, names)
