"""Imports while transactions are lost, requests come together, and connections end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.journal.memory import MemoryJournal
from holdfast.ports.journal import Commit, JournalFailed
from holdfast.protocol import extensions
from holdfast.protocol.status import IDLE
from holdfast.protocol.uris import default_chat
from host.bench import Bench, Client, Failed, user
from host.conversation import CHAT, SESSION, session, snapshot

TURN = {"id": "t1", "message": user("hello"), "responseParts": [], "state": "complete"}
STATE = {
    "provider": "play",
    "title": "Knots",
    "status": IDLE,
    "lifecycle": "ready",
    "activeClients": [],
    "chats": [],
    "defaultChat": CHAT,
}
EMPTY = {"resource": CHAT, "title": "", "status": IDLE, "modifiedAt": "2026-01-01T00:00:00Z", "turns": []}

STEPS: tuple[dict[str, Any], ...] = (
    {"method": extensions.IMPORT_SESSION, "session": STATE, "chats": [EMPTY]},
    {"method": extensions.IMPORT_CONTENT, "uri": "x:/1", "contentType": "text/plain", "data": "aGVs", "more": True},
    {"method": extensions.IMPORT_CONTENT, "uri": "x:/1", "contentType": "text/plain", "data": "bG8="},
    {"method": extensions.IMPORT_TURNS, "chat": CHAT, "turns": [TURN]},
    {"method": extensions.COMMIT_IMPORT},
)


def step(client: Client, number: int) -> Any:
    fields = dict(STEPS[number])
    return client.request(fields.pop("method"), SESSION, **fields)


class Fragile(MemoryJournal):
    broken = False

    def commit(self, commit: Commit) -> None:
        if self.broken:
            raise JournalFailed("the disk is full")
        super().commit(commit)


@pytest.mark.parametrize("lost", range(len(STEPS)))
def test_a_step_that_is_lost_can_be_taken_again(lost: int) -> None:
    journal = Fragile()
    bench = Bench(journal)
    client = bench.client("c1", initialSubscriptions=["ahp-root://"])
    for number in range(lost):
        step(client, number)
    journal.broken = True
    # The piece of content that is not the last is kept in memory only.
    if STEPS[lost].get("more"):
        step(client, lost)
    else:
        with pytest.raises(Failed):
            step(client, lost)
        assert client.notes("root/sessionAdded") == []
    journal.broken = False
    for number in range(lost + (1 if STEPS[lost].get("more") else 0), len(STEPS)):
        step(client, number)
    assert [turn["id"] for turn in snapshot(bench)["turns"]] == ["t1"]
    assert len(client.notes("root/sessionAdded")) == 1
    bench.restart()
    assert [turn["id"] for turn in snapshot(bench)["turns"]] == ["t1"]
    assert snapshot(bench, SESSION)["title"] == "Knots"


def test_all_steps_arrive_in_one_transaction() -> None:
    bench = Bench()
    client = bench.client("c1", initialSubscriptions=["ahp-root://"])
    for number, fields in enumerate(STEPS):
        params = {"channel": SESSION, **{key: value for key, value in fields.items() if key != "method"}}
        message = {"jsonrpc": "2.0", "id": 100 + number, "method": fields["method"], "params": params}
        bench.host.received(client.connection, json.dumps(message).encode())
    bench.settle()
    assert [message for message in client.messages if "error" in message] == []
    assert [turn["id"] for turn in snapshot(bench)["turns"]] == ["t1"]
    bench.restart()
    assert [turn["id"] for turn in snapshot(bench)["turns"]] == ["t1"]


@pytest.mark.parametrize("done", range(1, len(STEPS)))
def test_what_is_left_of_an_import_goes_with_its_connection(done: int) -> None:
    journal = MemoryJournal()
    bench = Bench(journal)
    client = bench.client()
    for number in range(done):
        step(client, number)
    client.drop()
    assert SESSION not in str(vars(journal))
    other = bench.client("c2")
    session(other)
    assert snapshot(bench)["turns"] == []


def test_an_import_is_not_another_connections() -> None:
    bench = Bench()
    client, other = bench.client(), bench.client("c2")
    step(client, 0)
    for number in range(1, len(STEPS)):
        with pytest.raises(Failed, match="imports no session"):
            step(other, number)
    other.drop()
    for number in range(1, len(STEPS)):
        step(client, number)
    assert len(snapshot(bench)["turns"]) == 1


def test_the_name_of_a_sessions_default_chat_is_its_own() -> None:
    bench = Bench()
    client = bench.client()
    session(client, "play:/other")
    client.request("createChat", "play:/other", chat=default_chat(SESSION))
    with pytest.raises(Failed, match="in use"):
        client.request("createSession", SESSION, provider="play")
