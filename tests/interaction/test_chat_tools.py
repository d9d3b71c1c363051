"""Tool calls: every way from one status to the next, who may take it, and what the agent learns of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import troupe
from aio import aio
from interaction.talk import (
    QUICK,
    accepted,
    agree,
    begin,
    call,
    cancel,
    confirm,
    parts,
    refused,
    shown,
    spoken,
    took,
    wait_for_call,
    waiting,
)
from served import Clients, Failed, Wire, user

PROGRAM = troupe.PROGRAM

NOT_WAITING = "this tool call does not wait for confirmation"
NOT_RUNNING = "this tool call is not running"
OPTIONS = [
    {"id": "once", "label": "Allow once", "kind": "approve", "group": 1},
    {"id": "session", "label": "Allow for this session", "kind": "approve", "group": 1},
    {"id": "deny", "label": "Deny", "kind": "deny", "group": 2},
    {"id": "deny-reason", "label": "Deny, and say why", "kind": "deny", "group": 2},
]
COMMON = {"toolCallId": "k1", "toolName": "bash", "displayName": "Run"}
DONE = {"success": True, "pastTenseMessage": "Ran it"}
FAILED = {"success": False, "pastTenseMessage": "Did not run", "error": {"message": "no", "code": "E1"}}
NOTHING = {"await": "nothing"}
DECISION = {"await": "decision", "id": "k1"}


def start(**fields: Any) -> dict[str, Any]:
    return {"type": "chat/toolCallStart", **COMMON, **fields}


def ready(**fields: Any) -> dict[str, Any]:
    return {
        "type": "chat/toolCallReady",
        "toolCallId": "k1",
        "invocationMessage": "Run it",
        "toolInput": "ls",
        **fields,
    }


def complete(result: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "chat/toolCallComplete", "toolCallId": "k1", "result": result, **fields}


async def puppet(client: Wire, session: str) -> str:
    """A session in which the agent says what its message says; the URI of its chat."""
    return await client.session(session, provider="puppet", config=QUICK)


async def play(client: Wire, chat: str, *steps: dict[str, Any], turn: str = "t1") -> None:
    """Have the agent do this in a turn."""
    await client.say(chat, turn, json.dumps(steps))


# From status to status


@aio
async def test_a_call_streams_waits_runs_and_completes(clients: Clients, session: str) -> None:  # C-25, C-26, C-27
    client = await clients()
    chat = await puppet(client, session)
    pending = {
        "confirmationTitle": "Run?",
        "riskAssessment": {"kind": "judge", "status": "loading"},
        "edits": {"items": [{"after": {"uri": "file:///w/a", "content": {"uri": "data:,a"}}}]},
        "editable": True,
        "options": OPTIONS,
    }
    await play(
        client,
        chat,
        start(intention="Look around", _meta={"toolKind": "terminal"}),
        {"type": "chat/toolCallDelta", "toolCallId": "k1", "content": '{"cmd":', "invocationMessage": "Run …"},
        {"type": "chat/toolCallDelta", "toolCallId": "k1", "content": '"ls"}'},
        ready(**pending),
        DECISION,
        {"type": "chat/toolCallContentChanged", "toolCallId": "k1", "content": [{"type": "text", "text": "a.py"}]},
        complete({**DONE, "content": [{"type": "text", "text": "a.py\nb.py"}], "structuredContent": {"exitCode": 0}}),
    )
    common = {**COMMON, "intention": "Look around", "_meta": {"toolKind": "terminal"}}
    invoked = {"invocationMessage": "Run it", "toolInput": "ls"}
    waits = await wait_for_call(client, chat, "pending-confirmation")
    assert waits == {**common, **invoked, **pending, "status": "pending-confirmation"}
    assert client.state(chat)["status"] == 24
    assert await waiting(clients, session) == [("toolConfirmation", chat)]
    (request,) = (await shown(clients, session))["inputNeeded"]
    assert (request["turnId"], request["toolCall"]) == ("t1", waits)
    confirmed = await confirm(client, chat)
    assert confirmed["confirmed"] == "user-action"
    turn = await client.ended(chat)
    assert await waiting(clients, session) == []
    assert turn["responseParts"][0]["toolCall"] == {
        **common,
        **invoked,
        **DONE,
        "status": "completed",
        "confirmed": "user-action",
        "content": [{"type": "text", "text": "a.py\nb.py"}],
        "structuredContent": {"exitCode": 0},
    }
    assert json.loads(spoken(turn)) == {"approved": True, "toolInput": "ls"}
    statuses = [each["changes"].get("status") for each in client.actions("session/chatUpdated", session)]
    assert [status for status in statuses if status] == [8, 24, 8, 1]
    await agree(clients, chat, client)


# What the agent says -> how the call stands afterwards.
AUTH = {"reason": "required", "resource": {"resource": "https://mcp.example/"}}
MCP = {"kind": "mcp", "customizationId": "c1"}
TRANSITIONS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "started": ([], {"status": "streaming"}),
    "delta": (
        [{"type": "chat/toolCallDelta", "toolCallId": "k1", "content": "l"}],
        {"status": "streaming", "partialInput": "l"},
    ),
    "ready": ([ready()], {"status": "pending-confirmation"}),
    "ready and confirmed": ([ready(confirmed="setting")], {"status": "running", "confirmed": "setting"}),
    "ready again, then confirmed": (
        [ready(), ready(confirmed="not-needed")],
        {"status": "running", "confirmed": "not-needed"},
    ),
    "running, ready again": ([ready(confirmed="setting"), ready()], {"status": "pending-confirmation"}),
    "content": (
        [
            ready(confirmed="not-needed"),
            {"type": "chat/toolCallContentChanged", "toolCallId": "k1", "content": [{"type": "text", "text": "a"}]},
        ],
        {"status": "running", "content": [{"type": "text", "text": "a"}]},
    ),
    "token needed": (
        [
            ready(confirmed="not-needed", contributor=MCP),
            {"type": "chat/toolCallAuthRequired", "toolCallId": "k1", "auth": AUTH},
        ],
        {"status": "auth-required", "auth": AUTH, "contributor": MCP},
    ),
    "token needed by no MCP server": (
        [ready(confirmed="not-needed"), {"type": "chat/toolCallAuthRequired", "toolCallId": "k1", "auth": AUTH}],
        {"status": "running"},
    ),
    "token given": (
        [
            ready(confirmed="not-needed", contributor=MCP),
            {"type": "chat/toolCallAuthRequired", "toolCallId": "k1", "auth": AUTH},
            {"type": "chat/toolCallAuthResolved", "toolCallId": "k1"},
        ],
        {"status": "running", "contributor": MCP},
    ),
    "completed while it waits": ([ready(), complete(FAILED)], {"status": "completed", **FAILED}),
    "completed": ([ready(confirmed="not-needed"), complete(DONE)], {"status": "completed", **DONE}),
    "result to be confirmed": (
        [ready(confirmed="not-needed"), complete(DONE, requiresResultConfirmation=True)],
        {"status": "pending-result-confirmation", **DONE},
    ),
    "given up for want of a token": (
        [
            ready(confirmed="not-needed", contributor=MCP),
            {"type": "chat/toolCallAuthRequired", "toolCallId": "k1", "auth": AUTH},
            complete(FAILED, requiresResultConfirmation=True),
        ],
        {"status": "completed", **FAILED},
    ),
    "completed without a token": (
        [
            ready(confirmed="not-needed", contributor=MCP),
            {"type": "chat/toolCallAuthRequired", "toolCallId": "k1", "auth": AUTH},
            complete(DONE),
        ],
        {"status": "auth-required"},
    ),
    "completed twice": (
        [ready(confirmed="not-needed"), complete(DONE), complete(FAILED), ready()],
        {"status": "completed", **DONE},
    ),
}


@pytest.mark.parametrize("name", TRANSITIONS)
@aio
async def test_every_transition_the_agent_makes(clients: Clients, session: str, name: str) -> None:  # C-25, 7.3
    steps, expected = TRANSITIONS[name]
    client = await clients()
    chat = await puppet(client, session)
    mark = {"type": "chat/activityChanged", "activity": "done so far"}
    await play(client, chat, start(), *steps, mark, NOTHING)
    await client.until(lambda: client.state(chat).get("activity") == "done so far")
    await client.settled()
    found = call(client, chat)
    assert {**found, **COMMON, **expected} == found
    blocking = {"pending-confirmation", "pending-result-confirmation", "auth-required"}
    assert client.state(chat)["status"] == (24 if expected["status"] in blocking else 8)
    assert len(client.state(session).get("inputNeeded", [])) == (expected["status"] in blocking)
    for channel in (session, chat):
        await agree(clients, channel, client)
    turn = await cancel(client, chat, "t1")
    ended = turn["responseParts"][0]["toolCall"]
    if expected["status"] == "completed":
        assert ended == found
    else:
        assert (ended["status"], ended["reason"]) == ("cancelled", "skipped")
    for channel in (session, chat):
        await agree(clients, channel, client)


# Deciding


@pytest.mark.parametrize("reason", ["denied", "skipped"])
@aio
async def test_a_denied_call_never_runs(clients: Clients, session: str, reason: str) -> None:  # C-28
    client = await clients()
    chat = await begin(client, session)
    waits = await wait_for_call(client, chat, "pending-confirmation", "deny")
    denial = {
        "approved": False,
        "confirmed": None,
        "reason": reason,
        "reasonMessage": "Not on a Friday.",
        "userSuggestion": user("Ask them one by one."),
        "selectedOptionId": "deny",
    }
    id = waits["toolCallId"]
    fields = {key: value for key, value in denial.items() if value is not None}
    await accepted(client, chat, "chat/toolCallConfirmed", turnId="t1", toolCallId=id, **fields)
    turn = await client.ended(chat)
    kept = {key: waits[key] for key in ("toolName", "displayName", "intention", "invocationMessage", "toolInput")}
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert ended == {
        **kept,
        "toolCallId": id,
        "status": "cancelled",
        "reason": reason,
        "reasonMessage": "Not on a Friday.",
        "userSuggestion": user("Ask them one by one."),
        "selectedOption": OPTIONS[2],
    }
    assert client.actions("chat/toolCallComplete", chat) == []
    assert "> Not on a Friday.\n" in spoken(turn)
    assert "> Ask them one by one.\n" in spoken(turn)
    assert await waiting(clients, session) == []
    await agree(clients, chat, client)


@aio
async def test_a_call_is_decided_once(clients: Clients, session: str) -> None:  # C-29, C-37
    one, two = await clients(), await clients()
    chat = await begin(one, session)
    await two.subscribe(chat)
    id = (await wait_for_call(one, chat, "pending-confirmation", "approve"))["toolCallId"]
    named = {"turnId": "t1", "toolCallId": id}
    approval: dict[str, Any] = {**named, "approved": True, "confirmed": "user-action"}
    unknown = {**approval, "toolCallId": "k9"}
    assert await refused(two, chat, "chat/toolCallConfirmed", **unknown) == NOT_WAITING
    assert await refused(two, chat, "chat/toolCallConfirmed", **{**approval, "turnId": "t0"}) == NOT_WAITING
    await accepted(one, chat, "chat/toolCallConfirmed", **approval)
    assert await refused(two, chat, "chat/toolCallConfirmed", **approval) == NOT_WAITING
    denial = {**named, "approved": False, "reason": "denied"}
    assert await refused(two, chat, "chat/toolCallConfirmed", **denial) == NOT_WAITING
    reason = await refused(two, chat, "chat/toolCallResultConfirmed", **named, approved=False)
    assert reason == "the result of this tool call does not wait for confirmation"
    turn = await one.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["confirmed"]) == ("completed", "user-action")
    assert await refused(two, chat, "chat/toolCallConfirmed", **approval) == NOT_WAITING
    await agree(clients, chat, one, two)


@aio
async def test_a_decision_says_what_it_is(clients: Clients, session: str) -> None:  # section 13: toolCallConfirmed
    client = await clients()
    chat = await begin(client, session)
    id = (await wait_for_call(client, chat, "pending-confirmation", "approve"))["toolCallId"]
    named = {"turnId": "t1", "toolCallId": id}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"approved": True}, "an approval says how it was confirmed"),
        ({"approved": False}, "a denial has the reason denied or skipped"),
        ({"approved": False, "reason": "result-denied"}, "a denial has the reason denied or skipped"),
        (
            {"approved": True, "confirmed": "user-action", "selectedOptionId": "always"},
            "this option is not offered for that decision",
        ),
        (
            {"approved": True, "confirmed": "user-action", "selectedOptionId": "deny"},
            "this option is not offered for that decision",
        ),
        (
            {"approved": False, "reason": "denied", "selectedOptionId": "once"},
            "this option is not offered for that decision",
        ),
        (
            {"approved": True, "confirmed": "user-action", "editedToolInput": "rm -r /"},
            "the input of this tool call cannot be edited",
        ),
    ]
    before = await shown(clients, chat)
    for fields, why in wrong:
        assert await refused(client, chat, "chat/toolCallConfirmed", **named, **fields) == why
    assert await agree(clients, chat, client) == before
    await cancel(client, chat, "t1")


@aio
async def test_the_input_is_not_edited_with_a_denial(clients: Clients, session: str) -> None:  # C-33
    client = await clients()
    chat = await begin(client, session)
    id = (await wait_for_call(client, chat, "pending-confirmation", "edit"))["toolCallId"]
    fields = {"turnId": "t1", "toolCallId": id, "approved": False, "reason": "denied", "editedToolInput": "x"}
    reason = await refused(client, chat, "chat/toolCallConfirmed", **fields)
    assert reason == "the input of this tool call cannot be edited"
    await cancel(client, chat, "t1")


@aio
async def test_the_chosen_option_stays_with_the_call(clients: Clients, session: str) -> None:  # C-30
    client = await clients()
    chat = await begin(client, session)
    waits = await wait_for_call(client, chat, "pending-confirmation", "approve")
    assert waits["options"] == OPTIONS
    await confirm(client, chat, selectedOptionId="session")
    turn = await client.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["selectedOption"]) == ("completed", OPTIONS[1])
    # What was allowed for the session is remembered: nobody is asked, and it is the setting that confirmed.
    again = await took(client, chat, "t2", "approve")
    (ended,) = [part["toolCall"] for part in again["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["confirmed"]) == ("completed", "setting")
    assert "selectedOption" not in ended
    await agree(clients, chat, client)


@aio
async def test_options_nobody_knows_are_offered_all_the_same(clients: Clients, session: str) -> None:  # C-30
    client = await clients()
    chat = await puppet(client, session)
    options = [{"id": "o1", "label": "Perhaps", "kind": "ponder"}]
    await play(client, chat, start(), ready(options=options), DECISION, complete(DONE))
    assert (await wait_for_call(client, chat, "pending-confirmation"))["options"] == options
    await confirm(client, chat, selectedOptionId="o1")
    turn = await client.ended(chat)
    assert turn["responseParts"][0]["toolCall"]["selectedOption"] == options[0]
    await agree(clients, chat, client)


# Edited input


@aio
async def test_the_tool_runs_with_the_input_as_it_was_edited(clients: Clients, session: str) -> None:  # C-31
    client = await clients()
    chat = await begin(client, session)
    waits = await wait_for_call(client, chat, "pending-confirmation", "edit")
    assert waits["editable"] is True
    await confirm(client, chat, editedToolInput="print('moin')\n")
    assert call(client, chat)["toolInput"] == "print('moin')\n"
    turn = await client.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["toolInput"]) == ("completed", "print('moin')\n")
    (block,) = ended["content"]
    made = await client.request("resourceRead", uri=block["after"]["content"]["uri"], encoding="utf-8")
    assert made["data"] == "print('moin')\n"
    assert "with your changes: 1 lines added, 2 removed" in spoken(turn)
    await agree(clients, chat, client)


@aio
async def test_edited_input_behind_a_reference_is_there_with_the_echo(clients: Clients, session: str) -> None:  # C-32
    one, two = await clients(), await clients()
    chat = await puppet(one, session)
    await two.subscribe(chat)
    offered = "a line\n" * 10_000
    await play(one, chat, start(), ready(toolInput=offered, editable=True), DECISION, complete(DONE))
    waits = await wait_for_call(two, chat, "pending-confirmation")
    reference = waits["toolInput"]
    assert reference["sizeHint"] == len(offered)
    assert (await two.request("resourceRead", uri=reference["uri"]))["data"] == offered
    await one.dispatch(
        chat,
        "chat/toolCallConfirmed",
        turnId="t1",
        toolCallId="k1",
        approved=True,
        confirmed="user-action",
        editedToolInput="another line\n",
    )
    await two.until(lambda: two.actions("chat/toolCallConfirmed", chat))
    assert (await two.request("resourceRead", uri=reference["uri"]))["data"] == "another line\n"
    turn = await one.ended(chat)
    assert turn["responseParts"][0]["toolCall"]["toolInput"] == reference
    assert json.loads(spoken(turn)) == {"approved": True, "toolInput": "another line\n"}
    await agree(clients, chat, one, two)


@aio
async def test_referenced_input_that_cannot_be_edited_stays(clients: Clients, session: str) -> None:  # C-33
    client = await clients()
    chat = await begin(client, session)
    command = "echo " + "x" * 70_000
    reference = (await wait_for_call(client, chat, "pending-confirmation", f"approve {command}"))["toolInput"]
    id = call(client, chat)["toolCallId"]
    fields = {"turnId": "t1", "toolCallId": id, "approved": True, "confirmed": "user-action"}
    reason = await refused(client, chat, "chat/toolCallConfirmed", **fields, editedToolInput="rm -r /")
    assert reason == "the input of this tool call cannot be edited"
    assert (await client.request("resourceRead", uri=reference["uri"]))["data"] == command
    await cancel(client, chat, "t1")


# Asked again


@aio
async def test_a_call_that_waits_is_updated(clients: Clients, session: str) -> None:  # 7.4, C-25
    client = await clients()
    chat = await puppet(client, session)
    judged = {"kind": "judge", "status": "complete", "reason": "Fine", "safety": 0.9}
    first = {
        "confirmationTitle": "Run?",
        "riskAssessment": {"kind": "judge", "status": "loading"},
        "editable": True,
        "options": OPTIONS,
    }
    again = {**ready(invocationMessage="Run it, judged", riskAssessment=judged), "toolInput": None}
    await play(client, chat, start(), ready(**first), {k: v for k, v in again.items() if v}, DECISION, complete(DONE))
    await client.until(lambda: len(client.actions("chat/toolCallReady", chat)) == 2)
    assert call(client, chat) == {
        **COMMON,
        **first,
        "status": "pending-confirmation",
        "invocationMessage": "Run it, judged",
        "toolInput": "ls",
        "riskAssessment": judged,
    }
    await client.settled()
    (entry,) = client.state(session)["inputNeeded"]
    assert entry["toolCall"] == call(client, chat)
    await confirm(client, chat)
    await client.ended(chat)
    await agree(clients, chat, client)


@aio
async def test_a_running_call_asks_a_second_time(clients: Clients, session: str) -> None:  # C-34
    client = await clients()
    chat = await begin(client, session)
    first = await wait_for_call(client, chat, "pending-confirmation", "reconfirm")
    await confirm(client, chat, selectedOptionId="once")
    second = await client.until(
        lambda: (found := call(client, chat))["invocationMessage"] != first["invocationMessage"] and found
    )
    assert second["status"] == "pending-confirmation"
    assert second["_meta"] == {"reason": "larger than expected"}
    assert second["confirmationTitle"] == "There is more than expected. Remove it all?"
    assert client.state(chat)["status"] == 24
    assert await waiting(clients, session) == [("toolConfirmation", chat)]
    await confirm(client, chat, selectedOptionId="once")
    turn = await client.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["selectedOption"]) == ("completed", OPTIONS[0])
    statuses = [each["changes"].get("status") for each in client.actions("session/chatUpdated", session)]
    assert [status for status in statuses if status] == [8, 24, 8, 24, 8, 1]
    await agree(clients, chat, client)


@aio
async def test_a_running_call_that_asks_again_may_be_denied(clients: Clients, session: str) -> None:  # C-34, C-28
    client = await clients()
    chat = await begin(client, session)
    await wait_for_call(client, chat, "pending-confirmation", "reconfirm")
    await confirm(client, chat)
    await client.until(lambda: len(client.actions("chat/toolCallReady", chat)) == 2)
    fields = {"turnId": "t1", "toolCallId": call(client, chat)["toolCallId"], "approved": False, "reason": "denied"}
    await accepted(client, chat, "chat/toolCallConfirmed", **fields)
    turn = await client.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["reason"]) == ("cancelled", "denied")
    assert client.actions("chat/toolCallComplete", chat) == []


@aio
async def test_who_runs_a_call_never_changes(clients: Clients, session: str) -> None:  # C-35
    client = await clients(client_id="owner")
    chat = await puppet(client, session)
    owner = {"kind": "client", "clientId": "owner"}
    other = {"kind": "client", "clientId": "other"}
    for turn, (contributor, given, expected) in enumerate(
        [(owner, other, owner), (owner, MCP, owner), (None, owner, None), (MCP, owner, MCP), (None, MCP, MCP)]
    ):
        opening = start(contributor=contributor) if contributor else start()
        await play(client, chat, opening, ready(contributor=given), NOTHING, turn=f"t{turn}")
        waits = await wait_for_call(client, chat, "pending-confirmation")
        assert waits.get("contributor") == expected
        await cancel(client, chat, f"t{turn}")
    await agree(clients, chat, client)


# Results


@pytest.mark.parametrize("approved", [True, False])
@aio
async def test_a_result_is_let_through_or_withheld(clients: Clients, session: str, approved: bool) -> None:  # C-36
    client = await clients()
    chat = await begin(client, session)
    waits = await wait_for_call(client, chat, "pending-result-confirmation", "review")
    assert waits["content"] == [{"type": "text", "text": "Launch: 3 May. Budget: confidential."}]
    assert client.state(chat)["status"] == 24
    assert await waiting(clients, session) == [("toolConfirmation", chat)]
    named = {"turnId": "t1", "toolCallId": waits["toolCallId"]}
    confirming = {**named, "approved": True, "confirmed": "user-action"}
    assert await refused(client, chat, "chat/toolCallConfirmed", **confirming) == NOT_WAITING
    await accepted(client, chat, "chat/toolCallResultConfirmed", **named, approved=approved)
    turn = await client.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    if approved:
        assert ended == {**waits, "status": "completed"}
        assert "The launch is on **3 May**." in spoken(turn)
    else:
        result = {"success", "pastTenseMessage", "content", "confirmed"}
        kept = {key: value for key, value in waits.items() if key not in result}
        assert ended == {**kept, "status": "cancelled", "reason": "result-denied"}
        assert "You kept the result to yourself" in spoken(turn)
    assert await waiting(clients, session) == []
    await agree(clients, chat, client)


@aio
async def test_a_result_is_confirmed_only_where_it_waits(clients: Clients, session: str) -> None:  # C-37
    client = await clients()
    chat = await begin(client, session)
    why = "the result of this tool call does not wait for confirmation"
    for turn, (text, status) in enumerate(
        [("approve", "pending-confirmation"), ("slow 1 3600", "running"), ("mcp", "auth-required")]
    ):
        await client.say(chat, f"t{turn}", text)
        waits = await wait_for_call(client, chat, status)
        named = {"turnId": f"t{turn}", "toolCallId": waits["toolCallId"]}
        for approved in (True, False):
            assert await refused(client, chat, "chat/toolCallResultConfirmed", **named, approved=approved) == why
        assert call(client, chat) == waits
        await cancel(client, chat, f"t{turn}")
        assert await refused(client, chat, "chat/toolCallResultConfirmed", **named, approved=True) == why
    await agree(clients, chat, client)


# What a result may hold -> the fields that each kind cannot be without.
REQUIRED = {
    "text": {"text"},
    "embeddedResource": {"data", "contentType"},
    "resource": {"uri"},
    "fileEdit": {"after"},
    "subagent": {"resource", "title"},
}


@aio
async def test_content_has_what_its_kind_requires(clients: Clients, session: str) -> None:  # C-44, INTEROP 2.10
    client = await clients()
    chat = await begin(client, session, permissionMode="auto")
    found: set[str] = set()
    for turn, text in enumerate(("content", "edit", "subagent", "big 100")):
        ended = await took(client, chat, f"t{turn}", text)
        for part in ended["responseParts"]:
            if part["kind"] == "toolCall":
                tool = part["toolCall"]
                assert tool["status"] == "completed"
                assert tool["confirmed"] in ("not-needed", "setting")
                assert {"displayName", "invocationMessage", "toolInput"} <= tool.keys()
                for block in tool["content"]:
                    assert block.keys() >= REQUIRED[block["type"]]
                    found.add(block["type"])
    assert found == set(REQUIRED)
    for envelope in client.envelopes(chat):
        if envelope["action"]["type"] == "chat/toolCallReady":
            assert {"invocationMessage", "toolInput"} <= envelope["action"].keys()


@aio
async def test_content_nobody_knows_is_kept(clients: Clients, session: str) -> None:  # C-44
    client = await clients()
    chat = await puppet(client, session)
    content = [{"type": "hologram", "depth": 3, "null": None}, {"type": "text", "text": "flat"}]
    terminal = {"type": "terminal", "resource": "ahp-terminal:/9", "title": "bash", "result": {"exitCode": 1}}
    result = {**DONE, "content": [*content, terminal]}
    await play(client, chat, start(), ready(confirmed="not-needed"), complete(result))
    turn = await client.ended(chat)
    assert turn["responseParts"][0]["toolCall"]["content"] == [*content, terminal]
    assert (await agree(clients, chat, client))["turns"] == [turn]


# A token in the middle of it


@aio
async def test_a_call_waits_for_a_token(clients: Clients, session: str) -> None:  # C-38
    client, other = await clients(), await clients()
    chat = await begin(client, session)
    held = await wait_for_call(client, chat, "auth-required", "mcp")
    assert held["contributor"] == {"kind": "mcp", "customizationId": "demo-mcp"}
    assert held["auth"]["requiredScopes"] == ["issues:read"]
    assert client.state(chat)["status"] == 24
    (entry,) = (await shown(clients, session))["inputNeeded"]
    assert entry == {
        "id": entry["id"],
        "kind": "toolAuthentication",
        "chat": chat,
        "turnId": "t1",
        "toolCall": held,
    }
    resource = held["auth"]["resource"]["resource"]
    with pytest.raises(Failed) as bad:
        await other.request("authenticate", resource=resource, token="bad")
    assert bad.value.code == -32007
    assert call(client, chat) == held
    assert await other.request("authenticate", resource=resource, token="good") == {}
    turn = await client.ended(chat)
    (resolved,) = client.actions("chat/toolCallAuthResolved", chat)
    assert resolved == {"type": "chat/toolCallAuthResolved", "turnId": "t1", "toolCallId": held["toolCallId"]}
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (ended["status"], ended["success"], ended["confirmed"]) == ("completed", True, "not-needed")
    assert await waiting(clients, session) == []
    await agree(clients, chat, client)


@aio
async def test_a_call_that_waits_for_a_token_can_be_given_up(clients: Clients, session: str) -> None:  # C-39
    client, other = await clients(), await clients()
    chat = await begin(client, session)
    held = await wait_for_call(client, chat, "auth-required", "mcp")
    named = {"turnId": "t1", "toolCallId": held["toolCallId"]}
    why = await refused(other, chat, "chat/toolCallComplete", **named, result=DONE)
    assert why == "this tool call waits for a token and can only be given up"
    assert await refused(other, chat, "chat/toolCallContentChanged", **named, content=[]) == NOT_RUNNING
    assert (await shown(clients, chat))["activeTurn"]["responseParts"][-1]["toolCall"] == held
    await other.subscribe(chat)
    await accepted(other, chat, "chat/toolCallComplete", **named, result=FAILED, requiresResultConfirmation=True)
    turn = await client.ended(chat)
    (ended,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    without = {key: value for key, value in held.items() if key != "auth"}
    assert ended == {**without, **FAILED, "status": "completed"}
    assert "Nobody signed in, so I go on without the issues." in spoken(turn)
    assert await waiting(clients, session) == []
    await agree(clients, chat, client, other)


@aio
async def test_the_parts_of_two_calls_keep_apart(clients: Clients, session: str) -> None:  # C-25, C-26
    client = await clients()
    chat = await begin(client, session)
    await client.say(chat, "t1", "parallel")
    await client.until(lambda: len(client.actions("chat/toolCallReady", chat)) == 2)
    tools = [part["toolCall"] for part in parts(client, chat) if part["kind"] == "toolCall"]
    assert [tool["toolInput"] for tool in tools] == ["pytest -q tests", "ruff check src"]
    assert await waiting(clients, session) == [("toolConfirmation", chat)] * 2
    first, second = (tool["toolCallId"] for tool in tools)
    named = {"turnId": "t1", "toolCallId": second}
    await accepted(client, chat, "chat/toolCallConfirmed", **named, approved=False, reason="skipped")
    assert len(await waiting(clients, session)) == 1
    named = {"turnId": "t1", "toolCallId": first}
    await accepted(client, chat, "chat/toolCallConfirmed", **named, approved=True, confirmed="user-action")
    turn = await client.ended(chat)
    ended = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert [tool["status"] for tool in ended] == ["completed", "cancelled"]
    assert spoken(turn).endswith(
        "- Run tests: ran 128 tests, no complaints\n- Run linter: not done, as you decided\n"
    )
    await agree(clients, chat, client)
