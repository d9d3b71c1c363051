"""0.7 and 0.8, in small: flags and decisions, waits, directories, challenges."""

from __future__ import annotations

from typing import Any

import pytest

from compat.bridging import SESSION, about, bridge, lifted, lifted_value, lowered, lowered_value
from holdfast.protocol.compat.context import Json
from holdfast.protocol.compat.reducing import reduce_in
from holdfast.protocol.compat.roundtrips import roundtrip_in

V = "0.7.0"
PLUGIN = {"type": "plugin", "id": "p", "uri": "u:/p", "name": "P"}
OFF = [{"kind": "session", "enabled": False}]
EVERYWHERE = {"kind": "global", "enabled": False}
HERE = {"kind": "workspace", "uri": "file:///w", "enabled": True}


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        (PLUGIN, {**PLUGIN, "enabled": True}),
        ({**PLUGIN, "enablement": OFF}, {**PLUGIN, "enabled": False}),
        ({**PLUGIN, "type": "mcpServer", "enablement": OFF}, {**PLUGIN, "type": "mcpServer", "enabled": False}),
        ({**PLUGIN, "type": "directory", "enabled": False}, {**PLUGIN, "type": "directory", "enabled": False}),
        ({**PLUGIN, "type": "skill"}, {**PLUGIN, "type": "skill"}),
        (
            {**PLUGIN, "children": [{"type": "mcpServer", "id": "m", "enablement": OFF}, {"type": "hook"}]},
            {
                **PLUGIN,
                "enabled": True,
                "children": [{"type": "mcpServer", "id": "m", "enabled": False}, {"type": "hook"}],
            },
        ),
    ],
)
def test_flags_and_decisions(newer: Json, older: Json) -> None:  # CU-34
    assert lowered_value(V, "customization", newer) == older
    assert lifted_value(V, "customization", older) == newer


def test_the_first_decision_is_the_flag() -> None:  # CU-34
    assert lowered_value(V, "customization", {**PLUGIN, "enablement": [HERE, EVERYWHERE]})["enabled"] is True
    published = {**PLUGIN, "enablement": [EVERYWHERE], "childEnablement": {"a": OFF}}
    assert lowered_value(V, "activeClient", {"clientId": "c", "customizations": [published]}) == {
        "clientId": "c",
        "customizations": [{**PLUGIN, "enabled": False}],
    }


@pytest.mark.parametrize(
    ("there", "enablement"),
    [
        ([], [{"kind": "session", "enabled": True}]),
        (OFF, [{"kind": "session", "enabled": True}]),
        ([*OFF, HERE, EVERYWHERE], [{"kind": "session", "enabled": True}, HERE, EVERYWHERE]),
        ([EVERYWHERE], [{"kind": "session", "enabled": True}, EVERYWHERE]),
    ],
)
@pytest.mark.parametrize("depth", ["top", "child"])
def test_a_toggle_keeps_the_decisions_of_other_scopes(there: list[Json], enablement: list[Json], depth: str) -> None:
    entry = {**PLUGIN, "type": "mcpServer", "enablement": there}
    tree = [entry] if depth == "top" else [{"type": "plugin", "id": "other", "children": [entry]}]
    action = {"type": "session/customizationToggled", "id": "p", "enabled": True}
    found = lifted(V, action, session_state=lambda: {"customizations": tree})
    assert found == [{"type": "session/customizationToggled", "id": "p", "enablement": enablement}]
    # What the client did already agrees with the echo.
    assert lowered(V, found[0]) == [action]


def test_a_toggle_of_what_nobody_knows() -> None:
    action = {"type": "session/customizationToggled", "id": "nobody", "enabled": False}
    assert lifted(V, action) == [{"type": "session/customizationToggled", "id": "nobody", "enablement": OFF}]
    reset = {"type": "session/customizationToggled", "id": "p", "enablement": []}
    assert lowered(V, reset) == [{"type": "session/customizationToggled", "id": "p", "enabled": True}]


@pytest.mark.parametrize(
    ("waits", "above", "below"),
    [
        (["toolClientExecution"], 8 | 32, 24 | 32),
        (["toolClientExecution", "chatInput"], 24, 24),
        (["chatInput"], 24 | 64, 24 | 64),
    ],
)
def test_every_wait_asks_for_a_person(waits: list[str], above: int, below: int) -> None:
    rest = {"lifecycle": "ready", "inputNeeded": [{"kind": kind} for kind in waits]}
    assert lowered_value(V, "sessionState", {**rest, "status": above}) == {**rest, "status": below}
    assert lifted_value(V, "sessionState", {**rest, "status": below}) == {**rest, "status": above}


def test_nothing_waits_no_change() -> None:
    state = {"lifecycle": "ready", "status": 8}
    assert lowered_value(V, "sessionState", state) is state


def test_a_replaced_directory_is_one_more_and_one_less() -> None:
    action = {"type": "session/workingDirectoryReplaced", "directory": "file:///a", "replacement": "file:///b"}
    assert lowered(V, action) == [
        {"type": "session/workingDirectorySet", "directory": "file:///b"},
        {"type": "session/workingDirectoryRemoved", "directory": "file:///a"},
    ]
    for facts, needed in (({}, True), ({"reordered": True}, True), ({"reordered": False}, False)):
        why = bridge(V).resync(action["type"], action, about(facts=facts))
        assert (why is not None) is needed


def test_two_envelopes_have_numbers_of_their_own() -> None:
    action = {"type": "session/workingDirectoryReplaced", "directory": "file:///a", "replacement": "file:///b"}
    origin = {"clientId": "c", "clientSeq": 1}
    envelope = {"channel": SESSION, "action": action, "serverSeq": 40, "origin": origin}
    found = bridge(V).lower_envelope(envelope, about())
    assert [(each["serverSeq"], each["action"]["type"], each["origin"]) for each in found] == [
        (39, "session/workingDirectorySet", origin),
        (40, "session/workingDirectoryRemoved", origin),
    ]


@pytest.mark.parametrize(
    ("version", "resource"),
    [("0.8.0", {"resource": "https://r", "scopes_supported": ["a"]}), (V, "https://r"), ("0.6.0", "https://r")],
)
def test_a_challenge_names_its_resource(version: str, resource: Any) -> None:  # W-54
    params = {"channel": SESSION, "resource": {"resource": "https://r", "scopes_supported": ["a"]}}
    (found,) = bridge(version).lower_notification("auth/required", params, about())
    assert found.params == {"channel": SESSION, "resource": resource}


def test_a_challenge_of_an_older_host() -> None:
    (found,) = bridge(V).lift_notification("auth/required", {"channel": SESSION, "resource": "https://r"}, about())
    assert found.params == {"channel": SESSION, "resource": {"resource": "https://r"}}


def test_replacing_the_primary_is_no_capability() -> None:
    both = {"multipleWorkingDirectories": {"immutablePrimary": True, "primaryReplacement": True}}
    assert lowered_value(V, "agentCapabilities", both) == {"multipleWorkingDirectories": {"immutablePrimary": True}}


def test_what_had_the_number_0_8_before_its_release_is_written_as_it_was_read() -> None:
    plugin = {**PLUGIN, "enabled": True}
    base = {"provider": "p", "title": "T", "status": 1, "lifecycle": "ready", "activeClients": [], "chats": []}
    told = {"type": "session/customizationToggled", "id": "p", "enabled": False}
    after = reduce_in("0.8.0", "session", {**base, "customizations": [plugin]}, [told])
    assert after == {**base, "customizations": [{**plugin, "enabled": False}]}
    assert roundtrip_in("0.8.0", "Customization", plugin) == plugin
    released = {"type": "session/customizationUpdated", "customization": {**PLUGIN, "enablement": OFF}}
    assert lowered("0.8.0", released) == [released], "nobody is served in the form of the pre-release"
