"""How a connection begins: versions, subscriptions with the handshake, spellings (01-wire, sections 4, 9, 10)."""

from __future__ import annotations

from typing import Any

import pytest

from aio import aio
from interaction.talk import begin
from served import Clients, Failed, Wire


async def offer(client: Wire, versions: list[Any], **params: Any) -> Any:
    """Begin with these versions, on a connection that is open."""
    given = {"protocolVersions": versions, "clientId": client.client_id, **params}
    return await client.request("initialize", **given)


@aio
async def test_the_result_says_what_was_agreed(clients: Clients) -> None:  # W-14
    client = await clients.opened()
    result = await offer(client, ["1.0.0"])
    assert result["protocolVersion"] == "1.0.0"
    assert result["snapshots"] == []
    assert isinstance(result["serverSeq"], int)
    assert result["serverInfo"]["name"] == "holdfast"


@pytest.mark.parametrize(
    ("versions", "chosen"),
    [
        (["0.9.0", "1.0.0"], "1.0.0"),
        (["1.0.0", "0.9.0"], "1.0.0"),
        (["1.7.3"], "1.7.3"),
        (["0.9.0", "0.7.0", "0.6.0", "0.5.2", "0.5.1"], "0.9.0"),
        (["0.10.0", "0.9.0", "0.8.0"], "0.10.0"),
        (["1.0.0", "0.10.0", "0.9.0"], "1.0.0"),
        (["0.7.0", "0.6.0", "0.5.2", "0.5.1"], "0.7.0"),
        (["2.0.0", "0.5.1"], "0.5.1"),
    ],
    ids=str,
)
@aio
async def test_the_highest_version_wins(clients: Clients, versions: list[str], chosen: str) -> None:  # W-15, W-16
    client = await clients.opened()
    assert (await offer(client, versions))["protocolVersion"] == chosen


@pytest.mark.parametrize(
    "versions",
    [["1.0.0", "bogus"], ["1.0"], ["v1.0.0"], ["01.0.0"], ["1.0.0-rc.1"], ["1.0.0\n"], [" 1.0.0"], ["1.0.0", 2]],
    ids=repr,
)
@aio
async def test_one_malformed_version_spoils_the_offer(clients: Clients, versions: list[Any]) -> None:  # W-17
    client = await clients.opened()
    with pytest.raises(Failed) as failed:
        await offer(client, versions)
    assert failed.value.code == -32602
    assert (await offer(client, ["1.0.0"]))["protocolVersion"] == "1.0.0"


@pytest.mark.parametrize("versions", [["2.0.0"], [], ["0.0.1"], ["0.11.0", "3.1.4"]], ids=str)
@aio
async def test_nothing_in_common_ends_the_connection(clients: Clients, versions: list[str]) -> None:  # W-18, W-19
    client = await clients.opened()
    with pytest.raises(Failed) as failed:
        await offer(client, versions)
    assert failed.value.code == -32005
    assert {"^1.0.0", "^0.9.0"} <= set(failed.value.error["data"]["supportedVersions"])
    await client.gone()
    assert client.close_code == 1002


@aio
async def test_unknown_keys_are_ignored(clients: Clients) -> None:  # W-20
    client = await clients.opened()
    result = await offer(
        client,
        ["1.0.0"],
        capabilities={"mcpApps": {"x": 1}, "x-telepathy": {}, "later": True},
        clientInfo={"name": "tests", "version": "1", "colour": "blue"},
        locale="de-DE",
        steeringMessages={},
        _meta={"vendor.key": None},
        initialSubscriptions=["ahp-root://"],
    )
    assert [snapshot["resource"] for snapshot in result["snapshots"]] == ["ahp-root://"]


@aio
async def test_the_root_comes_with_the_handshake(clients: Clients) -> None:  # W-21
    client = await clients.opened()
    result = await offer(client, ["1.0.0"], initialSubscriptions=["ahp-root://"])
    (snapshot,) = result["snapshots"]
    assert snapshot.keys() == {"resource", "state", "fromSeq"}
    assert (snapshot["resource"], snapshot["fromSeq"]) == ("ahp-root://", result["serverSeq"])
    assert snapshot["state"]["agents"]


@aio
async def test_what_is_not_there_is_skipped(clients: Clients, session: str) -> None:  # W-22
    first = await clients()
    chat = await begin(first, session)
    client = await clients.opened()
    wanted = ["demo:/nobody", session, "no uri", "ahp-chat:/nobody", chat, "ahp-otlp://logs"]
    result = await offer(client, ["1.0.0"], initialSubscriptions=wanted)
    assert [snapshot["resource"] for snapshot in result["snapshots"]] == [session, chat]


@pytest.mark.parametrize("spelling", ["ahp-root://", "ahp-root:", "ahp-root:/"])
@aio
async def test_the_root_is_answered_as_it_was_called(  # W-61
    clients: Clients, session: str, spelling: str
) -> None:
    client = await clients()
    result = await client.request("subscribe", spelling)
    assert result["snapshot"]["resource"] == spelling
    await begin(client, session)
    await client.until(lambda: client.actions("root/activeSessionsChanged"))
    about_root = [message for message in client.messages if message.get("method", "").startswith("root/")]
    assert {message["params"]["channel"] for message in about_root} == {spelling}
    assert client.envelopes(spelling)
    await client.drop()
    await client.open()
    result = await client.request(
        "reconnect", clientId=client.client_id, lastSeenServerSeq=client.last_seen - 10_000, subscriptions=[spelling]
    )
    shown = result.get("snapshots") or result["actions"]
    assert {each.get("resource") or each.get("channel") for each in shown} == {spelling}


@aio
async def test_two_clients_are_two(clients: Clients, session: str) -> None:  # W-63, W-28
    one, two = await clients("ahp-root://"), await clients()
    chat = await begin(one, session)
    await two.subscribe(chat)
    resource = "https://demo.holdfast.example/"
    assert await one.request("authenticate", resource=resource, token="mine") == {}
    await one.request("createSession", f"{session}-2", provider="demo-auth")
    with pytest.raises(Failed) as failed:
        await two.request("createSession", f"{session}-3", provider="demo-auth")
    assert failed.value.code == -32007
    await one.act(session, "session/titleChanged", title="for one")
    await one.act(chat, "chat/draftChanged", draft={"text": "x", "origin": {"kind": "user"}})
    await two.settled()
    assert {envelope["channel"] for envelope in two.envelopes()} == {chat}
    assert {envelope["channel"] for envelope in one.envelopes()} >= {session, chat, "ahp-root://"}


@aio
async def test_the_newest_connection_of_a_client_gets_everything(clients: Clients, session: str) -> None:
    old = await clients("ahp-root://")
    chat = await begin(old, session)
    new = await clients(session, chat, client_id=old.client_id)
    count = len(old.envelopes())
    await new.act(session, "session/titleChanged", title="x")
    await old.request("ping")
    assert len(old.envelopes()) == count
    await old.close()
    await new.act(session, "session/titleChanged", title="y")
