"""What is sent again after a reconnect happens once, and what a host's end interrupted is told by its next life."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aio import aio
from interaction.talk import (
    accepted,
    agree,
    asked,
    begin,
    cancel,
    confirm,
    parts,
    refused,
    spoken,
    took,
    wait_for_call,
    waiting,
)
from served import Clients, HostProcess, Wire, hosting, user


def echoes(client: Wire, number: int) -> list[dict[str, Any]]:
    """Everything that came back of an action."""
    origin = {"clientId": client.client_id, "clientSeq": number}
    return [each for each in client.envelopes() if each.get("origin") == origin]


# Sent again


@aio
async def test_a_turn_that_is_sent_again_begins_once(
    clients: Clients, session: str
) -> None:  # INTEROP 2.13, SEMANTICS 8
    client, other = await clients(), await clients()
    chat = await begin(client, session)
    await other.subscribe(chat)
    number = await client.dispatch(chat, "chat/turnStarted", turnId="t1", message=user("hello"))
    await client.ended(chat)
    await client.drop()
    await client.reconnect()
    await client.dispatch(chat, "chat/turnStarted", seq=number, turnId="t1", message=user("hello"))
    await took(client, chat, "t2", "hello again")
    assert len(echoes(client, number)) == 1
    await other.ended(chat, 2)
    assert [each["turnId"] for each in other.actions("chat/turnStarted", chat)] == ["t1", "t2"]
    assert len((await agree(clients, chat, client, other))["turns"]) == 2


@aio
async def test_what_was_lost_on_its_way_is_found_by_sending_it_again(
    clients: Clients, session: str
) -> None:  # INTEROP 2.13
    client, other = await clients(), await clients()
    chat = await begin(client, session)
    await other.subscribe(chat)
    number = await client.dispatch(chat, "chat/turnStarted", turnId="t1", message=user("hello"))
    await client.drop()
    await client.reconnect()
    # Whether or not the first arrived, the second makes it sure, and nobody sees two.
    await client.dispatch(chat, "chat/turnStarted", seq=number, turnId="t1", message=user("hello"))
    await client.ended(chat)
    await other.ended(chat)
    assert [each["turnId"] for each in other.actions("chat/turnStarted", chat)] == ["t1"]
    assert [each for each in client.envelopes() if "rejectionReason" in each] == []
    assert len((await agree(clients, chat, client, other))["turns"]) == 1


@aio
async def test_everything_that_is_sent_again_happens_once(clients: Clients, session: str) -> None:  # SEMANTICS 8
    client = await clients()
    chat = await begin(client, session)
    sent: list[tuple[int, str, dict[str, Any]]] = []

    async def once(type: str, **fields: Any) -> None:  # noqa: A002
        number = await client.dispatch(chat, type, **fields)
        sent.append((number, type, fields))
        await client.until(lambda: client.echo(number))

    await once("chat/turnStarted", turnId="t1", message=user("approve"))
    waits = await wait_for_call(client, chat, "pending-confirmation")
    await once("chat/pendingMessageSet", kind="queued", id="q1", message=user("hello one"))
    fields = {"turnId": "t1", "toolCallId": waits["toolCallId"], "approved": True, "confirmed": "user-action"}
    await once("chat/toolCallConfirmed", **fields)
    await client.ended(chat, 2)
    await once("chat/pendingMessageSet", kind="queued", id="q2", message=user("hello two"))
    await client.ended(chat, 3)
    await once("chat/draftChanged", draft=user("soon"))
    await once("chat/draftChanged")
    await once("chat/truncated", turnId="t1")
    state = await agree(clients, chat, client)
    heard = len(client.envelopes())
    await client.drop()
    await client.reconnect()
    for number, kind, fields in sent:
        await client.dispatch(chat, kind, seq=number, **fields)
    await client.settled()
    assert await agree(clients, chat, client) == state
    assert len(client.envelopes()) == heard


@aio
async def test_number_zero_is_nobody_s(clients: Clients, session: str) -> None:  # SEMANTICS 8, INTEROP 2
    client = await clients()
    chat = await begin(client, session)
    for _ in range(3):
        await client.dispatch(chat, "chat/draftChanged", seq=0, draft=user("same"))
    await client.settled()
    assert len(echoes(client, 0)) == 3
    assert {tuple(each["action"]["draft"]) for each in echoes(client, 0)} == {("text", "origin")}


@aio
async def test_the_same_number_with_something_else_is_new(clients: Clients, session: str) -> None:  # SEMANTICS 8
    client = await clients()
    chat = await begin(client, session)
    await client.dispatch(chat, "chat/draftChanged", seq=900, draft=user("one"))
    await client.dispatch(chat, "chat/draftChanged", seq=900, draft=user("two"))
    await client.dispatch(session, "session/titleChanged", seq=900, title="three")
    await client.dispatch(chat, "chat/draftChanged", seq=900, draft=user("one"))
    await client.settled()
    assert [each["action"]["type"] for each in echoes(client, 900)] == [
        "chat/draftChanged",
        "chat/draftChanged",
        "session/titleChanged",
    ]
    assert (await agree(clients, chat, client))["draft"] == user("two")


@aio
async def test_what_was_refused_may_be_tried_again(clients: Clients, session: str) -> None:  # SEMANTICS 8
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "wait")
    number = await client.dispatch(chat, "chat/turnStarted", turnId="t2", message=user("hello"))
    await client.until(lambda: client.echo(number))
    await cancel(client, chat, "t1")
    await client.dispatch(chat, "chat/turnStarted", seq=number, turnId="t2", message=user("hello"))
    await client.ended(chat, 2)
    assert ["rejectionReason" in each for each in echoes(client, number)] == [True, False]


@aio
async def test_a_new_beginning_forgets_what_was_sent(clients: Clients, session: str) -> None:  # SEMANTICS 8, 10
    client = await clients()
    chat = await begin(client, session)
    await client.dispatch(chat, "chat/draftChanged", seq=1, draft=user("one"))
    await client.dispatch(chat, "chat/turnStarted", seq=2, turnId="t1", message=user("hello"))
    await client.ended(chat)
    await client.drop()
    again = await clients(session, chat, client_id=client.client_id)
    await again.dispatch(chat, "chat/draftChanged", seq=1, draft=user("one"))
    await again.dispatch(chat, "chat/turnStarted", seq=2, turnId="t1", message=user("hello"))
    await again.settled()
    assert ["rejectionReason" in each for number in (1, 2) for each in echoes(again, number)] == [False, True]
    assert len((await agree(clients, chat, again))["turns"]) == 1


# Interrupted


@asynccontextmanager
async def restarted(directory: Path) -> AsyncIterator[tuple[HostProcess, Wire, Clients]]:
    """A host of this test's own, a client of it, and a maker of more."""
    async with hosting(directory) as host, Clients(host) as clients:
        yield host, await clients("ahp-root://"), clients


async def next_life(host: HostProcess, client: Wire) -> Any:
    """Kill the host, start it again and come back; what `reconnect` said."""
    await host.kill()
    await client.gone()
    await host.start()
    client.url = host.url
    return await client.reconnect()


RESTARTED = {"errorType": "hostRestart", "message": "The host was restarted while this turn was running."}
INTERRUPTED = {
    "approve": "pending-confirmation",
    "review": "pending-result-confirmation",
    "mcp": "auth-required",
    "slow 1 3600": "running",
}


@pytest.mark.parametrize("text", INTERRUPTED)
@aio
async def test_a_turn_that_a_crash_interrupts_ends_with_an_error(
    tmp_path: Path, session: str, text: str
) -> None:  # C-85
    async with restarted(tmp_path) as (host, client, clients):
        chat = await begin(client, session)
        await client.say(chat, "t1", text)
        await wait_for_call(client, chat, INTERRUPTED[text])
        await client.settled()
        said = parts(client, chat)
        assert (await next_life(host, client))["type"] == "replay"
        turn = await client.ended(chat)
        assert (turn["id"], turn["state"]) == ("t1", "error")
        assert turn["responseParts"][-1] == {"kind": "error", "error": RESTARTED, "resumable": True}
        assert turn["responseParts"][: len(said) - 1] == said[:-1]
        tool = turn["responseParts"][-2]["toolCall"]
        assert (tool["status"], tool["reason"]) == ("cancelled", "skipped")
        for channel in (session, chat):
            await agree(clients, channel, client)
        assert client.state(chat)["status"] == 2
        assert await waiting(clients, session) == []


@aio
async def test_what_a_crash_interrupted_can_be_resumed(tmp_path: Path, session: str) -> None:  # C-85, C-14
    async with restarted(tmp_path) as (host, client, clients):
        chat = await begin(client, session)
        await wait_for_call(client, chat, "pending-confirmation", "approve")
        await next_life(host, client)
        failed = await client.ended(chat)
        await accepted(client, chat, "chat/turnResume", turnId="t1")
        await wait_for_call(client, chat, "pending-confirmation")
        await confirm(client, chat)
        turn = await client.ended(chat)
        assert turn["state"] == "complete"
        assert turn["responseParts"][: len(failed["responseParts"])] == failed["responseParts"]
        assert "I was interrupted, so I start again." in spoken(turn)
        assert spoken(turn).endswith("Done. You allowed it this once. Next time I ask again.\n")
        assert (await agree(clients, chat, client))["turns"] == [turn]


@aio
async def test_a_resumed_turn_survives_the_next_crash(tmp_path: Path, session: str) -> None:  # C-85
    async with restarted(tmp_path) as (host, client, clients):
        chat = await begin(client, session)
        first = await took(client, chat, "t0", "hello")
        await wait_for_call(client, chat, "pending-confirmation", "approve")
        for life in (1, 2):
            await next_life(host, client)
            turn = await client.ended(chat, 2)
            errors = [part["error"] for part in turn["responseParts"] if part["kind"] == "error"]
            assert errors == [RESTARTED] * life
            await accepted(client, chat, "chat/turnResume", turnId="t1")
            await wait_for_call(client, chat, "pending-confirmation")
        await confirm(client, chat)
        turn = await client.ended(chat, 2)
        assert turn["state"] == "complete"
        assert (await agree(clients, chat, client))["turns"] == [first, turn]


@aio
async def test_a_question_and_what_waits_survive_a_crash(tmp_path: Path, session: str) -> None:  # C-85, C-52, C-66
    async with restarted(tmp_path) as (host, client, clients):
        chat = await begin(client, session)
        request = await asked(client, chat, "form")
        answer = {"state": "draft", "value": {"kind": "text", "value": "Fair"}}
        fields = {"requestId": request["id"], "questionId": "name", "answer": answer}
        await accepted(client, chat, "chat/inputAnswerChanged", **fields)
        for kind, id in (("queued", "q1"), ("steering", "s1")):
            await accepted(client, chat, "chat/pendingMessageSet", kind=kind, id=id, message=user(f"hello {id}"))
        await accepted(client, chat, "chat/draftChanged", draft=user("soon"))
        await next_life(host, client)
        turn = await client.ended(chat)
        open_question = {"kind": "inputRequest", "request": {**request, "answers": {"name": answer}}}
        assert turn["responseParts"][-2:-1] == [open_question]
        state = await agree(clients, chat, client)
        assert state["queuedMessages"] == [{"id": "q1", "message": user("hello q1")}]
        assert state["steeringMessage"] == {"id": "s1", "message": user("hello s1")}
        assert state["draft"] == user("soon")
        why = await refused(client, chat, "chat/inputCompleted", requestId=request["id"], response="cancel")
        assert why == "there is no open question with this id"
        # The next turn takes the one along and lets the other follow.
        await took(client, chat, "t2", "hello")
        await client.ended(chat, 3)
        texts = [turn["message"]["text"] for turn in client.state(chat)["turns"]]
        assert texts == ["form", "hello", "hello q1"]
        assert "> hello s1\n" in spoken(client.state(chat)["turns"][1])
        await agree(clients, chat, client)


@aio
async def test_workers_are_interrupted_as_well(tmp_path: Path, session: str) -> None:  # C-85, C-46
    async with restarted(tmp_path) as (host, client, clients):
        chat = await begin(client, session)
        await client.say(chat, "t1", "subagent")
        await client.until(
            lambda: client.state(session)["status"] & 31 == 24 or len(client.states[session].chats) == 2
        )
        worker = client.state(session)["chats"][1]["resource"]
        await client.subscribe(worker)
        await wait_for_call(client, worker, "pending-confirmation")
        await next_life(host, client)
        for each, resumable in ((chat, {"resumable": True}), (worker, {})):
            turn = await client.ended(each)
            assert turn["state"] == "error"
            assert turn["responseParts"][-1] == {"kind": "error", "error": RESTARTED, **resumable}
        (interrupted,) = client.state(worker)["turns"]
        reason = await refused(client, worker, "chat/turnResume", turnId=interrupted["id"])
        assert reason == "this chat is read-only"
        for channel in (session, chat, worker):
            await agree(clients, channel, client)
        assert await waiting(clients, session) == []


@aio
async def test_what_was_sent_again_after_a_crash_happens_once(
    tmp_path: Path, session: str
) -> None:  # INTEROP 2.13, SEMANTICS 8
    async with restarted(tmp_path) as (host, client, clients):
        chat = await begin(client, session)
        number = await client.dispatch(chat, "chat/turnStarted", turnId="t1", message=user("hello"))
        turn = await client.ended(chat)
        await next_life(host, client)
        await client.dispatch(chat, "chat/turnStarted", seq=number, turnId="t1", message=user("hello"))
        await client.settled()
        assert len(echoes(client, number)) == 1
        assert (await agree(clients, chat, client))["turns"] == [turn]
