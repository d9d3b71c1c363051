"""Customizations and MCP servers, as far as they are played: what a toggle or a request does to the tree.

The agent `equipped` brings a tree that nothing stands behind, so no server ever really starts.
"""

from __future__ import annotations

import copy
from typing import Any

import troupe
from aio import aio
from interaction.catalogue import consistent, further_chat
from interaction.talk import accepted, begin, refused, shown, spoken, wait_for_call
from served import Clients, Wire
from troupe import CUSTOMIZATIONS

PROGRAM = troupe.PROGRAM


async def _equipped(client: Wire, session: str) -> str:
    chat = await client.session(session, provider="equipped", config={"speed": 0})
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")
    return chat


async def _watched(clients: Clients, session: str) -> tuple[Wire, Wire]:
    """Somebody who acts and somebody who looks on."""
    client, other = await clients(), await clients()
    await _equipped(client, session)
    await other.subscribe(session)
    return client, other


async def _tree(clients: Clients, session: str, *wires: Wire) -> Any:
    return (await consistent(clients, session, *wires))["customizations"]


def _changed(id: str, *without: str, **fields: Any) -> Any:
    """The tree with these fields of one entry set, and others gone."""
    tree = copy.deepcopy(CUSTOMIZATIONS)
    (entry,) = [each for each in _all(tree) if each["id"] == id]
    entry.update(fields)
    for name in without:
        del entry[name]
    return tree


def _all(tree: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for entry in tree for each in (entry, *entry.get("children", []))]


@aio
async def test_the_tree_is_shown_as_the_agent_has_it(clients: Clients, session: str) -> None:  # S-68
    client, other = await _watched(clients, session)
    assert await _tree(clients, session, client, other) == CUSTOMIZATIONS


@aio
async def test_a_toggle_of_a_plugin_stores_the_list_as_it_is(clients: Clients, session: str) -> None:  # S-47
    client, other = await _watched(clients, session)
    decisions = [
        {"kind": "session", "enabled": False},
        {"kind": "workspace", "uri": "file:///w", "enabled": True},
        {"kind": "global", "enabled": True},
    ]
    await accepted(client, session, "session/customizationToggled", id="toolbox", enablement=decisions)
    assert await _tree(clients, session, client, other) == _changed("toolbox", enablement=decisions)
    await accepted(client, session, "session/customizationToggled", id="toolbox", enablement=decisions[2:])
    assert await _tree(clients, session, client, other) == _changed("toolbox", enablement=decisions[2:])
    await accepted(client, session, "session/customizationToggled", id="toolbox", enablement=[])
    assert await _tree(clients, session, client, other) == CUSTOMIZATIONS


@aio
async def test_a_toggle_of_a_server_stores_the_list_wherever_it_stands(
    clients: Clients, session: str
) -> None:  # S-47
    client, other = await _watched(clients, session)
    off = [{"kind": "session", "enabled": False}]
    for id in ("weather", "charts"):
        await accepted(client, session, "session/customizationToggled", id=id, enablement=off)
        assert await _tree(clients, session, client, other) == _changed(id, enablement=off)
        await accepted(client, session, "session/customizationToggled", id=id, enablement=[])
    assert await _tree(clients, session, client, other) == CUSTOMIZATIONS


@aio
async def test_a_toggle_of_a_leaf_or_a_directory_sets_its_flag(clients: Clients, session: str) -> None:  # S-48
    client, other = await _watched(clients, session)
    for id in ("knots", "prompts"):
        for decisions, enabled in (
            ([{"kind": "session", "enabled": False}, {"kind": "global", "enabled": True}], False),
            ([{"kind": "global", "enabled": True}], True),
            ([{"kind": "workspace", "uri": "file:///w", "enabled": False}], False),
            ([], True),
        ):
            await accepted(client, session, "session/customizationToggled", id=id, enablement=decisions)
            (entry,) = [each for each in _all(await _tree(clients, session, client, other)) if each["id"] == id]
            assert (entry["enabled"], "enablement" in entry) == (enabled, False)


@aio
async def test_a_toggle_that_cannot_be_is_refused(clients: Clients, session: str) -> None:  # S-49
    client, other = await _watched(clients, session)
    on, off = {"enabled": True}, {"enabled": False}
    reason = await refused(client, session, "session/customizationToggled", id="gone", enablement=[])
    assert reason == "there is no customization 'gone'"
    here, there = ({"kind": "workspace", "uri": f"file:///{name}", **on} for name in "wx")
    for decisions in ([here, {"kind": "session", **off}], [here, there], [{"kind": "global", **on}, here]):
        reason = await refused(client, session, "session/customizationToggled", id="toolbox", enablement=decisions)
        assert reason == "decisions go from session over workspace to global, each at most once"
    assert await _tree(clients, session, client, other) == CUSTOMIZATIONS
    assert other.envelopes(session) == []


@aio
async def test_decisions_of_an_unknown_scope_and_entries_of_an_unknown_type_are_kept(
    clients: Clients, session: str
) -> None:  # S-68
    client, other = await _watched(clients, session)
    decisions = [{"kind": "planet", "enabled": False, "orbit": 3}, {"kind": "global", "enabled": True}]
    await accepted(client, session, "session/customizationToggled", id="toolbox", enablement=decisions)
    assert await _tree(clients, session, client, other) == _changed("toolbox", enablement=decisions)
    await accepted(client, session, "session/customizationToggled", id="toolbox", enablement=[])
    off = [{"kind": "session", "enabled": False}]
    await accepted(client, session, "session/customizationToggled", id="future", enablement=off)
    assert await _tree(clients, session, client, other) == _changed("future", enabled=False)


@aio
async def test_a_request_to_start_shows_the_server_as_starting(clients: Clients, session: str) -> None:  # S-53
    client, other = await _watched(clients, session)
    await accepted(client, session, "session/mcpServerStartRequested", id="weather")
    tree = await _tree(clients, session, client, other)
    assert tree == _changed("weather", "channel", state={"kind": "starting"})


@aio
async def test_a_request_to_stop_stops_the_server_and_takes_its_channel(
    clients: Clients, session: str
) -> None:  # S-54
    client, other = await _watched(clients, session)
    await accepted(client, session, "session/mcpServerStopRequested", id="weather")
    tree = await _tree(clients, session, client, other)
    assert tree == _changed("weather", "channel", state={"kind": "stopped"})
    await accepted(client, session, "session/mcpServerStopRequested", id="charts")
    (charts,) = [each for each in _all(await _tree(clients, session, client, other)) if each["id"] == "charts"]
    assert charts["state"] == {"kind": "stopped"}


@aio
async def test_a_request_for_the_background_unblocks_a_start(clients: Clients, session: str) -> None:  # S-55
    client, other = await _watched(clients, session)
    await accepted(client, session, "session/mcpServerBackgroundRequested", id="charts")
    tree = await _tree(clients, session, client, other)
    assert tree == _changed("charts", state={"kind": "starting", "blocking": False})
    await accepted(client, session, "session/mcpServerBackgroundRequested", id="weather")
    assert await _tree(clients, session, client, other) == tree


@aio
async def test_requests_about_what_is_no_server_are_refused(
    clients: Clients, session: str
) -> None:  # S-53, S-54, S-55
    client, other = await _watched(clients, session)
    for kind in ("Start", "Stop", "Background"):
        for id in ("toolbox", "knots", "future", "gone"):
            reason = await refused(client, session, f"session/mcpServer{kind}Requested", id=id)
            assert reason == f"there is no MCP server '{id}'"
    assert await _tree(clients, session, client, other) == CUSTOMIZATIONS
    assert other.envelopes(session) == []


@aio
async def test_a_server_that_wants_a_token_says_for_what_and_authenticate_leads_on(
    clients: Clients, session: str
) -> None:  # S-56
    client, other = await clients(), await clients()
    chat = await begin(client, session)
    await other.subscribe(session)
    waits = await wait_for_call(client, chat, "auth-required", "mcp")
    resource = waits["auth"]["resource"]["resource"]
    assert waits["auth"]["reason"] == "insufficientScope"
    assert waits["auth"]["resource"]["authorization_servers"] == ["https://login.holdfast.example/"]
    await other.until(lambda: other.state(session).get("inputNeeded"))
    (waiting,) = other.state(session)["inputNeeded"]
    assert waiting == {  # S-62
        "kind": "toolAuthentication",
        "id": waiting["id"],
        "chat": chat,
        "turnId": "t1",
        "toolCall": waits,
    }
    assert (await shown(clients, session))["status"] == 24
    assert other.state(session)["status"] & 24 == 24
    await other.request("authenticate", resource=resource, token="good")
    turn = await client.ended(chat)
    assert "Two issues are open" in spoken(turn)
    await other.settled()
    assert "inputNeeded" not in await consistent(clients, session, client, other)


@aio
async def test_a_chat_that_moves_out_takes_no_plugin_of_a_client_along(
    clients: Clients, session: str
) -> None:  # S-29
    client = await clients()
    await _equipped(client, session)
    second = await further_chat(client, session)
    own = (await client.request("moveChat", second, destination={"kind": "newSession"}))["session"]
    assert await _tree(clients, own) == [each for each in CUSTOMIZATIONS if each["id"] != "borrowed"]
