"""Sessions that are deleted because nothing happened in them for as long as the host was told to keep them."""

from __future__ import annotations

from holdfast.host.loading import sweep
from host.bench import Bench, Client
from host.conversation import session, start, take_turns

DAY = 24 * 60 * 60 * 1000
RESTORE = "x-holdfast/restoreSession"


def listed(client: Client) -> list[str]:
    return [each["resource"] for each in client.request("listSessions")["items"]]


def left_alone(bench: Bench, *uris: str) -> None:
    """Sessions that were used once, and whose client is gone."""
    client = bench.client("driver")
    for uri in uris:
        take_turns(bench, client, "t1", chat=session(client, uri))
    client.drop()
    bench.advance(bench.settings.idle_unload + 1)
    sweep(bench.host)


def test_without_being_told_a_host_keeps_everything() -> None:
    bench = Bench()
    left_alone(bench, "play:/a")
    bench.advance(1000 * DAY)
    assert listed(bench.client()) == ["play:/a"]


def test_what_is_old_goes_and_can_be_taken_back() -> None:
    bench = Bench(keep_sessions=30 * DAY, undo_window=DAY)
    left_alone(bench, "play:/old", "play:/older")
    watcher = bench.client("watcher", initialSubscriptions=["ahp-root://"])
    bench.advance(29 * DAY)
    take_turns(bench, watcher, "t1", chat=session(watcher, "play:/young"))
    for channel in [uri for uri in watcher.states if "young" in uri or "default" in uri]:
        watcher.notify("unsubscribe", channel=channel)
    assert listed(watcher) == ["play:/young", "play:/older", "play:/old"]

    bench.advance(DAY)
    bench.advance(60_000)

    assert listed(watcher) == ["play:/young"]
    assert [each["session"] for each in watcher.notes("root/sessionRemoved")] == ["play:/old", "play:/older"]
    watcher.request(RESTORE, "play:/old")
    assert listed(watcher) == ["play:/young", "play:/old"]
    bench.restart()
    bench.advance(20 * DAY)
    bench.advance(60_000)
    assert listed(bench.client()) == ["play:/young", "play:/old"]
    bench.advance(11 * DAY)
    bench.advance(60_000)
    assert listed(bench.client("later")) == []


def test_what_somebody_uses_stays() -> None:
    bench = Bench(keep_sessions=DAY)
    client = bench.client()
    session(client, "play:/watched")
    start(bench, client, chat=session(client, "play:/busy"))
    for channel in [uri for uri in client.states if "watched" not in uri and "d2F0Y2hlZA" not in uri]:
        client.notify("unsubscribe", channel=channel)
    bench.advance(10 * DAY)
    bench.advance(60_000)
    assert sorted(listed(client)) == ["play:/busy", "play:/watched"]


def test_many_go_in_several_looks() -> None:
    bench = Bench(keep_sessions=DAY)
    left_alone(bench, *(f"play:/s{number}" for number in range(120)))
    client = bench.client("watcher", initialSubscriptions=["ahp-root://"])
    bench.advance(2 * DAY)
    counts = [len(listed(client))]
    while counts[-1]:
        bench.advance(60_000)
        counts.append(len(listed(client)))
        assert counts[-1] < counts[-2]
    assert len(counts) > 2
    assert client.state("ahp-root://").active_sessions == 0


def test_after_a_restart_it_goes_on() -> None:
    bench = Bench(keep_sessions=DAY)
    left_alone(bench, "play:/a")
    bench.restart()
    bench.advance(2 * DAY)
    assert listed(bench.client()) == []
