"""Histories without an end: read in pieces, between which others have their turn, and right whatever they do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.host import lookup
from holdfast.server import engine
from host.bench import Bench, Client
from host.conversation import CHAT, session, take_turns

MANY = 100
PASSES = 4
"""Enough for an action to be judged, committed and told."""


@pytest.fixture(autouse=True)
def _one_piece_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_READING", 0.0)
    monkeypatch.setattr(lookup, "_PIECE", 1)


@pytest.fixture
def bench() -> Bench:
    """A host without a frame budget, with a chat of many turns."""
    bench = Bench(frame_budget=None)
    client = bench.client("driver")
    session(client)
    take_turns(bench, client, *(f"t{number}" for number in range(MANY)))
    return bench


def ids(state: dict[str, Any]) -> list[str]:
    return [turn["id"] for turn in state["turns"]]


def begin(bench: Bench, client: Client, pieces: int = 2) -> int:
    """Ask for the whole chat; a few pieces of it are read."""
    number = client.request_later("subscribe", channel=CHAT)
    for _ in range(pieces):
        assert not bench.engine.settle()
    assert not [message for message in client.messages if message.get("id") == number]
    return number


def shown(client: Client, number: int) -> dict[str, Any]:
    """The state in the answer, with what happened since."""
    snapshot = client.answer(number)["snapshot"]
    later = [each for each in client.envelopes(CHAT) if each["serverSeq"] > snapshot["fromSeq"]]
    assert "turnsNextCursor" not in snapshot["state"]
    client.keep(snapshot)
    assert later == []
    return dict(snapshot["state"])


def test_it_is_whole_and_in_order(bench: Bench) -> None:  # W-39
    client = bench.client("reader")
    number = begin(bench, client)
    bench.settle()
    assert ids(shown(client, number)) == [f"t{number}" for number in range(MANY)]


def test_others_are_answered_meanwhile(bench: Bench) -> None:
    client, other = bench.client("reader"), bench.client("other")
    number = begin(bench, client)
    ping = other.request_later("ping", channel="ahp-root://")
    assert not bench.engine.settle()
    assert other.answer(ping) is None
    bench.settle()
    assert len(shown(client, number)["turns"]) == MANY


def test_its_own_next_messages_wait(bench: Bench) -> None:
    client = bench.client("reader")
    number = begin(bench, client)
    client.clear()
    ping = client.request_later("ping", channel="ahp-root://")
    bench.settle()
    assert [message.get("id") for message in client.messages] == [number, ping]


def test_what_is_completed_meanwhile_is_in_it(bench: Bench) -> None:
    client = bench.client("reader")
    number = begin(bench, client)
    bench.passes = PASSES
    take_turns(bench, bench.clients[0], "late")
    assert bench.host.pieces
    bench.passes = None
    bench.settle()
    assert ids(shown(client, number)) == [*(f"t{number}" for number in range(MANY)), "late"]


@pytest.mark.parametrize("keep", [40, 60, 99])
def test_what_is_cut_back_and_replaced_meanwhile_is_shown_as_it_became(bench: Bench, keep: int) -> None:
    client = bench.client("reader")
    number = begin(bench, client, pieces=80)
    driver = bench.clients[0]
    bench.passes = PASSES
    driver.dispatch(CHAT, "chat/truncated", turnId=f"t{keep - 1}")
    assert bench.host.pieces
    take_turns(bench, driver, "new")
    bench.passes = None
    bench.settle()
    assert ids(shown(client, number)) == [*(f"t{number}" for number in range(keep)), "new"]


def test_who_leaves_meanwhile_is_forgotten(bench: Bench) -> None:
    client = bench.client("reader")
    begin(bench, client)
    bench.host.disconnected(client.connection)
    bench.settle()
    assert not bench.host.pieces


def test_it_comes_with_the_handshake_too(bench: Bench) -> None:  # W-21, W-41
    client = bench.connect()
    params = {"protocolVersions": ["1.0.0"], "clientId": "c", "initialSubscriptions": ["ahp-root://", CHAT]}
    number = client.request_later("initialize", channel="ahp-root://", **params)
    bench.settle()
    root, chat = client.answer(number)["snapshots"]
    assert root["resource"] == "ahp-root://"
    assert ids(chat["state"]) == [f"t{number}" for number in range(MANY)]
    client.drop()
    _, answer = bench.reconnect("c", 0, [CHAT])
    assert answer["type"] == "snapshot"
    assert ids(answer["snapshots"][0]["state"]) == [f"t{number}" for number in range(MANY)]


@pytest.mark.parametrize("version", ["0.5.0", "0.4.0", "0.3.0"])
def test_for_older_clients_it_is_whole_as_well(version: str) -> None:
    bench = Bench()
    client = bench.client("driver")
    chat = session(client)
    take_turns(bench, client, *(f"t{number}" for number in range(MANY)))
    older = bench.connect()
    older.request("initialize", protocolVersions=[version], clientId="older")
    channel = "play:/s" if version == "0.3.0" else chat
    number = older.request_later("subscribe", channel=channel)
    assert not bench.engine.settle()
    bench.settle()
    (answer,) = [message for message in older.messages if message.get("id") == number]
    assert ids(answer["result"]["snapshot"]["state"]) == [f"t{number}" for number in range(MANY)]
    assert json.dumps(answer).count("answer to t") == MANY
