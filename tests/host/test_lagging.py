"""A client that is too slow: what passes it by meanwhile, and how it is brought up to date."""

from __future__ import annotations

from holdfast.host import lag
from host.bench import Bench, Client, numbers
from host.conversation import CHAT, SESSION, agree, follower, session, speak, start, take_turns, text


def _lag(client: Client) -> None:
    """The client's link is full."""
    lag.begin(client.bench.host, client.connection)
    client.clear()


def _drain(client: Client) -> None:
    """The client has taken what it was sent."""
    lag.catch_up(client.bench.host, client.connection)
    client.bench.settle()


def test_what_passed_by_comes_joined_and_in_order() -> None:
    bench = Bench()
    one = bench.client("c1")
    session(one)
    two = follower(bench)
    key = start(bench, one)
    _lag(two)
    text(bench, key, "a")
    for letter in "bcd":
        speak(bench, key, "chat/delta", partId="p1", content=letter)
    bench.end(key)
    assert two.messages == []
    _drain(two)
    deltas = [each["action"]["content"] for each in two.envelopes(CHAT) if each["action"]["type"] == "chat/delta"]
    assert deltas == ["abcd"]
    assert list(numbers(two)) == sorted(numbers(two))
    take_turns(bench, one, "t2")
    agree(bench, one, two)
    agree(bench, one, two, channel=SESSION)


# W-29
def test_what_only_one_connection_gets_waits_for_its_place() -> None:
    bench = Bench(turn_page=1, frame_budget=400)
    one = bench.client("c1")
    session(one)
    take_turns(bench, one, "t1", "t2", "t3")
    two = follower(bench)
    cursor = two.state(CHAT).turns_next_cursor
    assert cursor is not None
    _lag(two)
    take_turns(bench, one, "t4")
    asked = two.request_later("fetchTurns", channel=CHAT, cursor=cursor)
    two.dispatch(CHAT, "chat/turnCancelled", turnId="t9")
    take_turns(bench, one, "t5")
    assert two.messages == []
    _drain(two)
    assert two.answer(asked) == {}
    places = [message.get("id") or message["params"]["action"]["type"] for message in two.messages]
    assert places.index("chat/turnsLoaded") < places.index(asked) < places.index("chat/turnCancelled")
    assert places.count("chat/turnComplete") == 2
    assert places.index("chat/turnComplete") < places.index("chat/turnsLoaded")
    own = [each for each in two.envelopes() if each["action"]["type"] in ("chat/turnsLoaded", "chat/turnCancelled")]
    assert [each["action"]["type"] for each in own] == ["chat/turnsLoaded", "chat/turnCancelled"]
    assert list(numbers(two)) == sorted(numbers(two))
    assert [turn.id for turn in two.state(CHAT).turns][-1] == "t5"


def test_more_than_is_worth_holding_is_told() -> None:
    bench = Bench()
    client = bench.client("c1")
    session(client)
    _lag(client)
    assert not lag.is_lost(client.connection)
    client.dispatch(CHAT, "chat/turnCancelled", turnId="x" * 2_100_000)
    assert not lag.is_lost(client.connection)
    client.dispatch(CHAT, "chat/turnCancelled", turnId="x" * 2_100_000)
    assert lag.is_lost(client.connection)
    _drain(client)
    assert not lag.is_lost(client.connection)
    assert len(client.refusals()) == 2


def test_who_missed_the_move_of_a_chat_is_sent_away_for_snapshots() -> None:
    bench = Bench()
    one = bench.client("c1")
    session(one)
    session(one, "play:/other")
    chat = "ahp-chat:/x"
    one.request("createChat", SESSION, chat=chat)
    one.subscribe(chat)
    two = follower(bench, "c2", SESSION, chat)
    _lag(two)
    take_turns(bench, one, "t1", chat=chat)
    one.request("moveChat", chat, destination={"kind": "session", "session": "play:/other"})
    take_turns(bench, one, "t2", chat=chat)
    _drain(two)
    assert two.closed is not None
    assert two.closed[0] == lag.TOO_FAR_BEHIND
    two.drop()
    again, answer = bench.reconnect("c2", two.last_seen, [SESSION, chat])
    assert answer["type"] == "snapshot"
    for snapshot in answer["snapshots"]:
        again.keep(snapshot)
    agree(bench, one, again, channel=chat)


# W-40, W-46
def test_a_snapshot_does_not_overtake_what_the_client_has_still_to_get_elsewhere() -> None:
    """It carries a number. Who was lost right behind it would not be given what came before that."""
    bench = Bench()
    one = bench.client("c1")
    session(one)
    take_turns(bench, one, "t1")
    two = follower(bench)
    _lag(two)
    take_turns(bench, one, "t2")
    two.request_later("subscribe", channel=CHAT)
    bench.settle()
    take_turns(bench, one, "t3")
    assert two.messages == []
    two.drop()
    again, answer = bench.reconnect("c2", two.last_seen, [SESSION, CHAT])
    assert answer["type"] == "replay"
    again.states, again.last_seen = two.states, two.last_seen
    for envelope in answer["actions"]:
        again.got({"method": "action", "params": envelope})
    agree(bench, again)
    agree(bench, again, channel=SESSION)
