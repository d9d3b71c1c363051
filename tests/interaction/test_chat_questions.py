"""Questions to the user: opened, answered together, completed once, left open by the end of a turn."""

from __future__ import annotations

from typing import Any

import pytest

from aio import aio
from interaction.talk import (
    accepted,
    agree,
    asked,
    begin,
    cancel,
    parts,
    refused,
    request_part,
    shown,
    spoken,
    took,
    waiting,
)
from served import Clients, user

CLOSED = "there is no open question with this id"
DIFFERENT = "the answer to {!r} is of the wrong kind"


def text(value: str) -> dict[str, Any]:
    return {"kind": "text", "value": value}


def number(value: float) -> dict[str, Any]:
    return {"kind": "number", "value": value}


def flag(value: bool) -> dict[str, Any]:
    return {"kind": "boolean", "value": value}


def one(value: str, *freeform: str) -> dict[str, Any]:
    return {"kind": "selected", "value": value, **({"freeformValues": list(freeform)} if freeform else {})}


def many(*values: str, freeform: tuple[str, ...] = ()) -> dict[str, Any]:
    chosen = {"kind": "selected-many", "value": list(values)}
    return {**chosen, **({"freeformValues": list(freeform)} if freeform else {})}


def submitted(value: dict[str, Any]) -> dict[str, Any]:
    return {"state": "submitted", "value": value}


def draft(value: dict[str, Any]) -> dict[str, Any]:
    return {"state": "draft", "value": value}


REQUIRED = {"name": submitted(text("Fairwind")), "rig": submitted(one("ketch"))}


@aio
async def test_a_question_is_a_part_that_waits(clients: Clients, session: str) -> None:  # C-47, C-54
    client = await clients()
    chat = await begin(client, session)
    await accepted(client, chat, "chat/isReadChanged", isRead=True)
    await accepted(client, session, "session/isReadChanged", isRead=True)
    request = await asked(client, chat, "form")
    place, part = request_part(client, chat)
    assert part == {"kind": "inputRequest", "request": request}
    assert place == len(parts(client, chat)) - 1
    kinds = [question["kind"] for question in request["questions"]]
    assert kinds == [*["text"] * 3, "number", "integer", "boolean", "single-select", "multi-select"]
    state = client.state(chat)
    assert state["status"] == 24
    assert "inputRequests" not in state
    await client.settled()
    (entry,) = client.state(session)["inputNeeded"]
    assert entry == {"id": entry["id"], "kind": "chatInput", "chat": chat, "request": request}
    await cancel(client, chat, "t1")


@aio
async def test_a_question_makes_the_chat_unread_again(clients: Clients, session: str) -> None:  # C-54
    client = await clients()
    chat = await begin(client, session)
    await client.dispatch(chat, "chat/turnStarted", turnId="t1", message=user("approve"))
    await client.until(lambda: client.states[chat].status == 24)
    (tool,) = [part["toolCall"]["toolCallId"] for part in parts(client, chat) if part["kind"] == "toolCall"]
    await accepted(client, chat, "chat/isReadChanged", isRead=True)
    await accepted(client, session, "session/isReadChanged", isRead=True)
    assert (client.state(chat)["status"], client.state(session)["status"] & 32) == (24 | 32, 32)
    # Refused with the option that asks for a reason, the agent puts a question.
    fields = {"turnId": "t1", "toolCallId": tool, "approved": False, "reason": "denied"}
    await accepted(client, chat, "chat/toolCallConfirmed", **fields, selectedOptionId="deny-reason")
    await client.until(lambda: request_part(client, chat))
    await client.settled()
    assert (client.state(chat)["status"], client.state(session)["status"] & 32) == (24, 0)
    await cancel(client, chat, "t1")


@aio
async def test_answers_in_progress_are_shared(clients: Clients, session: str) -> None:  # C-48
    first, second = await clients(), await clients()
    chat = await begin(first, session)
    for channel in (session, chat):
        await second.subscribe(channel)
    request = await asked(first, chat, "form")
    id = request["id"]
    answer = draft(text("Fair"))
    action = await accepted(first, chat, "chat/inputAnswerChanged", requestId=id, questionId="name", answer=answer)
    assert action == {"type": "chat/inputAnswerChanged", "requestId": id, "questionId": "name", "answer": answer}
    skipped = {"state": "skipped", "freeformValues": ["later"]}
    await accepted(second, chat, "chat/inputAnswerChanged", requestId=id, questionId="email", answer=skipped)
    expected = {**request, "answers": {"name": answer, "email": skipped}}
    for client in (first, second):
        await client.settled()
        assert request_part(client, chat)[1] == {"kind": "inputRequest", "request": expected}
        assert [entry["request"] for entry in client.state(session)["inputNeeded"]] == [expected]
    await accepted(second, chat, "chat/inputAnswerChanged", requestId=id, questionId="name")
    await accepted(first, chat, "chat/inputAnswerChanged", requestId=id, questionId="email")
    for client in (first, second):
        await client.settled()
        assert request_part(client, chat)[1]["request"] == request
    for channel in (session, chat):
        await agree(clients, channel, first, second)
    await cancel(first, chat, "t1")


@aio
async def test_a_completed_question_stays_where_it_is(clients: Clients, session: str) -> None:  # C-49, C-53
    client = await clients()
    chat = await begin(client, session)
    request = await asked(client, chat, "form")
    place, _ = request_part(client, chat)
    fields = {"requestId": request["id"], "questionId": "engine"}
    await accepted(client, chat, "chat/inputAnswerChanged", **fields, answer=submitted(flag(False)))
    fields = {"requestId": request["id"], "questionId": "name"}
    await accepted(client, chat, "chat/inputAnswerChanged", **fields, answer=draft(text("overlaid")))
    fields = {"requestId": request["id"], "response": "accept", "answers": REQUIRED}
    action = await accepted(client, chat, "chat/inputCompleted", **fields)
    assert action == {"type": "chat/inputCompleted", **fields}
    turn = await client.ended(chat)
    assert turn["responseParts"][place] == {
        "kind": "inputRequest",
        "request": {**request, "answers": {"engine": submitted(flag(False)), **REQUIRED}},
        "response": "accept",
    }
    said = spoken(turn)
    assert "- **Name**: Fairwind\n" in said
    assert "- **Engine**: no\n" in said
    assert "- **Rig**: Ketch\n" in said
    assert "- **Gear**: no answer\n" in said
    statuses = [each["changes"].get("status") for each in client.actions("session/chatUpdated", session)]
    assert [status for status in statuses if status] == [8, 24, 8, 1]
    assert await waiting(clients, session) == []
    await agree(clients, chat, client)


@pytest.mark.parametrize(
    ("response", "heard"),
    [
        ("accept", "Thank you for looking. I go on."),
        ("decline", "You did not want to open it, so I go on without."),
        ("cancel", "You did not want to open it, so I go on without."),
    ],
)
@aio
async def test_a_link_is_a_question_without_questions(
    clients: Clients, session: str, response: str, heard: str
) -> None:  # C-47, C-49
    client = await clients()
    chat = await begin(client, session)
    request = await asked(client, chat, "link")
    assert request.keys() == {"id", "message", "url"}
    await accepted(client, chat, "chat/inputCompleted", requestId=request["id"], response=response)
    turn = await client.ended(chat)
    assert heard in spoken(turn)
    assert {"kind": "inputRequest", "request": request, "response": response} in turn["responseParts"]


ANSWERS = {
    "name": submitted(text("Ö" * 40)),
    "email": submitted(text("crew@example.com")),
    "date": {"state": "skipped"},
    "length": submitted(number(12.5)),
    "berths": submitted(number(12)),
    "engine": submitted(flag(True)),
    "rig": submitted(one("", "junk rig")),
    "gear": submitted(many("anchor", "raft", freeform=("a cat",))),
}
HEARD = """\
- **Name**: {name}
- **Mail**: crew@example.com
- **Date**: skipped
- **Length**: 12.5
- **Berths**: 12
- **Engine**: yes
- **Rig**: junk rig
- **Gear**: Anchor, Life raft, a cat
"""


@aio
async def test_every_kind_of_question_is_answered(clients: Clients, session: str) -> None:  # C-49
    client = await clients()
    chat = await begin(client, session)
    request = await asked(client, chat, "form")
    for id, answer in ANSWERS.items():
        fields = {"requestId": request["id"], "questionId": id, "answer": answer}
        await accepted(client, chat, "chat/inputAnswerChanged", **fields)
    await accepted(client, chat, "chat/inputCompleted", requestId=request["id"], response="accept")
    turn = await client.ended(chat)
    assert spoken(turn).endswith(HEARD.format(name="Ö" * 40))
    assert (await agree(clients, chat, client))["turns"] == [turn]


# Question -> values of every other kind.
WRONG = {
    "name": [number(1), flag(True), one("sloop"), many("anchor")],
    "length": [text("1"), flag(True), one("sloop"), many("anchor")],
    "berths": [text("1"), flag(True), one("sloop"), many("anchor")],
    "engine": [text("1"), number(1), one("sloop"), many("anchor")],
    "rig": [text("sloop"), number(1), flag(True), many("sloop")],
    "gear": [text("anchor"), number(1), flag(True), one("anchor")],
}


@aio
async def test_an_answer_fits_its_question(clients: Clients, session: str) -> None:  # section 13: inputAnswerChanged
    client = await clients()
    chat = await begin(client, session)
    request = await asked(client, chat, "form")
    before = await shown(clients, chat)
    for id, values in WRONG.items():
        for value in values:
            fields: dict[str, Any] = {"requestId": request["id"], "questionId": id}
            for answer in (submitted(value), draft(value)):
                reason = await refused(client, chat, "chat/inputAnswerChanged", **fields, answer=answer)
                assert reason == DIFFERENT.format(id)
            fields = {"requestId": request["id"], "response": "accept"}
            answers = {**REQUIRED, id: submitted(value)}
            await refused(client, chat, "chat/inputCompleted", **fields, answers=answers)
    fields = {"requestId": request["id"], "questionId": "name"}
    reason = await refused(client, chat, "chat/inputAnswerChanged", **fields, answer={"state": "sent"})
    assert reason == "the answer to 'name' is neither draft nor submitted nor skipped"
    for state in ("draft", "submitted"):
        reason = await refused(client, chat, "chat/inputAnswerChanged", **fields, answer={"state": state})
        assert reason.startswith("malformed chat/inputAnswerChanged: "), reason
    broken = {"state": "submitted", "value": {"kind": "text"}}
    reason = await refused(client, chat, "chat/inputAnswerChanged", **fields, answer=broken)
    assert reason.startswith("malformed chat/inputAnswerChanged: ")
    fields["questionId"] = "colour"
    reason = await refused(client, chat, "chat/inputAnswerChanged", **fields, answer=draft(text("red")))
    assert reason == "the form has no question 'colour'"
    assert await shown(clients, chat) == before
    await cancel(client, chat, "t1")


# What breaks a bound -> why it cannot be accepted.
BEYOND = [
    ({"name": submitted(text(""))}, "name: at least 1 characters"),
    ({"name": submitted(text("x" * 41))}, "name: at most 40 characters"),
    ({"length": submitted(number(1.9))}, "length: at least 2"),
    ({"length": submitted(number(401))}, "length: at most 400"),
    ({"berths": submitted(number(2.5))}, "berths: a whole number"),
    ({"berths": submitted(number(13))}, "berths: at most 12"),
    ({"rig": submitted(one("cutter"))}, "rig: one of the options"),
    ({"gear": submitted(many("anchor", "cannon"))}, "gear: only the options"),
    ({"gear": submitted(many())}, "gear: at least 1 choices"),
    ({"gear": submitted(many("anchor", "radio", "raft", "kettle"))}, "gear: at most 3 choices"),
    ({"name": draft(text("Fairwind"))}, "name needs an answer"),
    ({"name": {"state": "skipped"}}, "name needs an answer"),
    ({"colour": submitted(text("red"))}, "the form has no question 'colour'"),
]


@aio
async def test_a_form_is_accepted_when_it_is_complete(clients: Clients, session: str) -> None:  # C-50
    client = await clients()
    chat = await begin(client, session)
    request = await asked(client, chat, "form")
    before = await shown(clients, chat)
    fields = {"requestId": request["id"], "response": "accept"}
    assert await refused(client, chat, "chat/inputCompleted", **fields) == "name needs an answer"
    partial = {"name": REQUIRED["name"]}
    assert await refused(client, chat, "chat/inputCompleted", **fields, answers=partial) == "rig needs an answer"
    for answers, why in BEYOND:
        reason = await refused(client, chat, "chat/inputCompleted", **fields, answers={**REQUIRED, **answers})
        assert reason == why
    fields["response"] = "maybe"
    reason = await refused(client, chat, "chat/inputCompleted", **fields, answers=REQUIRED)
    assert reason == "a question is not answered with 'maybe'"
    assert await shown(clients, chat) == before
    await accepted(client, chat, "chat/inputCompleted", requestId=request["id"], response="decline")
    assert "You would rather not say. That is fine." in spoken(await client.ended(chat))


@aio
async def test_a_question_is_answered_once(clients: Clients, session: str) -> None:  # C-51
    first, second = await clients(), await clients()
    chat = await begin(first, session)
    await second.subscribe(chat)
    nobody = {"requestId": "q9", "questionId": "name", "answer": draft(text("x"))}
    assert await refused(first, chat, "chat/inputAnswerChanged", **nobody) == CLOSED
    assert await refused(first, chat, "chat/inputCompleted", requestId="q9", response="cancel") == CLOSED
    id = (await asked(first, chat, "form"))["id"]
    assert await refused(first, chat, "chat/inputCompleted", requestId="q9", response="cancel") == CLOSED
    await accepted(first, chat, "chat/inputCompleted", requestId=id, response="accept", answers=REQUIRED)
    assert await refused(second, chat, "chat/inputCompleted", requestId=id, response="decline") == CLOSED
    assert await refused(second, chat, "chat/inputAnswerChanged", **{**nobody, "requestId": id}) == CLOSED
    turn = await second.ended(chat)
    assert [part["response"] for part in turn["responseParts"] if part["kind"] == "inputRequest"] == ["accept"]
    await agree(clients, chat, first, second)


@aio
async def test_the_end_of_a_turn_leaves_a_question_open(clients: Clients, session: str) -> None:  # C-52
    client = await clients()
    chat = await begin(client, session)
    request = await asked(client, chat, "form")
    fields = {"requestId": request["id"], "questionId": "name"}
    await accepted(client, chat, "chat/inputAnswerChanged", **fields, answer=draft(text("Fair")))
    assert await waiting(clients, session) == [("chatInput", chat)]
    turn = await cancel(client, chat, "t1")
    part = {"kind": "inputRequest", "request": {**request, "answers": {"name": draft(text("Fair"))}}}
    assert turn["responseParts"][-1] == part
    assert await waiting(clients, session) == []
    assert await refused(client, chat, "chat/inputCompleted", requestId=request["id"], response="decline") == CLOSED
    after = await agree(clients, chat, client)
    assert (after["turns"], after["status"]) == ([turn], 1)
    await took(client, chat, "t2", "hello")
    await accepted(client, chat, "chat/truncated")
    assert (await agree(clients, chat, client))["turns"] == []


@aio
async def test_a_question_beside_a_waiting_tool(clients: Clients, session: str) -> None:  # C-53
    """Answered in one order or the other, the chat is blocked until nothing waits any more."""
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "parallel")
    await client.until(lambda: len(client.actions("chat/toolCallReady", chat)) == 2)
    ids = [part["toolCall"]["toolCallId"] for part in parts(client, chat) if part["kind"] == "toolCall"]
    for id in ids:
        fields = {"turnId": "t1", "toolCallId": id, "approved": True, "confirmed": "user-action"}
        await accepted(client, chat, "chat/toolCallConfirmed", **fields)
    await client.ended(chat)
    await client.settled()
    told = [
        "confirmed" if action["type"] == "chat/toolCallConfirmed" else action["changes"]["status"]
        for action in (each["action"] for each in client.envelopes())
        if action["type"] == "chat/toolCallConfirmed" or "status" in action.get("changes", {})
    ]
    assert told == [8, 24, "confirmed", "confirmed", 8, 1]
