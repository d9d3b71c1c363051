"""Clients of older versions ask for what their version does not have, and whatever comes of it is theirs alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aio import aio
from faults.memory import MemoryWire, house_in_memory
from holdfast.host import dialects
from holdfast.protocol.compat.bridge import Bridge
from holdfast.protocol.versions import BASELINES
from host.bench import Bench, Client, Failed
from host.conversation import CHAT, SESSION, parts, session, speak, start, take_turns, tool

OLDER = [str(version) for version in BASELINES if version.major < 1]
CHANNELS = ["ahp-root://", SESSION, CHAT, f"{SESSION}/annotations"]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    client = bench.client("driver")
    session(client)
    take_turns(bench, client, "t1")
    client.subscribe(f"{SESSION}/annotations")
    return bench


def older(bench: Bench, version: str, *subscriptions: str) -> tuple[Client, Any]:
    client = bench.connect()
    params: dict[str, Any] = {"protocolVersions": [version], "clientId": "older"}
    params["initialSubscriptions"] = list(subscriptions)
    return client, client.request("initialize", **params)


def resources(snapshots: list[dict[str, Any]]) -> list[str]:
    return [each["resource"] for each in snapshots]


@pytest.mark.parametrize("version", OLDER)
def test_every_channel_is_shown_or_unknown(bench: Bench, version: str) -> None:  # W-22, W-25, W-42
    client, _ = older(bench, version)
    shown = []
    for uri in CHANNELS:
        number = client.request_later("subscribe", channel=uri, resource=uri)
        bench.settle()
        (answer,) = [message for message in client.messages if message.get("id") == number]
        if "error" in answer:
            assert answer["error"]["code"] == -32008
        else:
            shown.append(answer["result"]["snapshot"]["resource"])
    assert SESSION in shown
    client.drop()
    client, begun = older(bench, version, *CHANNELS)
    assert resources(begun["snapshots"]) == shown
    client.drop()
    _, back = bench.reconnect("older", 1, CHANNELS)
    assert resources(back["snapshots"]) == shown
    assert bench.clients[0].request("ping") is None


def test_an_answer_that_cannot_be_put_into_older_words_is_an_error(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> Any:
        raise ZeroDivisionError

    client, _ = older(bench, "0.9.0")
    monkeypatch.setattr(Bridge, "lower_result", broken)
    with pytest.raises(Failed) as failed:
        client.request("listSessions")
    assert failed.value.message == "internal error; the host's log has the details"
    assert "listSessions could not be answered" in caplog.text
    assert "items" in bench.clients[0].request("listSessions")


@aio
async def test_who_cannot_be_told_of_an_action_is_closed_and_the_others_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with house_in_memory() as house:
        present, past = MemoryWire(house.hub, "present"), MemoryWire(house.hub, "past")
        await present.initialize("ahp-root://")
        await present.session("demo:/s")
        await past.initialize("ahp-root://", "demo:/s", versions=("0.9.0",))
        assert past.link is not None
        link = past.link

        def broken(*_: object) -> Any:
            raise ZeroDivisionError

        monkeypatch.setattr(dialects, "_shown", broken)
        envelope = await present.act("demo:/s", "session/titleChanged", title="new")
        assert "rejectionReason" not in envelope
        assert link.closed == (1011, "internal error; reconnect")
        assert "cannot be told of action" in caplog.text
        await asyncio.sleep(0)
        assert house.hub.links == 1
        assert not house.hub.broken.done()


@pytest.mark.parametrize("version", ["0.3.0", "0.4.0", "0.8.0"])
def test_a_fork_keeps_what_its_turns_refer_to_when_the_original_is_gone(version: str) -> None:
    bench = Bench()
    client = bench.client("driver")
    chat = session(client)
    key = start(bench, client, "t1", chat)
    tool(bench, key, confirmed="not-needed")
    block = {"type": "text", "text": "x" * 100_000}
    result = {"success": True, "pastTenseMessage": "Done", "content": [block]}
    speak(bench, key, "chat/toolCallComplete", toolCallId="k1", result=result)
    bench.end(key)
    (kept,) = parts(bench)[0]["toolCall"]["content"]
    forker, _ = older(bench, version)
    source = SESSION if version == "0.3.0" else chat
    fork = {"session": source, "turnId": "t1"}
    number = forker.request_later(
        "createSession", channel="play:/fork", session="play:/fork", provider="play", fork=fork
    )
    bench.settle()
    assert forker.answer(number) is None
    client.request("disposeSession", SESSION)
    assert client.request("resourceRead", uri=kept["uri"])["data"] == block["text"]
