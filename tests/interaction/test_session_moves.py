"""Moving chats: to another place in their session, to another session, to one of their own."""

from __future__ import annotations

from typing import Any

from aio import aio
from interaction.catalogue import consistent, entries, failing, further_chat, listed, summary_fields, told
from interaction.talk import accepted, agree, asked, begin, cancel, refused, shown, took, wait_for_call
from served import Clients, Wire


async def _move(client: Wire, chat: str, **destination: Any) -> Any:
    return await client.request("moveChat", chat, destination=destination)


async def _three_chats(client: Wire, session: str) -> tuple[str, str, str]:
    """A session with three chats, each with a turn that names it."""
    chats = (
        await begin(client, session),
        await further_chat(client, session, 2),
        await further_chat(client, session, 3),
    )
    for number, chat in enumerate(chats, 1):
        await took(client, chat, f"t{number}", f"title Chat {number}")
    return chats


def _lasting(chat: dict[str, Any]) -> dict[str, Any]:
    """What a move leaves as it is."""
    return {key: value for key, value in chat.items() if key != "movable"}


# Within a session


@aio
async def test_a_chat_moves_to_another_place_in_its_session(clients: Clients, session: str) -> None:  # S-40, S-41
    client, other, watcher = await clients(), await clients(), await clients("ahp-root://")
    one, two, three = await _three_chats(client, session)
    await other.subscribe(session)
    before = {chat: await shown(clients, chat) for chat in (one, two, three)}
    steps: list[tuple[str, dict[str, str], list[str]]] = [
        (three, {}, [three, one, two]),
        (three, {"after": one}, [one, three, two]),
        (two, {"after": one}, [one, two, three]),
        (two, {"after": three}, [one, three, two]),
    ]
    for chat, place, order in steps:
        assert await _move(client, chat, kind="session", session=session, **place) == {"session": session}
        await other.settled()
        assert other.actions("session/chatsReordered", session)[-1]["chats"] == order
        state = await consistent(clients, session, client, other)
        assert (entries(state), state["defaultChat"]) == (order, one)
        await watcher.settled()
        assert [each["resource"] for each in told(watcher, session)["chats"]] == order
    assert len(other.envelopes(session)) == len(steps), "a place is all that changed"
    assert {chat: await shown(clients, chat) for chat in before} == before


@aio
async def test_a_move_to_the_place_where_a_chat_is_says_nothing(clients: Clients, session: str) -> None:  # S-41
    client, other = await clients(), await clients()
    _, two, three = await _three_chats(client, session)
    before = await other.subscribe(session)
    assert await _move(client, three, kind="session", session=session, after=two) == {"session": session}
    assert await consistent(clients, session, client, other) == before
    assert other.envelopes(session) == []


@aio
async def test_the_order_is_the_same_for_everybody_who_comes(clients: Clients, session: str) -> None:  # S-46
    client = await clients()
    one, two, three = await _three_chats(client, session)
    await _move(client, three, kind="session", session=session)
    four = await further_chat(client, session, 4, source={"kind": "fork", "chat": three, "turnId": "t3"})
    assert entries(await consistent(clients, session, client)) == [three, one, two, four]
    assert entries(await client.subscribe(session)) == [three, one, two, four]


# To another session


@aio
async def test_a_chat_moves_to_another_session(clients: Clients, session: str) -> None:  # S-42
    client, watcher = await clients(), await clients("ahp-root://")
    follower, target = await clients(), f"{session}-target"
    one, two, three = await _three_chats(client, session)
    host_chat = await begin(client, target)
    end = await further_chat(client, target, 2)
    await accepted(client, two, "chat/isReadChanged", isRead=True)
    await accepted(client, two, "chat/isArchivedChanged", isArchived=True)
    await follower.subscribe(two)
    before = await shown(clients, two)

    assert await _move(client, two, kind="session", session=target, after=host_chat) == {"session": target}

    await client.settled()
    assert client.actions("session/chatRemoved", session) == [{"type": "session/chatRemoved", "chat": two}]
    added = client.actions("session/chatAdded", target)[-1]["summary"]
    assert (added["resource"], added["status"]) == (two, 97)
    assert entries(await consistent(clients, session, client)) == [one, three]
    assert entries(await consistent(clients, target, client)) == [host_chat, two, end]
    assert await shown(clients, two) == before
    await watcher.settled()
    assert [each["resource"] for each in told(watcher, session)["chats"]] == [one, three]
    assert [each["resource"] for each in told(watcher, target)["chats"]] == [host_chat, two, end]
    await took(follower, two, "t9", "hello")
    await client.settled()
    assert client.state(target)["chats"][1]["status"] == 65, "unread, and still archived"
    assert follower.state(two)["turns"][-1]["id"] == "t9"
    await agree(clients, two, follower, client)
    await consistent(clients, session, client)
    await consistent(clients, target, client)


@aio
async def test_without_a_place_a_chat_comes_first(clients: Clients, session: str) -> None:  # S-42
    client, target = await clients(), f"{session}-target"
    one, two, three = await _three_chats(client, session)
    host_chat = await begin(client, target)
    await _move(client, three, kind="session", session=target)
    state = await consistent(clients, target, client)
    assert (entries(state), state["defaultChat"]) == ([three, host_chat], host_chat)
    await _move(client, three, kind="session", session=session, after=one)
    assert entries(await consistent(clients, session, client)) == [one, three, two]
    assert entries(await consistent(clients, target, client)) == [host_chat]


@aio
async def test_a_client_that_was_away_during_a_move_gets_snapshots(clients: Clients, session: str) -> None:  # S-42
    client, away, target = await clients(), await clients(), f"{session}-target"
    _, two, _ = await _three_chats(client, session)
    await begin(client, target)
    await away.subscribe(session)
    await away.subscribe(two)
    await away.drop()
    await _move(client, two, kind="session", session=target)
    assert (await away.reconnect())["type"] == "snapshot"
    await agree(clients, two, away)
    await consistent(clients, session, away)


@aio
async def test_what_waits_in_a_chat_moves_with_it(clients: Clients, session: str) -> None:  # S-42, S-57
    client, target = await clients("ahp-root://"), f"{session}-target"
    await begin(client, session)
    two = await further_chat(client, session)
    await begin(client, target)
    request = await asked(client, two, "link")
    (waiting,) = (await shown(clients, session))["inputNeeded"]

    await _move(client, two, kind="session", session=target)

    state = await consistent(clients, session, client)
    assert ("inputNeeded" in state, state["status"]) == (False, 1)
    state = await consistent(clients, target, client)
    assert (state["inputNeeded"], state["status"]) == ([waiting], 24)
    await accepted(client, two, "chat/inputCompleted", requestId=request["id"], response="decline")
    turn = await client.ended(two)
    assert (turn["state"], len(turn["responseParts"])) == ("complete", 3), "the agent went on where it was"
    assert "inputNeeded" not in await consistent(clients, target, client)


@aio
async def test_helpers_move_with_the_chat_they_work_for(clients: Clients, session: str) -> None:  # S-42
    client, target = await clients(), f"{session}-target"
    one = await begin(client, session)
    two = await further_chat(client, session)
    host_chat = await begin(client, target)
    await client.say(two, "t1", "subagent")
    await client.until(lambda: len(client.state(session).get("inputNeeded", [])) == 1)
    (waiting,) = client.state(session)["inputNeeded"]
    helper = waiting["chat"]
    assert entries(client.state(session)) == [one, two, helper]
    await client.subscribe(helper)

    await _move(client, two, kind="session", session=target, after=host_chat)

    assert entries(await consistent(clients, session, client)) == [one]
    state = await consistent(clients, target, client)
    assert (entries(state), state["inputNeeded"]) == ([host_chat, two, helper], [waiting])
    call = await wait_for_call(client, helper, "pending-confirmation")
    turn_id = client.state(helper)["activeTurn"]["id"]
    answer = {"turnId": turn_id, "toolCallId": call["toolCallId"], "approved": True, "confirmed": "user-action"}
    await accepted(client, helper, "chat/toolCallConfirmed", **answer)
    assert (await client.ended(two))["state"] == "complete"
    await consistent(clients, target, client)


# To a session of its own


@aio
async def test_a_chat_moves_to_a_session_of_its_own(clients: Clients, session: str) -> None:  # S-43, S-45
    client, watcher = await clients(), await clients("ahp-root://")
    one, two, three = await _three_chats(client, session)
    await accepted(client, two, "session/titleChanged", title="On my own")
    await accepted(client, session, "session/configChanged", config={"permissionMode": "auto"})
    before = await shown(clients, two)

    moved = await _move(client, two, kind="newSession")

    own = moved["session"]
    assert moved == {"session": own}
    assert own != session
    await watcher.until(lambda: told(watcher, own))
    state = await consistent(clients, own)
    source = await consistent(clients, session, client)
    assert entries(source) == [one, three]
    assert state == {
        **{key: source[key] for key in ("provider", "config")},
        "title": "On my own",
        "status": 1,
        "lifecycle": "ready",
        "activeClients": [],
        "chats": [summary_fields({**before, "movable": False})],
        "defaultChat": two,
        "annotations": {"resource": f"{own}/annotations", "annotationCount": 0, "entryCount": 0},
    }
    assert told(watcher, own) == await listed(watcher, own)
    after = await shown(clients, two)
    assert (_lasting(after), after["movable"]) == (_lasting(before), False)
    await client.settled()
    assert client.state(two)["movable"] is False
    async with failing(-32602):
        await _move(client, two, kind="session", session=session)
    await took(client, two, "t9", "approve")
    await consistent(clients, own)


@aio
async def test_a_default_chat_is_never_movable(clients: Clients, session: str) -> None:  # S-45
    client = await clients()
    one, two, three = await _three_chats(client, session)
    await _move(client, three, kind="session", session=session)
    state = await consistent(clients, session, client)
    assert [(chat["resource"], chat.get("movable", False)) for chat in state["chats"]] == [
        (three, True),
        (one, False),
        (two, True),
    ]
    assert state["defaultChat"] == one


# What cannot be


@aio
async def test_a_move_that_cannot_be_has_no_effect(clients: Clients, session: str) -> None:  # S-44
    client, other, target = await clients("ahp-root://"), await clients(), f"{session}-target"
    one, two, three = await _three_chats(client, session)
    foreign = await begin(client, target)
    await client.request("authenticate", resource="https://demo.holdfast.example/", token="good")
    elsewhere = f"{session}-elsewhere"
    await client.request("createSession", elsewhere, provider="demo-auth")
    for uri in (session, target):
        await other.subscribe(uri)
    before = [await consistent(clients, uri, client, other) for uri in (session, target)]
    count = client.state("ahp-root://")["activeSessions"]
    wrong: list[tuple[str, dict[str, Any], int]] = [
        (one, {"kind": "newSession"}, -32602),  # the default chat is not movable
        (one, {"kind": "session", "session": session, "after": two}, -32602),
        (two, {"kind": "session", "session": session, "after": two}, -32602),
        (two, {"kind": "session", "session": session, "after": foreign}, -32602),
        (two, {"kind": "session", "session": target, "after": three}, -32602),
        (two, {"kind": "session", "session": f"{session}-nowhere"}, -32001),
        (two, {"kind": "session", "session": one}, -32001),
        (two, {"kind": "session", "session": elsewhere}, -32602),  # another agent
        (two, {"kind": "drawer"}, -32602),
        (two, {"session": target}, -32602),
        (f"{two}-nowhere", {"kind": "newSession"}, -32008),
        (session, {"kind": "newSession"}, -32008),
    ]
    for chat, destination, code in wrong:
        async with failing(code):
            await _move(client, chat, **destination)
    assert [await consistent(clients, uri, client, other) for uri in (session, target)] == before
    assert other.envelopes() == []
    assert client.state("ahp-root://")["activeSessions"] == count


@aio
async def test_a_chat_moves_only_where_its_directories_are(clients: Clients, session: str) -> None:  # S-44
    client, target = await clients(), f"{session}-target"
    await client.session(session, workingDirectories=["file:///a", "file:///b"])
    two = await further_chat(client, session, workingDirectories=["file:///b"])
    await client.session(target, workingDirectories=["file:///a"])
    await client.until(lambda: client.state(target)["lifecycle"] == "ready")
    before = [await consistent(clients, uri, client) for uri in (session, target)]
    async with failing(-32602):
        await _move(client, two, kind="session", session=target)
    assert [await consistent(clients, uri, client) for uri in (session, target)] == before
    await accepted(client, target, "session/workingDirectorySet", directory="file:///b")
    assert await _move(client, two, kind="session", session=target) == {"session": target}
    state = await consistent(clients, target, client)
    assert state["chats"][0]["workingDirectories"] == ["file:///b"]


@aio
async def test_clients_neither_reorder_chats_nor_choose_the_default(clients: Clients, session: str) -> None:  # S-17
    client = await clients()
    one, two, three = await _three_chats(client, session)
    before = await consistent(clients, session, client)
    await refused(client, session, "session/chatsReordered", chats=[three, two, one])
    await refused(client, session, "session/defaultChatChanged", defaultChat=two)
    assert await consistent(clients, session, client) == before


@aio
async def test_a_chat_that_was_moved_in_the_middle_of_a_turn_is_no_longer_its_old_sessions(
    clients: Clients, session: str
) -> None:  # S-42
    client = await clients()
    await begin(client, session)
    two = await further_chat(client, session)
    await client.say(two, "t1", "wait")
    await client.until(lambda: client.state(two).get("activity"))
    own = (await _move(client, two, kind="newSession"))["session"]
    await client.request("disposeSession", session)
    state = await consistent(clients, own)
    assert (state["status"], state["activity"]) == (8, "Waiting for you to cancel")
    assert (await cancel(client, two, "t1"))["state"] == "cancelled"
    assert (await consistent(clients, own))["status"] == 1
    await agree(clients, two, client)


@aio
async def test_what_a_chat_refers_to_stays_when_the_session_it_left_is_gone(clients: Clients, session: str) -> None:
    client = await clients()
    await begin(client, session, permissionMode="auto")
    chat = await further_chat(client, session)
    turn = await took(client, chat, "t1", "big 100")
    (call,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    (block,) = [each for each in call["content"] if each["type"] == "resource"]
    copy = await further_chat(client, session, 3, source={"kind": "fork", "chat": chat, "turnId": "t1"})
    before = await client.request("resourceRead", uri=block["uri"])
    own = (await _move(client, copy, kind="newSession"))["session"]
    other = f"{session}-other"
    await client.session(other)
    await _move(client, chat, kind="session", session=other)
    await client.request("disposeSession", session)
    assert await client.request("resourceRead", uri=block["uri"]) == before
    await client.request("disposeSession", own)
    assert await client.request("resourceRead", uri=block["uri"]) == before
    await client.request("disposeSession", other)
    async with failing(-32008):
        await client.request("resourceRead", uri=block["uri"])
