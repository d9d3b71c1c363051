"""Actions of clients: echoed, shared, refused, kept as they came (01-wire, sections 14, 15 and 20)."""

from __future__ import annotations

from typing import Any

import pytest

from aio import aio
from interaction.talk import agree, begin, shown, took
from served import Clients, user


@aio
async def test_an_accepted_action_comes_back_with_its_origin(clients: Clients, session: str) -> None:  # W-30
    client = await clients()
    await begin(client, session)
    number = await client.dispatch(session, "session/titleChanged", seq=4711, title="x")
    assert number == 4711
    envelope = await client.until(lambda: client.echo(4711))
    assert envelope == {
        "channel": session,
        "action": {"type": "session/titleChanged", "title": "x"},
        "serverSeq": client.last_seen,
        "origin": {"clientId": client.client_id, "clientSeq": 4711},
    }


@aio
async def test_everybody_receives_the_same_envelope(clients: Clients, session: str) -> None:  # W-31, W-26
    one = await clients()
    chat = await begin(one, session)
    two = await clients(session, chat)
    await one.act(session, "session/titleChanged", title="x")
    await two.act(chat, "chat/draftChanged", draft=user("later"))
    await took(one, chat, "t1", "hello")
    await two.settled()
    start = two.envelopes()[0]["serverSeq"]
    assert two.envelopes() == [envelope for envelope in one.envelopes() if envelope["serverSeq"] >= start]
    assert len(two.envelopes()) > 5
    await agree(clients, chat, one, two)


@aio
async def test_the_host_s_own_actions_have_no_origin(clients: Clients, session: str) -> None:  # W-32
    client = await clients("ahp-root://")
    chat = await begin(client, session)
    await took(client, chat, "t1", "markdown")
    with_origin = [envelope for envelope in client.envelopes() if "origin" in envelope]
    assert [envelope["action"]["type"] for envelope in with_origin] == ["chat/turnStarted"]
    own = [envelope for envelope in client.envelopes() if "origin" not in envelope]
    assert {"root/activeSessionsChanged", "session/chatUpdated", "chat/delta", "chat/turnComplete"} <= {
        envelope["action"]["type"] for envelope in own
    }
    assert all(envelope.keys() == {"channel", "action", "serverSeq"} for envelope in own)


@pytest.mark.parametrize(
    "channel", ["demo:/nobody", "ahp-chat:/nobody", "ahp-terminal:/nobody", "demo:/nobody/annotations", "x", ""]
)
@aio
async def test_an_action_for_nobody_vanishes(clients: Clients, channel: str) -> None:  # W-33
    client = await clients("ahp-root://")
    for kind in ("session/titleChanged", "chat/turnStarted", "x-nobody/knows"):
        await client.dispatch(channel, kind, title="x")
    await client.settled()
    assert client.envelopes() == []
    assert len(client.messages) == 2


@aio
async def test_a_refusal_reaches_its_sender_and_changes_nothing(clients: Clients, session: str) -> None:  # W-34
    client = await clients()
    chat = await begin(client, session)
    other = await clients(session, chat)
    before = [await shown(clients, channel) for channel in (session, chat)]
    refused = [
        await client.act(session, "session/titleChanged"),
        await client.act(session, "session/isReadChanged", isRead="yes"),
        await client.act(chat, "chat/turnCancelled", turnId="nobody", duration=1),
        await client.act(chat, "x-nobody/knows", anything=[None]),
    ]
    numbers = [envelope["serverSeq"] for envelope in refused]
    assert numbers == sorted(set(numbers))
    for envelope in refused:
        assert envelope.keys() == {"channel", "action", "serverSeq", "origin", "rejectionReason"}
        assert envelope["rejectionReason"]
    assert refused[3]["action"] == {"type": "x-nobody/knows", "anything": [None]}
    await other.settled()
    assert other.envelopes() == []
    assert [await shown(clients, channel) for channel in (session, chat)] == before


HOSTS_OWN: dict[str, dict[str, Any]] = {
    "session/ready": {},
    "session/creationFailed": {"error": {"errorType": "x", "message": "x"}},
    "session/chatAdded": {"summary": {"resource": "ahp-chat:/x", "title": "", "status": 1, "modifiedAt": "x"}},
    "session/activityChanged": {"activity": "Hacking"},
    "session/metaChanged": {"_meta": {"x": 1}},
    "session/inputNeededRemoved": {"id": "x"},
}


@pytest.mark.parametrize("kind", HOSTS_OWN)
@aio
async def test_what_only_a_host_may_say_is_refused(clients: Clients, session: str, kind: str) -> None:  # W-35
    client = await clients()
    await begin(client, session)
    before = await shown(clients, session)
    assert (await client.act(session, kind, **HOSTS_OWN[kind]))["rejectionReason"]
    assert await shown(clients, session) == before


@aio
async def test_a_refusal_reaches_who_does_not_follow_the_channel(clients: Clients, session: str) -> None:  # W-36
    client, stranger = await clients(), await clients()
    chat = await begin(client, session)
    envelope = await stranger.act(chat, "chat/turnCancelled", turnId="nobody", duration=1)
    assert (envelope["channel"], bool(envelope["rejectionReason"])) == (chat, True)
    await stranger.dispatch(session, "session/titleChanged", title="from outside")
    await client.until(lambda: client.actions("session/titleChanged"))
    await stranger.settled()
    assert len(stranger.envelopes()) == 1


@aio
async def test_unknown_keys_and_meta_are_tolerated(clients: Clients, session: str) -> None:  # W-55
    client = await clients("ahp-root://")
    meta = {"vendor.trace": {"deep": [None, 1]}}
    await client.request("createSession", session, provider="demo", _meta=meta, later={"x": None})
    await client.subscribe(session, _meta=meta)
    envelope = await client.act(session, "session/titleChanged", title="x", later={"a": [1]}, _meta=meta)
    assert "rejectionReason" not in envelope
    assert envelope["action"] == {"type": "session/titleChanged", "title": "x", "later": {"a": [1]}, "_meta": meta}
    for method in ("ping", "listSessions"):
        await client.request(method, _meta=meta, later=1)


@aio
async def test_what_the_host_does_not_know_it_keeps(clients: Clients, session: str) -> None:  # W-56
    client = await clients()
    chat = await begin(client, session)
    attachment = {"type": "x-hologram", "label": "A ship", "depth": {"metres": 3, "unknown": None}}
    message = {
        **user("recall"),
        "attachments": [attachment, {"type": "simple", "label": "x", "_meta": {"vendor.x": [1, None]}}],
        "_meta": {"vendor.y": {"z": True}},
    }
    await client.act(chat, "chat/turnStarted", turnId="t1", message=message)
    await client.ended(chat)
    part = {"type": "x-ritual", "id": "r", "name": "Ritual", "candles": 7}
    plugin = {
        "type": "plugin",
        "id": "p",
        "uri": "file:///p",
        "name": "P",
        "children": [part],
        "_meta": {"vendor.q": 1},
    }
    active = {"clientId": client.client_id, "tools": [], "customizations": [plugin]}
    envelope = await client.act(session, "session/activeClientSet", activeClient=active)
    assert "rejectionReason" not in envelope, envelope
    assert (await shown(clients, chat))["turns"][0]["message"] == message
    (shown_client,) = (await shown(clients, session))["activeClients"]
    assert shown_client == active


@pytest.mark.parametrize("scheme", ["ahp-session", "demo", "copilot", "claude", "x-mine", "urn"])
@aio
async def test_sessions_have_the_uris_clients_give_them(clients: Clients, session: str, scheme: str) -> None:  # W-62
    client = await clients("ahp-root://")
    uri = f"{scheme}:/{session.partition('/')[2]}"
    chat = await begin(client, uri)
    await took(client, chat, "t1", "hello")
    assert (await shown(clients, uri))["provider"] == "demo"
    items = (await client.request("listSessions"))["items"]
    assert uri in [item["resource"] for item in items]
