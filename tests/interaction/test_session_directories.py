"""Working directories: what each agent permits, and who follows a change."""

from __future__ import annotations

from typing import Any

import troupe
from aio import aio
from interaction.catalogue import consistent, further_chat, listed, told
from interaction.talk import accepted, refused, shown, spoken, took
from served import Clients, Wire

PROGRAM = troupe.PROGRAM

A, B, C, D = (f"file:///w/{name}" for name in "abcd")


async def _begin(client: Wire, session: str, provider: str, *directories: str) -> str:
    chat = await client.session(session, provider=provider, workingDirectories=list(directories), config={"speed": 0})
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")
    return chat


async def _directories(clients: Clients, session: str) -> Any:
    return (await consistent(clients, session)).get("workingDirectories")


@aio
async def test_a_directory_is_appended_once(clients: Clients, session: str) -> None:  # S-30
    client, other, watcher = await clients(), await clients(), await clients("ahp-root://")
    chat = await _begin(client, session, "demo", A)
    await other.subscribe(session)
    await accepted(client, session, "session/workingDirectorySet", directory=B)
    first = await consistent(clients, session, client, other)
    assert first["workingDirectories"] == [A, B]
    await accepted(client, session, "session/workingDirectorySet", directory=B)
    assert await consistent(clients, session, client, other) == first
    assert len(other.actions("session/workingDirectorySet", session)) == 2, "an echo is an answer"
    await watcher.settled()
    assert told(watcher, session)["workingDirectories"] == [A, B]
    assert (await listed(watcher, session))["workingDirectories"] == [A, B]
    turn = await took(client, chat, "t1", "models")
    assert f"| Directories | `{A}`, `{B}` |" in spoken(turn), "the agent knows"


@aio
async def test_a_session_without_directories_gets_its_first(clients: Clients, session: str) -> None:  # S-30
    client = await clients()
    await client.session(session)
    assert "workingDirectories" not in await shown(clients, session)
    await accepted(client, session, "session/workingDirectorySet", directory=A)
    assert await _directories(clients, session) == [A]


@aio
async def test_what_is_no_uri_is_refused(clients: Clients, session: str) -> None:
    client = await clients()
    await _begin(client, session, "demo", A)
    before = await consistent(clients, session, client)
    for fields in ({"directory": "w/b"}, {"directory": "file:///with space"}):
        reason = await refused(client, session, "session/workingDirectorySet", **fields)
        assert reason == "a working directory is a URI"
    reason = await refused(client, session, "session/workingDirectoryReplaced", directory=A, replacement="b")
    assert reason == "a working directory is a URI"
    assert await consistent(clients, session, client) == before


@aio
async def test_an_agent_of_one_directory_uses_the_first_and_refuses_changes(
    clients: Clients, session: str
) -> None:  # S-31, S-35
    client, other = await clients(), await clients()
    await _begin(client, session, "modest", A, B)
    await other.subscribe(session)
    before = await consistent(clients, session, client, other)
    assert before["workingDirectories"] == [A]
    for kind, fields in (
        ("session/workingDirectorySet", {"directory": C}),
        ("session/workingDirectoryRemoved", {"directory": A}),
        ("session/workingDirectoryReplaced", {"directory": A, "replacement": C}),
    ):
        assert await refused(client, session, kind, **fields) == "this agent works in one directory"
    assert await consistent(clients, session, client, other) == before
    assert other.envelopes(session) == []


@aio
async def test_the_primary_directory_is_removed_only_where_nothing_forbids_it(
    clients: Clients, session: str
) -> None:  # S-32
    client = await clients()
    for provider in ("demo", "rooted", "nomad"):
        uri = f"{session}-{provider}"
        await _begin(client, uri, provider, A, B, C)
        reason = await refused(client, uri, "session/workingDirectoryRemoved", directory=A)
        assert reason == "the primary directory cannot be removed"
        assert await _directories(clients, uri) == [A, B, C]
        await accepted(client, uri, "session/workingDirectoryRemoved", directory=B)
        assert await _directories(clients, uri) == [A, C]
    await _begin(client, session, "free", A, B)
    await accepted(client, session, "session/workingDirectoryRemoved", directory=A)
    assert await _directories(clients, session) == [B]


@aio
async def test_the_primary_directory_is_replaced_only_where_that_is_permitted(
    clients: Clients, session: str
) -> None:  # S-33
    client = await clients()
    for provider in ("demo", "nomad", "free"):
        uri = f"{session}-{provider}"
        await _begin(client, uri, provider, A, B)
        await accepted(client, uri, "session/workingDirectoryReplaced", directory=A, replacement=C)
        assert await _directories(clients, uri) == [C, B]
    await _begin(client, session, "rooted", A, B)
    reason = await refused(client, session, "session/workingDirectoryReplaced", directory=A, replacement=C)
    assert reason == "the primary directory cannot be replaced"
    await accepted(client, session, "session/workingDirectoryReplaced", directory=B, replacement=C)
    assert await _directories(clients, session) == [A, C]


@aio
async def test_a_replacement_keeps_the_place_and_stands_there_once(clients: Clients, session: str) -> None:  # S-34
    client, other = await clients(), await clients()
    await _begin(client, session, "demo", A, B, C, D)
    await other.subscribe(session)
    await accepted(client, session, "session/workingDirectoryReplaced", directory=B, replacement=D)
    assert (await consistent(clients, session, client, other))["workingDirectories"] == [A, D, C]
    await accepted(client, session, "session/workingDirectoryReplaced", directory="file:///w/gone", replacement=B)
    assert (await consistent(clients, session, client, other))["workingDirectories"] == [A, D, C]
    await accepted(client, session, "session/workingDirectoryReplaced", directory=C, replacement=D)
    assert (await consistent(clients, session, client, other))["workingDirectories"] == [A, D]


@aio
async def test_the_primary_directory_cannot_be_removed_by_replacing_another(
    clients: Clients, session: str
) -> None:  # S-32
    client = await clients()
    await _begin(client, session, "rooted", A, B, C)
    await accepted(client, session, "session/workingDirectoryReplaced", directory=C, replacement=A)
    assert await _directories(clients, session) == [A, B]


@aio
async def test_a_removed_directory_leaves_the_chats_that_used_it(clients: Clients, session: str) -> None:  # S-37
    client = await clients()
    await _begin(client, session, "demo", A, B, C)
    second = await further_chat(client, session, workingDirectories=[B, C])
    await accepted(client, session, "session/workingDirectoryRemoved", directory=B)
    state = await consistent(clients, session, client)
    assert (state["workingDirectories"], state["chats"][1]["workingDirectories"]) == ([A, C], [C])
    assert client.actions("chat/workingDirectoryRemoved", second) == [
        {"type": "chat/workingDirectoryRemoved", "directory": B}
    ]


@aio
async def test_a_replaced_directory_is_replaced_in_the_chats_that_use_it(
    clients: Clients, session: str
) -> None:  # S-37
    client = await clients()
    await _begin(client, session, "demo", A, B, D)
    second = await further_chat(client, session, workingDirectories=[B, D])
    await accepted(client, session, "session/workingDirectoryReplaced", directory=B, replacement=C)
    state = await consistent(clients, session, client)
    assert state["workingDirectories"] == [A, C, D]
    assert ["workingDirectories" in chat for chat in state["chats"]] == [False, True]
    assert (await shown(clients, second))["workingDirectories"] == [D, C]
    turn = await took(client, second, "t1", "models")
    assert f"| Directories | `{D}`, `{C}` |" in spoken(turn)
