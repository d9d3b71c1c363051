"""The project's own corpus: what each action does to state, and what survives being read and written."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from corpus_cases import CORPUS, Case, canonical, load_cases, round_trip, run_case, states_of, strip_nulls
from holdfast.protocol import codec
from holdfast.protocol.snapshot import STATES
from holdfast.protocol.versions import ACTIONS

REDUCER_CASES = load_cases(CORPUS / "reducers")
ROUND_TRIPS = load_cases(CORPUS / "round-trips")


def _params(cases: list[tuple[str, Case]]) -> list[Any]:
    return [pytest.param(case, id=name) for name, case in cases]


@pytest.mark.parametrize("case", _params([(name, case) for name, case in REDUCER_CASES if not case.get("noOp")]))
def test_actions_lead_to_the_expected_state(case: Case) -> None:
    assert strip_nulls(run_case(case)) == strip_nulls(case["expected"])


@pytest.mark.parametrize("case", _params([(name, case) for name, case in REDUCER_CASES if case.get("noOp")]))
def test_no_op_returns_the_very_same_state(case: Case) -> None:
    states = states_of(case)
    for before, after in pairwise(states):
        assert after is before


@pytest.mark.parametrize("case", _params(REDUCER_CASES))
def test_actions_leave_the_state_they_started_from_alone(case: Case) -> None:
    initial = codec.convert(STATES[case["reducer"]], case["initial"])
    assert codec.encode(states_of(case)[0]) == codec.encode(initial)


@pytest.mark.parametrize("case", _params(REDUCER_CASES))
def test_case_says_either_what_is_expected_or_that_nothing_happens(case: Case) -> None:
    assert case["actions"]
    assert ("expected" in case) != case.get("noOp", False)


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_has_cases_in_the_file_of_its_own_name(action: str) -> None:
    reducer, _, name = action.partition("/")
    cases = [case for place, case in REDUCER_CASES if place.startswith(f"{reducer}/{name}: ")]
    assert action in {sent.get("type") for case in cases for sent in case["actions"]}
    assert {case["reducer"] for case in cases} == {reducer}


@pytest.mark.parametrize("reducer", STATES)
def test_every_reducer_has_cases_of_actions_it_does_not_know(reducer: str) -> None:
    assert [case for place, case in REDUCER_CASES if place.startswith(f"{reducer}/unknown: ")]


@pytest.mark.parametrize("case", _params(ROUND_TRIPS))
def test_value_survives_being_decoded_and_encoded(case: Case) -> None:
    assert canonical(round_trip(case)) in [canonical(output) for output in case["acceptableOutputs"]]
