"""The options of a demo session."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents.scripted import demo, options
from holdfast.agents.scripted.options import PermissionMode
from holdfast.protocol.codec import to_json

DEFAULTS = {"permissionMode": "ask", "speed": 100, "greeting": "Hello", "branch": "main"}

anything = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


def resolved(config: dict[str, Any]) -> dict[str, Any]:
    return asyncio.run(demo().resolve_config("file:///work", config)).values


def test_the_schema_reads_as_clients_expect() -> None:
    schema = to_json(asyncio.run(demo().resolve_config(None, {})).schema)
    assert schema["type"] == "object"
    mode = schema["properties"]["permissionMode"]
    assert (mode["enum"], mode["default"], mode["sessionMutable"]) == (["ask", "auto", "read-only"], "ask", True)
    assert len(mode["enumLabels"]) == len(mode["enumDescriptions"]) == 3
    assert schema["properties"]["speed"]["type"] == "number"
    assert schema["properties"]["speed"]["sessionMutable"] is True
    assert schema["properties"]["greeting"]["sessionMutable"] is False
    branch = schema["properties"]["branch"]
    assert branch["enumDynamic"] is True
    assert branch["default"] in branch["enum"]
    for option in schema["properties"].values():
        assert option["title"]
        assert option["description"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {}),
        ({"permissionMode": "auto", "speed": 0}, {"permissionMode": "auto", "speed": 0}),
        ({"speed": 12.5}, {"speed": 12.5}),
        ({"permissionMode": "never", "speed": "fast", "greeting": 7, "branch": None}, {}),
        ({"speed": True, "permissionMode": 1}, {}),
        ({"branch": "not/in/the/list"}, {"branch": "not/in/the/list"}),
        ({"greeting": ""}, {"greeting": ""}),
        (
            {"isolation": "worktree", "autoApprove": {"x": None}, "mode": 3},
            {"isolation": "worktree", "autoApprove": {"x": None}, "mode": 3},
        ),
    ],
)
def test_valid_values_are_kept_and_others_replaced(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert resolved(given) == {**DEFAULTS, **expected}


@given(st.dictionaries(st.sampled_from([*DEFAULTS, "other"]), anything))
def test_resolving_settles_and_can_always_be_read(config: dict[str, Any]) -> None:
    before = dict(config)
    values = resolved(config)
    assert resolved(values) == values
    assert config == before
    assert options.read(config) == options.read(values)
    assert options.read(config).speed >= 0


def test_a_turn_reads_its_options() -> None:
    read = options.read({"permissionMode": "read-only", "speed": -3, "greeting": "Ahoy"})
    assert read == (PermissionMode.READ_ONLY, 0.0, "Ahoy")
    assert options.read({"speed": 10**400}).speed == 1_000_000


def branches(query: str) -> list[str]:
    items = asyncio.run(demo().complete_config(None, {}, "branch", query))
    assert items is not None
    assert all(item.label and item.description for item in items)
    return [item.value for item in items]


def test_branches_are_completed() -> None:
    assert branches("") == list(options.SCHEMA.properties["branch"].enum or ())
    assert branches("  ") == branches("")
    assert branches("FIX/")[0] == "fix/flaky-login-test"
    assert branches("log") == ["fix/flaky-login-test"]
    assert branches("re")[0].startswith("release/")
    assert "fix/reconnect-after-sleep" in branches("re")
    assert branches("nothing like it") == []
    assert len(branches("/")) >= 30


def test_other_options_offer_their_values() -> None:
    items = asyncio.run(demo().complete_config(None, {}, "permissionMode", ""))
    assert items is not None
    assert [(item.value, item.label) for item in items] == [
        ("ask", "Ask"),
        ("auto", "Automatic"),
        ("read-only", "Read-only"),
    ]
    assert asyncio.run(demo().complete_config(None, {}, "greeting", "")) == ()
    assert asyncio.run(demo().complete_config(None, {}, "mode", "")) is None
