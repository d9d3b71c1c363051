"""`replay`: whatever was captured comes back the same from a new host, and what does not is named."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from aio import aio
from cli.capturing import capturing
from cli.running import Done, holdfast, valid
from holdfast.cli.matching import Names, differences, rename_apart
from holdfast.protocol.uris import default_chat
from interaction.talk import asked, begin, cancel, confirm, took, wait_for_call
from served import Failed, Wire, hosting
from vintage import Vintage

SESSION = f"demo:/{uuid.uuid4()}"

Story = Callable[[str], Coroutine[Any, Any, None]]
"""What clients of this URL do."""


async def _captured(directory: Path, story: Story, *flags: str) -> Path:
    async with hosting(directory, *flags) as host, capturing(host) as door:
        await story(door.url)
        await door.end()
    return door.file


async def _replayed(file: Path, *words: str, code: int = 0) -> Any:
    done = await asyncio.to_thread(holdfast, file.parent, "replay", "--json", str(file), *words)
    assert done.code == code, done
    return valid(json.loads(done.out), "replay")


async def _client(url: str, *subscriptions: str) -> Wire:
    client = Wire(url, str(uuid.uuid4()))
    await client.initialize(*subscriptions)
    return client


# Stories


async def talking(url: str) -> None:
    """Two clients, a tool, a form, a worker's chat, a title, a refusal, an error."""
    one, two = await _client(url, "ahp-root://"), await _client(url)
    chat = await begin(one, SESSION)
    await took(one, chat, "t1", "markdown")
    for uri in (SESSION, chat):
        await two.subscribe(uri)
    await one.say(chat, "t2", "approve")
    await wait_for_call(two, chat, "pending-confirmation")
    await confirm(two, chat)
    await one.ended(chat, 2)
    request = await asked(one, chat, "form", "t3")
    await one.act(chat, "chat/inputCompleted", requestId=request["id"], response="decline")
    await one.ended(chat, 3)
    await took(one, chat, "t4", "big 90")
    await one.act(SESSION, "session/titleChanged", title="Knots")
    assert "rejectionReason" in await one.act(SESSION, "session/ready")
    with pytest.raises(Failed):
        await two.request("createSession", SESSION, provider="nobody")
    with pytest.raises(Failed):
        await two.subscribe("demo:/none")
    await one.request("listSessions")
    for client in (one, two):
        await client.close()


async def coming_back(url: str) -> None:
    """A client loses its connection in the middle of a text, and comes back."""
    one, two = await _client(url, "ahp-root://"), await _client(url)
    chat = await begin(one, SESSION)
    for uri in (SESSION, chat):
        await two.subscribe(uri)
    await one.say(chat, "t1", "long 300 300")
    await two.until(lambda: two.actions("chat/delta", chat))
    await two.drop()
    await one.ended(chat)
    assert (await two.reconnect())["type"] == "replay"
    await two.settled()
    for client in (one, two):
        await client.close()


async def cancelling(url: str) -> None:
    client = await _client(url)
    chat = await begin(client, SESSION)
    await client.say(chat, "t1", "wait")
    await client.until(lambda: client.actions("chat/delta", chat))
    await cancel(client, chat, "t1")
    await client.close()


async def leaving_in_the_middle(url: str) -> None:
    client = await _client(url, "ahp-root://")
    chat = await begin(client, SESSION)
    await client.say(chat, "t1", "long 5000 200")
    await client.until(lambda: len(client.actions("chat/delta", chat)) > 3)
    await client.drop()


async def branching(url: str) -> None:
    """Chats that are made by clients and by the host, and the end of a session."""
    client = await _client(url, "ahp-root://")
    chat = await begin(client, SESSION)
    await took(client, chat, "t1", "hello")
    fork = f"ahp-chat:/{uuid.uuid4()}"
    await client.request("createChat", SESSION, chat=fork, source={"kind": "fork", "chat": chat, "turnId": "t1"})
    await client.subscribe(fork)
    await took(client, fork, "t2", "recall")
    moved = await client.request("moveChat", fork, destination={"kind": "newSession"})
    await client.subscribe(moved["session"])
    await client.request("disposeSession", SESSION)
    await client.settled()
    await client.close()


@pytest.mark.parametrize("story", [talking, coming_back, cancelling, leaving_in_the_middle, branching])
@aio
async def test_the_same_comes_back(tmp_path: Path, story: Story) -> None:
    file = await _captured(tmp_path, story)
    replayed = await _replayed(file)
    assert (replayed["differences"], replayed["notes"]) == ([], [])
    assert replayed["messages"] > 4


@pytest.mark.parametrize("version", ["0.1.0", "0.4.0", "0.5.1", "0.7.0", "0.9.0"])
@aio
async def test_clients_of_every_age_are_played(tmp_path: Path, version: str) -> None:
    async def story(url: str) -> None:
        client = Vintage(url, version)
        await client.begin()
        await client.create(SESSION, config={"speed": 0})
        talk = await client.conversation(SESSION)
        await client.say(talk, "t1", "approve")
        ready = await client.asked(talk, "t1")
        call = {"turnId": "t1", "toolCallId": ready["toolCallId"]}
        confirmed = client.verb("toolCallConfirmed")
        await client.dispatch(talk, confirmed, **call, approved=True, confirmed="user-action")
        await client.ended(talk, "t1")
        await client.listed(SESSION)
        await client.close()

    replayed = await _replayed(await _captured(tmp_path, story))
    assert (replayed["differences"], replayed["notes"]) == ([], [])


@aio
async def test_a_host_that_has_sessions_is_played_to_again_and_again(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, capturing(host) as door:
        await talking(door.url)
        await door.end()
        for _ in range(2):
            replayed = await _replayed(door.file, "--host", host.url)
            assert (replayed["differences"], replayed["notes"]) == ([], [])
        client = await _client(host.url)
        assert len((await client.request("listSessions"))["items"]) == 3
        await client.close()


@aio
async def test_rubbish_and_refused_handshakes_are_played_too(tmp_path: Path) -> None:
    async def story(url: str) -> None:
        async with connect(url, proxy=None) as client:
            await client.send("no JSON at all")
            await client.recv()
            await client.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "listSessions", "params": {}}))
            await client.recv()
        stranger = Wire(url)
        with pytest.raises(Failed):
            await stranger.initialize(versions=("99.0.0",))
        await stranger.gone()

    file = await _captured(tmp_path, story)
    replayed = await _replayed(file)
    assert (replayed["differences"], replayed["connections"], replayed["messages"]) == ([], 2, 3)


@aio
async def test_a_secret_that_is_not_in_the_log_is_noted(tmp_path: Path) -> None:
    async def story(url: str) -> None:
        client = await _client(url, "ahp-root://")
        resource = client.state("ahp-root://")["agents"][-1]["protectedResources"][0]["resource"]
        await client.request("authenticate", resource=resource, token="demo-0123456789")
        await client.close()

    file = await _captured(tmp_path, story, "--demo-auth")
    replayed = await _replayed(file, "--", "--demo-auth")
    assert (replayed["differences"], replayed["notes"]) == ([], ["a secret of authenticate is not in the log"])
    other = await _replayed(file, code=1)
    assert {each["where"] for each in other["differences"]} == {"state of ahp-root://"}


# What differs


def _changed(file: Path, old: str, new: str) -> Path:
    text = file.read_text()
    assert old in text
    changed = file.with_name("changed.jsonl")
    changed.write_text(text.replace(old, new))
    return changed


@aio
async def test_what_comes_back_otherwise_is_named(tmp_path: Path) -> None:
    file = await _captured(tmp_path, talking)
    chat, error = f"state of {default_chat(SESSION)}", "answer to createSession (connection 2, id "
    changes = [
        ('"text":"markdown"', '"text":"hello"', chat, "responseParts: 3 entries before, 1 now"),
        ('"code":-32002', '"code":-32001', error, "$.error.code: -32001 before"),
        ('"rejectionReason":"', '"rejectionReason":"not ', "rejection of ", "not "),
        ('"title":"Knots"', '"title":"Ropes"', "nothing", ""),
    ]
    for old, new, where, says in changes:
        code = 0 if where == "nothing" else 1
        replayed = await _replayed(_changed(file, old, new), "--patience", "1", code=code)
        found = [each for each in replayed["differences"] if each["where"].startswith(where)]
        assert bool([each for each in found if says in each["says"]]) == bool(code), replayed


@aio
async def test_to_people_differences_are_lines_and_the_rest_is_a_remark(tmp_path: Path) -> None:
    file = await _captured(tmp_path, cancelling)
    done = await asyncio.to_thread(holdfast, tmp_path, "replay", str(file))
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("the same came back\n")
    changed = _changed(file, '"text":"wait"', '"text":"hello"')
    done = await asyncio.to_thread(holdfast, tmp_path, "replay", str(changed), "--patience", "0.5")
    assert done.code == 1
    assert f"state of {default_chat(SESSION)}: $.turns[0]" in done.out
    assert "differences\n" in done.err


def test_what_is_no_log_is_a_usage_error(tmp_path: Path) -> None:
    file = tmp_path / "no.jsonl"
    file.write_text('{"jsonrpc": "2.0"}\n')
    done = holdfast(tmp_path, "replay", str(file))
    assert done.code == 2
    assert done.err.startswith(f"holdfast: {file}, line 1 is not of a wire log")
    assert holdfast(tmp_path, "replay", "-", "--host", "unix:/none", "--", "--demo-auth").code == 2


def test_a_host_that_is_not_there_ends_with_3(tmp_path: Path) -> None:
    line = '{"ts":"2026-01-01T00:00:00Z","dir":"c2s","conn":1,"msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}\n'
    done = holdfast(tmp_path, "replay", "-", "--host", "unix:/none", stdin=line)
    assert done.code == 3


def test_a_host_that_does_not_start_says_why(tmp_path: Path) -> None:
    done = holdfast(tmp_path, "replay", "-", "--", "--durability", "some")
    assert done == Done(2, "", "holdfast: --durability: expected one of process, power, got 'some'\n")


# Names

ONE, TWO, THREE = (str(uuid.UUID(int=number)) for number in range(1, 4))


def _differences(captured: Any, replayed: Any, names: Names | None = None) -> list[str]:
    return list(differences(captured, replayed, names or Names()))


def test_an_id_stands_for_one_id_everywhere() -> None:
    names = Names()
    captured = {"id": ONE, "text": f"see {ONE}", "chat": default_chat(f"demo:/{ONE}")}
    assert (
        _differences(captured, {"id": TWO, "text": f"see {TWO}", "chat": default_chat(f"demo:/{TWO}")}, names) == []
    )
    assert names.translated({ONE: f"{ONE}/annotations"}) == {TWO: f"{TWO}/annotations"}
    assert _differences({"id": ONE}, {"id": THREE}, names) == [f"$.id: '{ONE}' before, '{THREE}' now"]
    assert _differences({"id": THREE}, {"id": TWO}, names) == [f"$.id: '{THREE}' before, '{TWO}' now"]


def test_times_and_numbers_of_the_host_differ_and_nothing_else_does() -> None:
    captured = {"serverSeq": 4, "modifiedAt": "2026-01-01T00:00:00.000Z", "status": 1, "text": "same"}
    replayed = {"serverSeq": 8, "modifiedAt": "2027-02-02T11:11:11Z", "status": 1, "text": "same"}
    assert _differences(captured, replayed) == []
    assert _differences(captured, {**replayed, "status": True}) == ["$.status: 1 before, True now"]
    assert _differences(captured, {**replayed, "text": "other"}) == ["$.text: 'same' before, 'other' now"]
    assert _differences({"a": [1, 2]}, {"a": [1], "b": None}) == ["$.a: 2 entries before, 1 now", "$.b: new, None"]
    assert _differences({"a": {}}, {}) == ["$.a: missing now, {} before"]


def test_long_texts_are_shown_where_they_part() -> None:
    (said,) = _differences({"text": "x" * 500 + "a" + "y" * 500}, {"text": "x" * 500 + "b"})
    assert said.startswith(f"$.text: '…{'x' * 20}a")
    assert len(said) < 200


@pytest.mark.parametrize("uri", [f"demo:/{ONE}", "demo:/1", "client-a"])
def test_what_is_made_apart_has_another_name(uri: str) -> None:
    names = Names()
    rename_apart(names, uri, TWO)
    renamed = names.translated(uri)
    assert renamed != uri
    rename_apart(names, uri, THREE)
    assert names.translated(uri) == renamed
