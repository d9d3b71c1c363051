"""Sessions that end, in the middle of whatever is going on, and come back (03-session, sections 2 and 13)."""

from __future__ import annotations

import json
from typing import Any

from holdfast.ports.agent import CancelTurn
from host.bench import Bench, Client
from host.conversation import CHAT, SESSION, follower, session, snapshot, start, text

RESTORE = "x-holdfast/restoreSession"


def send_together(client: Client, *messages: dict[str, Any]) -> None:
    """Have several messages arrive in one transaction."""
    for message in messages:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        client.bench.host.received(client.connection, data)
    client.bench.settle()


def requested(method: str, **params: Any) -> dict[str, Any]:
    return {"id": method, "method": method, "params": {"channel": SESSION, **params}}


def titled(title: str) -> dict[str, Any]:
    action = {"type": "session/titleChanged", "title": title}
    return {"method": "dispatchAction", "params": {"channel": SESSION, "clientSeq": 0, "action": action}}


def test_a_session_is_disposed_of_while_a_turn_runs() -> None:  # S-64
    bench = Bench()
    client = bench.client()
    session(client)
    other = follower(bench)
    key = start(bench, client)
    text(bench, key, "I begin")

    assert client.request("disposeSession", SESSION) is None

    assert [effect.key for effect in bench.taken(CancelTurn)] == [key]
    assert other.actions(CHAT)[-1] == "chat/turnCancelled"
    client.request(RESTORE, SESSION)
    restored = snapshot(bench)
    assert "activeTurn" not in restored
    assert [(turn["id"], turn["state"]) for turn in restored["turns"]] == [("t1", "cancelled")]


def test_what_was_said_just_before_the_end_is_there_when_a_session_comes_back() -> None:
    bench = Bench()
    client = bench.client()
    session(client)

    send_together(client, titled("Famous last words"), requested("disposeSession"))
    bench.restart()
    client = bench.client()
    client.request(RESTORE, SESSION)

    assert snapshot(bench, SESSION)["title"] == "Famous last words"
    (listed,) = client.request("listSessions")["items"]
    assert listed["title"] == "Famous last words"


def test_a_session_is_made_again_in_the_transaction_that_ended_it() -> None:
    bench = Bench()
    client = bench.client("c1", initialSubscriptions=["ahp-root://"])
    session(client)
    client.clear()

    send_together(
        client,
        titled("Old"),
        requested("disposeSession"),
        requested("createSession", provider="play"),
        titled("New"),
    )

    assert snapshot(bench, SESSION)["title"] == "New"
    told = [message["method"] for message in client.messages if message.get("method", "").startswith("root/")]
    assert told == ["root/sessionRemoved", "root/sessionAdded"]
    bench.restart()
    assert snapshot(bench, SESSION)["title"] == "New"


def test_a_session_that_nobody_was_told_of_is_not_taken_back() -> None:
    bench = Bench()
    client = bench.client("c1", initialSubscriptions=["ahp-root://"])

    send_together(
        client,
        requested("createSession", provider="play"),
        requested("disposeSession"),
    )

    assert client.notes("root/sessionAdded") == client.notes("root/sessionRemoved") == []


def test_a_client_that_was_active_has_a_grace_period_when_a_session_comes_back() -> None:
    bench = Bench(grace=1000)
    client = bench.client()
    session(client, activeClient={"clientId": "c1", "tools": []})
    other = bench.client("c2")
    client.request("disposeSession", SESSION)

    other.request(RESTORE, SESSION)

    assert other.subscribe(SESSION)["activeClients"] == [{"clientId": "c1", "tools": []}]
    bench.advance(1000)
    assert other.actions(SESSION)[-1] == "session/activeClientRemoved"
    assert snapshot(bench, SESSION)["activeClients"] == []
