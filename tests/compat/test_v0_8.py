"""0.8 and 0.9, in small: errors of turns, terminals that ended, origins of annotations, forks of sessions."""

from __future__ import annotations

from typing import Any

import pytest

from compat.bridging import CHAT, SESSION, about, bridge, lifted, lifted_value, lowered, lowered_value
from holdfast.protocol import uris
from holdfast.protocol.codec import encode
from holdfast.protocol.compat.context import Json
from holdfast.protocol.errors import ErrorCode, RpcError

V = "0.8.0"
OOPS = {"errorType": "e", "message": "m"}
TEXT = {"kind": "markdown", "id": "p", "content": "hi"}
ERROR = {"kind": "error", "error": OOPS}
CLAIM = {"kind": "session", "session": SESSION}
REMARK = {"id": "a", "resource": "file:///f", "resolved": False, "entries": []}


def _turn(*parts: Json, state: str = "error", **more: Any) -> Json:
    message = {"text": "do", "origin": {"kind": "user"}}
    return {"id": "t", "message": message, "responseParts": list(parts), "state": state, **more}


@pytest.mark.parametrize(
    ("shape", "newer", "older"),
    [
        ("turn", _turn(TEXT, ERROR), _turn(TEXT, error=OOPS)),
        ("turn", _turn(ERROR), _turn(error=OOPS)),
        ("turn", _turn(TEXT, state="complete"), _turn(TEXT, state="complete")),
        ("sessionState", {"lifecycle": "failed"}, {"lifecycle": "creationFailed"}),
        ("sessionState", {"lifecycle": "ready"}, {"lifecycle": "ready"}),
        ("terminalState", {"lifecycle": {"status": "running"}}, {}),
        ("terminalInfo", {"lifecycle": {"status": "exited", "exitCode": 0}}, {"exitCode": 0}),
        ("terminalClaim", {**CLAIM, "chat": CHAT, "turnId": "t"}, {**CLAIM, "turnId": "t"}),
        ("terminalClaim", {"kind": "client", "clientId": "c"}, {"kind": "client", "clientId": "c"}),
        ("annotation", {**REMARK, "origin": {"session": SESSION, "turnId": "t"}}, {**REMARK, "turnId": "t"}),
        ("annotation", {**REMARK, "origin": {"session": SESSION}}, {**REMARK, "turnId": ""}),
    ],
)
def test_values_both_ways(shape: str, newer: Json, older: Json) -> None:  # R-7, S-5
    assert lowered_value(V, shape, newer) == older
    assert lifted_value(V, shape, older) == newer


@pytest.mark.parametrize(
    ("shape", "newer", "older"),
    [
        # A turn that was resumed keeps its first error only above.
        ("turn", _turn(ERROR, TEXT, state="complete"), _turn(TEXT, state="complete")),
        ("turn", _turn({**ERROR, "error": {}}, TEXT, {**ERROR, "resumable": True}), _turn(TEXT, error=OOPS)),
        ("activeTurn", {"id": "t", "responseParts": [ERROR, TEXT]}, {"id": "t", "responseParts": [TEXT]}),
        ("terminalState", {"lifecycle": {"status": "exited"}}, {}),
        (
            "message",
            {"text": "x", "origin": {"kind": "automation"}},
            {"text": "x", "origin": {"kind": "systemNotification"}},
        ),
        ("sessionSummary", {"title": "T", "origin": {"kind": "automation"}}, {"title": "T"}),
        ("sessionState", {"lifecycle": "ready", "origin": {"kind": "automation"}}, {"lifecycle": "ready"}),
    ],
)
def test_values_that_say_less_below(shape: str, newer: Json, older: Json) -> None:
    assert lowered_value(V, shape, newer) == older


def test_a_turn_that_has_an_error_part_already_gets_no_second() -> None:
    assert lifted_value(V, "turn", _turn(ERROR, error=OOPS)) == _turn(ERROR)


def test_a_claim_without_its_chat_is_of_the_default_chat() -> None:
    assert lifted_value(V, "terminalClaim", CLAIM)["chat"] == CHAT
    other = {"kind": "session", "session": "ahp-session:/other"}
    assert lifted_value(V, "terminalClaim", other)["chat"] == uris.default_chat("ahp-session:/other")


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        (
            {"type": "chat/error", "turnId": "t", "duration": 1, "part": ERROR},
            {"type": "chat/error", "turnId": "t", "duration": 1, "error": OOPS},
        ),
        (
            {"type": "annotations/updated", "annotationId": "a", "origin": {"session": SESSION, "turnId": "t"}},
            {"type": "annotations/updated", "annotationId": "a", "turnId": "t"},
        ),
        (
            {"type": "annotations/updated", "annotationId": "a", "resolved": True},
            {"type": "annotations/updated", "annotationId": "a", "resolved": True},
        ),
        ({"type": "changeset/contentChanged", "files": []}, {"type": "changeset/contentChanged", "files": []}),
    ],
)
def test_actions_both_ways(newer: Json, older: Json) -> None:  # C-82
    assert lowered(V, newer) == [older]
    assert lifted(V, older) == [newer]


@pytest.mark.parametrize(
    "action",
    [
        {"type": "chat/responsePart", "turnId": "t", "part": ERROR},
        {"type": "chat/turnResume", "turnId": "t"},
        {"type": "automation/set", "automation": {}},
        {"type": "automationRun/sessionSet", "session": SESSION},
    ],
)
def test_actions_without_words_below(action: Json) -> None:  # AU-44, W-48
    assert lowered(V, action) == []


def test_resuming_a_turn_takes_a_snapshot() -> None:
    assert bridge(V).resync("chat/turnResume", {"type": "chat/turnResume", "turnId": "t"}, about("chat"))
    assert bridge("0.9.0").resync("chat/turnResume", {"type": "chat/turnResume"}, about("chat")) is None


def test_an_old_client_keeps_the_chat_a_remark_is_about() -> None:
    known = {**REMARK, "origin": {"session": SESSION, "chat": CHAT, "turnId": "t"}}

    def said(turn: str) -> Any:
        action = {"type": "annotations/set", "annotation": {**REMARK, "turnId": turn}}
        (found,) = lifted(V, action, state=lambda: {"annotations": [known]})
        return found["annotation"]["origin"]

    assert said("t") == known["origin"]
    assert said("u") == {"session": SESSION, "turnId": "u"}


def test_new_content_leaves_a_changesets_error_where_it_is() -> None:
    plain = {"type": "changeset/contentChanged", "files": []}
    assert lowered(V, plain, facts={"error": OOPS}) == [{**plain, "error": OOPS}]
    failed = {"type": "changeset/statusChanged", "status": "error", "error": OOPS}
    assert lifted(V, {**plain, "error": OOPS}) == [plain, failed]
    cleared = {"type": "changeset/statusChanged", "status": "error"}
    assert lifted(V, plain, state=lambda: {"status": "error", "error": OOPS, "files": []}) == [plain, cleared]


def test_forking_a_session_is_a_request_of_our_own() -> None:
    source = {"session": SESSION, "turnId": "t"}
    params = {"channel": "ahp-session:/new", "provider": "p", "workingDirectories": ["file:///w"], "config": {}}
    call = bridge(V).lift_request("createSession", {**params, "fork": source})
    assert (call.method, call.params) == ("x-holdfast/forkSession", {**params, "source": source})
    back = bridge(V).lower_request(*call)
    assert (back.method, back.params) == ("createSession", {**params, "fork": source})
    assert bridge(V).lift_request("createSession", params) == ("createSession", params)
    old = bridge("0.6.0").lift_request(
        "createSession", {"channel": "ahp-session:/new", "workingDirectory": "file:///w", "fork": source}
    )
    assert old.params == {"channel": "ahp-session:/new", "workingDirectories": ["file:///w"], "source": source}


def test_automations_are_not_there() -> None:  # AU-44
    for method in ("runAutomation", "fetchAutomationRuns", "listAutomationTriggerDefinitions"):
        with pytest.raises(RpcError) as failure:
            bridge(V).lift_request(method, {"channel": "ahp-root://"})
        assert failure.value.code == ErrorCode.METHOD_NOT_FOUND
    assert bridge(V).unseen == {"canvas", "automation", "automationRun"}
    result = {"protocolVersion": V, "serverSeq": 1, "snapshots": [], "automations": {}, "_meta": {}}
    assert bridge(V).lower_result("initialize", result) == {"protocolVersion": V, "serverSeq": 1, "snapshots": []}


def test_content_that_is_missing_has_its_own_code() -> None:  # W-64
    missing, other = {"code": -32008, "message": "gone"}, {"code": -32602, "message": "bad"}
    assert bridge(V).lower_error("resourceRead", missing) == {"code": -32006, "message": "gone"}
    assert bridge(V).lower_error("resourceRead", other) == other
    assert bridge(V).lower_error("subscribe", missing) == missing
    assert bridge("0.9.0").lower_error("resourceRead", missing) == missing
    assert bridge(V).lift_error("resourceRead", {"code": -32006, "message": "gone"}) == missing


@pytest.mark.parametrize(
    ("turn", "kept"),
    [
        (_turn(TEXT, state="complete"), True),
        (_turn(TEXT, ERROR), False),
        ({**_turn(state="complete"), "message": {"text": "x", "origin": {"kind": "automation"}}}, False),
    ],
)
def test_history_is_read_only_where_it_may_differ(turn: Json, kept: bool) -> None:
    row = encode(turn)
    assert (bridge(V).lower_turn(row) is row) is kept
    assert (lowered_value(V, "turn", turn) == turn) is kept
