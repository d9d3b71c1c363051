"""Versions: negotiation by the normative rule, and tables that agree with the types."""

from __future__ import annotations

import json
from typing import Any

import pytest

import shared_spec
from holdfast.protocol import methods
from holdfast.protocol.envelope import ACTION_TYPES
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.versions import (
    ACTIONS,
    BASELINES,
    METHODS,
    NOTIFICATIONS,
    Version,
    baseline_of,
    negotiate,
    parse_version,
)

STANDARD = (Version(1, 0, 0), Version(0, 9, 0))
"""The baselines of the 1.0.0 reference."""


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["1.0.0"], "1.0.0"),
        (["0.9.0", "1.0.0"], "1.0.0"),  # W-15
        (["1.0.0", "0.9.0"], "1.0.0"),  # W-15
        (["1.7.3"], "1.7.3"),  # W-16
        (["1.9.9", "1.10.0"], "1.10.0"),
        (["1.0.9", "1.0.20261119"], "1.0.20261119"),
        (["1.0.0", f"1.{'9' * 100}.0"], f"1.{'9' * 100}.0"),
        (["0.10.0", "0.9.0"], "0.10.0"),
        (["0.10.1", "0.9.0"], "0.9.0"),
        (["2.0.0", "0.5.1"], "0.5.1"),
        (["0.5.0"], "0.5.0"),
        (["0.5.7", "0.5.2"], "0.5.7"),
        (["0.1.4"], "0.1.4"),
        (["0.9.0", "0.7.0", "0.6.0", "0.5.2", "0.5.1"], "0.9.0"),
    ],
)
def test_highest_compatible_wins_and_comes_back_verbatim(offered: list[str], chosen: str) -> None:
    assert negotiate(offered) == chosen


@pytest.mark.parametrize(
    "entry",
    [
        *(
            "bogus",
            "1.0",
            "1",
            "v1.0.0",
            "01.0.0",
            "1.00.0",
            "1.0.0-rc.1",
            "1.0.0+build",
            "1.0.0\n",
            " 1.0.0",
        ),
        *(
            "",
            "1.0.0.0",
            "-1.0.0",
            "1..0",
            "1.0.٠",
            "１.0.0",
            "1.0." + "9" * 5000,
            "9" * 5000 + ".0.0",
            "1.0." + "9" * 4300,
            "1.0." + "9" * 300,
            "^1.0.0",
        ),
    ],
)
def test_one_malformed_entry_invalidates_the_offer(entry: str) -> None:  # W-17
    with pytest.raises(RpcError) as caught:
        negotiate(["1.0.0", entry])
    assert caught.value.code == ErrorCode.INVALID_PARAMS
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("offered", [[], ["2.0.0"], ["0.0.9"], ["0.10.1"], ["0.11.0", "3.0.0"]])
def test_nothing_compatible_names_what_is(offered: list[str]) -> None:  # W-18
    with pytest.raises(RpcError) as caught:
        negotiate(offered)
    assert caught.value.code == ErrorCode.UNSUPPORTED_PROTOCOL_VERSION
    assert "^1.0.0" in caught.value.data["supportedVersions"]


def test_every_baseline_negotiates_to_itself() -> None:
    assert [negotiate([str(baseline)]) for baseline in BASELINES] == [str(each) for each in BASELINES]
    assert [baseline_of(baseline) for baseline in BASELINES] == list(BASELINES)


@pytest.mark.parametrize(
    ("version", "baseline"),
    [
        ("1.4.2", "1.0.0"),
        ("0.9.7", "0.9.0"),
        ("0.5.9", "0.5.2"),
        ("0.5.1", "0.5.1"),
        ("0.5.0", "0.5.0"),
        ("0.10.0", "0.10.0"),
    ],
)
def test_a_version_belongs_to_the_newest_baseline_it_fits(version: str, baseline: str) -> None:
    parsed = parse_version(version)
    assert parsed is not None
    assert str(baseline_of(parsed)) == baseline


def _reference_cases() -> list[Any]:
    path = shared_spec.fixtures("1.0.0-handwritten") / "version-negotiation.json"
    return list(json.loads(path.read_text())["cases"]) if path.exists() else []


@pytest.mark.parametrize("case", _reference_cases(), ids=lambda case: ",".join(case["offered"]).strip() or "-")
def test_reference_cases(case: dict[str, Any]) -> None:
    try:
        outcome: Any = negotiate(case["offered"], STANDARD)
    except RpcError as error:
        outcome = error.code
    expected = case.get("expected") or ErrorCode.UNSUPPORTED_PROTOCOL_VERSION
    assert outcome == (ErrorCode.INVALID_PARAMS if case.get("invalid") else expected)


def test_tables_name_exactly_what_has_a_type() -> None:
    assert set(ACTIONS) == set(ACTION_TYPES)
    assert set(METHODS) == set(methods.REQUESTS)
    assert set(NOTIFICATIONS) == set(methods.NOTIFICATIONS)


def test_only_these_actions_may_come_from_clients() -> None:
    families = {"root": 1, "session": 13, "chat": 18, "terminal": 5, "changeset": 1, "annotations": 5}
    families |= {"automation": 3, "automationRun": 1}
    found = [name.partition("/")[0] for name, info in ACTIONS.items() if info.client]
    assert {family: found.count(family) for family in set(found)} == families
