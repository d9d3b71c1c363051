"""0.9 and 1.0, in small: what 1.0 added does not reach a 0.9 client."""

from __future__ import annotations

from typing import Any

import pytest

from compat.bridging import CHAT, SESSION, about, bridge, lifted, lowered, lowered_value
from holdfast.protocol.compat.context import Json
from holdfast.protocol.errors import ErrorCode, RpcError

V = "0.9.0"
SUMMARY = {"resource": SESSION, "provider": "p", "title": "T", "status": 1, "createdAt": "a", "modifiedAt": "b"}
CHAT_SUMMARY = {"resource": CHAT, "title": "C", "status": 97, "modifiedAt": "b"}


@pytest.mark.parametrize(
    ("shape", "more", "less"),
    [
        ("sessionSummary", {**SUMMARY, "chats": [], "defaultChat": CHAT}, SUMMARY),
        (
            "chatState",
            {
                **CHAT_SUMMARY,
                "turns": [],
                "changes": {"files": 1},
                "movable": True,
                "changesets": [],
                "backgroundWork": [],
                "canvases": [],
            },
            # Nobody below would be told when the marks of a chat change.
            {**CHAT_SUMMARY, "turns": [], "status": 1},
        ),
        ("chatSummary", {**CHAT_SUMMARY, "changes": {}, "movable": False}, CHAT_SUMMARY),
        ("changesetState", {"status": "recomputing", "files": []}, {"status": "computing", "files": []}),
        ("changesetState", {"status": "ready", "files": []}, {"status": "ready", "files": []}),
        ("mcpServerState", {"kind": "starting", "blocking": True}, {"kind": "starting"}),
        (
            "configSchema",
            {"type": "object", "properties": {"a": {"type": "array", "title": "A", "minItems": 1, "maxItems": 2}}},
            {"type": "object", "properties": {"a": {"type": "array", "title": "A"}}},
        ),
    ],
)
def test_values_lose_what_is_new(shape: str, more: Json, less: Json) -> None:  # W-47, CS-34
    assert lowered_value(V, shape, more) == less
    assert lowered_value(V, shape, less) == less


@pytest.mark.parametrize(
    ("action", "found"),
    [
        ({"type": "chat/isReadChanged", "isRead": True}, []),
        ({"type": "chat/isArchivedChanged", "isArchived": True}, []),
        ({"type": "chat/canvasesChanged"}, []),
        ({"type": "canvas/stateChanged", "canvas": {}}, []),
        ({"type": "chat/movableChanged", "movable": True}, []),
        ({"type": "session/mcpServerBackgroundRequested", "id": "m"}, []),
        ({"type": "session/chatsReordered", "chats": []}, []),
        ({"type": "session/chatUpdated", "chat": CHAT, "changes": {"movable": True}}, []),
        (
            {"type": "session/chatUpdated", "chat": CHAT, "changes": {"movable": True, "status": 33}},
            [{"type": "session/chatUpdated", "chat": CHAT, "changes": {"status": 33}}],
        ),
        (
            {"type": "changeset/statusChanged", "status": "recomputing"},
            [{"type": "changeset/statusChanged", "status": "computing"}],
        ),
        ({"type": "session/titleChanged", "title": "x"}, [{"type": "session/titleChanged", "title": "x"}]),
    ],
)
def test_actions_that_are_new_are_not_sent(action: Json, found: list[Json]) -> None:  # W-48
    assert lowered(V, action) == found


def test_an_order_of_chats_takes_a_snapshot() -> None:
    action = {"type": "session/chatsReordered", "chats": []}
    assert bridge(V).may_resync("session/chatsReordered")
    assert bridge(V).resync("session/chatsReordered", action, about())
    assert not bridge(V).may_resync("session/chatAdded")


def test_a_summary_in_which_only_new_keys_changed_is_not_sent() -> None:
    def told(changes: Json) -> list[Any]:
        params = {"channel": "ahp-root://", "session": SESSION, "changes": changes}
        found = bridge(V).lower_notification("root/sessionSummaryChanged", params, about("root"))
        return [each.params["changes"] for each in found]

    assert told({"chats": [], "defaultChat": CHAT}) == []
    assert told({"chats": [], "title": "T"}) == [{"title": "T"}]


def test_requests_that_are_new_are_refused() -> None:
    for convert in (bridge(V).lift_request, bridge(V).lower_request):
        with pytest.raises(RpcError) as failure:
            convert("moveChat", {"channel": CHAT, "destination": {"kind": "newSession"}})
        assert failure.value.code == ErrorCode.METHOD_NOT_FOUND


def test_canvases_are_not_there() -> None:
    assert bridge(V).unseen == {"canvas"}
    gone = {
        "type": "snapshot",
        "snapshots": [{"resource": "ahp-canvas:/1", "state": {"canvasId": "1"}, "fromSeq": 1}],
    }
    assert bridge(V).lower_result("reconnect", gone) == {"type": "snapshot", "snapshots": []}


def test_automations_keep_customizations_that_a_client_does_not_know() -> None:
    plugin = {"type": "plugin", "id": "p", "uri": "u:/p", "name": "P"}
    entry = {
        "resource": "ahp-automation:/1",
        "definition": {"session": {"provider": "a", "customizations": [plugin]}},
    }
    action = {
        "type": "automation/updateRequested",
        "resource": "ahp-automation:/1",
        "changes": {"session": {"provider": "b"}},
    }
    (found,) = lifted(V, action, state=lambda: {"entries": [entry]})
    assert found["changes"] == {"session": {"provider": "b", "customizations": [plugin]}}
    assert lifted(V, action, state=lambda: {"entries": []}) == [action]


def test_history_is_the_same() -> None:
    row = b'{"id":"t","responseParts":[{"kind":"error"}]}'
    assert bridge(V).lower_turn(row) is row
