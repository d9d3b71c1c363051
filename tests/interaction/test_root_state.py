"""What the root says about the host: agents, counts, configuration (02-root, sections 2, 3 and 8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aio import aio
from interaction.talk import accepted, begin, shown
from served import Clients, Wire, hosting

ROOT = "ahp-root://"


@aio
async def test_the_root_lists_agents(clients: Clients) -> None:
    client = await clients()
    state = await client.subscribe(ROOT)
    providers = [agent["provider"] for agent in state["agents"]]
    assert providers == ["demo", "demo-auth"]
    for agent in state["agents"]:
        for key in ("provider", "displayName", "description"):
            assert isinstance(agent[key], str)
            assert agent[key]
        assert agent["models"]
        for model in agent["models"]:
            assert {"id", "provider", "name"} <= model.keys()


@aio
async def test_capabilities_are_objects(clients: Clients) -> None:
    client = await clients(ROOT)
    for agent in client.state(ROOT)["agents"]:
        assert all(isinstance(value, dict) for value in agent["capabilities"].values())
        assert agent["capabilities"]["multipleChats"] == {"fork": True, "sideChat": True}


@aio
async def test_there_is_no_secret_in_the_root(clients: Clients) -> None:
    client = await clients(ROOT)
    text = json.dumps(client.state(ROOT))
    token = (clients.host.data_dir / "token").read_text().strip()
    assert token not in text
    assert "clientSecret" not in text


@aio
async def test_a_new_set_of_agents_reaches_who_comes_back(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        client = Wire(host.url)
        await client.initialize(ROOT)
        assert [agent["provider"] for agent in client.state(ROOT)["agents"]] == ["demo"]
        await host.kill()
        await client.gone()
        host.flags = ("--demo-auth",)
        await host.start()
        client.url = host.url
        await client.reconnect()
        newcomer = Wire(host.url)
        await newcomer.initialize(ROOT)
        assert client.state(ROOT) == newcomer.state(ROOT)
        assert [agent["provider"] for agent in client.state(ROOT)["agents"]] == ["demo", "demo-auth"]
        for each in (client, newcomer):
            await each.close()


@aio
async def test_sessions_are_counted(clients: Clients, session: str) -> None:
    client = await clients(ROOT)
    before = client.state(ROOT)["activeSessions"]
    for number in range(3):
        await client.request("createSession", f"{session}-{number}", provider="demo")
    await client.request("disposeSession", f"{session}-1")
    await client.settled()
    counts = [action["activeSessions"] - before for action in client.actions("root/activeSessionsChanged")]
    assert counts == [1, 2, 3, 2]
    assert (await shown(clients, ROOT))["activeSessions"] == before + 2


# Configuration


async def values(clients: Clients) -> Any:
    return (await shown(clients, ROOT))["config"]["values"]


@aio
async def test_a_merge_changes_only_what_it_names(clients: Clients) -> None:
    client, other = await clients(ROOT), await clients(ROOT)
    stranger = await clients()
    before = await values(clients)
    turned = not before["generateTitles"]
    await accepted(client, ROOT, "root/configChanged", config={"generateTitles": turned})
    assert await values(clients) == {**before, "generateTitles": turned}
    await other.until(lambda: other.actions("root/configChanged"))
    assert other.envelopes() == client.envelopes()
    assert other.state(ROOT) == client.state(ROOT)
    await stranger.settled()
    assert stranger.envelopes() == []


@aio
async def test_a_replacement_leaves_exactly_what_it_names(clients: Clients) -> None:
    client = await clients(ROOT)
    before = await values(clients)
    wanted = {"version": before["version"], "defaultAgent": "demo-auth"}
    await accepted(client, ROOT, "root/configChanged", config=wanted, replace=True)
    assert await values(clients) == wanted
    await accepted(client, ROOT, "root/configChanged", config=before, replace=True)
    assert await values(clients) == before


@pytest.mark.parametrize(
    "change",
    [
        {"config": {"generateTitles": "yes"}},
        {"config": {"generateTitles": None}},
        {"config": {"defaultAgent": "nobody"}},
        {"config": {"defaultAgent": 7}},
        {"config": {"version": "9.9.9"}},
        {"config": {"generateTitles": True}, "replace": True},
        {"config": {"x-unknown": 1}},
        {"config": {"generateTitles": False, "x-unknown": 1}},
        {"config": []},
        {},
    ],
    ids=str,
)
@aio
async def test_what_does_not_fit_is_refused(clients: Clients, change: dict[str, Any]) -> None:
    client = await clients(ROOT)
    before = await values(clients)
    assert (await client.act(ROOT, "root/configChanged", **change))["rejectionReason"]
    assert await values(clients) == before


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("root/agentsChanged", {"agents": []}),
        ("root/activeSessionsChanged", {"activeSessions": 77}),
        ("root/terminalsChanged", {"terminals": []}),
    ],
)
@aio
async def test_clients_do_not_speak_for_the_host(
    clients: Clients, kind: str, fields: dict[str, Any]
) -> None:
    client, other = await clients(ROOT), await clients(ROOT)
    before = await shown(clients, ROOT)
    assert (await client.act(ROOT, kind, **fields))["rejectionReason"]
    await other.settled()
    assert other.envelopes() == []
    assert await shown(clients, ROOT) == before


@aio
async def test_configuration_survives_a_restart(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        client = Wire(host.url)
        await client.initialize(ROOT)
        await client.act(ROOT, "root/configChanged", config={"generateTitles": False})
        before = client.state(ROOT)["config"]
        assert before["values"]["generateTitles"] is False
        for stop in (host.kill, host.end):
            await stop()
            await client.gone()
            await host.start()
            client.url = host.url
            await client.initialize(ROOT)
            assert client.state(ROOT)["config"] == before
        await client.close()


@aio
async def test_configuration_is_applied_at_once(clients: Clients, session: str) -> None:
    client = await clients(ROOT)
    await client.dispatch(ROOT, "root/configChanged", config={"generateTitles": False})
    chat = await begin(client, session)
    await client.say(chat, "t1", "hello there")
    await client.ended(chat)
    assert client.state(session)["title"] == ""
    await client.dispatch(ROOT, "root/configChanged", config={"generateTitles": True})
    chat = await begin(client, f"{session}-2")
    await client.say(chat, "t1", "hello there")
    await client.ended(chat)
    await client.settled()
    assert client.state(f"{session}-2")["title"] == "hello there"
