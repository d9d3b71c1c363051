"""Tokens for what agents protect (01-wire, section 19)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aio import aio
from interaction.talk import QUICK, begin, call, shown, wait_for_call
from served import Clients, Failed, Wire

RESOURCE = "https://demo.holdfast.example/"
MCP = "https://mcp.holdfast.example/"
TOKEN = "open-sesame-4711"


async def authenticate(client: Wire, token: str = TOKEN, resource: str = RESOURCE, **params: Any) -> Any:
    return await client.request("authenticate", resource=resource, token=token, **params)


async def code(client: Wire, method: str, channel: str = "ahp-root://", **params: Any) -> int:
    """The code a request fails with."""
    with pytest.raises(Failed) as failed:
        await client.request(method, channel, **params)
    return int(failed.value.code)


def required(client: Wire) -> list[dict[str, Any]]:
    """The times this client was told that a token is needed."""
    return [message["params"] for message in client.messages if message.get("method") == "auth/required"]


@aio
async def test_what_is_needed_is_said(clients: Clients, session: str) -> None:  # W-49
    client = await clients("ahp-root://")
    with pytest.raises(Failed) as failed:
        await client.request("createSession", session, provider="demo-auth")
    assert failed.value.code == -32007
    agents = client.state("ahp-root://")["agents"]
    (announced,) = [agent["protectedResources"] for agent in agents if agent["provider"] == "demo-auth"]
    assert failed.value.error["data"] == {"resources": announced}
    assert announced[0]["resource"] == RESOURCE
    assert await code(client, "subscribe", session) == -32001


@aio
async def test_only_what_was_announced_can_be_authenticated(clients: Clients) -> None:  # W-50
    client = await clients()
    for resource in ("https://elsewhere.example/", "", RESOURCE.rstrip("/"), RESOURCE.upper()):
        assert await code(client, "authenticate", resource=resource, token=TOKEN) == -32602


@aio
async def test_a_token_opens_the_agent(clients: Clients, session: str) -> None:  # W-51
    client = await clients()
    assert await authenticate(client, scopes=["demo"], expiresIn=3600) == {}
    chat = await client.session(session, provider="demo-auth", config=QUICK)
    await client.say(chat, "t1", "hello")
    assert (await client.ended(chat))["state"] == "complete"
    assert await authenticate(client, token="another") == {}


@aio
async def test_a_bad_token_does_not(clients: Clients, session: str) -> None:  # W-49
    client = await clients()
    with pytest.raises(Failed) as failed:
        await authenticate(client, "bad")
    assert failed.value.code == -32007
    assert [resource["resource"] for resource in failed.value.error["data"]["resources"]] == [RESOURCE]
    assert await code(client, "createSession", session, provider="demo-auth") == -32007
    for seconds in (0, -5, 1.5):
        assert await code(client, "authenticate", resource=RESOURCE, token=TOKEN, expiresIn=seconds) == -32602


@aio
async def test_an_empty_token_revokes(clients: Clients, session: str) -> None:  # W-52, W-54
    client, other = await clients(), await clients()
    await authenticate(client)
    await authenticate(other)
    await client.request("createSession", session, provider="demo-auth")
    assert await authenticate(client, "", expiresIn=0) == {}
    assert await code(client, "createSession", f"{session}-2", provider="demo-auth") == -32007
    (told,) = required(client)
    assert told["channel"] == "ahp-root://"
    assert told["resource"]["resource"] == RESOURCE
    assert told["reason"] == "required"
    assert required(other) == []
    await other.request("createSession", f"{session}-3", provider="demo-auth")


@aio
async def test_a_token_expires(clients: Clients, session: str) -> None:  # W-52, W-54
    client = await clients()
    await authenticate(client, expiresIn=1)
    (told,) = await client.until(lambda: required(client))
    assert told["resource"]["resource"] == RESOURCE
    assert told["reason"] == "expired"
    assert await code(client, "createSession", session, provider="demo-auth") == -32007


@aio
async def test_a_turn_needs_the_token_of_who_starts_it(clients: Clients, session: str) -> None:  # W-52
    owner, guest = await clients(), await clients()
    await authenticate(owner)
    chat = await owner.session(session, provider="demo-auth", config=QUICK)
    await guest.subscribe(chat)
    refusal = await guest.act(
        chat, "chat/turnStarted", turnId="t1", message={"text": "hi", "origin": {"kind": "user"}}
    )
    assert RESOURCE in refusal["rejectionReason"]
    await owner.say(chat, "t1", "hello")
    await owner.ended(chat)


@aio
async def test_no_token_is_ever_shown(clients: Clients, session: str) -> None:  # W-53, R-33
    client, other = await clients("ahp-root://"), await clients("ahp-root://")
    await authenticate(client)
    chat = await begin(client, session)
    await wait_for_call(client, chat, "auth-required", "mcp")
    await authenticate(client, resource=MCP)
    await client.ended(chat)
    await client.request("createSession", f"{session}-2", provider="demo-auth")
    await authenticate(client, "")
    for channel in ("ahp-root://", session, chat, f"{session}-2"):
        await shown(clients, channel)
        await other.subscribe(channel)
    await other.request("listSessions")
    await client.settled()
    for each in (client, other):
        assert TOKEN not in str(each.messages)
    assert TOKEN not in await asyncio.to_thread(clients.host.log.read_text)
    for file in clients.host.data_dir.glob("journal.db*"):
        assert TOKEN.encode() not in await asyncio.to_thread(file.read_bytes)


@aio
async def test_a_call_that_waits_for_a_token_goes_on_with_it(clients: Clients, session: str) -> None:  # W-51
    client = await clients()
    chat = await begin(client, session)
    waiting = await wait_for_call(client, chat, "auth-required", "mcp")
    assert waiting["auth"]["resource"]["resource"] == MCP
    assert await authenticate(client, resource=MCP) == {}
    await client.ended(chat)
    assert call(client, chat)["status"] == "completed"
    assert client.actions("chat/toolCallAuthResolved", chat)
    assert await code(client, "authenticate", resource=MCP, token=TOKEN) == -32602


@aio
async def test_agents_that_need_a_token_are_listed_without_one(clients: Clients) -> None:
    client = await clients("ahp-root://")
    (agent,) = [each for each in client.state("ahp-root://")["agents"] if each["provider"] == "demo-auth"]
    assert agent["models"]
    assert agent["protectedResources"][0]["required"] is True


@aio
async def test_content_that_is_gone_is_not_found(clients: Clients) -> None:  # W-64
    client = await clients()
    old = await clients(versions=("0.9.0",))
    for each in (client, old):
        assert await code(each, "resourceRead", uri="ahp-content:/nobody") == -32008
        assert await code(each, "resourceRead", uri="file:///nothing/here") == -32008
        assert await code(each, "resourceResolve", uri="ahp-content:/nobody") == -32008
