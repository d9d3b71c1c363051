"""0.6 and 0.7, in small: one directory, forks, input elsewhere, terminals' results, attached chats."""

from __future__ import annotations

from typing import Any

import pytest

from compat.bridging import CHAT, SESSION, about, bridge, lifted, lifted_value, lowered, lowered_value
from holdfast.protocol.codec import encode
from holdfast.protocol.compat.context import Json
from holdfast.protocol.errors import ErrorCode, RpcError

V = "0.6.0"
A, B = "file:///a", "file:///b"
TERMINAL = {"type": "terminal", "resource": "ahp-terminal:/1", "title": "sh"}
COMPLETE = {"type": "terminalComplete", "resource": "ahp-terminal:/1", "exitCode": 0, "preview": "ok"}
RESULT = {"exitCode": 0, "preview": "ok"}
TEXT = {"type": "text", "text": "t"}
REFERENCE = {"uri": "ahp-blob:/1"}
CALL = {"status": "running", "toolCallId": "x", "toolName": "sh", "displayName": "Sh", "invocationMessage": "run"}


@pytest.mark.parametrize(
    "shape", ["sessionState", "sessionSummary", "chatState", "chatSummary", "params:createSession"]
)
def test_one_directory(shape: str) -> None:
    base: Json = {"lifecycle": "ready"} if shape == "sessionState" else {}
    assert lowered_value(V, shape, {**base, "workingDirectories": [A, B]}) == {**base, "workingDirectory": A}
    assert lowered_value(V, shape, {**base, "workingDirectories": []}) == base
    assert lifted_value(V, shape, {**base, "workingDirectory": A}) == {**base, "workingDirectories": [A]}
    assert lifted_value(V, shape, base) == base


@pytest.mark.parametrize("kind", ["session", "chat"])
def test_directories_are_told_only_by_snapshots(kind: str) -> None:
    for type in (f"{kind}/workingDirectorySet", f"{kind}/workingDirectoryRemoved"):  # noqa: A001
        action = {"type": type, "directory": B}
        assert lowered(V, action) == []
        assert bridge(V).resync(type, action, about(kind, facts={"primaryChanged": True}))
        assert bridge(V).resync(type, action, about(kind)) is None


def test_settings_are_asked_for_one_directory_in_every_version() -> None:
    params = {"channel": "ahp-root://", "provider": "p", "workingDirectory": A}
    assert bridge(V).lift_request("resolveSessionConfig", params).params == params


@pytest.mark.parametrize(
    ("shape", "newer", "older"),
    [
        ("chatSource", {"kind": "fork", "chat": CHAT, "turnId": "t"}, {"chat": CHAT, "turnId": "t"}),
        ("chatOrigin", {"kind": "fork", "chat": CHAT, "turnId": "t"}, {"kind": "fork", "chat": CHAT, "turnId": "t"}),
        ("toolResult", {"content": [{**TERMINAL, "result": RESULT}]}, {"content": [TERMINAL, COMPLETE]}),
        (
            "toolResult",
            {"content": [{**TERMINAL, "result": RESULT}, TEXT, {**TERMINAL, "result": {}}]},
            {
                "content": [
                    TERMINAL,
                    COMPLETE,
                    TEXT,
                    TERMINAL,
                    {"type": "terminalComplete", "resource": TERMINAL["resource"]},
                ]
            },
        ),
        ("toolCall", {**CALL, "content": [TERMINAL, TEXT]}, {**CALL, "content": [TERMINAL, TEXT]}),
        ("toolCall", {**CALL, "toolInput": "ls"}, {**CALL, "toolInput": "ls"}),
    ],
)
def test_values_both_ways(shape: str, newer: Json, older: Json) -> None:
    assert lowered_value(V, shape, newer) == older
    assert lifted_value(V, shape, older) == newer


@pytest.mark.parametrize(
    ("shape", "newer", "older"),
    [
        (
            "chatOrigin",
            {"kind": "sideChat", "chat": CHAT, "turnId": "t", "selection": {"text": "x"}},
            {"kind": "fork", "chat": CHAT, "turnId": "t"},
        ),
        ("toolCall", {**CALL, "toolInput": REFERENCE}, CALL),
        ("toolCall", {**CALL, "content": [{**TERMINAL, "isPty": False}]}, {**CALL, "content": [TERMINAL]}),
        ("inputNeeded", {"id": "i", "toolCall": {**CALL, "toolInput": REFERENCE}}, {"id": "i", "toolCall": CALL}),
        ("terminalState", {"claim": {}, "exitCode": 0, "isPty": True}, {"claim": {}, "exitCode": 0}),
        (
            "agentCapabilities",
            {"multipleChats": {"fork": True, "sideChat": True}, "multipleWorkingDirectories": {}},
            {"multipleChats": {"fork": True}},
        ),
    ],
)
def test_values_that_say_less_below(shape: str, newer: Json, older: Json) -> None:
    assert lowered_value(V, shape, newer) == older


def test_a_result_without_its_terminal_is_not_lost() -> None:
    for content in ([COMPLETE], [{**TERMINAL, "resource": "ahp-terminal:/2"}, COMPLETE]):
        value = {"content": content}
        assert lifted_value(V, "toolResult", value) == value


def test_an_attached_chat_comes_back_as_one() -> None:
    attachment = {"type": "chat", "label": "L", "resource": CHAT, "endTurn": "t", "_meta": {"m": 1}}
    message = {"text": "see", "origin": {"kind": "user"}, "attachments": [attachment]}
    older = lowered_value(V, "message", message)
    assert older["attachments"] == [
        {"type": "simple", "label": "L", "_meta": {"m": 1, "holdfast.chat": {"resource": CHAT, "endTurn": "t"}}}
    ]
    assert lifted_value(V, "message", older) == message
    plain = {"type": "simple", "label": "L", "_meta": {"m": 1}}
    assert lifted_value(V, "attachment", plain) == plain


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        (
            {"type": "chat/toolCallDelta", "turnId": "t", "toolCallId": "x", "invocationMessage": "m"},
            {"type": "chat/toolCallDelta", "turnId": "t", "toolCallId": "x", "invocationMessage": "m", "content": ""},
        ),
        (
            {"type": "chat/toolCallReady", "toolCallId": "x", "intention": "i", "contributor": {}, "toolInput": "ls"},
            {"type": "chat/toolCallReady", "toolCallId": "x", "toolInput": "ls"},
        ),
        (
            {"type": "chat/toolCallReady", "toolCallId": "x", "toolInput": REFERENCE},
            {"type": "chat/toolCallReady", "toolCallId": "x"},
        ),
        (
            {"type": "chat/toolCallContentChanged", "content": [{**TERMINAL, "result": RESULT}]},
            {"type": "chat/toolCallContentChanged", "content": [TERMINAL, COMPLETE]},
        ),
        (
            {
                "type": "chat/toolCallComplete",
                "result": {"success": True, "content": [{**TERMINAL, "result": RESULT}]},
            },
            {"type": "chat/toolCallComplete", "result": {"success": True, "content": [TERMINAL, COMPLETE]}},
        ),
    ],
)
def test_actions_below(newer: Json, older: Json) -> None:
    assert lowered(V, newer) == [older]


def test_a_call_made_ready_again_keeps_its_input() -> None:
    action = {"type": "chat/toolCallReady", "toolCallId": "x"}
    assert lowered(V, action, facts={"toolInput": "ls"}) == [{**action, "toolInput": "ls"}]
    assert lowered("0.7.0", action, facts={"toolInput": "ls"}) == [action]


def test_results_of_terminals_come_together() -> None:
    action = {"type": "chat/toolCallContentChanged", "content": [TERMINAL, COMPLETE]}
    assert lifted(V, action) == [{**action, "content": [{**TERMINAL, "result": RESULT}]}]


def test_chats_are_made_from_forks_only() -> None:
    params = {"channel": SESSION, "chat": CHAT, "source": {"chat": "ahp-chat:/o", "turnId": "t"}}
    above = {**params, "source": {"kind": "fork", "chat": "ahp-chat:/o", "turnId": "t"}}
    assert bridge(V).lift_request("createChat", params).params == above
    assert bridge(V).lower_request("createChat", {**above, "workingDirectories": [A]}).params == params
    aside: Any = {**params, "source": {"kind": "sideChat", "chat": "ahp-chat:/o", "turnId": "t"}}
    with pytest.raises(RpcError) as failure:
        bridge(V).lower_request("createChat", aside)
    assert failure.value.code == ErrorCode.METHOD_NOT_FOUND


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        ({"kind": "toolCall", "toolCall": {**CALL, "toolInput": REFERENCE}}, False),
        ({"kind": "toolCall", "toolCall": {**CALL, "content": [{**TERMINAL, "isPty": True}]}}, False),
        ({"kind": "toolCall", "toolCall": {**CALL, "toolInput": "ls", "content": [TEXT]}}, True),
    ],
)
def test_history_is_read_only_where_it_may_differ(part: Json, kept: bool) -> None:
    turn = {"id": "t", "responseParts": [part], "state": "complete"}
    row = encode(turn)
    assert (bridge(V).lower_turn(row) is row) is kept
    assert (lowered_value(V, "turn", turn) == turn) is kept
