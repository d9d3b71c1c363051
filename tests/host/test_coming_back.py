"""Coming back while others go on: nothing falls between the replay and what is told live."""

from __future__ import annotations

import json
from typing import Any

from host.bench import Bench, Client, user
from host.conversation import CHAT, SESSION, follower, session


def _post(client: Client, method: str, **params: Any) -> None:
    """Say something that the host gets to in its next tick."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    if method == "dispatchAction":
        del message["id"]
    client.bench.host.received(client.connection, json.dumps(message).encode())


def _close_code(client: Client) -> int | None:
    return None if client.closed is None else client.closed[0]


def test_a_replay_has_what_happened_while_it_was_prepared() -> None:  # W-40, W-46
    bench = Bench()
    one = bench.client("c1")
    session(one)
    two = follower(bench)
    returning = bench.connect()
    # All of this in one tick: the client comes back, its old connection ends, so that it has to be looked up once
    # more after what it missed was read, and somebody begins a turn.
    _post(
        returning,
        "reconnect",
        channel="ahp-root://",
        clientId="c2",
        lastSeenServerSeq=two.last_seen,
        subscriptions=[SESSION, CHAT],
    )
    action = {"type": "chat/turnStarted", "turnId": "t1", "message": user("hello")}
    _post(one, "dispatchAction", channel=CHAT, clientSeq=1, action=action)
    bench.host.disconnected(two.connection)
    bench.settle()
    result = returning.answer(1)
    replayed = [envelope["action"]["type"] for envelope in result["actions"]]
    assert "chat/turnStarted" in [*replayed, *returning.actions(CHAT)]


def test_a_connection_that_was_taken_for_an_older_one_is_sent_back() -> None:
    bench = Bench()
    session(bench.client("c1"))
    two = follower(bench)
    # The request of a connection that the client has given up long ago arrives last.
    late, _ = bench.reconnect("c2", two.last_seen, [SESSION, CHAT])
    assert _close_code(two) is None
    late.drop()
    assert _close_code(two) == 1012
    two.drop()
    back, result = bench.reconnect("c2", two.last_seen, [SESSION, CHAT])
    assert result["type"] == "replay"
    assert _close_code(back) is None


def test_older_connections_may_leave_as_they_like() -> None:
    bench = Bench()
    one = bench.client("c1")
    session(one)
    two = follower(bench)
    newest, _ = bench.reconnect("c2", two.last_seen, [SESSION, CHAT])
    two.drop()
    one.dispatch(CHAT, "chat/draftChanged", draft=user("hm"))
    assert newest.actions(CHAT) == ["chat/draftChanged"]
    newest.drop()
    assert _close_code(two) is None
