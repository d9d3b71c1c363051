"""Checking configuration values against the schema a client was shown (02-root, section 2.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from holdfast.protocol.common import ConfigPropertySchema, JsonObject

__all__ = ["complaint", "contradiction"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def contradiction(schema: ConfigPropertySchema, value: Any) -> str | None:
    """Why a value does not fit its schema; None if it does. Unknown types and keywords allow everything."""
    fits = _TYPES.get(schema.type)
    if fits is not None and not fits(value):
        return f"must be of type {schema.type}"
    if schema.enum is not None and not any(_same(value, allowed) for allowed in schema.enum):
        return f"must be one of {', '.join(str(allowed) for allowed in schema.enum[:20])}"
    if isinstance(value, list):
        return _array(schema, value)
    if isinstance(value, dict):
        return _object(schema, value)
    return None


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: `1` is not `true`."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _array(schema: ConfigPropertySchema, value: list[Any]) -> str | None:
    if schema.min_items is not None and len(value) < schema.min_items:
        return f"must have at least {schema.min_items} entries"
    if schema.max_items is not None and len(value) > schema.max_items:
        return f"must have at most {schema.max_items} entries"
    if schema.items is None:
        return None
    return next((why for entry in value if (why := contradiction(schema.items, entry))), None)


def _object(schema: ConfigPropertySchema, value: JsonObject) -> str | None:
    missing = [name for name in schema.required or () if name not in value]
    if missing:
        return f"must have {missing[0]}"
    properties = schema.properties or {}
    for name, entry in value.items():
        inner = properties.get(name, schema.additional_properties)
        why = contradiction(inner, entry) if inner is not None else None
        if why is not None:
            return f"{name} {why}"
    return None


def complaint(
    properties: Mapping[str, ConfigPropertySchema],
    required: tuple[str, ...] | None,
    values: JsonObject,
    *,
    complete: bool,
) -> str | None:
    """The first thing wrong with a set of values; `complete` demands the required ones too."""
    for name, value in values.items():
        schema = properties.get(name)
        why = contradiction(schema, value) if schema is not None else None
        if why is not None:
            return f"{name} {why}"
    missing = [name for name in required or () if complete and name not in values]
    return f"{missing[0]} is required" if missing else None
