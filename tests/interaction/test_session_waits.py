"""What waits for somebody anywhere in a session: listed, answered from there, gone as soon as it is over."""

from __future__ import annotations

from typing import Any

from aio import aio
from interaction.catalogue import consistent, further_chat, told
from interaction.talk import accepted, asked, begin, call, cancel, shown, wait_for_call
from served import Clients, Wire


async def _watching(clients: Clients, session: str) -> tuple[Wire, Wire, str]:
    """Somebody in the chat, somebody who follows the session only, and the chat."""
    client, watcher = await clients(), await clients("ahp-root://")
    chat = await begin(client, session)
    await watcher.subscribe(session)
    return client, watcher, chat


async def _waits(watcher: Wire, session: str, count: int = 1) -> list[Any]:
    """Wait until so many entries are there."""
    return list(
        await watcher.until(
            lambda: len(found := watcher.state(session).get("inputNeeded", [])) == count and (found or [None])
        )
    )


def _text(value: str) -> dict[str, Any]:
    return {"state": "submitted", "value": {"kind": "text", "value": value}}


def _one_of(value: str) -> dict[str, Any]:
    return {"state": "submitted", "value": {"kind": "selected", "value": value}}


@aio
async def test_nothing_waits_in_a_session_at_rest(clients: Clients, session: str) -> None:  # S-61
    client = await clients()
    await begin(client, session)
    assert "inputNeeded" not in await shown(clients, session)


@aio
async def test_a_question_is_listed_and_answered_without_following_its_chat(
    clients: Clients, session: str
) -> None:  # S-57, S-58, S-61, S-62
    client, watcher, chat = await _watching(clients, session)
    request = await asked(client, chat, "form")
    (entry,) = await _waits(watcher, session)
    assert entry == {"kind": "chatInput", "id": entry["id"], "chat": chat, "request": request}
    assert watcher.state(session)["status"] & 24 == 24
    state = await consistent(clients, session, client, watcher)
    assert (state["inputNeeded"], state["status"]) == ([entry], 24)

    answers = {"name": _text("Marta"), "rig": _one_of("sloop")}
    await watcher.dispatch(
        chat, "chat/inputCompleted", requestId=entry["request"]["id"], response="accept", answers=answers
    )

    turn = await client.ended(chat)
    (part,) = [each for each in turn["responseParts"] if each["kind"] == "inputRequest"]
    assert (part["response"], part["request"]["answers"]) == ("accept", answers)
    await watcher.until(lambda: "inputNeeded" not in watcher.state(session))
    assert watcher.actions("session/inputNeededRemoved", session) == [
        {"type": "session/inputNeededRemoved", "id": entry["id"]}
    ]
    assert "inputNeeded" not in await consistent(clients, session, client, watcher)
    assert told(watcher, session)["status"] == 1


@aio
async def test_drafts_of_an_answer_show_in_the_entry(clients: Clients, session: str) -> None:  # S-57
    client, watcher, chat = await _watching(clients, session)
    request = await asked(client, chat, "form")
    (entry,) = await _waits(watcher, session)
    draft = {"state": "draft", "value": {"kind": "text", "value": "Mar"}}
    fields = {"requestId": request["id"], "questionId": "name"}
    await accepted(client, chat, "chat/inputAnswerChanged", **fields, answer=draft)
    await watcher.settled()
    (now,) = watcher.state(session)["inputNeeded"]
    assert now == {**entry, "request": {**request, "answers": {"name": draft}}}
    await consistent(clients, session, client, watcher)
    await accepted(client, chat, "chat/inputAnswerChanged", **fields)
    await watcher.settled()
    (now,) = watcher.state(session)["inputNeeded"]
    assert now["request"].get("answers", {}) == {}
    await consistent(clients, session, client, watcher)


@aio
async def test_a_question_goes_when_its_turn_is_cancelled(clients: Clients, session: str) -> None:  # S-58, S-61
    client, watcher, chat = await _watching(clients, session)
    await asked(client, chat, "form")
    (entry,) = await _waits(watcher, session)
    await cancel(client, chat, "t1")
    await watcher.settled()
    assert watcher.actions("session/inputNeededRemoved", session) == [
        {"type": "session/inputNeededRemoved", "id": entry["id"]}
    ]
    state = await consistent(clients, session, client, watcher)
    assert ("inputNeeded" in state, state["status"]) == (False, 1)


@aio
async def test_a_question_goes_when_its_chat_is_cut_back(clients: Clients, session: str) -> None:  # S-58
    client, watcher, chat = await _watching(clients, session)
    await asked(client, chat, "form")
    await _waits(watcher, session)
    await accepted(client, chat, "chat/truncated")
    await watcher.settled()
    state = await consistent(clients, session, client, watcher)
    assert ("inputNeeded" in state, state["status"]) == (False, 1)


@aio
async def test_a_question_goes_with_its_chat(clients: Clients, session: str) -> None:  # S-58
    client, watcher, _ = await _watching(clients, session)
    second = await further_chat(client, session)
    await asked(client, second, "form")
    await _waits(watcher, session)
    assert await client.request("disposeChat", second) is None
    await watcher.settled()
    state = await consistent(clients, session, client, watcher)
    assert ("inputNeeded" in state, state["status"], len(state["chats"])) == (False, 1, 1)
    assert told(watcher, session)["status"] == 1


@aio
async def test_a_tool_that_asks_is_listed_with_its_turn_and_call(
    clients: Clients, session: str
) -> None:  # S-59, S-62
    client, watcher, chat = await _watching(clients, session)
    pending = await wait_for_call(client, chat, "pending-confirmation", "approve")
    (entry,) = await _waits(watcher, session)
    assert entry == {
        "kind": "toolConfirmation",
        "id": entry["id"],
        "chat": chat,
        "turnId": "t1",
        "toolCall": pending,
    }
    assert watcher.state(session)["status"] & 24 == 24
    await consistent(clients, session, client, watcher)
    answer = {"turnId": "t1", "toolCallId": pending["toolCallId"], "approved": True, "confirmed": "user-action"}
    await watcher.dispatch(chat, "chat/toolCallConfirmed", **answer)
    assert (await client.ended(chat))["state"] == "complete"
    await watcher.settled()
    assert "inputNeeded" not in await consistent(clients, session, client, watcher)


@aio
async def test_a_result_that_is_to_be_reviewed_is_listed(clients: Clients, session: str) -> None:  # S-59
    client, watcher, chat = await _watching(clients, session)
    pending = await wait_for_call(client, chat, "pending-result-confirmation", "review")
    (entry,) = await _waits(watcher, session)
    assert (entry["kind"], entry["turnId"], entry["toolCall"]) == ("toolConfirmation", "t1", pending)
    fields = {"turnId": "t1", "toolCallId": pending["toolCallId"], "approved": True}
    await watcher.dispatch(chat, "chat/toolCallResultConfirmed", **fields)
    await client.ended(chat)
    await watcher.settled()
    assert "inputNeeded" not in await consistent(clients, session, client, watcher)


@aio
async def test_an_entry_follows_what_becomes_of_its_call(clients: Clients, session: str) -> None:  # S-59
    client, watcher, chat = await _watching(clients, session)
    await client.dispatch(session, "session/configChanged", config={"speed": 0})
    await wait_for_call(client, chat, "pending-confirmation", "risk")
    (entry,) = await _waits(watcher, session)
    await client.until(lambda: call(client, chat).get("riskAssessment", {}).get("status") == "complete")
    await watcher.settled()
    (now,) = watcher.state(session)["inputNeeded"]
    assert now == {**entry, "toolCall": call(client, chat)}, "the same entry with the newer call"
    await consistent(clients, session, client, watcher)


@aio
async def test_everything_that_waits_is_listed_and_goes_one_by_one(clients: Clients, session: str) -> None:  # S-58
    client, watcher, chat = await _watching(clients, session)
    second = await further_chat(client, session)
    await client.say(chat, "t1", "parallel")
    await asked(client, second, "link", turn="t2")
    waiting = await _waits(watcher, session, 3)
    assert len({entry["id"] for entry in waiting}) == 3
    assert sorted((entry["kind"], entry["chat"]) for entry in waiting) == sorted(
        [("toolConfirmation", chat), ("toolConfirmation", chat), ("chatInput", second)]
    )
    await consistent(clients, session, client, watcher)
    left = len(waiting)
    for entry in waiting:
        fields = _answer(entry)
        await watcher.dispatch(entry["chat"], fields.pop("type"), **fields)
        left -= 1
        await watcher.settled()
        assert (entry["id"] in _ids(watcher, session), len(_ids(watcher, session))) == (False, left)
        assert (watcher.state(session)["status"] & 16 == 16) is (left > 0)
    for each in (chat, second):
        await client.ended(each)
    await watcher.settled()
    assert "inputNeeded" not in await consistent(clients, session, client, watcher)


def _ids(watcher: Wire, session: str) -> list[str]:
    return [entry["id"] for entry in watcher.state(session).get("inputNeeded", [])]


def _answer(entry: dict[str, Any]) -> dict[str, Any]:
    if entry["kind"] == "chatInput":
        return {"type": "chat/inputCompleted", "requestId": entry["request"]["id"], "response": "cancel"}
    call_id = entry["toolCall"]["toolCallId"]
    denial = {"approved": False, "reason": "denied"}
    return {"type": "chat/toolCallConfirmed", "turnId": entry["turnId"], "toolCallId": call_id, **denial}


@aio
async def test_what_waits_in_a_hidden_chat_is_listed_too(clients: Clients, session: str) -> None:  # S-59
    client, watcher, chat = await _watching(clients, session)
    await client.say(chat, "t1", "subagent hidden")
    (entry,) = await _waits(watcher, session)
    state = await consistent(clients, session, client, watcher)
    helper = state["chats"][1]
    assert (entry["kind"], entry["chat"]) == ("toolConfirmation", helper["resource"])
    assert (helper["interactivity"], helper["status"], state["status"]) == ("hidden", 24, 24)
    fields = _answer(entry)
    await watcher.dispatch(entry["chat"], fields.pop("type"), **fields)
    assert (await client.ended(chat))["state"] == "complete"
    await watcher.settled()
    assert "inputNeeded" not in await consistent(clients, session, client, watcher)
