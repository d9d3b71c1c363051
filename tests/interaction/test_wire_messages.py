"""What every message looks like, and what may be said before the handshake (01-wire, sections 2 to 8 and 12)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.asyncio.client import connect

from aio import aio
from interaction.talk import asked, begin, cancel, confirm, took, wait_for_call
from served import Clients, Failed, HostProcess


def nulls(value: Any, path: str = "") -> Iterator[str]:
    """Where in a value nulls are."""
    if value is None:
        yield path
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from nulls(each, f"{path}.{key}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from nulls(each, f"{path}[{index}]")


@aio
async def test_a_whole_conversation_is_well_formed(clients: Clients, session: str) -> None:  # W-3, W-9, W-29, W-37
    client = await clients("ahp-root://", f"{session}/annotations")
    chat = await begin(client, session)
    for number, text in enumerate(("think", "big 100", "content", "error", "title Boats")):
        await took(client, chat, f"u{number}", text)
    await wait_for_call(client, chat, "pending-confirmation", "approve")
    await confirm(client, chat)
    await client.ended(chat, 6)
    request = await asked(client, chat, "form", "t9")
    await client.act(chat, "chat/inputCompleted", requestId=request["id"], response="cancel")
    await client.ended(chat, 7)
    await client.act(chat, "chat/draftChanged", draft={"text": "later", "origin": {"kind": "user"}})
    await client.act(chat, "chat/draftChanged", draft=None)
    await client.act(session, "session/ready")
    await client.request("createChat", session, chat=f"ahp-chat:/{client.client_id}")
    await client.request("resolveSessionConfig", provider="demo")
    await client.request("disposeSession", session)
    with pytest.raises(Failed):
        await client.request("subscribe", session)

    answers = [message for message in client.messages if "id" in message]
    notifications = [message for message in client.messages if "id" not in message]
    for message in answers:
        assert message.keys() in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
        assert list(nulls(message)) in ([], [".result"])
    for message in notifications:
        assert message.keys() == {"jsonrpc", "method", "params"}
        assert message["params"]["channel"] in ("ahp-root://", session, chat)
        assert list(nulls(message)) == []
    assert {message["jsonrpc"] for message in client.messages} == {"2.0"}
    numbers = [envelope["serverSeq"] for envelope in client.envelopes()]
    assert len(numbers) > 50
    assert numbers == sorted(set(numbers))


@aio
async def test_pipelined_requests_each_get_one_answer(clients: Clients, session: str) -> None:  # W-1
    client = await clients()
    methods = ("ping", "listSessions", "x-unknown", "subscribe")
    ids: list[Any] = [*range(1000, 1300), "a", "b"]
    for id in ids:
        method = methods[ids.index(id) % 4]
        params = {"channel": session if method == "subscribe" else "ahp-root://"}
        await client.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    await client.settled()
    answered = [message["id"] for message in client.messages if message["id"] in ids]
    assert sorted(answered, key=str) == sorted(ids, key=str)


@aio
async def test_one_text_frame_is_one_message(host: HostProcess) -> None:  # W-4
    async with connect(host.url, proxy=None) as socket:
        for id, method in enumerate(("ping", "nothing", "ping")):
            params = {"channel": "ahp-root://"}
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        frames = [await socket.recv() for _ in range(3)]
    assert all(isinstance(each, str) for each in frames)
    assert [json.loads(each)["id"] for each in frames] == [0, 1, 2]


@aio
async def test_unknown_requests_are_refused_and_unknown_notifications_ignored(clients: Clients) -> None:  # W-2, W-7
    client = await clients("ahp-root://")
    with pytest.raises(Failed) as failed:
        await client.request("setClientManagedSettingsPermissions")
    assert failed.value.code == -32601
    count = len(client.messages)
    params = {"channel": "ahp-root://"}
    await client.send({"jsonrpc": "2.0", "method": "setClientManagedSettingsPermissions", "params": params})
    await client.send({"jsonrpc": "2.0", "method": "subscribe", "params": {"channel": 7}})
    await client.request("ping")
    assert len(client.messages) == count + 1


@aio
async def test_ping_is_answered_before_the_handshake(clients: Clients) -> None:  # W-10
    client = await clients.opened()
    assert await client.request("ping") is None
    await client.send({"jsonrpc": "2.0", "id": 99, "method": "ping"})
    await client.request("ping")
    assert client.messages[1] == {"jsonrpc": "2.0", "id": 99, "result": None}


@aio
async def test_ping_is_answered_while_a_turn_streams(clients: Clients, session: str) -> None:  # W-11
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "long 100000 1000")
    await client.until(lambda: client.actions("chat/delta", chat))
    assert await client.request("ping") is None
    assert client.states[chat].active_turn is not None
    await cancel(client, chat, "t1")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("subscribe", {"channel": "ahp-root://"}),
        ("listSessions", {}),
        ("createSession", {"provider": "demo"}),
        ("disposeSession", {}),
        ("authenticate", {"resource": "https://demo.holdfast.example/", "token": "t"}),
        ("x-holdfast/restoreSession", {}),
    ],
)
@aio
async def test_nothing_is_done_before_the_handshake(  # W-12
    clients: Clients, session: str, method: str, params: dict[str, Any]
) -> None:
    known = await clients("ahp-root://")
    client = await clients.opened()
    channel = params.get("channel", "ahp-root://" if method in ("listSessions", "authenticate") else session)
    with pytest.raises(Failed) as failed:
        await client.request(method, **{"channel": channel, **params})
    assert failed.value.code == -32600
    assert await client.request("initialize", protocolVersions=["1.0.0"], clientId=client.client_id)
    await known.settled()
    assert known.envelopes() == []
    with pytest.raises(Failed):
        await client.request("subscribe", session)


@aio
async def test_notifications_before_the_handshake_have_no_effect(clients: Clients, session: str) -> None:  # W-13
    known = await clients()
    await begin(known, session)
    client = await clients.opened()
    await client.dispatch(session, "session/titleChanged", title="from nobody")
    await client.request("ping")
    assert len(client.messages) == 1
    await known.settled()
    assert known.actions("session/titleChanged") == []
    assert (await known.subscribe(session))["title"] == ""
