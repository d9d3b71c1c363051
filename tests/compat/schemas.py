"""Values against the JSON Schemas published with a version, where those lie beside the checkout.

The schemas use nine keywords, so reading them takes less than adding a library. They are read strictly: a key that
a definition does not list is a finding, because it may be something newer that leaked. Where the published
schemas are wrong is written down in `DEFECTS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import shared_spec

__all__ = ["FOLDERS", "codes_of", "is_here", "problems", "types_of"]

FOLDERS: Final = {
    "0.1.0": "0.1.0",
    "0.2.0": "0.2.0",
    "0.3.0": "0.3.0",
    "0.4.0": "0.4.0",
    "0.5.0": "0.5.0",
    "0.5.1": "0.5.1",
    "0.5.2": "0.5.2",
    "0.6.0": "0.6.0",
    "0.7.0": "0.7.0",
    "0.8.0": "0.8.0-dev",
}
"""The folder of each version's schemas; nothing newer than a pre-release of 0.8 is published."""

# Definition, or definition and key -> why it is not checked.
_LISTS_AS_TEXT: Final = "an inline list is written down as text"
DEFECTS: Final[dict[str, str]] = {
    "SessionStatus": "a set of bits as a closed list of numbers",
    "ChatStatus": "a set of bits as a closed list of numbers",
    "FileEdit.before": _LISTS_AS_TEXT,
    "FileEdit.after": _LISTS_AS_TEXT,
    "ToolResultFileEditContent.before": _LISTS_AS_TEXT,
    "ToolResultFileEditContent.after": _LISTS_AS_TEXT,
    "ToolCallPendingConfirmationState.edits": _LISTS_AS_TEXT,
    "ChatToolCallReadyAction.edits": _LISTS_AS_TEXT,
    "SessionToolCallReadyAction.edits": _LISTS_AS_TEXT,
    "ResourceWatchChangedAction.changes": _LISTS_AS_TEXT,
    "ResourceWatchState.includes": _LISTS_AS_TEXT,
    "ResourceWatchState.excludes": _LISTS_AS_TEXT,
    "ToolDefinition.inputSchema": _LISTS_AS_TEXT,
    "ToolDefinition.outputSchema": _LISTS_AS_TEXT,
    "ChangesetOperationTarget": _LISTS_AS_TEXT,
    "AhpMcpUiHostCapabilities.sampling": _LISTS_AS_TEXT,
}

MAY_BE_ABSENT: Final = {
    "ActionEnvelope.origin",
    "ActiveTurn.usage",
    "Turn.usage",
    "ChangesetOperationsChangedAction.operations",
    "SessionActivityChangedAction.activity",
    "SessionChangesetsChangedAction.changesets",
    "SessionMetaChangedAction._meta",
}
"""What is written down as required up to 0.6 although it may be undefined, which in JSON is absent."""

# The same as `DEFECTS`, for single versions.
_PRE_RELEASE: Final = "the pre-release of 0.8 still had one flag"
DEFECTS_OF: Final[dict[str, dict[str, str]]] = {
    "0.8.0": {
        "PluginCustomization.enabled": _PRE_RELEASE,
        "ClientPluginCustomization.enabled": _PRE_RELEASE,
        "McpServerCustomization.enabled": _PRE_RELEASE,
        "PluginCustomization.enablement": _PRE_RELEASE,
        "ClientPluginCustomization.enablement": _PRE_RELEASE,
        "ClientPluginCustomization.childEnablement": _PRE_RELEASE,
        "McpServerCustomization.enablement": _PRE_RELEASE,
        "SessionCustomizationToggledAction.enabled": _PRE_RELEASE,
        "SessionCustomizationToggledAction.enablement": _PRE_RELEASE,
        "MultipleWorkingDirectoriesCapability.primaryReplacement": "it came after the pre-release",
        "AuthRequiredParams.resource": "it became an object after the pre-release",
    },
}

# Up to 0.5.1 unions begin with a variant that anything fits, or end with one where null is meant; later that of all
# actions begins with one of no name.
_NO_VARIANTS: Final[tuple[dict[str, str], ...]] = ({}, {"$ref": "#/$defs/"})

_KEYWORDS: Final = {
    "$ref",
    "additionalProperties",
    "const",
    "description",
    "enum",
    "items",
    "oneOf",
    "properties",
    "required",
    "type",
}
_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "null": lambda value: value is None,
}


def is_here(version: str) -> bool:
    return version in FOLDERS and shared_spec.schemas(FOLDERS[version]).exists()


def types_of(version: str) -> frozenset[str]:
    """The names of a version's types."""
    return frozenset(_definitions(version))


def codes_of(version: str) -> frozenset[int]:
    """The codes that errors of a version have; one was forgotten when it came, in 0.2."""
    named = (_definitions(version)[name]["enum"] for name in ("JsonRpcErrorCode", "AhpErrorCode"))
    forgotten = [] if version == "0.1.0" else [-32011]
    return frozenset([*(code for codes in named for code in codes), *forgotten])


def problems(version: str, name: str, value: Any) -> list[str]:
    """What is wrong with a value of a type, in words; nothing if it is as published."""
    return list(_Check(version).named(name, value, "$"))


class _Check:
    def __init__(self, version: str) -> None:
        self._definitions = _definitions(version)
        self._defects = DEFECTS | DEFECTS_OF.get(version, {})

    def named(self, name: str, value: Any, path: str) -> Iterator[str]:
        if name in self._definitions and name not in self._defects:
            yield from self.fits(self._definitions[name], value, path, name)
        elif name == "URI" and not isinstance(value, str):
            yield f"{path}: not a URI: {value!r:.80}"
        elif "." in name and not _is_member(name, value):
            yield f"{path}: not {name}: {value!r:.80}"

    def fits(self, schema: Any, value: Any, path: str, name: str = "") -> Iterator[str]:
        assert schema.keys() <= _KEYWORDS, f"{path}: schemas have a new keyword: {schema.keys() - _KEYWORDS}"
        if "$ref" in schema:
            yield from self.named(schema["$ref"].removeprefix("#/$defs/"), value, path)
        elif "oneOf" in schema:
            yield from self._one_of(schema["oneOf"], value, path)
        elif "type" in schema and not _is_kind(schema["type"], value):
            yield f"{path}: not of type {schema['type']}: {value!r:.80}"
        elif "const" in schema and value != schema["const"]:
            yield f"{path}: not {schema['const']!r}: {value!r:.80}"
        elif "enum" in schema and value not in schema["enum"]:
            yield f"{path}: not one of {schema['enum']}: {value!r:.80}"
        elif isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                yield from self.fits(schema["items"], item, f"{path}[{index}]")
        elif isinstance(value, dict):
            yield from self._object(schema, value, path, name)

    def _object(self, schema: Any, value: dict[str, Any], path: str, name: str) -> Iterator[str]:
        declared, rest = schema.get("properties", {}), schema.get("additionalProperties")
        for key in schema.get("required", ()):
            if key not in value and f"{name}.{key}" not in self._defects.keys() | MAY_BE_ABSENT:
                yield f"{path}: without {key!r}"
        for key, inner in value.items():
            if f"{name}.{key}" in self._defects:
                continue
            if key in declared:
                yield from self.fits(declared[key], inner, f"{path}.{key}")
            elif isinstance(rest, dict):
                yield from self.fits(rest, inner, f"{path}.{key}")
            elif declared:
                yield f"{path}: has {key!r}, which is not declared"

    def _one_of(self, variants: list[Any], value: Any, path: str) -> Iterator[str]:
        """One of the variants fits; else what is wrong with the one that fits best."""
        if value is None and {} in variants:
            return
        known = [variant for variant in variants if variant not in _NO_VARIANTS]
        found = [list(self.fits(variant, value, path)) for variant in known]
        # The one whose discriminator is right is meant, whatever else is wrong.
        yield from min(found, key=lambda each: (_misses_tag(each, path), len(each)))


def _is_member(name: str, value: Any) -> bool:
    """Up to 0.5.1 members of enumerations are named and not written down: `ActionType.SessionReady`."""
    written = re.sub("[^a-z]", "", value.lower()) if isinstance(value, str) else ""
    return written.endswith(name.partition(".")[2].lower())


def _misses_tag(found: list[str], path: str) -> bool:
    tags = tuple(f"{path}.{tag}: not" for tag in ("type", "kind", "status", "state"))
    return any(each.startswith(tags) for each in found)


def _is_kind(kinds: str | list[str], value: Any) -> bool:
    return any(_KINDS[kind](value) for kind in ([kinds] if isinstance(kinds, str) else kinds))


@cache
def _definitions(version: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for file in sorted(Path(shared_spec.schemas(FOLDERS[version])).glob("*.json")):
        for name, schema in json.loads(file.read_text(encoding="utf-8"))["$defs"].items():
            found.setdefault(name, schema)
    return found
