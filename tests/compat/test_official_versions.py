"""The official cases of every older version, where they lie beside the checkout."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

import shared_spec
from corpus_cases import Case, load_cases, strip_nulls
from holdfast.protocol.compat.reducing import reduce_in
from holdfast.protocol.compat.roundtrips import roundtrip_in
from holdfast.protocol.errors import InvalidValue

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
    "0.8.0-dev": "0.8.0",
    "0.9.0-derived": "0.9.0",
}
"""The folders of cases, and the version whose form each has."""

CLOCK: Final = "1970-01-01T00:00:09.999Z"
"""What the clock of older reducers says in every official case."""

EXCEPTIONS: Final[dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("exceptions.toml").read_text(encoding="utf-8")
)


def _params(kind: str, key: str) -> list[Any]:
    return [
        pytest.param(case, version, f"{folder}/{name.partition(': ')[0]}.json", id=f"{folder}/{name}")
        for folder, version in FOLDERS.items()
        for name, case in load_cases(shared_spec.fixtures(folder, kind))
        if key in case
    ]


REDUCERS: Final = _params("reducers", "reducer")
ROUND_TRIPS: Final = _params("round-trips", "type")


def _reduces(case: Case, version: str) -> bool:
    try:
        found = reduce_in(version, case["reducer"], case["initial"], case["actions"], CLOCK)
    except InvalidValue:
        return False
    return bool(strip_nulls(found) == strip_nulls(case["initial"] if case.get("noOp") else case["expected"]))


def _returns(case: Case, version: str) -> bool:
    outputs = [*case["acceptableOutputs"], *([case["preservedOutput"]] if "preservedOutput" in case else [])]
    try:
        found = roundtrip_in(version, case["type"], case["input"])
    except InvalidValue:
        return False
    return strip_nulls(found) in [strip_nulls(output) for output in outputs]


@pytest.mark.parametrize(("case", "version", "key"), REDUCERS)
def test_reducer_case(case: Case, version: str, key: str) -> None:
    _check(_reduces, case, version, key)


@pytest.mark.parametrize(("case", "version", "key"), ROUND_TRIPS)
def test_round_trip_case(case: Case, version: str, key: str) -> None:
    _check(_returns, case, version, key)


def _check(holds: Any, case: Case, version: str, key: str) -> None:
    exception = EXCEPTIONS.get(key)
    assert holds(case, version) is (exception is None), "differs" if exception is None else "exception not needed"


def test_every_exception_is_of_a_case_and_has_a_reason() -> None:
    known = {case.values[2] for case in (*REDUCERS, *ROUND_TRIPS)}
    assert all(exception["reason"] for exception in EXCEPTIONS.values())
    assert not known or EXCEPTIONS.keys() <= known
