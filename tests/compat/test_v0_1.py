"""0.1 and 0.2, in small: no channels, a root of another name, references, one notification for all."""

from __future__ import annotations

import pytest

from compat.bridging import SESSION, about, bridge, lifted, lowered, lowered_value
from holdfast.protocol.compat.context import Json
from holdfast.protocol.errors import ErrorCode, RpcError

V = "0.1.0"
ROOT, OLD_ROOT = "ahp-root://", "agenthost:/root"
PLUGIN = {"type": "plugin", "id": "p", "uri": "u:/p", "name": "P"}
REFERENCE = {"uri": "u:/p", "displayName": "P"}


@pytest.mark.parametrize(
    ("method", "newer", "older"),
    [
        ("subscribe", {"channel": SESSION}, {"resource": SESSION}),
        ("subscribe", {"channel": ROOT}, {"resource": OLD_ROOT}),
        ("createSession", {"channel": SESSION, "provider": "p"}, {"session": SESSION, "provider": "p"}),
        ("disposeSession", {"channel": SESSION}, {"session": SESSION}),
        ("createTerminal", {"channel": "t:/1", "name": "sh"}, {"terminal": "t:/1", "name": "sh"}),
        ("disposeTerminal", {"channel": "t:/1"}, {"terminal": "t:/1"}),
        ("listSessions", {"channel": ROOT}, {}),
        ("authenticate", {"channel": ROOT, "resource": "r:/", "token": "t"}, {"resource": "r:/", "token": "t"}),
        (
            "reconnect",
            {"channel": ROOT, "clientId": "c", "lastSeenServerSeq": 1, "subscriptions": [ROOT, SESSION]},
            {"clientId": "c", "lastSeenServerSeq": 1, "subscriptions": [OLD_ROOT, SESSION]},
        ),
    ],
)
def test_requests_name_what_they_are_about(method: str, newer: Json, older: Json) -> None:
    assert bridge(V).lift_request(method, older) == (method, newer)
    assert bridge(V).lower_request(method, newer) == (method, older)


def test_dispatched_actions_name_where_they_belong() -> None:
    renamed: Json = {"type": "session/titleChanged", "title": "T"}
    older: Json = {**renamed, "session": SESSION}
    (call,) = bridge(V).lift_notification("dispatchAction", {"clientSeq": 1, "action": older})
    assert call.params["channel"] == SESSION
    assert lifted(V, older) == [renamed]
    assert lowered(V, renamed) == [{**renamed, "session": SESSION}]
    counted: Json = {"type": "root/activeSessionsChanged", "activeSessions": 1}
    (call,) = bridge(V).lift_notification("dispatchAction", {"clientSeq": 0, "action": counted})
    assert call.params["channel"] == ROOT


def test_envelopes_have_no_channel() -> None:
    newer = {"channel": SESSION, "action": {"type": "session/ready"}, "serverSeq": 8}
    older = {"action": {"type": "session/ready", "session": SESSION}, "serverSeq": 8}
    assert bridge(V).lower_envelope(newer, about()) == [older]
    assert bridge(V).lift_envelope(older, about()) == [newer]


@pytest.mark.parametrize(
    ("method", "params", "type"),
    [
        ("root/sessionRemoved", {"session": SESSION}, "notify/sessionRemoved"),
        (
            "root/sessionSummaryChanged",
            {"session": SESSION, "changes": {"title": "T"}},
            "notify/sessionSummaryChanged",
        ),
    ],
)
def test_one_notification_wraps_all(method: str, params: Json, type: str) -> None:  # noqa: A002
    wrapped = {"notification": {"type": type, **params}}
    newer = {"channel": ROOT, **params}
    assert bridge(V).lower_notification(method, newer) == [("notification", wrapped)]
    assert bridge(V).lift_notification("notification", wrapped) == [(method, newer)]


def test_a_challenge_names_its_resource() -> None:
    (call,) = bridge(V).lower_notification("auth/required", {"channel": ROOT, "resource": {"resource": "r:/"}})
    assert call.params == {"notification": {"type": "notify/authRequired", "resource": "r:/"}}
    assert bridge(V).lift_notification("notification", call.params) == [
        ("auth/required", {"channel": ROOT, "resource": {"resource": "r:/"}})
    ]


def test_what_came_later_is_not_said() -> None:
    assert bridge(V).lower_notification("otlp/exportLogs", {"channel": "x:/"}) == []
    assert bridge(V).lower_notification("root/progress", {"channel": ROOT}) == []
    for method in ("ping", "resourceResolve", "createChat", "createResourceWatch"):
        with pytest.raises(RpcError) as failure:
            bridge(V).lift_request(method, {})
        assert failure.value.code == ErrorCode.METHOD_NOT_FOUND


def test_customizations_are_references() -> None:
    entry = {"customization": REFERENCE, "enabled": True}
    told = {"type": "session/customizationsChanged", "customizations": [PLUGIN, {"type": "skill", "id": "s"}]}
    assert lowered(V, told) == [{"type": told["type"], "session": SESSION, "customizations": [entry]}]
    facts = {"customizations": [PLUGIN]}
    for type in ("customizationUpdated", "customizationRemoved"):  # noqa: A001 - the protocol's word
        action = {"type": f"session/{type}", "customization": PLUGIN, "id": "p"}
        (found,) = lowered(V, action, facts=facts)
        assert found == {"type": told["type"], "session": SESSION, "customizations": [entry]}
    switched = {"type": "session/customizationToggled", "uri": "u:/p", "enabled": False, "session": SESSION}
    (found,) = lifted(V, switched, session_state=lambda: {"customizations": [PLUGIN]})
    assert (found["id"], found["enablement"]) == ("p", [{"kind": "session", "enabled": False}])
    assert lowered(V, found, facts={"uri": "u:/p"}) == [switched]


def test_a_conflict_has_no_code_of_its_own() -> None:
    conflict = {"code": -32011, "message": "changed meanwhile"}
    assert bridge(V).lower_error("resourceWrite", conflict) == {**conflict, "code": -32603}
    assert bridge("0.2.0").lower_error("resourceWrite", conflict) == conflict


@pytest.mark.parametrize("more", [{"mode": "append"}, {"position": 4}, {"ifMatch": "x"}])
def test_only_whole_contents_can_be_written(more: Json) -> None:
    params = {"channel": ROOT, "uri": "file:///f", "data": ""}
    plain = {"uri": "file:///f", "data": ""}
    assert bridge(V).lower_request("resourceWrite", {**params, "mode": "truncate"}) == ("resourceWrite", plain)
    with pytest.raises(RpcError):
        bridge(V).lower_request("resourceWrite", {**params, **more})


def test_a_session_has_no_changesets() -> None:
    assert lowered_value(V, "sessionSummary", {"title": "T", "changesets": [], "agent": {}}) == {"title": "T"}
