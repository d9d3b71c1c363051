"""Clients that follow very many channels, most of which are not in memory: others do not wait for them."""

from __future__ import annotations

import pytest

from holdfast.host.loading import sweep
from holdfast.protocol.uris import default_chat
from holdfast.server import engine
from host.bench import Bench
from host.conversation import session, take_turns

SESSIONS = [f"play:/s{number}" for number in range(40)]
UNKNOWN = [f"play:/unknown{number}" for number in range(40)]


@pytest.fixture(autouse=True)
def _one_piece_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_READING", 0.0)


@pytest.fixture
def bench() -> Bench:
    """A host with many sessions, none of which is in memory."""
    bench = Bench(idle_unload=1000)
    client = bench.client("driver")
    for uri in SESSIONS:
        take_turns(bench, client, f"turn of {uri}", chat=session(client, uri))
    client.drop()
    bench.advance(10_000)
    sweep(bench.host)
    assert not bench.host.sessions
    return bench


def wanted() -> list[str]:
    """Known and unknown ones, one after the other, sessions with their chats and annotations."""
    found = ["ahp-root://"]
    for known, unknown in zip(SESSIONS, UNKNOWN, strict=True):
        found += [unknown, known, default_chat(known), f"{known}/annotations", f"{unknown}/annotations"]
    return found


def expected() -> list[str]:
    return [uri for uri in wanted() if "unknown" not in uri]


def test_a_handshake_with_many_subscriptions_lets_others_come_in_between(bench: Bench) -> None:  # W-22
    client, other = bench.connect(), bench.client("other")
    number = client.request_later(
        "initialize", channel="ahp-root://", protocolVersions=["1.0.0"], clientId="c", initialSubscriptions=wanted()
    )
    passes = 0
    while not bench.engine.settle():
        passes += 1
        ping = other.request_later("ping", channel="ahp-root://")
        bench.engine.settle()
        assert other.answer(ping) is None
    assert passes > 10
    snapshots = client.answer(number)["snapshots"]
    assert [each["resource"] for each in snapshots] == expected()
    turns = [each["state"]["turns"][0]["id"] for each in snapshots if "turns" in each["state"]]
    assert turns == [f"turn of {uri}" for uri in SESSIONS]


def test_so_does_coming_back_with_many(bench: Bench) -> None:  # W-41, W-42
    client = bench.client("c", initialSubscriptions=["ahp-root://"])
    seen = client.last_seen
    client.drop()
    _, answer = bench.reconnect("c", seen, wanted())
    assert (answer["type"], answer["actions"]) == ("replay", [])
    assert answer["missing"] == [uri for uri in wanted() if "unknown" in uri]
    bench.clients[-1].drop()
    _, answer = bench.reconnect("c", 1, wanted())
    assert answer["type"] == "snapshot"
    assert [each["resource"] for each in answer["snapshots"]] == expected()


def test_what_is_disposed_of_meanwhile_is_not_brought_back(bench: Bench) -> None:
    client, other = bench.connect(), bench.client("other")
    number = client.request_later(
        "initialize", channel="ahp-root://", protocolVersions=["1.0.0"], clientId="c", initialSubscriptions=SESSIONS
    )
    for _ in range(3):
        assert not bench.engine.settle()
    bench.passes = 3
    for uri in (SESSIONS[0], SESSIONS[-1]):
        assert other.request("disposeSession", uri) is None
    bench.passes = None
    bench.settle()
    assert [each["resource"] for each in client.answer(number)["snapshots"]] == SESSIONS[1:-1]
    assert not {SESSIONS[0], SESSIONS[-1]} & bench.host.sessions.keys()
