"""The official cases of 0.9 and 1.0, where they lie beside the checkout; those of 1.1 are only reported."""

from __future__ import annotations

from typing import Any

import pytest

import shared_spec
from corpus_cases import Case, load_cases, round_trip, run_case, strip_nulls

REQUIRED = ("0.9.0-derived", "1.0.0", "1.0.0-handwritten")
NEWER = "1.1.0-dev"


def _params(*, newer: bool) -> list[Any]:
    return [
        pytest.param(case, id=f"{version}/{name}")
        for kind, key in (("reducers", "reducer"), ("round-trips", "type"))
        for version in (*REQUIRED, NEWER)
        for name, case in load_cases(shared_spec.fixtures(version, kind))
        if key in case and (NEWER in version + name) is newer
    ]


def _outcome(case: Case) -> tuple[Any, list[Any]]:
    """What we make of a case, and what may be made of it."""
    if "reducer" in case:
        return strip_nulls(run_case(case)), [strip_nulls(case["expected"])]
    outputs = [*case["acceptableOutputs"], *([case["preservedOutput"]] if "preservedOutput" in case else [])]
    return strip_nulls(round_trip(case)), [strip_nulls(output) for output in outputs]


@pytest.mark.parametrize("case", _params(newer=False))
def test_case(case: Case) -> None:
    made, acceptable = _outcome(case)
    assert made in acceptable


@pytest.mark.parametrize("case", _params(newer=True))
def test_case_of_a_version_to_come_is_reported(case: Case) -> None:
    try:
        made, acceptable = _outcome(case)
    except KeyError as unknown_type:
        pytest.skip(f"1.0 has no type {unknown_type}")
    if made not in acceptable:
        pytest.skip("1.0 drops what this case is about")
