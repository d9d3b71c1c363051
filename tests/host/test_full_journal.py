"""A journal that takes nothing for a while: nobody is told what could not be kept, and nothing is forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.journal.memory import MemoryJournal
from holdfast.journal.settings import JournalSettings
from holdfast.ports.journal import Commit, JournalFailed, JournalFull
from holdfast.protocol.chat.actions import Delta
from host.bench import Bench, numbers, user
from host.conversation import CHAT, SESSION, agree, follower, session, snapshot, start, text

FULL = "this could not be kept: the host has no disk space left; make room and try again"
BROKEN = "this could not be kept: the host's journal does not work; its log says why"


class Fragile(MemoryJournal):
    """Takes nothing while it is `broken`, and has no numbers to give while it has `no_numbers`."""

    broken: JournalFailed | None = None
    no_numbers = False

    def commit(self, commit: Commit) -> None:
        if self.broken is not None:
            raise self.broken
        super().commit(commit)

    def reserve(self) -> int:
        if self.no_numbers:
            raise JournalFull("no space for /the/file")
        return super().reserve()


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(JournalFull("no space for /the/file"), FULL), (JournalFailed("/the/file is damaged"), BROKEN)],
)
def test_those_who_wait_for_a_transaction_that_is_lost_are_told(failure: JournalFailed, reason: str) -> None:
    journal = Fragile()
    bench = Bench(journal)
    client = bench.client()
    session(client)
    before = snapshot(bench, SESSION)
    client.clear()

    journal.broken = failure
    number = client.dispatch(SESSION, "session/titleChanged", title="Lost")
    request = client.request_later("createSession", channel="play:/lost", provider="play")
    bench.settle()

    (envelope,) = client.envelopes()
    assert envelope["origin"] == {"clientId": "c1", "clientSeq": number}
    assert envelope["action"] == {"type": "session/titleChanged", "title": "Lost"}
    assert envelope["rejectionReason"] == reason
    (answer,) = [message for message in client.messages if message.get("id") == request]
    assert answer["error"] == {"code": -32603, "message": reason}
    journal.broken = None
    assert snapshot(bench, SESSION) == before
    client.dispatch(CHAT, "chat/turnStarted", turnId="t1", message=user("hello"))
    assert bench.started().key.turn_id == "t1"


def deltas(client: Any) -> list[str]:
    return [each["action"]["content"] for each in client.envelopes(CHAT) if each["action"]["type"] == "chat/delta"]


def test_what_agents_say_meanwhile_comes_when_there_is_room_in_order_and_once() -> None:
    journal = Fragile()
    bench = Bench(journal)
    client = bench.client()
    session(client)
    key = start(bench, client)
    text(bench, key, "I ")
    other = follower(bench)
    client.clear()

    journal.broken = JournalFull("no space")
    for word in ("have ", "much ", "to "):
        bench.say(key, Delta(turn_id="t1", part_id="p1", content=word))
    bench.advance(1000)
    bench.say(key, Delta(turn_id="t1", part_id="p1", content="say"))
    bench.advance(10_000)
    bench.end(key)
    assert client.messages == []

    journal.broken = None
    bench.advance(1000)

    assert deltas(client) == ["have ", "much ", "to ", "say"]
    assert client.actions(CHAT)[-1] == "chat/turnComplete"
    agree(bench, client, other)
    assert snapshot(bench)["turns"][0]["responseParts"][0]["content"] == "I have much to say"


def test_deadlines_that_pass_meanwhile_are_kept_later() -> None:
    journal = Fragile()
    bench = Bench(journal, grace=5_000)
    client = bench.client("c1")
    session(client, activeClient={"clientId": "c1", "tools": []})
    key = start(bench, client)
    other = follower(bench)
    journal.broken = JournalFull("no space")
    text(bench, key, "nobody hears this yet")
    client.drop()
    bench.advance(60_000)
    assert [each["clientId"] for each in other.subscribe(SESSION)["activeClients"]] == ["c1"]

    journal.broken = None
    bench.advance(1_000)
    bench.advance(60_000)

    assert snapshot(bench, SESSION)["activeClients"] == []
    assert "session/activeClientRemoved" in other.actions(SESSION)


def test_without_numbers_nothing_is_accepted_and_everybody_hears_why() -> None:
    journal = Fragile(JournalSettings(block=40))
    bench = Bench(journal)
    client = bench.client()
    session(client)
    key = start(bench, client)
    text(bench, key, "a")
    client.clear()

    journal.no_numbers = True
    for count in range(60):
        client.dispatch(SESSION, "session/titleChanged", title=f"{count}")
    bench.say(key, Delta(turn_id="t1", part_id="p1", content="b"))
    refused = [each for each in client.envelopes() if "rejectionReason" in each]
    accepted = [each for each in client.envelopes(SESSION) if "rejectionReason" not in each]
    assert {each["rejectionReason"] for each in refused} == {FULL}
    assert len(refused) + len(accepted) == 60
    assert len(refused) > 40
    assert client.subscribe(SESSION)["title"] == accepted[-1]["action"]["title"]

    journal.no_numbers = False
    bench.advance(1000)
    client.dispatch(SESSION, "session/titleChanged", title="at last")

    assert deltas(client) == ["b"]
    assert snapshot(bench, SESSION)["title"] == "at last"
    seen = list(numbers(client))
    assert seen == sorted(set(seen))
    bench.restart()
    assert bench.host.numbers.last > seen[-1]


def test_what_cannot_be_read_is_an_error_without_a_path() -> None:
    class Unreadable(MemoryJournal):
        broken = False

        def read(self, query: Any) -> Any:
            if self.broken:
                raise JournalFailed("/the/file is damaged")
            return super().read(query)

    journal = Unreadable()
    bench = Bench(journal)
    client = bench.client()
    client.clear()
    journal.broken = True
    request = client.request_later("listSessions", channel="ahp-root://")
    client.dispatch("play:/unknown", "session/titleChanged", title="x")
    bench.settle()
    (answer,) = client.messages
    assert answer["id"] == request
    assert answer["error"] == {
        "code": -32603,
        "message": "the host's journal could not be read; its log says why",
    }
    assert client.request("ping") is None
