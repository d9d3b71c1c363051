"""How a session begins: created, subscribed to at once, ready or failed, announced, refused."""

from __future__ import annotations

from typing import Any

import troupe
from aio import aio
from interaction.catalogue import consistent, entries, failing, further_chat, listed, told
from interaction.talk import accepted, agree, refused, shown
from served import Clients, Wire, user

PROGRAM = troupe.PROGRAM
FLAGS = ("--demo-auth",)


async def _call(client: Wire, provider: str = "late") -> None:
    """Let the agent `late`, or one like it, open the sessions it was asked to open."""
    await client.request("resolveSessionConfig", provider=provider)


async def _none_appears(client: Wire, session: str) -> None:
    """No session is there, listed, or was ever announced."""
    async with failing(-32001):
        await client.subscribe(session)
    assert await listed(client, session) is None
    assert [note for note in client.notices("root/sessionAdded") if note["summary"]["resource"] == session] == []


@aio
async def test_creating_answers_null_and_the_uri_is_taken_from_then_on(clients: Clients, session: str) -> None:  # S-1
    client = await clients()
    assert await client.request("createSession", session, provider="demo") is None
    before = await client.subscribe(session)
    for uri in (session, before["defaultChat"]):
        async with failing(-32003):
            await client.request("createSession", uri, provider="demo", config={"greeting": "Ahoy"})
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")
    assert await shown(clients, session) == {**before, "lifecycle": "ready"}


@aio
async def test_the_uri_is_taken_while_the_session_is_being_created(clients: Clients, session: str) -> None:  # S-1
    client = await clients()
    await client.request("createSession", session, provider="late")
    assert (await client.subscribe(session))["lifecycle"] == "creating"
    async with failing(-32003):
        await client.request("createSession", session, provider="demo")
    assert (await shown(clients, session))["provider"] == "late"


@aio
async def test_an_unknown_provider_makes_no_session(clients: Clients, session: str) -> None:  # S-2
    client = await clients("ahp-root://")
    async with failing(-32002):
        await client.request("createSession", session, provider="nobody")
    await _none_appears(client, session)


@aio
async def test_a_subscription_sent_right_behind_gets_a_snapshot(clients: Clients, session: str) -> None:  # S-3
    client = await clients()
    created = await client.post("createSession", session, provider="demo")
    followed = await client.follow(session)
    assert await created is None
    snapshot = (await followed)["snapshot"]
    assert snapshot["resource"] == session
    assert snapshot["state"]["provider"] == "demo"
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")


@aio
async def test_the_first_snapshot_is_complete(clients: Clients, session: str) -> None:  # S-7, S-8, S-9
    client = await clients()
    await client.request("createSession", session, provider="late", workingDirectories=["file:///w"])
    state = await client.subscribe(session)
    chat, stamp = state["defaultChat"], state["chats"][0]["modifiedAt"]
    schema = state["config"]["schema"]
    assert state == {  # INTEROP 2.18
        "provider": "late",
        "title": "",
        "status": 1,
        "lifecycle": "creating",
        "workingDirectories": ["file:///w"],
        "activeClients": [],
        "chats": [
            {"resource": chat, "title": "", "status": 1, "modifiedAt": stamp, "origin": {"kind": "user"}},
        ],
        "defaultChat": chat,
        "annotations": {"resource": f"{session}/annotations", "annotationCount": 0, "entryCount": 0},
        "config": {
            "schema": schema,
            "values": {"permissionMode": "ask", "speed": 100, "greeting": "Hello", "branch": "main"},
        },
    }
    assert list(schema["properties"]) == ["permissionMode", "speed", "greeting", "branch"]


@aio
async def test_a_session_becomes_ready_by_an_action(clients: Clients, session: str) -> None:  # S-4
    client = await clients()
    await client.request("createSession", session, provider="late")
    assert (await client.subscribe(session))["lifecycle"] == "creating"
    assert client.envelopes(session) == []
    await _call(client)
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")
    assert [each["action"] for each in client.envelopes(session)] == [{"type": "session/ready"}]
    await consistent(clients, session, client)


@aio
async def test_a_session_that_cannot_be_opened_fails(clients: Clients, session: str) -> None:  # S-4, S-5
    client = await clients("ahp-root://")
    created = await client.post("createSession", session, provider="doomed")
    followed = await client.follow(session)
    assert await created is None
    assert (await followed)["snapshot"]["state"]["lifecycle"] == "creating"
    await _call(client, "doomed")
    await client.until(lambda: client.state(session)["lifecycle"] == "failed")
    state = await consistent(clients, session, client)
    assert (state["lifecycle"], state["creationError"]) == ("failed", troupe.FAILURE)
    assert client.actions("session/creationFailed", session) == [
        {"type": "session/creationFailed", "error": troupe.FAILURE}
    ]
    assert await listed(client, session) == told(client, session)


@aio
async def test_a_failed_session_takes_no_turn_and_can_be_named_marked_and_disposed_of(
    clients: Clients, session: str
) -> None:
    client = await clients("ahp-root://")
    chat = await client.session(session, provider="broken")
    await client.until(lambda: client.state(session)["lifecycle"] == "failed")
    reason = await refused(client, chat, "chat/turnStarted", turnId="t1", message=user("hello"))
    assert reason == "the session could not be created"
    await accepted(client, session, "session/titleChanged", title="Shipwreck")
    await accepted(client, session, "session/isReadChanged", isRead=True)
    await accepted(client, session, "session/isArchivedChanged", isArchived=True)
    state = await consistent(clients, session, client)
    assert (state["title"], state["status"]) == ("Shipwreck", 97)
    assert await client.request("disposeSession", session) is None
    assert told(client, session) is None


@aio
async def test_everybody_at_the_root_is_told_of_a_new_session(clients: Clients, session: str) -> None:  # S-6
    creator, other = await clients("ahp-root://"), await clients("ahp-root://")
    before = other.state("ahp-root://")["activeSessions"]
    await creator.request("createSession", session, provider="demo", workingDirectories=["file:///w"])
    await other.until(lambda: told(other, session))
    await other.until(lambda: other.state("ahp-root://")["activeSessions"] == before + 1)
    for client in (creator, other):
        (added,) = client.notices("root/sessionAdded")
        assert added["channel"] == "ahp-root://"
        assert added["summary"] == await listed(client, session)
    state = await consistent(clients, session)
    summary = await listed(other, session)
    stamp = summary["createdAt"]
    assert summary == {
        "resource": session,
        "provider": "demo",
        "title": "",
        "status": 1,
        "createdAt": stamp,
        "modifiedAt": stamp,
        "workingDirectories": ["file:///w"],
        "annotations": {"resource": f"{session}/annotations", "annotationCount": 0, "entryCount": 0},
        "chats": [{"resource": state["defaultChat"], "title": "", "status": 1, "origin": {"kind": "user"}}],
        "defaultChat": state["defaultChat"],
    }


@aio
async def test_without_a_provider_the_hosts_default_agent_is_taken(clients: Clients, session: str) -> None:
    client = await clients()
    await client.request("createSession", session)
    assert (await client.subscribe(session))["provider"] == "demo"


@aio
async def test_a_turn_sent_while_the_session_is_created_runs_when_it_is_ready(
    clients: Clients, session: str
) -> None:  # INTEROP 2.5
    client = await clients()
    chat = await client.session(session, provider="late", config={"speed": 0})
    await accepted(client, chat, "chat/turnStarted", turnId="t1", message=user("hello"))
    assert client.state(session)["lifecycle"] == "creating"
    assert client.state(chat)["activeTurn"]["responseParts"] == []
    await _call(client)
    turn = await client.ended(chat)
    assert (turn["id"], turn["state"]) == ("t1", "complete")
    assert [part["kind"] for part in turn["responseParts"]][:1] == ["markdown"]
    kinds = [each["action"]["type"] for each in client.envelopes()]
    assert kinds.index("session/ready") < kinds.index("chat/responsePart")
    await consistent(clients, session, client)
    await agree(clients, chat, client)


@aio
async def test_initial_options_are_kept_with_defaults_and_with_what_the_schema_does_not_know(
    clients: Clients, session: str
) -> None:  # INTEROP 2.3
    client = await clients()
    given = {"permissionMode": "auto", "isolation": "worktree", "mode": {"deep": [1, None]}}
    await client.request("createSession", session, provider="demo", config=given)
    values = (await client.subscribe(session))["config"]["values"]
    assert values == {**given, "speed": 100, "greeting": "Hello", "branch": "main"}


@aio
async def test_what_cannot_be_made_is_refused_and_nothing_appears(clients: Clients, session: str) -> None:
    client = await clients("ahp-root://")
    wrong: list[dict[str, Any]] = [
        {"config": {"permissionMode": "never"}},
        {"config": {"speed": "fast"}},
        {"activeClient": {"clientId": "somebody", "tools": []}},  # S-24
        {"fork": {"session": session, "turnId": "t1"}},  # S-69
    ]
    for params in wrong:
        async with failing(-32602):
            await client.request("createSession", session, provider="demo", **params)
        await _none_appears(client, session)
    for uri in ("no uri", "ahp-root://", "demo:/with space"):
        async with failing(-32602):
            await client.request("createSession", uri, provider="demo")


@aio
async def test_an_agent_that_needs_a_token_asks_for_it_at_creation(clients: Clients, session: str) -> None:  # S-70
    client = await clients("ahp-root://")
    async with failing(-32007) as failed:
        await client.request("createSession", session, provider="demo-auth")
    (agent,) = [each for each in client.state("ahp-root://")["agents"] if each["provider"] == "demo-auth"]
    assert failed.value.error["data"] == {"resources": agent["protectedResources"]}
    await _none_appears(client, session)
    resource = agent["protectedResources"][0]["resource"]
    await client.request("authenticate", resource=resource, token="good")
    assert await client.request("createSession", session, provider="demo-auth") is None
    assert (await client.subscribe(session))["provider"] == "demo-auth"


@aio
async def test_sessions_may_have_uris_of_any_scheme(clients: Clients, session: str) -> None:  # INTEROP 2.4
    client = await clients("ahp-root://")
    id = session.partition("/")[2]
    for uri in (f"copilot:/{id}", f"ahp-session:/{id}", f"x-mine://there/{id}?a=1", f"AHP-chat:/{id}"):
        chat = await client.session(uri, config={"speed": 0})
        await client.say(chat, "t1", "hello")
        await client.ended(chat)
        assert {envelope["channel"] for envelope in client.envelopes(uri)} == {uri}
        assert told(client, uri)["resource"] == uri
        await consistent(clients, uri, client)


@aio
async def test_a_second_chat_is_announced_before_the_answer_and_stands_last(
    clients: Clients, session: str
) -> None:  # S-36
    client, other = await clients("ahp-root://"), await clients()
    first = await client.session(session)
    await other.subscribe(session)
    second = await further_chat(client, session)
    added = next(
        place
        for place, message in enumerate(client.messages)
        if message.get("method") == "action" and message["params"]["action"]["type"] == "session/chatAdded"
    )
    answers = [place for place, message in enumerate(client.messages) if message.get("result", 0) is None]
    assert added < answers[-1], "the last request that was answered with null is createChat"
    state = await consistent(clients, session, client, other)
    assert (entries(state), state["defaultChat"]) == ([first, second], first)
    summary = client.messages[added]["params"]["action"]["summary"]
    assert summary == {
        "resource": second,
        "title": "",
        "status": 1,
        "modifiedAt": summary["modifiedAt"],
        "origin": {"kind": "user"},
        "movable": True,
    }
    assert told(client, session)["chats"] == (await listed(client, session))["chats"]


@aio
async def test_a_chat_that_is_disposed_of_leaves_the_catalogue(clients: Clients, session: str) -> None:  # S-39
    client, other = await clients("ahp-root://"), await clients()
    first = await client.session(session)
    second = await further_chat(client, session)
    await other.subscribe(session)
    assert await client.request("disposeChat", second) is None
    await other.until(lambda: entries(other.state(session)) == [first])
    assert other.actions("session/chatRemoved", session) == [{"type": "session/chatRemoved", "chat": second}]
    state = await consistent(clients, session, client, other)
    assert (entries(state), state["defaultChat"]) == ([first], first)
    assert [chat["resource"] for chat in told(client, session)["chats"]] == [first]


@aio
async def test_the_default_chat_goes_with_its_session_only(clients: Clients, session: str) -> None:  # S-39
    client = await clients()
    first = await client.session(session)
    await further_chat(client, session)
    before = await shown(clients, session)
    async with failing(-32602):
        await client.request("disposeChat", first)
    assert await shown(clients, session) == before
    assert client.actions("session/chatRemoved", session) == []
