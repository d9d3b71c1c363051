"""Turns from their start through what streams into them (04-chat, sections 2, 3, 6 and 13)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.ports.agent import SessionOpened, StartTurn, TurnKey
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.common import AgentSelection, ModelSelection
from holdfast.protocol.versions import ACTIONS
from host.bench import Bench, user
from host.conversation import (
    CHAT,
    FAILED,
    SESSION,
    agree,
    answers,
    follower,
    last,
    parts,
    refused,
    session,
    snapshot,
    speak,
    start,
    take_turns,
    text,
    tool,
)

NOW = "2026-09-21T14:13:20.000Z"


def test_snapshot_of_a_new_chat_is_complete() -> None:  # C-1
    bench = Bench()
    session(bench.client())

    assert snapshot(bench) == {
        "resource": CHAT,
        "title": "",
        "status": 1,
        "modifiedAt": NOW,
        "origin": {"kind": "user"},
        "turns": [],
    }


def test_started_turn_is_echoed_to_everybody_and_runs() -> None:  # C-2, C-6
    bench = Bench()
    client = bench.client()
    session(client)
    other = follower(bench)
    given: dict[str, Any] = {"turnId": "t1", "startedAt": "2026-10-02T09:00:00.000Z", "message": user("clean up")}

    number = client.dispatch(CHAT, "chat/turnStarted", **given)

    for each in (client, other):
        (echo,) = [envelope for envelope in each.envelopes(CHAT) if "origin" in envelope]
        assert (echo["action"], echo["origin"]) == (
            {"type": "chat/turnStarted", **given},
            {"clientId": "c1", "clientSeq": number},
        )
    shown = snapshot(bench)
    assert (shown["status"], shown["activeTurn"], shown["modifiedAt"]) == (
        8,
        {"id": "t1", "startedAt": given["startedAt"], "message": given["message"], "responseParts": []},
        given["startedAt"],
    )
    assert bench.started() == StartTurn(
        provider="play",
        key=TurnKey(SESSION, CHAT, "t1", 1),
        message=Message(text="clean up", origin=MessageOrigin(kind=MessageKind.USER)),
        history=0,
        config={"mode": "ask"},
        directories=(),
        client_tools=(),
    )
    agree(bench, client, other)


@pytest.mark.parametrize("given", [{}, {"startedAt": None}], ids=["absent", "null"])
def test_missing_start_time_is_stamped_before_the_echo(given: dict[str, Any]) -> None:  # C-6
    bench = Bench()
    client = bench.client()
    session(client)

    client.dispatch(CHAT, "chat/turnStarted", turnId="t1", message=user("hi"), **given)

    assert last(client, "chat/turnStarted") == {
        "type": "chat/turnStarted",
        "turnId": "t1",
        "message": user("hi"),
        "startedAt": NOW,
    }


def test_model_and_custom_agent_are_kept_with_the_turn_and_given_to_the_agent() -> None:  # C-20
    bench = Bench()
    client = bench.client()
    session(client)
    message = user("hi", model={"id": "m1", "config": {"effort": "high"}}, agent={"uri": "file:///reviewer.md"})

    client.dispatch(CHAT, "chat/turnStarted", turnId="t1", message=message)
    started = bench.started()
    bench.end(started.key)

    assert started.model == ModelSelection(id="m1", config={"effort": "high"})
    assert started.message.agent == AgentSelection(uri="file:///reviewer.md")
    assert snapshot(bench)["turns"][0]["message"] == message


def test_a_turn_makes_chat_and_session_unread() -> None:
    bench = Bench()
    client = bench.client()
    session(client)
    client.dispatch(CHAT, "chat/isReadChanged", isRead=True)
    client.dispatch(SESSION, "session/isReadChanged", isRead=True)

    start(bench, client)

    assert (snapshot(bench)["status"], snapshot(bench, SESSION)["status"]) == (8, 8)
    agree(bench, client)
    agree(bench, client, channel=SESSION)


# What streams in


def test_text_is_created_and_then_grows() -> None:  # C-3
    bench = Bench()
    client = bench.client()
    session(client)
    key = start(bench, client)

    text(bench, key, "Let me think", "r1", "reasoning")
    text(bench, key, "I will remove", "p1")
    speak(bench, key, "chat/delta", partId="p1", content=" build/.")

    assert parts(bench) == [
        {"kind": "reasoning", "id": "r1", "content": "Let me think"},
        {"kind": "markdown", "id": "p1", "content": "I will remove build/."},
    ]
    agree(bench, client)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("chat/delta", {"partId": "nowhere", "content": "!"}),
        ("chat/reasoning", {"partId": "nowhere", "content": "!"}),
        ("chat/delta", {"partId": "r1", "content": "!"}),
        ("chat/reasoning", {"partId": "p1", "content": "!"}),
        ("chat/delta", {"partId": "k1", "content": "!"}),
        ("chat/delta", {"partId": "p1", "content": "!", "turnId": "t0"}),
        ("chat/toolCallDelta", {"toolCallId": "nowhere", "content": "!"}),
        ("chat/toolCallComplete", {"toolCallId": "k1", "result": {"success": True, "pastTenseMessage": "!"}}),
        ("chat/usage", {"usage": {"inputTokens": 1}, "turnId": "t0"}),
        ("chat/responsePart", {"part": {"kind": "error", "error": {"errorType": "x", "message": "y"}}}),
    ],
)
def test_what_fits_no_part_is_sent_to_nobody(kind: str, fields: dict[str, Any]) -> None:  # C-3, C-13
    bench = Bench()
    client = bench.client()
    session(client)
    take_turns(bench, client, "t0")
    key = start(bench, client)
    text(bench, key, "a", "r1", "reasoning")
    text(bench, key, "b", "p1")
    speak(bench, key, "chat/toolCallStart", toolCallId="k1", toolName="bash", displayName="Run")
    before = snapshot(bench)
    client.clear()

    speak(bench, key, kind, **fields)

    assert (client.messages, snapshot(bench)) == ([], before)


def test_usage_is_replaced_and_stays_with_the_turn() -> None:  # C-81
    bench = Bench()
    client = bench.client()
    session(client)
    key = start(bench, client)

    speak(bench, key, "chat/usage", usage={"inputTokens": 900, "outputTokens": 10})
    speak(bench, key, "chat/usage", usage={"inputTokens": 900, "outputTokens": 40, "model": "m1"})
    bench.end(key)
    speak(bench, key, "chat/usage", usage={"inputTokens": 1})

    assert snapshot(bench)["turns"][0]["usage"] == {"inputTokens": 900, "outputTokens": 40, "model": "m1"}
    agree(bench, client)


# Refusals


def test_second_turn_is_refused_while_one_runs() -> None:  # C-9
    bench = Bench()
    client = bench.client()
    session(client)
    key = start(bench, client)
    text(bench, key, "working")

    refused(bench, client, "chat/turnStarted", turnId="t2", message=user("and this"))
    refused(bench, client, "chat/turnStarted", turnId="t1", message=user("again"))

    bench.end(key)
    assert [turn["id"] for turn in snapshot(bench)["turns"]] == ["t1"]


@pytest.mark.parametrize("kind", ["agent", "tool", "systemNotification", "automation", "x-else"])
def test_message_that_is_not_from_a_user_is_refused(kind: str) -> None:  # C-8
    bench = Bench()
    client = bench.client()
    session(client)

    for fields in (
        {"type": "chat/turnStarted", "turnId": "t1"},
        {"type": "chat/pendingMessageSet", "kind": "queued", "id": "m1"},
        {"type": "chat/pendingMessageSet", "kind": "steering", "id": "m1"},
    ):
        refused(bench, client, **fields, message={"text": "hi", "origin": {"kind": kind}})
    refused(bench, client, "chat/draftChanged", draft={"text": "hi", "origin": {"kind": kind}})


def test_turn_id_is_used_once_in_a_chat() -> None:
    bench = Bench()
    client = bench.client()
    session(client)
    take_turns(bench, client, "t1", "t2")

    refused(bench, client, "chat/turnStarted", turnId="t1", message=user("again"))


def test_malformed_turn_is_refused() -> None:
    bench = Bench()
    client = bench.client()
    session(client)

    refused(bench, client, "chat/turnStarted", message=user("no id"))
    refused(bench, client, "chat/turnStarted", turnId="t1", message={"text": "no origin"})
    refused(bench, client, "chat/turnStarted", turnId=7, message=user("hi"))


def test_unparsable_start_time_does_not_keep_a_turn_from_ending() -> None:
    bench = Bench()
    client = bench.client()
    session(client)

    client.dispatch(CHAT, "chat/turnStarted", turnId="t1", message=user("hi"), startedAt="yesterday")
    for start_turn in bench.taken(StartTurn):
        bench.end(start_turn.key)

    assert "activeTurn" not in snapshot(bench)
    agree(bench, client)


def test_turn_waits_for_a_session_that_is_not_ready() -> None:
    bench = Bench()
    bench.open_at_once = False
    client = bench.client()
    session(client)

    client.dispatch(CHAT, "chat/turnStarted", turnId="t1", message=user("hi"))
    early = bench.taken(StartTurn)
    bench.event(SessionOpened(SESSION))

    assert (early, bench.started().key.turn_id) == ([], "t1")


def test_turn_is_refused_when_the_session_could_not_be_created() -> None:
    bench = Bench()
    bench.open_at_once = False
    client = bench.client()
    session(client)
    bench.event(SessionOpened(SESSION, FAILED))

    refused(bench, client, "chat/turnStarted", turnId="t1", message=user("hi"))


def test_action_on_an_unknown_chat_vanishes() -> None:
    bench = Bench()
    client = bench.client()
    session(client)
    client.clear()

    client.dispatch("ahp-chat:/nowhere", "chat/turnStarted", turnId="t1", message=user("hi"))

    assert (client.messages, bench.effects) == ([], [])


_REF = {"uri": "ahp-content:/x"}
# Whatever these need; they are refused for what they are.
_FORGED: dict[str, Any] = {
    "turnId": "t1",
    "toolCallId": "k1",
    "partId": "p1",
    "content": "forged",
    "part": {"kind": "error", "error": {"errorType": "x", "message": "y"}},
    "usage": {},
    "duration": 1,
    "turns": [],
    "toolName": "bash",
    "displayName": "Run",
    "invocationMessage": "ls",
    "confirmed": "not-needed",
    "auth": {"reason": "required", "resource": {"resource": "https://guarded.example/"}},
    "request": {"id": "q1"},
    "movable": True,
    "work": {"kind": "shell", "id": "w", "label": "l", "startedAt": NOW, "command": "c"},
    "id": "w",
}


@pytest.mark.parametrize("kind", sorted(k for k, i in ACTIONS.items() if k.startswith("chat/") and not i.client))
def test_what_only_a_host_may_say_is_refused_from_clients(kind: str) -> None:  # C-83
    bench = Bench()
    client = bench.client()
    session(client)
    key = start(bench, client)
    text(bench, key, "here")
    tool(bench, key)

    refused(bench, client, kind, **_FORGED)
    refused(bench, client, kind)


def test_unknown_and_foreign_actions_are_refused() -> None:
    bench = Bench()
    client = bench.client()
    session(client)

    refused(bench, client, "chat/somethingNew", anything=[1, None])
    refused(bench, client, "session/configChanged", config={"mode": "auto"})
    refused(bench, client, "terminal/input", data="ls\n")


# As real clients behave (INTEROP, section 2)


def test_turn_sent_right_behind_the_subscription_is_echoed_after_the_snapshot() -> None:  # INTEROP 2.1
    bench = Bench()
    client = bench.client()
    client.request("createSession", SESSION, provider="play")
    client.clear()

    subscribed = client.request_later("subscribe", channel=CHAT)
    client.dispatch(CHAT, "chat/turnStarted", turnId="t1", message=user("hi"))

    assert client.messages[0]["id"] == subscribed
    assert "activeTurn" not in client.answer(subscribed)["snapshot"]["state"]
    assert [each["type"] for each in answers(client)] == ["chat/turnStarted"]


def test_turn_sent_again_after_a_reconnect_is_harmless() -> None:  # INTEROP 2.13
    bench = Bench()
    client = bench.client()
    session(client)
    sent: dict[str, Any] = {"turnId": "t1", "message": user("hi"), "startedAt": NOW}
    number = client.dispatch(CHAT, "chat/turnStarted", **sent)
    key = bench.started().key
    client.drop()

    back, _ = bench.reconnect("c1", client.last_seen, [SESSION, CHAT])
    back.dispatch(CHAT, "chat/turnStarted", seq=number, **sent)
    bench.end(key)
    back.dispatch(CHAT, "chat/turnStarted", seq=number, **sent)

    assert (bench.taken(StartTurn), back.refusals()) == ([], [])
    assert [turn["id"] for turn in snapshot(bench)["turns"]] == ["t1"]


def test_turn_sent_again_by_a_client_that_started_over_is_refused() -> None:  # INTEROP 2.13
    bench = Bench()
    client = bench.client()
    session(client)
    sent: dict[str, Any] = {"turnId": "t1", "message": user("hi"), "startedAt": NOW}
    client.dispatch(CHAT, "chat/turnStarted", seq=1, **sent)
    bench.end(bench.started().key)
    client.drop()

    again = bench.client("c1")
    again.subscribe(CHAT)
    again.dispatch(CHAT, "chat/turnStarted", seq=1, **sent)

    assert (bench.taken(StartTurn), len(again.refusals())) == ([], 1)


def test_unknown_keys_of_a_turn_reach_others() -> None:
    bench = Bench()
    client = bench.client()
    session(client)
    other = follower(bench)

    client.send(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "method": "dispatchAction",
                "params": {
                    "channel": CHAT,
                    "clientSeq": 1,
                    "action": {
                        "type": "chat/turnStarted",
                        "turnId": "t1",
                        "startedAt": NOW,
                        "message": {**user("hi"), "tone": "calm"},
                        "_meta": {"by": None},
                        "fresh": [1],
                    },
                },
            }
        ).encode()
    )

    assert last(other, "chat/turnStarted") == {
        "type": "chat/turnStarted",
        "turnId": "t1",
        "startedAt": NOW,
        "message": {**user("hi"), "tone": "calm"},
        "_meta": {"by": None},
        "fresh": [1],
    }
