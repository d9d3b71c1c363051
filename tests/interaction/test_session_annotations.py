"""The annotations of a session: always there, written by everybody, counted in the lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aio import aio
from interaction.catalogue import consistent, failing, listed, restartable, told
from interaction.talk import accepted, agree, begin, refused, shown, took
from served import Clients, Wire


def _entry(id: str, text: Any = "Why the retry?", **fields: Any) -> dict[str, Any]:
    return {"id": id, "text": text, **fields}


def _remark(session: str, id: str = "a1", *entries: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": id,
        "origin": {"session": session},
        "resource": "file:///w/a.py",
        "resolved": False,
        "entries": list(entries or (_entry("e1"),)),
        **fields,
    }


async def _channel(clients: Clients, session: str) -> tuple[Wire, Wire, str]:
    """Two clients that follow the annotations of a session, by the URI that its summary names."""
    client, other = await clients("ahp-root://"), await clients("ahp-root://")
    await begin(client, session)
    channel = (await listed(client, session))["annotations"]["resource"]
    for wire in (client, other):
        await wire.subscribe(channel)
    return client, other, channel


async def _counts(clients: Clients, watcher: Wire, session: str) -> tuple[int, int]:
    """How many annotations and entries the session's state and both kinds of list say there are."""
    state = await consistent(clients, session)
    await watcher.settled()
    summary = state["annotations"]
    assert told(watcher, session)["annotations"] == summary
    assert summary["resource"] == f"{session}/annotations"
    return summary["annotationCount"], summary["entryCount"]


RANGE = {"start": {"line": 4, "character": 0}, "end": {"line": 6, "character": 2}}


@aio
async def test_there_is_always_a_snapshot(clients: Clients, session: str) -> None:  # INTEROP 2.11, AN-1
    client, editor = await clients(), await clients(clientInfo={"name": "vscode"})
    await client.request("createSession", session, provider="demo")
    assert await client.subscribe(f"{session}/annotations") == {"annotations": []}
    unused = f"{session}-unused"
    await editor.request("createSession", unused, provider="demo")
    assert await editor.subscribe(f"{unused}/annotations") == {"annotations": []}
    async with failing(-32008):
        await client.subscribe(f"{session}-nowhere/annotations")


@aio
async def test_a_remark_reaches_everybody(clients: Clients, session: str) -> None:  # AN-2, AN-3, AN-10, AN-14
    client, other, channel = await _channel(clients, session)
    remark = _remark(
        session,
        "a1",
        _entry("e1", {"markdown": "*Why* the retry?"}, _meta={"by": None}),
        _entry("e2", "plain"),
        range=RANGE,
        _meta={"thread": 7},
    )
    await accepted(client, channel, "annotations/set", annotation=remark)
    await other.settled()
    assert other.envelopes(channel)[-1]["action"] == {"type": "annotations/set", "annotation": remark}
    assert await agree(clients, channel, client, other) == {"annotations": [remark]}
    assert await _counts(clients, other, session) == (1, 2)
    second = _remark(session, "a2", resource="file:///w/b.py")
    await accepted(other, channel, "annotations/set", annotation=second)
    again = _remark(session, "a1")
    await accepted(client, channel, "annotations/set", annotation=again)
    assert await agree(clients, channel, client, other) == {"annotations": [again, second]}
    assert await _counts(clients, other, session) == (2, 2)


@aio
async def test_only_what_is_given_is_updated(clients: Clients, session: str) -> None:  # AN-5, AN-10
    client, other, channel = await _channel(clients, session)
    remark = _remark(session, "a1", range=RANGE, _meta={"thread": 7})
    await accepted(client, channel, "annotations/set", annotation=remark)
    await accepted(other, channel, "annotations/updated", annotationId="a1", resolved=True)
    assert await agree(clients, channel, client, other) == {"annotations": [{**remark, "resolved": True}]}
    origin = {"session": session, "turnId": "t7"}
    await accepted(other, channel, "annotations/updated", annotationId="a1", origin=origin, resource="file:///w/c.py")
    now = {**remark, "resolved": True, "origin": origin, "resource": "file:///w/c.py"}
    assert await agree(clients, channel, client, other) == {"annotations": [now]}
    await accepted(other, channel, "annotations/updated", annotationId="gone", resolved=True)
    assert await agree(clients, channel, client, other) == {"annotations": [now]}
    assert await _counts(clients, other, session) == (1, 1)


@aio
async def test_two_clients_write_in_one_thread(clients: Clients, session: str) -> None:  # AN-6, AN-10, AN-11
    client, other, channel = await _channel(clients, session)
    await accepted(client, channel, "annotations/set", annotation=_remark(session))
    numbers = [
        await wire.dispatch(channel, "annotations/entrySet", annotationId="a1", entry=_entry(id, text))
        for wire, id, text in ((client, "e2", "Because"), (other, "e3", "It failed"))
    ]
    await client.until(lambda: client.echo(numbers[0]))
    await other.until(lambda: other.echo(numbers[1]))
    await accepted(client, channel, "annotations/entrySet", annotationId="a1", entry=_entry("e1", "Why, again?"))
    state = await agree(clients, channel, client, other)
    (remark,) = state["annotations"]
    assert remark["entries"][0] == _entry("e1", "Why, again?")
    assert sorted(remark["entries"][1:], key=str) == [_entry("e2", "Because"), _entry("e3", "It failed")]
    assert await _counts(clients, other, session) == (1, 3)
    await accepted(other, channel, "annotations/entryRemoved", annotationId="a1", entryId="e2")
    await accepted(other, channel, "annotations/entryRemoved", annotationId="a1", entryId="gone")
    await accepted(other, channel, "annotations/removed", annotationId="gone")
    state = await agree(clients, channel, client, other)
    assert [entry["id"] for entry in state["annotations"][0]["entries"]] == ["e1", "e3"]
    assert await _counts(clients, other, session) == (1, 2)
    await accepted(client, channel, "annotations/removed", annotationId="a1")
    assert await agree(clients, channel, client, other) == {"annotations": []}
    assert await _counts(clients, other, session) == (0, 0)


@aio
async def test_a_remark_without_an_entry_or_of_another_session_is_refused(clients: Clients, session: str) -> None:
    # AN-9
    client, other, channel = await _channel(clients, session)
    await accepted(client, channel, "annotations/set", annotation=_remark(session))
    before = await agree(clients, channel, client, other)
    elsewhere = {"session": f"{session}-other"}
    empty = {**_remark(session, "a2"), "entries": []}
    twice = _remark(session, "a2", _entry("e1"), _entry("e1"))
    for annotation, reason in (
        (empty, "an annotation has at least one entry"),
        (twice, "entries of an annotation have ids of their own"),
        (_remark(session, "a2", origin=elsewhere), "an annotation belongs to the session whose channel it is on"),
    ):
        assert await refused(client, channel, "annotations/set", annotation=annotation) == reason
    reason = await refused(client, channel, "annotations/updated", annotationId="a1", origin=elsewhere)
    assert reason == "an annotation belongs to the session whose channel it is on"
    reason = await refused(client, channel, "annotations/entryRemoved", annotationId="a1", entryId="e1")
    assert reason == "the last entry goes with its annotation: remove that"
    reason = await refused(client, channel, "session/titleChanged", title="No")
    assert reason == "session/titleChanged does not belong on a annotations channel"
    assert await agree(clients, channel, client, other) == before
    assert len(other.envelopes(channel)) == 1
    assert await _counts(clients, other, session) == (1, 1)


@aio
async def test_remarks_leave_the_turns_of_the_session_alone(clients: Clients, session: str) -> None:  # AN-10
    client, other, channel = await _channel(clients, session)
    chat = (await shown(clients, session))["defaultChat"]
    await client.subscribe(chat)
    await client.say(chat, "t1", "hello")
    await accepted(other, channel, "annotations/set", annotation=_remark(session))
    await client.ended(chat)
    assert await _counts(clients, other, session) == (1, 1)
    await took(client, chat, "t2", "hello")
    assert await _counts(clients, other, session) == (1, 1)


@aio
async def test_remarks_survive_a_lost_connection_and_a_kill(tmp_path: Path) -> None:  # AN-13
    async with restartable(tmp_path) as clients:
        session = "demo:/remarks"
        client, other, channel = await _channel(clients, session)
        await other.drop()
        await accepted(client, channel, "annotations/set", annotation=_remark(session, range=RANGE))
        assert (await other.reconnect())["type"] == "replay"
        await agree(clients, channel, client, other)
        await accepted(client, channel, "annotations/entrySet", annotationId="a1", entry=_entry("e2", "Because"))
        await other.settled()
        before = await shown(clients, channel)
        await clients.restart()
        for wire in (client, other):
            assert (await clients.back(wire))["type"] == "replay"
        assert await agree(clients, channel, client, other) == before
        assert await _counts(clients, other, session) == (1, 2)
        await accepted(client, channel, "annotations/removed", annotationId="a1")
        await clients.restart()
        watcher = await clients("ahp-root://")
        assert await shown(clients, channel) == {"annotations": []}
        assert (await listed(watcher, session))["annotations"]["annotationCount"] == 0
