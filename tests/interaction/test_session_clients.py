"""Active clients: joining with tools, leaving in every way, and what becomes of what they brought."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import troupe
from aio import aio
from interaction.catalogue import consistent, failing, further_chat, restartable
from interaction.talk import accepted, agree, begin, call, refused, shown, spoken, took, wait_for_call
from served import Clients, Wire

PROGRAM = troupe.PROGRAM

TOOL = {
    "name": "open_file",
    "title": "Open a file",
    "description": "Shows a file to the user.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    "annotations": {"readOnlyHint": True},
    "_meta": {"x-icon": {"glyph": None}},
}


def _entry(client: Wire, *names: str, **fields: Any) -> dict[str, Any]:
    """How a client enters itself, with tools of these names."""
    return {"clientId": client.client_id, "tools": [{**TOOL, "name": name} for name in names], **fields}


async def _join(client: Wire, session: str, *names: str, **fields: Any) -> dict[str, Any]:
    entry = _entry(client, *names, **fields)
    await accepted(client, session, "session/activeClientSet", activeClient=entry)
    return entry


def _active(client: Wire, session: str) -> list[str]:
    """The active clients of a session, as a follower has it."""
    return [each["clientId"] for each in client.state(session)["activeClients"]]


async def _left(observer: Wire, session: str, client: Wire) -> None:
    """Wait until everybody was told that a client is no longer active."""
    await observer.until(lambda: client.client_id not in _active(observer, session))
    assert {"type": "session/activeClientRemoved", "clientId": client.client_id} in observer.actions(
        "session/activeClientRemoved", session
    )


# Joining


@aio
async def test_clients_join_with_their_tools_and_everybody_sees_them(clients: Clients, session: str) -> None:  # S-21
    one, two, observer = await clients(), await clients(), await clients()
    chat = await begin(one, session)
    for wire in (two, observer):
        await wire.subscribe(session)
    first = await _join(one, session, "open_file", displayName="Editor")
    second = await _join(two, session, "run_tests")
    await observer.settled()
    assert observer.state(session)["activeClients"] == [first, second]
    state = await consistent(clients, session, one, two, observer)
    assert state["activeClients"] == [first, second]
    turn = await took(one, chat, "t1", "models")
    assert "| Client tools | `open_file`, `run_tests` |" in spoken(turn)


@aio
async def test_joining_again_replaces_the_whole_entry(clients: Clients, session: str) -> None:  # S-21
    one, two = await clients(), await clients()
    await begin(one, session)
    await two.subscribe(session)
    await _join(one, session, "a", "b", displayName="Editor")
    second = await _join(two, session)
    first = await _join(one, session, "c")
    state = await consistent(clients, session, one, two)
    assert state["activeClients"] == [first, second], "in its old place, without the name it had"


@aio
async def test_a_client_joins_before_it_follows_the_session(clients: Clients, session: str) -> None:  # INTEROP 2.3
    client, observer = await clients(), await clients()
    await client.request("createSession", session, provider="demo")
    await observer.subscribe(session)
    await observer.until(lambda: observer.state(session)["lifecycle"] == "ready")
    for number in range(13):
        await client.dispatch(session, "session/activeClientSet", activeClient=_entry(client, f"tool-{number}"))
    state = await client.subscribe(session)
    assert state["activeClients"] == [_entry(client, "tool-12")]
    assert client.envelopes(session) == [], (
        "who does not follow is told nothing, and what is in a snapshot is not said"
    )
    await observer.settled()
    assert len(observer.actions("session/activeClientSet", session)) == 13
    await consistent(clients, session, client, observer)


@aio
async def test_a_client_enters_and_removes_only_itself(clients: Clients, session: str) -> None:  # S-22
    one, two = await clients(), await clients()
    await begin(one, session)
    await two.subscribe(session)
    await _join(one, session, "open_file")
    before = await consistent(clients, session, one, two)
    reason = await refused(two, session, "session/activeClientSet", activeClient=_entry(one, "forged"))
    assert reason == "a client may only enter itself"
    reason = await refused(two, session, "session/activeClientRemoved", clientId=one.client_id)
    assert reason == "a client may only remove itself"
    assert await consistent(clients, session, one, two) == before


@aio
async def test_the_creator_is_active_from_the_start(clients: Clients, session: str) -> None:  # S-23
    client = await clients()
    entry = _entry(client, "open_file", displayName="Editor")
    created = await client.post("createSession", session, provider="demo", activeClient=entry)
    followed = await client.follow(session)
    assert await created is None
    assert (await followed)["snapshot"]["state"]["activeClients"] == [entry]
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")
    await consistent(clients, session, client)


@aio
async def test_nobody_is_entered_by_somebody_else_at_creation(clients: Clients, session: str) -> None:  # S-24
    client, other = await clients(), await clients()
    async with failing(-32602):
        await client.request("createSession", session, provider="demo", activeClient=_entry(other))
    async with failing(-32001):
        await client.subscribe(session)


# Leaving


@aio
async def test_a_client_leaves_of_its_own_accord(clients: Clients, session: str) -> None:  # S-21
    one, two = await clients(), await clients()
    await begin(one, session)
    await two.subscribe(session)
    await _join(one, session, "open_file")
    await accepted(one, session, "session/activeClientRemoved", clientId=one.client_id)
    assert (await consistent(clients, session, one, two))["activeClients"] == []


@aio
async def test_who_unsubscribes_is_no_longer_active(clients: Clients, session: str) -> None:  # S-25
    one, two = await clients(), await clients()
    await begin(one, session)
    await two.subscribe(session)
    await _join(one, session, "open_file")
    second = await _join(two, session)
    await one.send({"jsonrpc": "2.0", "method": "unsubscribe", "params": {"channel": session}})
    await _left(two, session, one)
    assert (await consistent(clients, session, two))["activeClients"] == [second]


@aio
async def test_who_comes_back_without_the_session_is_no_longer_active(clients: Clients, session: str) -> None:  # S-27
    one, two = await clients(), await clients()
    await begin(one, session)
    await two.subscribe(session)
    await _join(one, session, "open_file")
    await one.drop()
    await two.settled()
    assert _active(two, session) == [one.client_id], "it may come back for a while"
    one.states.clear()
    await one.reconnect()
    await _left(two, session, one)
    assert (await consistent(clients, session, two))["activeClients"] == []


@aio
async def test_who_comes_back_to_a_chat_of_the_session_stays_active(clients: Clients, session: str) -> None:
    one, two = await clients(), await clients()
    await begin(one, session)
    await two.subscribe(session)
    entry = await _join(one, session, "open_file")
    await one.drop()
    one.states.pop(session)
    await one.reconnect()
    assert (await consistent(clients, session, two))["activeClients"] == [entry]
    assert two.actions("session/activeClientRemoved", session) == []


@aio
async def test_who_is_away_for_too_long_is_removed_and_who_comes_back_is_not(tmp_path: Path) -> None:  # S-26
    async with restartable(tmp_path, "--grace", "1s") as clients:
        back, gone, observer = await clients(), await clients(), await clients()
        session = "demo:/grace"
        await begin(back, session)
        await gone.subscribe(session)
        await observer.subscribe(session)
        entry = await _join(back, session, "open_file")
        await _join(gone, session, "run_tests")
        await back.drop()  # first, so that its time would be up first
        await gone.drop()
        await back.reconnect()
        await _left(observer, session, gone)
        assert (await consistent(clients, session, back, observer))["activeClients"] == [entry]


@aio
async def test_a_client_that_starts_over_has_its_grace_period_to_follow_again(tmp_path: Path) -> None:  # INTEROP 2.12
    async with restartable(tmp_path, "--grace", "1s") as clients:
        back, gone, observer = await clients(), await clients(), await clients()
        session = "demo:/grace"
        await begin(back, session)
        await gone.subscribe(session)
        await observer.subscribe(session)
        entry = await _join(back, session, "open_file")
        await _join(gone, session, "run_tests")
        for wire in (back, gone):
            await wire.drop()
            wire.states.clear()
            await wire.initialize()
        await back.subscribe(session)
        await _left(observer, session, gone)
        assert (await consistent(clients, session, back, observer))["activeClients"] == [entry]


@aio
async def test_after_a_restart_active_clients_have_a_grace_period(tmp_path: Path) -> None:  # S-26
    async with restartable(tmp_path, "--grace", "1s") as clients:
        back, gone = await clients(), await clients()
        session = "demo:/grace"
        await begin(back, session)
        await gone.subscribe(session)
        entry = await _join(back, session, "open_file")
        await _join(gone, session, "run_tests")
        await clients.restart()
        await clients.back(back)
        await _left(back, session, gone)
        assert (await consistent(clients, session, back))["activeClients"] == [entry]


# What they brought


async def _running(owner: Wire, observer: Wire, session: str, chat: str, turn: str = "t1") -> Any:
    """A turn that calls the owner's tool; the call as the observer has it."""
    await observer.say(chat, turn, "client open_file README.md")
    return await wait_for_call(observer, chat, "running")


async def _begin_together(clients: Clients, session: str) -> tuple[Wire, Wire, str]:
    owner, observer = await clients(), await clients()
    chat = await begin(observer, session)
    await owner.subscribe(session)
    await _join(owner, session, "open_file")
    return owner, observer, chat


@aio
async def test_a_clients_tool_is_called_and_its_result_reaches_the_agent(
    clients: Clients, session: str
) -> None:  # S-60, INTEROP 2.9
    owner, observer, chat = await _begin_together(clients, session)
    running = await _running(owner, observer, session, chat)
    assert running["contributor"] == {"kind": "client", "clientId": owner.client_id}
    await owner.until(lambda: owner.state(session).get("inputNeeded"))
    (waiting,) = owner.state(session)["inputNeeded"]
    assert waiting == {
        "kind": "toolClientExecution",
        "id": waiting["id"],
        "chat": chat,
        "turnId": "t1",
        "clientId": owner.client_id,
        "toolCall": running,
    }
    assert owner.state(session)["status"] & 24 != 24, "nobody has to be asked"
    assert (await shown(clients, session))["status"] == 8
    await consistent(clients, session, owner, observer)
    result = {"success": True, "pastTenseMessage": "Opened it", "content": [{"type": "text", "text": "# Holdfast"}]}
    answer = {"turnId": "t1", "toolCallId": running["toolCallId"], "result": result}
    # Its owner does not follow the chat.
    await owner.dispatch(chat, "chat/toolCallComplete", **answer)
    turn = await observer.ended(chat)
    assert "> # Holdfast" in spoken(turn)
    await observer.settled()
    assert "inputNeeded" not in await consistent(clients, session, observer)
    assert call(observer, chat)["status"] == "completed"


@aio
async def test_a_running_tool_fails_when_its_client_leaves(clients: Clients, session: str) -> None:  # S-28
    owner, observer, chat = await _begin_together(clients, session)
    second = await further_chat(observer, session, 2)
    await observer.dispatch(session, "session/configChanged", config={"speed": 0})
    await _running(owner, observer, session, chat, "t1")
    await _running(owner, observer, session, second, "t2")
    await owner.send({"jsonrpc": "2.0", "method": "unsubscribe", "params": {"channel": session}})
    for each in (chat, second):
        turn = await observer.ended(each)
        done = call(observer, each)
        assert (turn["state"], done["status"], done["success"]) == ("complete", "completed", False)
        (complete,) = observer.actions("chat/toolCallComplete", each)
        assert complete["result"]["pastTenseMessage"] == (
            "Open a file was given up: the client that runs this tool is gone"
        )
        await agree(clients, each, observer)
    state = await consistent(clients, session, observer)
    assert ("inputNeeded" in state, state["activeClients"]) == (False, [])


@aio
async def test_a_running_tool_waits_for_its_client_through_the_grace_period(tmp_path: Path) -> None:  # S-28
    async with restartable(tmp_path, "--grace", "1s") as clients:
        owner, observer, chat = await _begin_together(clients, session := "demo:/grace")
        running = await _running(owner, observer, session, chat)
        await owner.drop()
        await observer.settled()
        assert call(observer, chat)["status"] == "running"
        await owner.reconnect()
        result = {"success": True, "pastTenseMessage": "Opened it"}
        answer = {"turnId": "t1", "toolCallId": running["toolCallId"], "result": result}
        await owner.dispatch(chat, "chat/toolCallComplete", **answer)
        assert "The client did it: Opened it." in spoken(await observer.ended(chat))
        await _running(owner, observer, session, chat, "t2")
        await owner.drop()
        turn = await observer.ended(chat, 2)
        assert (turn["state"], call(observer, chat)["success"]) == ("complete", False)
        await consistent(clients, session, observer)


@aio
async def test_what_a_client_contributed_goes_with_it(clients: Clients, session: str) -> None:  # S-29
    lender, observer = await clients(client_id="lender"), await clients()
    await observer.session(session, provider="equipped")
    await lender.subscribe(session)
    before = [each["id"] for each in (await shown(clients, session))["customizations"]]
    await _join(lender, session)
    await lender.close()
    again = await clients(client_id="lender")
    await again.subscribe(session)
    await again.send({"jsonrpc": "2.0", "method": "unsubscribe", "params": {"channel": session}})
    await _left(observer, session, lender)
    await observer.until(lambda: observer.actions("session/customizationRemoved", session))
    assert observer.actions("session/customizationRemoved", session) == [
        {"type": "session/customizationRemoved", "id": "borrowed"}
    ]
    state = await consistent(clients, session, observer)
    assert [each["id"] for each in state["customizations"]] == [id for id in before if id != "borrowed"]


@aio
async def test_what_is_not_known_of_an_entry_is_kept(clients: Clients, session: str) -> None:  # S-68
    client, observer = await clients(), await clients()
    await begin(client, session)
    await observer.subscribe(session)
    plugin = {
        "type": "plugin",
        "id": "p1",
        "uri": "virtual://editor/plugin",
        "name": "Plugin",
        "nonce": "7",
        "enablement": [{"kind": "planet", "enabled": True, "orbit": 3}, {"kind": "global", "enabled": False}],
        "childEnablement": {"search": [{"kind": "moon", "enabled": True}]},
    }
    entry = await _join(client, session, "open_file", customizations=[plugin])
    assert (await consistent(clients, session, client, observer))["activeClients"] == [entry]


@aio
async def test_two_clients_that_join_at_once_are_both_there(clients: Clients, session: str) -> None:  # S-21
    several = [await clients() for _ in range(5)]
    await begin(several[0], session)
    for wire in several[1:]:
        await wire.subscribe(session)
    joined = await asyncio.gather(*(_join(wire, session, f"tool-{place}") for place, wire in enumerate(several)))
    state = await consistent(clients, session, *several)
    assert sorted(state["activeClients"], key=str) == sorted(joined, key=str)
