"""The other half of the tables: a client of 1.0 that talks to an older host."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from compat.bridging import CHAT, SESSION
from holdfast.protocol import methods
from holdfast.protocol.codec import convert
from holdfast.protocol.compat.context import Json
from holdfast.protocol.compat.older_host import OlderHost, older_host
from holdfast.protocol.errors import ErrorCode, RpcError

REMARKS = f"{SESSION}/annotations"
CHANGES = "ahp-changeset:/1"
NOW = "2026-03-01T12:00:00.000Z"
DOMAIN = {"resource": "https://example.org/"}


def spoken_to(version: str, **states: Any) -> OlderHost:
    """A host of that version; `states` are what the client believes of channels."""
    believed = {_CHANNELS[name]: state for name, state in states.items()}
    found = older_host(version, believed.get, lambda: NOW)
    assert found is not None
    return found


_CHANNELS = {"session": SESSION, "chat": CHAT, "remarks": REMARKS, "changes": CHANGES}


def session_state(**more: Any) -> Json:
    base = {"provider": "p", "title": "T", "status": 1, "lifecycle": "ready", "activeClients": []}
    chats = [{"resource": CHAT, "title": "C", "status": 1, "modifiedAt": NOW}]
    return {**base, "chats": chats, "defaultChat": CHAT, **more}


def envelope(channel: str, action: Json) -> Json:
    return {"channel": channel, "action": action, "serverSeq": 8}


def heard(host: OlderHost, channel: str, action: Json) -> list[Json]:
    """The actions that one of the host's stands for."""
    told = envelope(channel, action)
    before = copy.deepcopy(told)
    found = host.envelope(told)
    assert told == before
    assert all(each == {**told, "channel": each["channel"], "action": each["action"]} for each in found)
    return [each["action"] for each in found]


def snapshot(host: OlderHost, resource: str, state: Json, method: str = "subscribe") -> Json:
    """A state as the host says it, as the client reads it."""
    shown = {"resource": resource, "state": state, "fromSeq": 4}
    result = {"snapshot": shown} if method == "subscribe" else {"type": "snapshot", "snapshots": [shown]}
    before = copy.deepcopy(result)
    found = host.result(method, result)
    assert result == before
    read = found["snapshot"] if method == "subscribe" else found["snapshots"][0]
    assert read["resource"] == resource
    lifted: Json = read["state"]
    return lifted


@pytest.mark.parametrize("version", ["1.0.0", "0.10.0", "1.3.0"])
def test_hosts_of_this_age_need_nothing(version: str) -> None:
    assert older_host(version, lambda channel: None) is None


@pytest.mark.parametrize("version", ["0.3.0", "0.2.0", "0.1.0"])
def test_before_chats_there_is_nothing_to_talk_to(version: str) -> None:
    with pytest.raises(ValueError, match=version):
        older_host(version, lambda channel: None)


# Out


def test_requests_are_said_in_the_hosts_words() -> None:
    params = {"channel": SESSION, "provider": "p", "workingDirectories": ["file:///a", "file:///b"]}
    assert spoken_to("0.9.0").request("createSession", params) == ("createSession", params)
    older = {"channel": SESSION, "provider": "p", "workingDirectory": "file:///a"}
    assert spoken_to("0.6.0").request("createSession", params) == ("createSession", older)
    fork = {"channel": SESSION, "chat": "ahp-chat:/new", "source": {"kind": "fork", "chat": CHAT, "turnId": "t"}}
    assert spoken_to("0.6.0").request("createChat", fork).params["source"] == {"chat": CHAT, "turnId": "t"}


@pytest.mark.parametrize(
    ("version", "method", "params"),
    [
        ("0.9.0", "moveChat", {"channel": CHAT, "destination": {"kind": "newSession"}}),
        ("0.8.0", "runAutomation", {"channel": "ahp-automations://"}),
        ("0.6.0", "createChat", {"channel": SESSION, "source": {"kind": "sideChat", "chat": CHAT, "turnId": "t"}}),
        ("0.5.0", "fetchTurns", {"channel": CHAT, "cursor": "c"}),
    ],
)
def test_what_the_host_cannot_do_is_refused_here(version: str, method: str, params: Json) -> None:
    with pytest.raises(RpcError) as refused:
        spoken_to(version).request(method, params)
    assert refused.value.code == ErrorCode.METHOD_NOT_FOUND


@pytest.mark.parametrize(
    ("version", "action", "said"),
    [
        (
            "0.9.0",
            {"type": "session/titleChanged", "title": "N"},
            [{"type": "session/titleChanged", "title": "N"}],
        ),
        ("0.9.0", {"type": "chat/isReadChanged", "isRead": True}, []),
        ("0.8.0", {"type": "chat/turnResume", "turnId": "t"}, []),
        (
            "0.7.0",
            {"type": "session/workingDirectoryReplaced", "directory": "file:///a", "replacement": "file:///b"},
            [
                {"type": "session/workingDirectorySet", "directory": "file:///b"},
                {"type": "session/workingDirectoryRemoved", "directory": "file:///a"},
            ],
        ),
        (
            "0.7.0",
            {
                "type": "session/customizationToggled",
                "id": "x",
                "enablement": [{"kind": "session", "enabled": False}],
            },
            [{"type": "session/customizationToggled", "id": "x", "enabled": False}],
        ),
        (
            "0.4.0",
            {"type": "session/activeClientSet", "activeClient": {"clientId": "c", "tools": []}},
            [{"type": "session/activeClientChanged", "activeClient": {"clientId": "c", "tools": []}}],
        ),
    ],
)
def test_actions_are_said_in_the_hosts_words(version: str, action: Json, said: list[Json]) -> None:
    assert spoken_to(version, session=session_state()).dispatch(SESSION, action) == said


def test_the_host_may_ask_too() -> None:
    host = spoken_to("0.6.0")
    params = {"channel": "ahp-root://", "uri": "file:///a"}
    assert host.asked("resourceRead", params) == ("resourceRead", params)
    assert host.answer("resourceRead", {"data": "x"}) == {"data": "x"}
    missing = {"code": -32008, "message": "gone"}
    assert host.refusal("resourceRead", missing) == {"code": -32006, "message": "gone"}
    assert spoken_to("0.9.0").refusal("resourceRead", missing) == missing


# In


@pytest.mark.parametrize("method", ["subscribe", "reconnect", "initialize"])
def test_a_remark_is_of_the_session_whose_remarks_are_read(method: str) -> None:
    remark = {"id": "a", "turnId": "t", "resource": "file:///f", "resolved": False, "entries": []}
    read = snapshot(spoken_to("0.8.0"), REMARKS, {"annotations": [remark]}, method)
    (found,) = read["annotations"]
    assert found["origin"] == {"session": SESSION, "turnId": "t"}


def test_a_session_of_0_4_is_read_without_what_only_a_host_keeps_beside_it() -> None:
    summary = {"resource": SESSION, "provider": "p", "title": "T", "status": 1, "createdAt": 0, "modifiedAt": 1}
    chats = [{"resource": CHAT, "title": "C", "status": 1, "modifiedAt": NOW, "model": {"id": "m"}}]
    older = {"summary": {**summary, "model": {"id": "m"}}, "lifecycle": "ready", "chats": chats, "defaultChat": CHAT}
    assert snapshot(spoken_to("0.4.0"), SESSION, older) == session_state()


def test_actions_are_read_together_with_the_state_they_meet() -> None:
    failed = {"status": "error", "files": [], "error": {"errorType": "x", "message": "m"}}
    content = {"type": "changeset/contentChanged", "files": []}
    cleared = {"type": "changeset/statusChanged", "status": "error"}
    assert heard(spoken_to("0.8.0", changes=failed), CHANGES, content) == [content, cleared]
    assert heard(spoken_to("0.8.0", changes={**failed, "error": None}), CHANGES, content) == [content]

    workspace = {"kind": "workspace", "uri": "file:///w", "enabled": True}
    plugin = {"type": "plugin", "id": "x", "name": "X", "uri": "x:/", "enablement": [workspace]}
    switched = {"type": "session/customizationToggled", "id": "x", "enabled": False}
    (found,) = heard(spoken_to("0.7.0", session=session_state(customizations=[plugin])), SESSION, switched)
    assert found["enablement"] == [{"kind": "session", "enabled": False}, workspace]


def test_a_claim_is_of_the_default_chat_the_client_knows() -> None:
    host = spoken_to("0.8.0", session=session_state())
    claimed = {"type": "terminal/claimed", "claim": {"kind": "session", "session": SESSION}}
    (found,) = heard(host, "ahp-terminal:/1", claimed)
    assert found["claim"]["chat"] == CHAT


def test_a_turn_began_when_the_host_did_not_say() -> None:
    message = {"text": "x", "origin": {"kind": "user"}}
    started = {"type": "chat/turnStarted", "turnId": "t", "message": message}
    assert heard(spoken_to("0.5.2"), CHAT, started) == [{**started, "startedAt": NOW}]


def test_a_chat_belongs_to_the_session_that_named_it() -> None:
    host = spoken_to("0.4.0")
    new = {"resource": CHAT, "title": "C", "status": 1, "modifiedAt": NOW}
    assert heard(host, SESSION, {"type": "session/chatAdded", "summary": new}) != []
    assert host._about(CHAT).session == SESSION


def test_what_only_older_versions_say_is_not_heard() -> None:
    assert heard(spoken_to("0.4.0"), SESSION, {"type": "session/modelChanged", "model": {"id": "m"}}) == []


def test_notifications_are_read() -> None:
    host = spoken_to("0.7.0")
    told = {"channel": "ahp-root://", "resource": DOMAIN["resource"], "reason": "required"}
    assert host.heard("auth/required", told) == [("auth/required", {**told, "resource": DOMAIN})]
    summary = {"resource": SESSION, "provider": "p", "title": "T", "status": 1, "createdAt": NOW, "modifiedAt": NOW}
    added = {"channel": "ahp-root://", "summary": {**summary, "workingDirectory": "file:///w"}}
    (call,) = spoken_to("0.6.0").heard("root/sessionAdded", added)
    assert call.params["summary"] == {**summary, "workingDirectories": ["file:///w"]}
    assert convert(methods.NOTIFICATIONS[call.method].params, call.params)
    acted = envelope(SESSION, {"type": "session/titleChanged", "title": "N"})
    assert host.heard("action", acted) == [("action", acted)]


def test_errors_are_read() -> None:
    error = {"code": -32006, "message": "gone"}
    assert spoken_to("0.8.0").error("resourceRead", error) == {**error, "code": -32008}
    assert spoken_to("0.9.0").error("resourceRead", error) == error
