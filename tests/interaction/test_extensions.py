"""What the host can beyond the protocol: announced, and the list of what can be restored."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aio import aio
from holdfast.protocol import extensions
from interaction.catalogue import failing, listed, restartable
from interaction.talk import accepted, begin
from served import Clients, Wire


async def _disposed(client: Wire, session: str) -> Any:
    """The session as the list of what can be restored has it; None if it is not there."""
    items = (await client.request(extensions.LIST_DISPOSED))["items"]
    return next((item for item in items if item["resource"] == session), None)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


@aio
async def test_extensions_are_announced(clients: Clients) -> None:
    wire = clients.wire()
    result = await wire.initialize()
    announced = extensions.announced(result["_meta"])
    assert announced == extensions.EXTENSIONS.keys()
    assert result["_meta"]["holdfast"]["version"] == result["serverInfo"]["version"]
    for method in announced:
        async with failing(-32602):
            await wire.request(method, _meta="no object")


@aio
@pytest.mark.parametrize("version", ["0.9.0", "0.6.0", "0.1.0"])
async def test_older_connections_are_offered_what_needs_no_translation(clients: Clients, version: str) -> None:
    wire = clients.wire()
    result = await wire.initialize(versions=(version,))
    offered = {extensions.RESTORE_SESSION, extensions.LIST_DISPOSED}
    # Up to 0.6 there is no place to announce anything.
    assert extensions.announced(result.get("_meta")) == (offered if version == "0.9.0" else set())
    for method in extensions.EXTENSIONS:
        async with failing(-32602 if method in offered else -32601):
            await wire.request(method, "demo:/none", limit="many", _meta=7)


@aio
async def test_a_client_of_another_age_restores_what_was_disposed_of(clients: Clients, session: str) -> None:
    client, older = await clients(), clients.wire()
    await older.initialize(versions=("0.6.0",))
    await begin(client, session)
    await client.request("disposeSession", session)
    assert await _disposed(older, session) is not None
    assert await older.request(extensions.RESTORE_SESSION, session) is None
    assert await listed(client, session) is not None


@aio
async def test_what_can_be_restored_is_listed_newest_first(clients: Clients, session: str) -> None:
    client, other = await clients(), await clients()
    first, second = f"{session}-1", f"{session}-2"
    for uri in (first, second):
        await begin(client, uri)
        await accepted(client, uri, "session/titleChanged", title=f"Knots of {uri}")
        await client.request("disposeSession", uri)
    items = (await other.request(extensions.LIST_DISPOSED))["items"]
    assert [item["resource"] for item in items[:2]] == [second, first]
    item = items[0]
    assert item.keys() == {"resource", "provider", "title", "modifiedAt", "disposedAt", "until"}
    assert (item["provider"], item["title"]) == ("demo", f"Knots of {second}")
    assert _time(item["modifiedAt"]) <= _time(item["disposedAt"])
    assert _time(item["until"]) - _time(item["disposedAt"]) == timedelta(days=7)

    page = await other.request(extensions.LIST_DISPOSED, limit=1)
    following = await other.request(extensions.LIST_DISPOSED, limit=1, cursor=page["nextCursor"])
    assert [each["items"][0] for each in (page, following)] == items[:2]
    async with failing(-32602):
        await other.request(extensions.LIST_DISPOSED, cursor="made up")

    await other.request(extensions.RESTORE_SESSION, first)
    assert (await _disposed(client, first), await _disposed(client, second)) == (None, item)


@aio
async def test_a_session_is_disposed_of_again_at_another_time(tmp_path: Path) -> None:
    async with restartable(tmp_path) as clients:
        client = await clients()
        await begin(client, "demo:/1")
        await client.request("disposeSession", "demo:/1")
        before = await _disposed(client, "demo:/1")
        await clients.restart()
        client = await clients()
        assert await _disposed(client, "demo:/1") == before
        await client.request(extensions.RESTORE_SESSION, "demo:/1")
        assert await _disposed(client, "demo:/1") is None
        await client.request("disposeSession", "demo:/1")
        again = await _disposed(client, "demo:/1")
        assert _time(again["disposedAt"]) > _time(before["disposedAt"])


@aio
async def test_what_nobody_can_restore_is_not_listed(tmp_path: Path) -> None:
    async with restartable(tmp_path, "--undo-window", "1ms") as clients:
        client = await clients()
        await begin(client, "demo:/1")
        await client.request("disposeSession", "demo:/1")
        while await _disposed(client, "demo:/1") is not None:
            await client.settled()


@aio
async def test_the_chats_of_a_disposed_session_keep_their_names(clients: Clients, session: str) -> None:
    client = await clients()
    chat = f"ahp-chat:/{session}"
    await begin(client, session)
    await client.request("createChat", session, chat=chat)
    await client.request("disposeSession", session)
    other = f"{session}-other"
    await begin(client, other)
    async with failing(-32010):
        await client.request("createChat", other, chat=chat)
    await client.request(extensions.RESTORE_SESSION, session)
    assert (await client.subscribe(chat))["turns"] == []
