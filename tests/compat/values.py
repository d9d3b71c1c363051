"""Values of 1.0 to try conversions on: the states and actions of the project's own corpus, less what nobody knows.

The corpus has variants from the future and malformed actions on purpose; schemas of the past say nothing of them.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec
from msgspec import UNSET

from corpus_cases import CORPUS, load_cases
from holdfast.protocol.codec import Unknown, Wire, WireEnum, convert, to_json
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.snapshot import STATES

__all__ = ["actions", "known", "states"]

_NOT: Final = object()


@cache
def states() -> tuple[tuple[str, str, dict[str, Any]], ...]:
    """Name, kind and JSON of every state of the corpus."""
    found = []
    for name, case in load_cases(CORPUS / "reducers"):
        for which in ("initial", "expected"):
            state = known(convert(STATES[case["reducer"]], case.get(which, case["initial"])))
            if state is not None:
                found.append((f"{name} ({which})", case["reducer"], to_json(state)))
    return tuple(found)


@cache
def actions() -> tuple[tuple[str, str, dict[str, Any]], ...]:
    """Name, kind of channel and JSON of every action of the corpus."""
    found = []
    for name, case in load_cases(CORPUS / "reducers"):
        for number, raw in enumerate(case["actions"]):
            try:
                action = known(convert(StateAction, raw))  # type: ignore[arg-type]  # a union, not a class
            except InvalidValue:
                continue
            if action is not None:
                found.append((f"{name} ({number})", case["reducer"], to_json(action)))
    return tuple(found)


def known(value: Any) -> Any:
    """A value without what this version does not know; None if nothing is left of it."""
    pruned = _pruned(value)
    return None if pruned is _NOT else pruned


def _pruned(value: Any) -> Any:
    if isinstance(value, Unknown):
        return _NOT
    if isinstance(value, WireEnum):
        return value if value.is_known else _NOT
    if isinstance(value, tuple):
        return tuple(each for each in map(_pruned, value) if each is not _NOT)
    if isinstance(value, dict):
        return {key: each for key, each in ((k, _pruned(v)) for k, v in value.items()) if each is not _NOT}
    return _struct(value) if isinstance(value, Wire) else value


def _struct(value: Wire) -> Any:
    changes: dict[str, Any] = {}
    for field in msgspec.structs.fields(value):
        after = _pruned(getattr(value, field.name))
        if after is _NOT and field.required:
            return _NOT
        changes[field.name] = (UNSET if field.default is UNSET else None) if after is _NOT else after
    return msgspec.structs.replace(value, **changes)
