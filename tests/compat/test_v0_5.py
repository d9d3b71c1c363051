"""0.4 to 0.6, in small: where questions are, how history is read, summaries, who is active, what was chosen."""

from __future__ import annotations

import pytest

from compat.bridging import CHAT, SESSION, about, bridge, lifted, lifted_value, lowered, lowered_value
from holdfast.protocol.compat.context import Json
from holdfast.protocol.errors import ErrorCode, RpcError

NOW = "2026-03-01T12:00:00.000Z"
MESSAGE = {"text": "x", "origin": {"kind": "user"}}
REQUEST = {"id": "i", "message": "?"}
OPEN = {"kind": "inputRequest", "request": REQUEST}
ANSWERED = {**OPEN, "response": "accept"}
TEXT = {"kind": "markdown", "id": "p", "content": "x"}
CALL = {"status": "running", "toolCallId": "k", "toolName": "sh", "displayName": "Sh", "invocationMessage": "run"}
CLIENT = {"clientId": "c", "tools": []}
OTHER = {"clientId": "d", "tools": []}


# 0.5.2


def test_open_questions_are_the_chats() -> None:
    turn = {"id": "t", "message": MESSAGE, "startedAt": NOW, "responseParts": [TEXT, OPEN, ANSWERED]}
    chat = {"resource": CHAT, "status": 24, "modifiedAt": NOW, "turns": [], "activeTurn": turn}
    shown = bridge("0.5.2").lower_state("chat", chat, about("chat"))
    assert shown["inputRequests"] == [REQUEST]
    assert shown["activeTurn"] == {"id": "t", "message": MESSAGE, "responseParts": [TEXT, ANSWERED]}
    back = bridge("0.5.2").lift_state("chat", shown, about("chat"))
    assert "inputRequests" not in back
    assert back["activeTurn"] == {**turn, "responseParts": [TEXT, ANSWERED, OPEN]}
    older = bridge("0.5.1").lower_state("chat", chat, about("chat"))
    assert older["activeTurn"]["responseParts"] == [TEXT]


def test_a_question_without_a_turn_is_lost() -> None:
    chat = {"resource": CHAT, "status": 24, "modifiedAt": NOW, "turns": [], "inputRequests": [REQUEST]}
    assert "inputRequests" not in bridge("0.5.2").lift_state("chat", chat, about("chat"))


def test_turns_have_no_times() -> None:
    turn = {
        "id": "t",
        "message": MESSAGE,
        "startedAt": NOW,
        "duration": 5,
        "responseParts": [OPEN],
        "state": "complete",
    }
    older = {"id": "t", "message": MESSAGE, "responseParts": [], "state": "complete"}
    assert lowered_value("0.5.2", "turn", turn) == older
    started = {"type": "chat/turnStarted", "turnId": "t", "message": MESSAGE}
    assert lowered("0.5.2", {**started, "startedAt": NOW}) == [started]
    assert lifted("0.5.2", started, now=NOW) == [{**started, "startedAt": NOW}]
    ended = {"type": "chat/turnComplete", "turnId": "t"}
    assert lowered("0.5.2", {**ended, "duration": 5}) == [ended]
    running = {"activeTurn": {"id": "t", "startedAt": "2026-03-01T11:59:59.000Z"}}
    assert lifted("0.5.2", ended, now=NOW, state=lambda: running) == [{**ended, "duration": 1000}]
    assert lifted("0.5.2", ended) == [{**ended, "duration": 0}]


def test_a_call_that_waits_for_a_token_runs() -> None:
    waiting = {**CALL, "status": "auth-required", "auth": {"reason": "required"}, "riskAssessment": {}}
    assert lowered_value("0.5.2", "toolCall", waiting) == CALL
    named = {"turnId": "t", "toolCallId": "k"}
    for type in ("chat/toolCallAuthRequired", "chat/toolCallAuthResolved"):  # noqa: A001 - the protocol's word
        action = {"type": type, **named}
        assert lowered("0.5.2", action) == []
        assert bridge("0.5.2").resync(type, action, about("chat", facts={"remarked": True}))
        assert bridge("0.5.2").resync(type, action, about("chat")) is None
    complete = {
        "type": "chat/toolCallComplete",
        **named,
        "requiresResultConfirmation": True,
        "result": {"success": True},
    }
    assert lowered("0.5.2", complete, facts={"failed": {}}) == []
    (found,) = lowered("0.5.2", complete, facts={"failed": {"success": False, "content": []}})
    assert found == {"type": complete["type"], **named, "result": {"success": False, "content": []}}
    assert lowered("0.5.2", complete) == [complete]


def test_a_call_is_not_asked_about_anew() -> None:
    ready = {"type": "chat/toolCallReady", "turnId": "t", "toolCallId": "k", "invocationMessage": "m"}
    assert lowered("0.5.2", ready) == [ready]
    assert lowered("0.5.2", ready, facts={"waited": True}) == []
    approved = {"type": "chat/toolCallConfirmed", "turnId": "t", "toolCallId": "k", "confirmed": "setting"}
    (found,) = lowered("0.5.2", {**ready, "confirmed": "setting"}, facts={"waited": True})
    assert found == {**approved, "approved": True}
    assert bridge("0.5.2").resync(ready["type"], ready, about("chat", facts={"retold": True}))


def test_reviews_are_the_hosts() -> None:
    newer = {"type": "changeset/filesReviewChanged", "files": ["f"], "reviewed": True}
    older = {"type": "changeset/filesReviewedChanged", "fileIds": ["f"], "reviewed": True}
    assert lowered("0.5.2", newer) == [older]
    assert lifted("0.5.2", older) == [newer]
    assert lifted("0.5.2", older, client_id="c") == [older], "what nobody knows is left as it is"
    assert lowered("0.5.1", newer) == []


# 0.5.1 and 0.5.0


def test_servers_are_told_by_where_they_go() -> None:
    for asked, kind in (("Start", "starting"), ("Stop", "stopped")):
        action = {"type": f"session/mcpServer{asked}Requested", "id": "m"}
        told = {"type": "session/mcpServerStateChanged", "id": "m", "state": {"kind": kind}}
        assert lowered("0.5.1", action) == [told]
        assert lowered("0.5.2", action) == [action]


def test_what_could_not_be_switched_is_not() -> None:
    plugin = {"type": "plugin", "id": "p", "children": [{"type": "skill", "id": "s"}]}
    server = {"type": "mcpServer", "id": "m"}

    def switched(id: str) -> int:
        action = {"type": "session/customizationToggled", "id": id, "enabled": False}
        return len(lifted("0.5.1", action, session_state=lambda: {"customizations": [plugin, server]}))

    assert [switched(each) for each in ("p", "s", "m", "nobody")] == [1, 0, 0, 0]


def test_of_a_finished_command_its_output_is_left() -> None:
    block = {"type": "terminal", "resource": "t:/1", "title": "sh", "result": {"preview": "ok"}}
    terminal = {"type": "terminal", "resource": "t:/1", "title": "sh"}
    value = {"success": True, "content": [block, {**block, "result": {}}]}
    found = lowered_value("0.5.1", "toolResult", value)
    assert found["content"] == [terminal, {"type": "text", "text": "ok"}, terminal]


def test_history_is_an_answer() -> None:
    asked = {"channel": CHAT, "before": "t", "limit": 3}
    own = bridge("0.5.0").lift_request("fetchTurns", asked, about("chat"))
    assert own == ("x-holdfast/readTurns", asked)
    assert bridge("0.5.0").lower_request(*own, about("chat")) == ("fetchTurns", asked)
    page = {"turns": [{"id": "t", "startedAt": NOW, "responseParts": []}], "hasMore": True}
    told = bridge("0.5.0").lower_result("x-holdfast/readTurns", page)
    assert told == {"turns": [{"id": "t", "responseParts": []}], "hasMore": True}
    assert lowered("0.5.0", {"type": "chat/turnsLoaded", "turns": []}) == []
    with pytest.raises(RpcError) as failure:
        bridge("0.5.0").lower_request("fetchTurns", {"channel": CHAT, "cursor": "c"})
    assert failure.value.code == ErrorCode.METHOD_NOT_FOUND


def test_lists_have_no_pages() -> None:
    up = bridge("0.5.0").lift_request("listSessions", {"channel": "ahp-root://", "filter": {}, "limit": 1})
    assert up.params == {"channel": "ahp-root://"}
    assert bridge("0.5.0").lower_result("listSessions", {"items": [], "nextCursor": "c"}) == {"items": []}
    subscribed = bridge("0.5.0").lift_request("subscribe", {"channel": CHAT, "view": {"turns": 1}})
    assert subscribed.params == {"channel": CHAT}


# 0.4


def test_one_client_is_shown() -> None:
    told = {"type": "session/activeClientSet", "activeClient": CLIENT}
    gone = {"type": "session/activeClientRemoved", "clientId": "c"}
    changed = "session/activeClientChanged"
    assert lowered("0.4.0", told) == [{"type": changed, "activeClient": CLIENT}]
    assert lowered("0.4.0", told, facts={"shown": OTHER}) == [{"type": changed, "activeClient": OTHER}]
    assert lowered("0.4.0", gone, facts={"shown": OTHER}) == [{"type": changed, "activeClient": OTHER}]
    assert lowered("0.4.0", gone, facts={"shown": None}) == [{"type": changed, "activeClient": None}]


def test_a_client_speaks_for_itself() -> None:
    changed = {"type": "session/activeClientChanged", "activeClient": CLIENT}
    both = {"activeClients": [OTHER, CLIENT]}
    assert lifted("0.4.0", changed, client_id="c") == [{"type": "session/activeClientSet", "activeClient": CLIENT}]
    gone = {**changed, "activeClient": None}
    assert lifted("0.4.0", gone, client_id="c") == [{"type": "session/activeClientRemoved", "clientId": "c"}]
    tools = {"type": "session/activeClientToolsChanged", "tools": [{"name": "n"}]}
    entry = {"type": "session/activeClientSet", "activeClient": {**OTHER, "tools": [{"name": "n"}]}}
    assert lifted("0.4.0", tools, client_id="d", session_state=lambda: both) == [entry]
    assert lifted("0.4.0", tools, client_id="e", session_state=lambda: both) == []


def test_a_host_says_who_is_left() -> None:
    changed = {"type": "session/activeClientChanged", "activeClient": CLIENT}
    known = {"activeClients": [OTHER]}
    assert lifted("0.4.0", changed, session_state=lambda: known) == [
        {"type": "session/activeClientRemoved", "clientId": "d"},
        {"type": "session/activeClientSet", "activeClient": CLIENT},
    ]
    gone = {**changed, "activeClient": None}
    assert lifted("0.4.0", gone, session_state=lambda: known) == [
        {"type": "session/activeClientRemoved", "clientId": "d"}
    ]


def test_a_session_has_a_summary() -> None:
    state = {"provider": "p", "title": "T", "status": 1, "lifecycle": "ready", "activeClients": [], "chats": []}
    summary = {"resource": SESSION, "createdAt": 0, "modifiedAt": 0, "provider": "p", "title": "T", "status": 1}
    assert bridge("0.4.0").lower_state("session", state, about()) == {
        "summary": summary,
        "lifecycle": "ready",
        "chats": [],
    }
    listed = {"title": "T", "createdAt": NOW, "modifiedAt": NOW, "_meta": {}}
    older = {"title": "T", "createdAt": 1772366400000, "modifiedAt": 1772366400000}
    assert lowered_value("0.4.0", "sessionSummary", listed) == older
    assert lifted_value("0.4.0", "sessionSummary", older) == {"title": "T", "createdAt": NOW, "modifiedAt": NOW}


def test_values_were_texts() -> None:
    assert lowered_value("0.4.0", "configProperty", {"enum": [1, True, "a"]}) == {"enum": ["1", "true", "a"]}
    model = {"id": "m", "config": {"depth": 3, "effort": "high"}}
    assert lowered_value("0.4.0", "modelSelection", model) == {"id": "m", "config": {"depth": "3", "effort": "high"}}


def test_messages_go_to_what_was_chosen() -> None:
    started: Json = {"type": "chat/turnStarted", "turnId": "t", "message": MESSAGE, "startedAt": NOW}
    chosen = {"model": {"id": "m"}, "agent": {"uri": "a:/"}}
    (found,) = lifted("0.4.0", started, legacy=lambda: chosen)
    assert found["message"] == {**MESSAGE, **chosen}
    own = {**started, "message": {**MESSAGE, "model": {"id": "own"}}}
    (found,) = lifted("0.4.0", own, legacy=lambda: chosen)
    assert found["message"]["model"] == {"id": "own"}
    params: Json = {"channel": SESSION, "chat": CHAT, "initialMessage": MESSAGE, "model": {"id": "m"}}
    call = bridge("0.4.0").lift_request("createChat", params, about(legacy=lambda: {"agent": {"uri": "a:/"}}))
    assert call.params["initialMessage"] == {**MESSAGE, **chosen}
    assert "model" not in call.params
    back = bridge("0.4.0").lower_request("createSession", {"channel": SESSION, "x-holdfast": {"legacy": chosen}})
    assert back.params == {"channel": SESSION, **chosen}
