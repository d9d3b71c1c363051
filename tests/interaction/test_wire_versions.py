"""What each version of the protocol may see, in one host for all of them (01-wire, sections 10 and 17)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from aio import aio
from holdfast.protocol.versions import ACTIONS, parse_version
from interaction.talk import begin, confirm, shown, took, wait_for_call
from served import Clients, Wire, user

ROOT: Final = "ahp-root://"
OLD: Final = ("0.9.0", "0.9.4", "0.8.0", "0.7.0", "0.6.0", "0.5.2", "0.5.1", "0.5.0", "0.4.0")

# First shipped in 1.0.0, dated 0.9.0 upstream: reference hosts send them to 0.9 clients, which ignore them.
TOLERATED_BY_0_9: Final = {
    "session/chatsReordered",
    "session/mcpServerBackgroundRequested",
    "chat/backgroundWorkSet",
    "chat/backgroundWorkRemoved",
    "chat/movableChanged",
    "chat/changesetsChanged",
    "chat/isReadChanged",
    "chat/isArchivedChanged",
}

ONLY_BEFORE_0_5: Final = {"session/activeClientChanged"}


def seen(client: Wire) -> set[str]:
    """The types of the actions a client received, live or in a replay."""
    envelopes = client.envelopes()
    for message in client.messages:
        envelopes += message.get("result", {}).get("actions", []) if isinstance(message.get("result"), dict) else []
    return {envelope["action"]["type"] for envelope in envelopes}


def newer(types: set[str], version: str) -> set[str]:
    """The types that the version has not."""
    own = parse_version(version)
    assert own is not None
    allowed = TOLERATED_BY_0_9 if version.startswith("0.9.") else ONLY_BEFORE_0_5
    return {each for each in types - allowed if ACTIONS[each].since > own}


def summaries(client: Wire) -> list[dict[str, Any]]:
    """The summaries, and changes of them, that a client was told."""
    found = [message["params"] for message in client.messages if message.get("method", "").startswith("root/session")]
    return [each.get("summary") or each.get("changes") or {} for each in found]


async def live_fully(client: Wire, session: str, chat: str, round_: int) -> None:
    """Do a bit of everything that has an action newer than something."""
    await took(client, chat, f"t{round_}-think", "think")
    await client.act(chat, "chat/draftChanged", draft=user("later"))
    await client.act(chat, "chat/isReadChanged", isRead=True)
    await client.act(chat, "chat/isArchivedChanged", isArchived=True)
    await client.act(chat, "chat/isArchivedChanged", isArchived=False)
    tools = {"clientId": client.client_id, "tools": []}
    await client.act(session, "session/activeClientSet", activeClient=tools)
    await client.say(chat, f"t{round_}-ask", "approve")
    await wait_for_call(client, chat, "pending-confirmation")
    await confirm(client, chat)
    await client.until(lambda: client.states[chat].active_turn is None)
    await took(client, chat, f"t{round_}-work", "workers")
    await client.request("createChat", session, chat=f"ahp-chat:/{session.partition('/')[2]}-{round_}")


async def put_first(client: Wire, session: str, chat: str) -> None:
    """Reorder the chats of a session, so that this one is the first."""
    await client.request("moveChat", chat, destination={"kind": "session", "session": session})


@pytest.mark.parametrize("version", OLD)
@aio
async def test_nobody_hears_of_what_is_newer(clients: Clients, session: str, version: str) -> None:  # W-47, W-48
    client = await clients()
    chat = await begin(client, session)
    old = clients.wire()
    assert (await old.initialize(versions=(version,)))["protocolVersion"] == version
    followed = [ROOT, session, chat]
    for channel in followed:
        assert "snapshot" in await old.request("subscribe", channel)

    await live_fully(client, session, chat, 1)
    await old.settled()
    assert len(seen(old)) > 8
    assert newer(seen(old), version) == set()
    await old.drop()
    await live_fully(client, session, chat, 2)
    await old.open()
    result = await old.request(
        "reconnect", clientId=old.client_id, lastSeenServerSeq=old.last_seen, subscriptions=followed
    )
    assert result["type"] in ("replay", "snapshot")
    await live_fully(client, session, chat, 3)
    await old.settled()
    assert newer(seen(old), version) == set()
    assert all("chats" not in each and "defaultChat" not in each for each in summaries(old))
    for item in (await old.request("listSessions"))["items"]:
        assert "chats" not in item


@aio
async def test_the_present_version_sees_it_all(clients: Clients, session: str) -> None:  # W-48
    client, watcher = await clients(ROOT), await clients(ROOT)
    chat = await begin(client, session)
    await live_fully(client, session, chat, 1)
    await put_first(client, session, client.state(session)["chats"][-1]["resource"])
    await watcher.settled()
    assert {"chat/isReadChanged", "session/chatsReordered"} <= seen(client)
    assert any("chats" in each for each in summaries(watcher))
    assert (await shown(clients, session))["chats"]


@pytest.mark.parametrize("version", ["1.0.0", "0.9.0", "0.8.0", "0.7.0"])
@aio
async def test_what_needs_a_token_is_an_object_since_0_8(clients: Clients, version: str) -> None:  # W-54
    client = await clients(versions=(version,))
    resource = "https://demo.holdfast.example/"
    await client.request("authenticate", resource=resource, token="t")
    await client.request("authenticate", resource=resource, token="")
    await client.settled()
    (told,) = [message["params"] for message in client.messages if message.get("method") == "auth/required"]
    shown_resource = told["resource"]
    assert (shown_resource if version == "0.7.0" else shown_resource["resource"]) == resource


@pytest.mark.parametrize("version", OLD)
@aio
async def test_what_cannot_be_told_is_shown_after_a_reconnect(  # W-47, W-48
    clients: Clients, session: str, version: str
) -> None:
    client, old = await clients(), clients.wire()
    chat = await begin(client, session)
    await took(client, chat, "t1", "flaky")
    other = f"ahp-chat:/{session.partition('/')[2]}"
    await client.request("createChat", session, chat=other)
    await old.initialize(versions=(version,))
    await old.request("subscribe", session)
    await client.act(chat, "chat/turnResume", turnId="t1")
    await client.until(lambda: client.states[chat].active_turn is None)
    await client.act(session, "session/workingDirectorySet", directory="file:///w")
    await put_first(client, session, other)
    await old.gone()
    assert old.close_code == 1012
    await old.open()
    result = await old.request(
        "reconnect", clientId=old.client_id, lastSeenServerSeq=old.last_seen, subscriptions=[session]
    )
    assert result["type"] == "snapshot"
    assert newer(seen(old), version) == set()
    (snapshot,) = result["snapshots"]
    if "chats" in snapshot["state"]:
        assert [each["resource"] for each in snapshot["state"]["chats"]] == [other, chat]
