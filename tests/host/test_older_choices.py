"""What older clients say and 1.0 has no words for, and what they must not say."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.ports.agent import StartTurn
from host.bench import Bench, Client, Failed
from host.conversation import CHAT, SESSION, follower, session, take_turns, unload

MODEL = {"id": "m1", "config": {"effort": "high"}}
AGENT = {"uri": "file:///agent.md"}
HELLO = {"text": "hello", "origin": {"kind": "user"}}


def of_version(bench: Bench, version: str, id: str = "old") -> Client:
    """A client that has shaken hands, in the version's own words since 0.2."""
    client = bench.connect()
    client.last_seen = client.request("initialize", protocolVersions=[version], clientId=id)["serverSeq"]
    return client


def shown(client: Client, channel: str = SESSION) -> Any:
    return client.request("subscribe", channel)["snapshot"]["state"]


def test_a_model_is_chosen_for_all_messages_of_a_session() -> None:
    bench = Bench()
    maker = bench.client("c1")
    session(maker)
    watcher, old, other = follower(bench, "c2"), of_version(bench, "0.4.0"), of_version(bench, "0.2.0", "older")
    assert "model" not in shown(old)["summary"]
    shown(other)
    number = old.dispatch(SESSION, "session/modelChanged", model=MODEL)
    old.dispatch(SESSION, "session/agentChanged", agent=AGENT)
    (echo, _) = old.envelopes(SESSION)
    assert echo["action"] == {"type": "session/modelChanged", "model": MODEL}
    assert echo["origin"] == {"clientId": "old", "clientSeq": number}
    assert other.actions(SESSION) == ["session/modelChanged", "session/agentChanged"]
    assert watcher.actions() == []

    shown(old, CHAT)
    old.dispatch(CHAT, "chat/turnStarted", turnId="t1", message=HELLO)
    (started,) = bench.taken(StartTurn)
    assert started.model is not None
    assert started.model.id == "m1"
    (heard,) = [each for each in watcher.envelopes(CHAT) if each["action"]["type"] == "chat/turnStarted"]
    assert heard["action"]["message"] == {"model": MODEL, "agent": AGENT, **HELLO}
    (told,) = [each for each in old.envelopes(CHAT) if each["action"]["type"] == "chat/turnStarted"]
    assert told["action"]["message"] == HELLO


def test_what_was_chosen_is_kept() -> None:
    bench = Bench()
    session(bench.client("c1"))
    old = of_version(bench, "0.4.0")
    shown(old)
    old.dispatch(SESSION, "session/modelChanged", model=MODEL)
    old.dispatch(SESSION, "session/agentChanged", agent=AGENT)
    old.dispatch(SESSION, "session/agentChanged")
    old.drop()
    bench.restart()
    unload(bench)
    summary = shown(of_version(bench, "0.3.0"))["summary"]
    assert summary["model"] == MODEL
    assert "agent" not in summary
    assert "model" not in bench.client("new").subscribe(SESSION)


def test_a_session_is_made_with_what_was_chosen() -> None:
    bench = Bench()
    old = of_version(bench, "0.4.0")
    old.request("createSession", SESSION, provider="play", model=MODEL, agent=AGENT)
    summary = shown(old)["summary"]
    assert (summary["model"], summary["agent"]) == (MODEL, AGENT)


@pytest.mark.parametrize("model", [7, {}, {"id": 7}, {"config": {}}])
def test_what_is_no_model_is_not_chosen(model: Any) -> None:
    bench = Bench()
    old = of_version(bench, "0.4.0")
    with pytest.raises(Failed) as refused:
        old.request("createSession", SESSION, provider="play", model=model)
    assert refused.value.code == -32602
    old.request("createSession", SESSION, provider="play")
    shown(old)
    old.dispatch(SESSION, "session/modelChanged", model=model)
    (echo,) = old.envelopes(SESSION)
    assert "rejectionReason" in echo
    assert "model" not in shown(old)["summary"]


@pytest.mark.parametrize("version", ["1.0.0", "0.9.0", "0.4.0", "0.2.0"])
def test_nobody_says_what_is_between_host_and_bridge(version: str) -> None:
    bench = Bench()
    session(bench.client("c1"))
    old, watcher = of_version(bench, version), of_version(bench, "0.4.0", "watcher")
    shown(old)
    shown(watcher)
    forged = {"type": "session/titleChanged", "title": "forged"}
    for action in ({"action": forged}, {"action": forged, "since": "0.1.0", "until": "0.4.0"}, {}):
        old.dispatch(SESSION, "x-holdfast/legacy", **action)
    assert len(old.refusals()) == 3
    assert watcher.envelopes() == []
    for method in ("x-holdfast/readTurns", "x-holdfast/forkSession"):
        with pytest.raises(Failed) as refused:
            old.request(method, CHAT, source={"session": SESSION, "turnId": "t"})
        assert refused.value.code == -32601


@pytest.mark.parametrize(
    ("version", "hidden"),
    [
        ("0.3.0", CHAT),
        ("0.3.0", f"{SESSION}/annotations"),
        ("0.8.0", "ahp-automations://"),
        ("0.9.0", "ahp-canvas:/1"),
    ],
)
def test_nobody_follows_what_the_version_has_not(version: str, hidden: str) -> None:
    bench = Bench()
    maker = bench.client("c1")
    session(maker)
    old = bench.connect()
    wanted = [SESSION, hidden, "ahp-root://"]
    begun = old.request("initialize", protocolVersions=[version], clientId="old", initialSubscriptions=wanted)
    assert [each["resource"] for each in begun["snapshots"]] == [SESSION, "ahp-root://"]
    old.drop()
    back, result = bench.reconnect("old", begun["serverSeq"], wanted)
    assert result == {"type": "replay", "actions": [], "missing": [hidden]}
    back.drop()
    bench.restart()
    maker = bench.client("c1")
    maker.subscribe(SESSION)
    maker.dispatch(SESSION, "session/titleChanged", title="T")
    _, result = bench.reconnect("old", 1, wanted)
    assert result["type"] == "snapshot"
    assert [each["resource"] for each in result["snapshots"]] == [SESSION, "ahp-root://"]


def test_what_an_old_client_writes_keeps_what_it_cannot_say() -> None:
    bench = Bench()
    maker = bench.client("c1")
    session(maker)
    remarks = f"{SESSION}/annotations"
    maker.subscribe(remarks)
    origin = {"session": SESSION, "chat": CHAT, "turnId": "t1"}
    entries = [{"id": "e", "text": "hm"}]
    remark = {"id": "a", "origin": origin, "resource": "file:///f", "resolved": False, "entries": entries}
    maker.dispatch(remarks, "annotations/set", annotation=remark)
    old = of_version(bench, "0.8.0")
    (shown_remark,) = shown(old, remarks)["annotations"]
    old.dispatch(remarks, "annotations/set", annotation={**shown_remark, "resolved": True})
    assert maker.envelopes(remarks)[-1]["action"]["annotation"] == {**remark, "resolved": True}


def test_a_queued_message_keeps_its_model_and_what_is_attached() -> None:
    bench = Bench()
    maker = bench.client("c1")
    session(maker)
    take_turns(bench, maker, "t0")
    maker.dispatch(CHAT, "chat/turnStarted", turnId="t1", message=HELLO)
    attached = [
        {"type": "annotations", "label": "A", "resource": f"{SESSION}/annotations", "annotationIds": ["a"]},
        {"type": "chat", "label": "C", "resource": CHAT, "endTurn": "t0"},
    ]
    message = {**HELLO, "model": MODEL, "agent": AGENT, "attachments": attached}
    maker.dispatch(CHAT, "chat/pendingMessageSet", kind="queued", id="q", message=message)
    for version, channel, verb in (("0.6.0", CHAT, "chat"), ("0.4.0", CHAT, "chat"), ("0.3.0", SESSION, "session")):
        old = of_version(bench, version, version)
        (queued,) = shown(old, channel)["queuedMessages"]
        changed = {**queued["message"], "text": version}
        old.dispatch(channel, f"{verb}/pendingMessageSet", kind="queued", id="q", message=changed)
        (kept,) = maker.subscribe(CHAT)["queuedMessages"]
        assert kept["message"] == {**message, "text": version}


@pytest.mark.parametrize(("version", "channel", "verb"), [("0.5.2", CHAT, "chat"), ("0.3.0", SESSION, "session")])
def test_a_turn_that_an_old_client_cancels_took_its_time(version: str, channel: str, verb: str) -> None:
    bench = Bench()
    maker = bench.client("c1")
    session(maker)
    maker.dispatch(CHAT, "chat/turnStarted", turnId="t1", message=HELLO)
    bench.advance(1500)
    old = of_version(bench, version)
    shown(old, channel)
    old.dispatch(channel, f"{verb}/turnCancelled", turnId="t1")
    assert maker.actions(CHAT)[-1] == "chat/turnCancelled"
    (turn,) = maker.state(CHAT).turns
    assert turn.duration == 1500
