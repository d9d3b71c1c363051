"""Turns that failed and go on: what they had asked is not asked any more, what waited behind them still waits."""

from __future__ import annotations

from holdfast.ports.agent import StartTurn
from host.bench import Bench, user
from host.conversation import CHAT, agree, answers, ask, fail, parts, session, snapshot, start, text, waiting


# C-14
def test_what_a_turn_asked_before_it_failed_is_cancelled_when_it_goes_on() -> None:
    bench = Bench()
    client = bench.client("c1")
    session(client)
    key = start(bench, client)
    text(bench, key, "a")
    ask(bench, key, id="q1")
    fail(bench, key, resumable=True)
    assert waiting(bench) == []
    assert "response" not in parts(bench)[1]
    client.clear()
    client.dispatch(CHAT, "chat/turnResume", turnId="t1")
    assert answers(client) == [
        {"type": "chat/turnResume", "turnId": "t1"},
        {"type": "chat/inputCompleted", "requestId": "q1", "response": "cancel"},
    ]
    assert waiting(bench) == []
    again = bench.started()
    assert b'"response":"cancel"' in (again.said or b"")
    ask(bench, again.key, id="q2")
    assert [kind for kind, _ in waiting(bench)] == ["chatInput"]
    client.dispatch(CHAT, "chat/inputCompleted", requestId="q2", response="decline")
    bench.end(again.key)
    agree(bench, client)


# C-61
def test_what_was_queued_when_a_host_stopped_runs_when_it_is_back() -> None:
    bench = Bench()
    client = bench.client("c1")
    session(client)
    key = start(bench, client)
    client.dispatch(CHAT, "chat/pendingMessageSet", kind="queued", id="m1", message=user("next"))
    client.dispatch(CHAT, "chat/pendingMessageSet", kind="queued", id="m2", message=user("last"))
    bench.host.draining = True
    bench.end(key)
    assert bench.taken(StartTurn) == []

    bench.restart()

    started = bench.started()
    assert started.message.text == "next"
    bench.end(started.key)
    assert bench.started().message.text == "last"
    assert "queuedMessages" not in snapshot(bench)


# C-60
def test_what_was_queued_while_a_host_stopped_runs_when_it_is_back() -> None:
    bench = Bench()
    client = bench.client("c1")
    session(client)
    bench.host.draining = True
    client.dispatch(CHAT, "chat/pendingMessageSet", kind="queued", id="m1", message=user("next"))
    assert bench.taken(StartTurn) == []
    bench.restart()
    assert bench.started().message.text == "next"


# C-61
def test_what_waits_behind_a_cancelled_turn_still_does_after_a_restart() -> None:
    bench = Bench()
    client = bench.client("c1")
    session(client)
    start(bench, client)
    client.dispatch(CHAT, "chat/pendingMessageSet", kind="queued", id="m1", message=user("next"))
    client.dispatch(CHAT, "chat/turnCancelled", turnId="t1", duration=1)
    bench.restart()
    assert bench.taken(StartTurn) == []
    assert [each["id"] for each in snapshot(bench)["queuedMessages"]] == ["m1"]


# C-61, C-85
def test_after_a_restart_the_queue_waits_until_the_broken_turn_went_on_and_ended() -> None:
    bench = Bench()
    client = bench.client("c1")
    session(client)
    start(bench, client)
    client.dispatch(CHAT, "chat/pendingMessageSet", kind="queued", id="m1", message=user("next"))
    bench.restart()
    again, answer = bench.reconnect("c1", client.last_seen, [CHAT])
    assert answer["type"] == "replay"
    shown = snapshot(bench)
    assert "activeTurn" not in shown
    assert shown["turns"][0]["responseParts"][-1]["error"]["errorType"] == "hostRestart"
    assert [each["id"] for each in shown["queuedMessages"]] == ["m1"]
    again.dispatch(CHAT, "chat/turnResume", turnId="t1")
    bench.end(bench.started().key)
    assert bench.started().message.text == "next"
