"""A client that thinks in 1.0 and talks to a host of another age: it sees what that age could say."""

from __future__ import annotations

from typing import Any, Final

import pytest

from aio import aio
from compat.bridging import bridge
from holdfast.protocol.compat.reducing import context_of
from holdfast.testing import comparable
from interaction.modern import Modern
from interaction.talk import begin, cancel, confirm, shown, took, wait_for_call
from served import Clients, kind_of

SPOKEN: Final = ("0.4.0", "0.5.0", "0.5.1", "0.5.2", "0.6.0", "0.7.0", "0.8.0", "0.9.0")

each_host = pytest.mark.parametrize("version", SPOKEN)


def modern(clients: Clients, version: str) -> Modern:
    client = Modern(clients.host.url, version)
    clients.push_async_callback(client.close)
    return client


def said(version: str, channel: str, state: Any) -> Any:
    """What the older version says of a state, read again in 1.0. Up to 0.8 everybody took times from a clock."""
    kind, crossing = kind_of(channel), bridge(version)
    context = context_of(kind, state)
    lifted = crossing.lift_state(kind, crossing.lower_state(kind, state, context), context)
    return _untimed(comparable(kind, {key: each for key, each in lifted.items() if not key.startswith("x-")}))


def _untimed(value: Any) -> Any:
    if isinstance(value, list):
        return [_untimed(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _untimed(each) for key, each in value.items() if key not in ("modifiedAt", "startedAt")}


async def agree(clients: Clients, client: Modern, channel: str) -> None:
    """What the client made of the host's words is what the host says to a newcomer, as far as it has words."""
    await client.settled()
    state = await shown(clients, channel)
    assert said(client.version, channel, client.state(channel)) == said(client.version, channel, state)


@each_host
@aio
async def test_a_conversation_with_an_older_host(clients: Clients, session: str, version: str) -> None:
    client = modern(clients, version)
    await client.begin("ahp-root://")
    assert client.state("ahp-root://")["agents"]
    chat = await begin(client, session)
    await wait_for_call(client, chat, "pending-confirmation", "approve")
    await confirm(client, chat)
    await client.ended(chat)
    await took(client, chat, "t2", "think")
    await took(client, chat, "t3", "error")
    assert client.state(chat)["turns"][-1]["responseParts"][-1]["kind"] == "error"
    await client.say(chat, "t4", "wait")
    await client.until(lambda: client.state(chat).get("activeTurn", {}).get("responseParts"))
    await cancel(client, chat, "t4")
    for channel in (chat, session):
        await agree(clients, client, channel)


@each_host
@aio
async def test_what_is_missed_is_told_in_the_words_of_1_0(clients: Clients, session: str, version: str) -> None:
    client, other = modern(clients, version), await clients()
    await client.begin()
    chat = await begin(client, session)
    await other.subscribe(chat)
    await client.drop()
    await took(other, chat, "t1", "flaky")
    await client.reconnect()
    assert client.state(chat)["turns"][-1]["responseParts"][-1]["kind"] == "error"
    for channel in (chat, session):
        await agree(clients, client, channel)
