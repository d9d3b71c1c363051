"""0.3 and 0.4, in small: a session is its default chat, and there is nothing else in it."""

from __future__ import annotations

import pytest

from compat.bridging import CHAT, SESSION, about, bridge, lifted, lowered, lowered_value
from holdfast.protocol import uris
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import Action
from holdfast.protocol.errors import ErrorCode, RpcError

V = "0.3.0"
MESSAGE = {"text": "x", "origin": {"kind": "user"}}


def test_actions_of_the_default_chat_are_the_sessions() -> None:
    newer = {"type": "chat/pendingMessageRemoved", "kind": "queued", "id": "q"}
    older = {**newer, "type": "session/pendingMessageRemoved"}
    assert bridge(V).lower_action(Action(CHAT, "chat", newer), about("chat")) == [Action(SESSION, "session", older)]
    assert bridge(V).lift_action(Action(SESSION, "session", older), about()) == [Action(CHAT, "chat", newer)]


def test_other_chats_are_not_heard_of() -> None:
    elsewhere = Context(channel="ahp-chat:/d", kind="chat", session=SESSION, default_chat=CHAT)
    told = Action("ahp-chat:/d", "chat", {"type": "chat/turnComplete", "turnId": "t"})
    assert bridge(V).lower_action(told, elsewhere) == []
    for type in ("session/titleChanged", "session/isReadChanged", "session/isArchivedChanged"):  # noqa: A001
        assert bridge(V).lower_action(Action(CHAT, "chat", {"type": type}), about("chat")) == []
    for type in ("session/chatAdded", "session/chatRemoved", "session/chatUpdated"):  # noqa: A001
        assert lowered(V, {"type": type, "chat": CHAT, "summary": {}, "changes": {}}) == []


def test_another_default_chat_takes_a_snapshot() -> None:
    action = {"type": "session/defaultChatChanged", "defaultChat": "ahp-chat:/d"}
    assert lowered(V, action) == []
    assert bridge(V).resync(action["type"], action, about())
    assert bridge("0.4.0").resync(action["type"], action, about()) is None


def test_history_and_completions_are_asked_of_the_session() -> None:
    known = about(lookup=lambda channel: about() if channel in (SESSION, CHAT) else Context(channel=channel))
    completions = {"kind": "userMessage", "text": "/", "offset": 1}
    up = bridge(V).lift_request("completions", {"channel": SESSION, **completions}, known)
    assert up.params == {"channel": CHAT, **completions}
    down = bridge(V).lower_request("completions", {"channel": CHAT, **completions}, known)
    assert down.params == {"channel": SESSION, **completions}
    other = uris.default_chat("ahp-session:/o")
    down = bridge(V).lower_request("completions", {"channel": other, **completions}, known)
    assert down.params == {"channel": "ahp-session:/o", **completions}
    assert bridge(V).lift_request("fetchTurns", {"channel": SESSION}, known) == (
        "x-holdfast/readTurns",
        {"channel": CHAT},
    )


def test_chats_cannot_be_made() -> None:
    for method in ("createChat", "disposeChat"):
        with pytest.raises(RpcError) as failure:
            bridge(V).lift_request(method, {"channel": SESSION})
        assert failure.value.code == ErrorCode.METHOD_NOT_FOUND
    assert bridge(V).unseen >= {"chat", "annotations"}


@pytest.mark.parametrize(
    ("shape", "newer", "older"),
    [
        (
            "message",
            {"text": "x", "origin": {"kind": "tool"}},
            {"text": "x", "origin": {"kind": "systemNotification"}},
        ),
        ("message", MESSAGE, MESSAGE),
        (
            "attachment",
            {"type": "annotations", "label": "L", "resource": "a:/", "annotationIds": ["i"]},
            {
                "type": "simple",
                "label": "L",
                "_meta": {"holdfast.annotations": {"resource": "a:/", "annotationIds": ["i"]}},
            },
        ),
        (
            "resultContent",
            {"type": "subagent", "resource": CHAT, "title": "W", "description": "works"},
            {"type": "text", "text": "W: works"},
        ),
        ("resultContent", {"type": "subagent", "resource": CHAT, "title": "W"}, {"type": "text", "text": "W"}),
        ("changesetOperation", {"id": "o", "group": "g", "status": "disabled"}, {"id": "o", "status": "idle"}),
        ("errorInfo", {"errorType": "e", "message": "m", "_meta": {}}, {"errorType": "e", "message": "m"}),
        ("sessionSummary", {"title": "T", "annotations": {}}, {"title": "T"}),
    ],
)
def test_values_that_say_less_below(shape: str, newer: Json, older: Json) -> None:
    assert lowered_value(V, shape, newer) == older


def test_a_subagent_is_the_default_chat_of_its_session() -> None:
    block = {"type": "subagent", "resource": "ahp-session:/w", "title": "W"}
    found = bridge(V).lift("resultContent", block, about())
    assert found == {**block, "resource": uris.default_chat("ahp-session:/w")}
    known = about(lookup=lambda _: Context(channel="ahp-session:/w", session="ahp-session:/w", default_chat="c:/w"))
    assert bridge(V).lift("resultContent", block, known)["resource"] == "c:/w"


def test_a_session_is_shown_with_its_conversation() -> None:
    chat = {"resource": CHAT, "title": "C", "status": 8, "modifiedAt": "b", "turns": [], "activeTurn": {"id": "t"}}
    state = {
        "title": "T",
        "status": 1 | 32,
        "lifecycle": "ready",
        "activeClients": [],
        "chats": [],
        "defaultChat": CHAT,
        "x-holdfast": {"chat": chat, "summary": {"resource": SESSION}},
    }
    shown = bridge(V).lower_state("session", state, about())
    assert shown["activeTurn"] == {"id": "t"}
    assert shown["summary"]["status"] == 8 | 32
    assert shown.keys().isdisjoint({"chats", "defaultChat", "x-holdfast"})


def test_the_files_of_a_changeset_are_told_one_by_one() -> None:
    files = [{"id": "a"}, {"id": "b"}]
    few: Json = {"type": "changeset/contentChanged", "files": files, "operations": []}
    assert lowered(V, few) == [
        {"type": "changeset/cleared"},
        {"type": "changeset/fileSet", "file": files[0]},
        {"type": "changeset/fileSet", "file": files[1]},
        {"type": "changeset/operationsChanged", "operations": []},
    ]
    many: Json = {"type": "changeset/contentChanged", "files": [*files, {"id": "c"}], "operations": []}
    assert lowered(V, many) == []
    assert bridge(V).resync(many["type"], many, about("changeset"))
    assert bridge(V).resync(few["type"], few, about("changeset")) is None


def test_the_metadata_of_a_tool_call_is_that_of_its_start() -> None:
    ready: Json = {"type": "chat/toolCallReady", "turnId": "t", "toolCallId": "k", "_meta": {"a": 1}}
    assert bridge(V).resync(ready["type"], ready, about("chat"))
    assert bridge("0.4.0").resync(ready["type"], ready, about("chat")) is None
    (found,) = lifted(V, {**ready, "type": "session/toolCallReady"})
    assert "_meta" not in found
    start = {"type": "session/toolCallStart", "turnId": "t", "toolCallId": "k", "_meta": {"a": 1}}
    (found,) = lifted(V, start)
    assert found["_meta"] == {"a": 1}
