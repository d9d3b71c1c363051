"""The schema of a Python function's parameters, and calling it with what an agent sends.

Pure. msgspec makes the schema from the annotations and checks the input against them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, get_type_hints

import msgspec

from holdfast.protocol.common import ToolDefinition
from holdfast.protocol.errors import UsageError

__all__ = ["Tool", "tool_of"]

_REF: Final = "#/$defs/"

# How deep schemas may refer to each other before the annotation is taken to refer to itself.
_DEEPEST: Final = 16


class Tool:
    """A function an agent may call."""

    def __init__(
        self, definition: ToolDefinition, function: Callable[..., Any], struct: type[msgspec.Struct]
    ) -> None:
        self.definition = definition
        self.function = function
        self._input = struct

    def arguments(self, text: str) -> dict[str, Any]:
        """The arguments in a tool's input, checked and converted. Raises `UsageError` with words for the agent."""
        try:
            given = msgspec.json.decode(text or "{}", type=self._input)
        except msgspec.DecodeError as error:
            raise UsageError(f"the input does not fit {self.definition.name}: {error}") from error
        return {name: getattr(given, name) for name in self._input.__struct_fields__}


def tool_of(function: Callable[..., Any], name: str | None = None, description: str | None = None) -> Tool:
    """A tool that is a plain function: parameters become the input, the docstring says what it does.

    Every parameter needs an annotation that JSON can express. Raises `UsageError` if one has none.
    """
    name = name or str(getattr(function, "__name__", ""))
    if not name.isidentifier():
        raise UsageError("a tool needs a name, as functions made with `def` have it")
    fields = _fields(function, name)
    struct = msgspec.defstruct(name, fields, kw_only=True)
    try:
        (schema,), parts = msgspec.json.schema_components([struct], ref_template=_REF + "{name}")
    except (TypeError, NotImplementedError) as error:
        raise UsageError(f"the parameters of {name} cannot be said in JSON: {error}") from error
    flat = _flat(schema, parts, _DEEPEST)
    definition = ToolDefinition(
        name=name,
        description=description or inspect.getdoc(function) or None,
        input_schema={"type": "object", **{key: flat[key] for key in ("properties", "required") if flat.get(key)}},
    )
    return Tool(definition, function, struct)


def _fields(function: Callable[..., Any], name: str) -> list[Any]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise UsageError(f"the parameters of {name} must have names of their own: {parameter}")
        if parameter.name not in hints:
            raise UsageError(
                f"parameter {parameter.name!r} of {name} needs an annotation: the agent is told its type"
            )
        hint = hints[parameter.name]
        if parameter.default is parameter.empty:
            fields.append((parameter.name, hint))
        else:
            fields.append((parameter.name, hint, msgspec.field(default_factory=partial(_same, parameter.default))))
    return fields


def _same(value: Any) -> Any:
    return value


def _flat(schema: Any, parts: Mapping[str, Any], depth: int) -> Any:
    """A schema with what it refers to in place: tools have no room for definitions."""
    if depth == 0:
        raise UsageError("a tool's parameters may not contain themselves")
    if isinstance(schema, dict):
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref.startswith(_REF):
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return {**_flat(parts[ref.removeprefix(_REF)], parts, depth - 1), **_flat(rest, parts, depth)}
        return {key: _flat(value, parts, depth) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_flat(each, parts, depth) for each in schema]
    return schema
