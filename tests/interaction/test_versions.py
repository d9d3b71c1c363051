"""The same conversation in the words of every version, each client written by hand for its own."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aio import aio
from interaction.tour import QUICK, answer_to
from served import Failed, HostProcess, hosting
from vintage import VINTAGES, Vintage, at_least

each_version = pytest.mark.parametrize("version", VINTAGES)


@asynccontextmanager
async def client_of(host: HostProcess, version: str) -> AsyncIterator[Vintage]:
    client = Vintage(host.url, version)
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def conversation(host: HostProcess, version: str) -> AsyncIterator[tuple[Vintage, str, str]]:
    """A client, a session that never pauses, and where its conversation is."""
    async with client_of(host, version) as client:
        await client.begin()
        session = f"demo:/{uuid.uuid4()}"
        await client.create(session, config=QUICK)
        yield client, session, await client.conversation(session)


@each_version
@aio
async def test_handshake_gives_the_root_in_its_own_form(host: HostProcess, version: str) -> None:  # W-14, W-21
    async with client_of(host, version) as client:
        result = await client.begin()
    assert result["protocolVersion"] == version
    (snapshot,) = result["snapshots"]
    assert snapshot["resource"] == client.root
    agent = next(each for each in snapshot["state"]["agents"] if each["provider"] == "demo")
    assert agent["models"]
    assert ("capabilities" in agent) == at_least(version, "0.5.1")


@each_version
@aio
async def test_message_streams_and_becomes_history(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, _, talk):
        number = await client.say(talk, "t1", "hello")
        await client.ended(talk, "t1")
        echo = client.echo(talk, number)
        assert echo is not None
        assert client.text_of(echo["action"]) == "hello"
        assert "Hello" in client.spoken(talk, "t1")
        async with client_of(host, version) as other:
            await other.begin()
            state = await other.follow(talk)
        (turn,) = state["turns"]
        assert turn["id"] == "t1"
        assert client.text_of(turn) == "hello"
        assert turn["state"] == "complete"
        assert "error" not in turn
        assert "".join(part["content"] for part in turn["responseParts"]) == client.spoken(talk, "t1")


@each_version
@aio
async def test_tool_is_approved(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, _, talk):
        await client.say(talk, "t1", "approve")
        ready = await client.asked(talk, "t1")
        assert isinstance(ready["toolInput"], str)
        number = await client.dispatch(
            talk,
            client.verb("toolCallConfirmed"),
            turnId="t1",
            toolCallId=ready["toolCallId"],
            approved=True,
            confirmed="user-action",
        )
        await client.ended(talk, "t1")
        assert client.echo(talk, number) is not None
        (complete,) = client.actions(talk, client.verb("toolCallComplete"))
        assert complete["toolCallId"] == ready["toolCallId"]
        assert complete["result"]["success"] is True


@each_version
@aio
async def test_tool_is_denied(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, _, talk):
        await client.say(talk, "t1", "deny")
        ready = await client.asked(talk, "t1")
        await client.dispatch(
            talk,
            client.verb("toolCallConfirmed"),
            turnId="t1",
            toolCallId=ready["toolCallId"],
            approved=False,
            reason="denied",
        )
        await client.ended(talk, "t1")
        assert client.actions(talk, client.verb("toolCallComplete")) == []


@each_version
@aio
async def test_question_is_answered(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, _, talk):
        await client.say(talk, "t1", "form")
        requested = await client.until(lambda: client.actions(talk, client.verb("inputRequested")))
        request = requested[0]["request"]
        answers = {question["id"]: answer_to(question) for question in request["questions"]}
        number = await client.dispatch(
            talk, client.verb("inputCompleted"), requestId=request["id"], response="accept", answers=answers
        )
        await client.ended(talk, "t1")
        echo = client.echo(talk, number)
        assert echo is not None
        assert "rejectionReason" not in echo, echo
        async with client_of(host, version) as other:
            await other.begin()
            state = await other.follow(talk)
        assert "inputRequests" not in state
        asked = [part for part in state["turns"][0]["responseParts"] if part["kind"] == "inputRequest"]
        if at_least(version, "0.5.2"):
            assert [part["response"] for part in asked] == ["accept"]
        else:
            assert asked == []


@each_version
@aio
async def test_open_question_is_in_the_snapshot(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, _, talk):
        await client.say(talk, "t1", "form")
        requested = await client.until(lambda: client.actions(talk, client.verb("inputRequested")))
        async with client_of(host, version) as other:
            await other.begin()
            state = await other.follow(talk)
        live = [part for part in state["activeTurn"]["responseParts"] if part["kind"] == "inputRequest"]
        if at_least(version, "0.6.0"):
            assert [part["request"]["id"] for part in live] == [requested[0]["request"]["id"]]
            assert "inputRequests" not in state
        else:
            assert live == []
            assert [request["id"] for request in state["inputRequests"]] == [requested[0]["request"]["id"]]
        await client.cancel(talk, "t1")
        await client.ended(talk, "t1", "turnCancelled")


@each_version
@aio
async def test_queued_message_is_next_and_steering_is_heard(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, _, talk):
        await client.say(talk, "t1", "approve")
        ready = await client.asked(talk, "t1")
        pending = client.verb("pendingMessageSet")
        await client.dispatch(talk, pending, kind="queued", id="q1", **client.message("hello"))
        await client.dispatch(talk, pending, kind="steering", id="s1", **client.message("to port"))
        await client.dispatch(
            talk,
            client.verb("toolCallConfirmed"),
            turnId="t1",
            toolCallId=ready["toolCallId"],
            approved=True,
            confirmed="user-action",
        )
        removed = client.verb("pendingMessageRemoved")
        await client.until(lambda: len(client.actions(talk, removed)) == 2)
        assert {(each["kind"], each["id"]) for each in client.actions(talk, removed)} == {
            ("steering", "s1"),
            ("queued", "q1"),
        }
        started = await client.until(
            lambda: [each for each in client.actions(talk, client.verb("turnStarted")) if "queuedMessageId" in each]
        )
        assert started[0]["queuedMessageId"] == "q1"
        assert client.text_of(started[0]) == "hello"
        await client.ended(talk, started[0]["turnId"])
        assert "to port" in client.spoken(talk, "t1")


@each_version
@aio
async def test_turn_is_cancelled_truncated_and_sent_again(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, _, talk):
        await client.say(talk, "t1", "hello")
        await client.ended(talk, "t1")
        await client.say(talk, "t2", "wait")
        await client.until(lambda: client.spoken(talk, "t2"))
        await client.cancel(talk, "t2")
        await client.ended(talk, "t2", "turnCancelled")
        number = await client.dispatch(talk, client.verb("truncated"), turnId="t1")
        await client.until(lambda: client.echo(talk, number))
        await client.say(talk, "t3", "hello")
        await client.ended(talk, "t3")
        async with client_of(host, version) as other:
            await other.begin()
            state = await other.follow(talk)
        assert [(turn["id"], turn["state"]) for turn in state["turns"]] == [("t1", "complete"), ("t3", "complete")]


@each_version
@aio
async def test_failed_turn_says_why_in_its_own_way(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, _, talk):
        await client.say(talk, "t1", "error")
        failed = await client.ended(talk, "t1", "error")
        error = failed["part"]["error"] if at_least(version, "0.9.0") else failed["error"]
        async with client_of(host, version) as other:
            await other.begin()
            (turn,) = (await other.follow(talk))["turns"]
        assert turn["state"] == "error"
        if at_least(version, "0.9.0"):
            assert turn["responseParts"][-1]["error"] == error
            assert "error" not in turn
        else:
            assert turn["error"] == error
            assert all(part["kind"] != "error" for part in turn["responseParts"])


@each_version
@aio
async def test_conversation_is_forked(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, session, talk):
        await client.say(talk, "t1", "hello")
        await client.ended(talk, "t1")
        await client.say(talk, "t2", "hello")
        await client.ended(talk, "t2")
        if at_least(version, "0.4.0"):
            source = {"chat": talk, "turnId": "t1"} | ({"kind": "fork"} if at_least(version, "0.7.0") else {})
            copy = f"ahp-chat:/{uuid.uuid4()}"
            assert await client.request("createChat", session, chat=copy, source=source) is None
            state = await client.follow(copy)
            assert [turn["id"] for turn in state["turns"]] == ["t1"]
            assert state["origin"] == {"kind": "fork", "chat": talk, "turnId": "t1"}
        other = f"demo:/{uuid.uuid4()}"
        fork = {"session": session, "turnId": "t1"}
        if at_least(version, "0.9.0"):
            with pytest.raises(Failed) as refused:  # S-69
                await client.create(other, fork=fork)
            assert refused.value.code == -32602
        else:
            await client.create(other, fork=fork)
            forked = await client.follow(await client.conversation(other))
            assert [turn["id"] for turn in forked["turns"]] == ["t1"]


@each_version
@aio
async def test_history_is_paged(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, _, talk):
        ids = [f"t{number}" for number in range(1, 5)]
        for turn in ids:
            await client.say(talk, turn, "hello")
            await client.ended(talk, turn)
        async with client_of(host, version) as other:
            await other.begin()
            state = await other.follow(talk, view={"turns": 1})
            if not at_least(version, "0.5.1"):
                assert [turn["id"] for turn in state["turns"]] == ids
                page = await other.request("fetchTurns", talk, before="t3", limit=1)
                assert [turn["id"] for turn in page["turns"]] == ["t2"]
                assert page["hasMore"] is True
                return
            assert [turn["id"] for turn in state["turns"]] == ["t4"]
            assert await other.request("fetchTurns", talk, cursor=state["turnsNextCursor"]) == {}
            (loaded,) = other.actions(talk, "chat/turnsLoaded")
            assert [turn["id"] for turn in loaded["turns"]] == ["t1", "t2", "t3"]
            assert "turnsNextCursor" not in loaded


@each_version
@aio
async def test_session_is_renamed_archived_and_read(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, session, _):
        before = (await client.listed(session))["status"]
        await client.dispatch(session, "session/titleChanged", title="Voyage")
        await client.dispatch(session, "session/isReadChanged", isRead=True)
        number = await client.dispatch(session, "session/isArchivedChanged", isArchived=True)
        await client.until(lambda: client.echo(session, number))
        summary = await client.listed(session)
        assert summary["title"] == "Voyage"
        assert summary["status"] == before | 32 | 64
        assert isinstance(summary["modifiedAt"], str if at_least(version, "0.5.0") else int)
        async with client_of(host, version) as other:
            await other.begin()
            state = other.metadata(await other.follow(session))
        assert (state["title"], state["status"]) == ("Voyage", summary["status"])
        changed = await client.until(lambda: client.notices("sessionSummaryChanged"))
        assert changed[0]["session"] == session


@each_version
@aio
async def test_client_comes_back_and_is_told_what_it_missed(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, session, talk), client_of(host, version) as other:
        await other.begin()
        await other.conversation(session)
        await client.drop()
        await other.say(talk, "t1", "hello")
        await other.ended(talk, "t1")
        live = [each["action"] for each in other.envelopes(talk)]
        followed = dict.fromkeys((session, talk))
        result = await client.come_back(*followed)
        assert result["type"] == "replay"
        assert result["missing"] == []
        on_talk = [
            each["action"] for each in result["actions"] if each.get("channel", each["action"].get("session")) == talk
        ]
        verb = client.verb("delta")
        assert _joined([each for each in on_talk if each["type"] == verb]) == _joined(
            [each for each in live if each["type"] == verb]
        )
        assert [each for each in on_talk if each["type"] != verb] == [each for each in live if each["type"] != verb]
        await other.say(talk, "t2", "hello")
        await client.ended(talk, "t2")


def _joined(deltas: list[dict[str, Any]]) -> str:
    return "".join(each["content"] for each in deltas)


@each_version
@aio
async def test_session_is_disposed_of(host: HostProcess, version: str) -> None:
    async with conversation(host, version) as (client, session, _):
        assert await client.request("disposeSession", session) is None
        removed = await client.until(lambda: client.notices("sessionRemoved"))
        assert removed[-1]["session"] == session
        assert await client.listed(session) is None
        with pytest.raises(Failed) as refused:
            await client.follow(session)
        assert refused.value.code == -32001


@each_version
@aio
async def test_refused_action_comes_back_as_it_was_sent(host: HostProcess, version: str) -> None:  # W-34
    async with conversation(host, version) as (client, session, talk):
        number = await client.dispatch(talk, client.verb("turnCancelled"), turnId="nobody")
        echo = await client.until(lambda: client.echo(talk, number))
        assert echo["rejectionReason"]
        expected = {"type": client.verb("turnCancelled"), "turnId": "nobody"}
        assert echo["action"] == expected | ({} if at_least(version, "0.2.0") else {"session": session})


@each_version
@aio
async def test_what_came_later_is_unknown(host: HostProcess, version: str) -> None:  # W-7, W-48
    async with conversation(host, version) as (client, _, talk):
        if at_least(version, "1.0.0"):
            return
        with pytest.raises(Failed) as refused:
            await client.request("moveChat", talk, destination={"kind": "newSession"})
        assert refused.value.code == -32601


@aio
async def test_every_version_goes_on_after_a_restart(tmp_path: Path) -> None:  # W-47
    async with hosting(tmp_path) as host, AsyncExitStack() as stack:
        talks: list[tuple[Vintage, str, str]] = []
        for version in VINTAGES:
            client, session, talk = await stack.enter_async_context(conversation(host, version))
            await client.say(talk, "t1", "hello")
            await client.ended(talk, "t1")
            talks.append((client, session, talk))
        await host.kill()
        await host.start()
        for client, session, talk in talks:
            await client.gone()
            client.url = host.url
            result = await client.come_back(*dict.fromkeys((session, talk)))
            assert (result["type"], result["missing"]) == ("replay", [])
            await client.say(talk, "t2", "error")
            failed = await client.ended(talk, "t2", "error")
            assert ("part" in failed) == at_least(client.version, "0.9.0")
            state = await client.follow(talk)
            assert [turn["state"] for turn in state["turns"]] == ["complete", "error"]
            summary = await client.listed(session)
            assert isinstance(summary["modifiedAt"], str if at_least(client.version, "0.5.0") else int)
