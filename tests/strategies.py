"""Hypothesis strategies for any wire type, read off its annotations."""

from __future__ import annotations

from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st
from msgspec import UNSET, Meta, UnsetType

from holdfast.protocol.codec import ShapedUnion, UnionMarker, Unknown, Wire
from holdfast.protocol.snapshot import STATES

__all__ = ["few_words", "free_json", "free_objects", "of", "text"]

# JSON text can carry any character but the half of a surrogate pair.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
# So few that ids meet: an action about turn "a" finds one.
few_words = st.sampled_from(["a", "b"])
exact_integers = st.integers(-(2**53) + 1, 2**53 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)
primitives = st.none() | st.booleans() | exact_integers | floats | text
free_json = st.recursive(
    primitives,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
free_objects = st.dictionaries(text, free_json, max_size=3)

_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: exact_integers,
    float: floats,
    type(None): st.none(),
    UnsetType: st.just(UNSET),
    Any: free_json,
}


Strategy: TypeAlias = st.SearchStrategy[Any]


@cache
def of(annotation: Any, words: Strategy = text) -> Strategy:
    """Values of a wire type, unknown variants and unknown enum values among them; strings are `words`."""
    if annotation is str:
        return words
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    if isinstance(annotation, ShapedUnion):
        return st.sampled_from(sorted(STATES)).flatmap(lambda kind: of(STATES[kind], words))
    if isinstance(annotation, UnionMarker):
        return _open_union(annotation, words)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(annotation) | text.map(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Wire):
        return st.deferred(lambda: _struct(annotation, words))
    return _generic(annotation, words)


def _generic(annotation: Any, words: Strategy) -> Strategy:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        bounds = next(part for part in arguments[1:] if isinstance(part, Meta))
        return st.integers(bounds.ge, bounds.le)  # type: ignore[arg-type]  # only integers are bounded
    if origin in (Union, UnionType):
        # Patches read null as UNSET, so None never comes back from one.
        patch = UnsetType in arguments
        return st.one_of([of(each, words) for each in arguments if not (patch and each is type(None))])
    if origin is tuple:
        return st.lists(of(arguments[0], words), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(words, of(arguments[1], words), max_size=2)
    raise NotImplementedError(f"no strategy for {annotation!r}")


def _struct(struct: type[Wire], words: Strategy) -> Strategy:
    hints = get_type_hints(struct, include_extras=True)
    fields = msgspec.structs.fields(struct)
    required = {field.name: of(hints[field.name], words) for field in fields if field.required}
    optional = {field.name: _optional(hints[field.name], words) for field in fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda values: struct(**values))


def _optional(annotation: Any, words: Strategy) -> Strategy:
    if annotation is Any:  # an optional free-form value: an explicit null reads as absent
        return free_json.filter(lambda value: value is not None)
    return of(annotation, words)


def _open_union(marker: UnionMarker, words: Strategy) -> Strategy:
    known = [of(struct, words) for struct in marker.structs.values()]
    unknown = st.builds(
        lambda tag, rest: Unknown({**rest, marker.tag_field: tag}),
        text.filter(lambda tag: tag not in marker.structs),
        free_objects,
    )
    return st.one_of(*known, unknown)
