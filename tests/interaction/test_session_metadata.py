"""Titles, flags, activity and options: who may change them, who sees it, what lists say of several chats."""

from __future__ import annotations

from typing import Any

from aio import aio
from holdfast.protocol.versions import ACTIONS
from interaction.catalogue import consistent, further_chat, listed, told
from interaction.talk import accepted, asked, begin, cancel, refused, shown, took, wait_for_call
from served import Clients, Wire, user


async def _flags(client: Wire, session: str) -> tuple[Any, Any]:
    """The status that lists and notifications give a session."""
    return (await listed(client, session))["status"], told(client, session)["status"]


# Titles


@aio
async def test_a_title_reaches_everybody_and_the_lists(clients: Clients, session: str) -> None:  # S-13
    client, other, watcher = await clients(), await clients(), await clients("ahp-root://")
    await client.session(session)
    await other.subscribe(session)
    envelope = await client.act(session, "session/titleChanged", title="Knots")
    await other.until(lambda: other.envelopes(session))
    assert other.envelopes(session)[-1] == envelope
    assert envelope["origin"] == {"clientId": client.client_id, "clientSeq": 1}
    assert envelope["action"] == {"type": "session/titleChanged", "title": "Knots"}
    await watcher.until(lambda: told(watcher, session)["title"] == "Knots")
    assert (await listed(watcher, session))["title"] == "Knots"
    assert (await consistent(clients, session, client, other))["title"] == "Knots"


@aio
async def test_the_host_names_a_session_after_the_first_message(clients: Clients, session: str) -> None:
    client, watcher = await clients(), await clients("ahp-root://")
    chat = await begin(client, session)
    await took(client, chat, "t1", "hello\nand a second line")
    assert client.actions("session/titleChanged", session) == [{"type": "session/titleChanged", "title": "hello"}]
    await watcher.until(lambda: told(watcher, session)["title"] == "hello")
    await took(client, chat, "t2", "title A better name")
    assert (await consistent(clients, session, client))["title"] == "A better name"


@aio
async def test_the_host_keeps_the_title_that_a_user_chose(clients: Clients, session: str) -> None:  # S-13
    client = await clients()
    chat = await begin(client, session)
    await accepted(client, session, "session/titleChanged", title="Mine")
    await took(client, chat, "t1", "title Yours")
    assert (await consistent(clients, session, client))["title"] == "Mine"
    assert client.actions("session/titleChanged", session) == [{"type": "session/titleChanged", "title": "Mine"}]


# Flags


@aio
async def test_flags_change_their_own_bit_only_and_are_mirrored(clients: Clients, session: str) -> None:  # S-11
    client, other, watcher = await clients(), await clients(), await clients("ahp-root://")
    await client.session(session)
    await other.subscribe(session)
    steps = [
        ("session/isReadChanged", {"isRead": True}, 33),
        ("session/isArchivedChanged", {"isArchived": True}, 97),
        ("session/isReadChanged", {"isRead": False}, 65),
        ("session/isArchivedChanged", {"isArchived": False}, 1),
    ]
    for kind, fields, status in steps:
        await accepted(client, session, kind, **fields)
        await other.settled()
        await watcher.settled()
        assert [wire.state(session)["status"] for wire in (client, other)] == [status, status]
        assert await _flags(watcher, session) == (status, status)
        await consistent(clients, session, client, other)
    assert [each["type"] for each in other.actions("session/isReadChanged", session)] == ["session/isReadChanged"] * 2


@aio
async def test_sessions_are_marked_by_clients_that_do_not_follow_them(
    clients: Clients, session: str
) -> None:  # S-11, INTEROP 2.6
    client, watcher = await clients(), await clients("ahp-root://")
    await client.session(session)
    await watcher.dispatch(session, "session/isReadChanged", isRead=True)
    await watcher.dispatch(session, "session/isArchivedChanged", isArchived=True)
    await watcher.until(lambda: told(watcher, session)["status"] == 97)
    assert (await consistent(clients, session, client))["status"] == 97
    assert watcher.envelopes(session) == [], "who does not follow a channel is told nothing on it"


@aio
async def test_an_action_that_changes_nothing_is_echoed_all_the_same(
    clients: Clients, session: str
) -> None:  # INTEROP 2.14
    client, other = await clients(), await clients()
    await client.session(session)
    await other.subscribe(session)
    before = await shown(clients, session)
    await accepted(client, session, "session/isReadChanged", isRead=False)
    await accepted(client, session, "session/isArchivedChanged", isArchived=False)
    await accepted(client, session, "session/titleChanged", title="")
    await other.settled()
    assert [envelope["action"]["type"] for envelope in other.envelopes(session) if "origin" in envelope] == [
        "session/isReadChanged",
        "session/isArchivedChanged",
        "session/titleChanged",
    ]
    after = await shown(clients, session)
    assert {**after, "lifecycle": before["lifecycle"]} == before


@aio
async def test_a_turn_makes_a_session_unread_but_leaves_it_archived(clients: Clients, session: str) -> None:
    client, watcher = await clients(), await clients("ahp-root://")
    chat = await begin(client, session)
    await accepted(client, session, "session/isReadChanged", isRead=True)
    await accepted(client, session, "session/isArchivedChanged", isArchived=True)
    await took(client, chat, "t1", "hello")
    assert {"type": "session/isReadChanged", "isRead": False} in client.actions("session/isReadChanged", session)
    await watcher.settled()
    assert await _flags(watcher, session) == (65, 65)
    await consistent(clients, session, client)


# The same three on a chat's URI


@aio
async def test_a_title_on_the_uri_of_the_only_chat_names_chat_and_session(
    clients: Clients, session: str
) -> None:  # INTEROP 2.6
    client, other = await clients("ahp-root://"), await clients()
    chat = await client.session(session)
    await other.subscribe(session)
    await other.subscribe(chat)
    await accepted(client, chat, "session/titleChanged", title="Knots")
    await client.settled()
    await other.settled()
    assert [envelope["action"] for envelope in other.envelopes(chat)] == [
        {"type": "session/titleChanged", "title": "Knots"}
    ]
    assert other.actions("session/chatUpdated", session) == [
        {"type": "session/chatUpdated", "chat": chat, "changes": {"title": "Knots"}}
    ]
    assert other.actions("session/titleChanged", session) == [{"type": "session/titleChanged", "title": "Knots"}]
    state = await consistent(clients, session, client, other)
    assert (state["title"], state["chats"][0]["title"]) == ("Knots", "Knots")
    assert (await shown(clients, chat))["title"] == "Knots"
    assert told(client, session) == await listed(client, session)


@aio
async def test_a_title_on_the_uri_of_one_of_several_chats_names_that_chat(
    clients: Clients, session: str
) -> None:  # S-37, INTEROP 2.6
    client = await clients("ahp-root://")
    first = await client.session(session)
    second = await further_chat(client, session)
    for chat, title in ((first, "One"), (second, "Two")):
        await accepted(client, chat, "session/titleChanged", title=title)
    await client.settled()
    assert client.actions("session/chatUpdated", session) == [
        {"type": "session/chatUpdated", "chat": first, "changes": {"title": "One"}},
        {"type": "session/chatUpdated", "chat": second, "changes": {"title": "Two"}},
    ]
    state = await consistent(clients, session, client)
    assert (state["title"], [chat["title"] for chat in state["chats"]]) == ("", ["One", "Two"])
    assert [chat["title"] for chat in told(client, session)["chats"]] == ["One", "Two"]


@aio
async def test_flags_on_the_uri_of_a_chat_mean_that_chat(clients: Clients, session: str) -> None:  # S-67, INTEROP 2.6
    client = await clients("ahp-root://")
    first = await client.session(session)
    second = await further_chat(client, session)
    await accepted(client, second, "session/isReadChanged", isRead=True)
    await accepted(client, second, "session/isArchivedChanged", isArchived=True)
    await accepted(client, first, "session/isReadChanged", isRead=True)
    reason = await refused(client, first, "session/isArchivedChanged", isArchived=True)
    assert reason == "the default chat is archived with its session"
    await client.settled()
    state = await consistent(clients, session, client)
    assert (state["status"], [chat["status"] for chat in state["chats"]]) == (1, [33, 97])
    assert client.actions("chat/isReadChanged", second) == [{"type": "chat/isReadChanged", "isRead": True}]
    assert client.actions("chat/isArchivedChanged", second) == [
        {"type": "chat/isArchivedChanged", "isArchived": True}
    ]
    assert told(client, session)["chats"] == (await listed(client, session))["chats"]
    assert client.state(second)["status"] == 97


# Activity


@aio
async def test_a_session_needs_input_when_any_of_its_chats_does(clients: Clients, session: str) -> None:  # S-14
    client, watcher = await clients(), await clients("ahp-root://")
    first = await begin(client, session)
    second = await further_chat(client, session)
    await asked(client, second, "form")
    await watcher.settled()
    assert await _flags(watcher, session) == (24, 24)
    state = await consistent(clients, session, client)
    assert (state["defaultChat"], [chat["status"] for chat in state["chats"]]) == (first, [1, 24])
    await cancel(client, second, "t1")
    await watcher.settled()
    assert await _flags(watcher, session) == (1, 1)
    await consistent(clients, session, client)


@aio
async def test_a_session_is_in_error_when_any_of_its_chats_is(clients: Clients, session: str) -> None:  # S-15
    client, watcher = await clients(), await clients("ahp-root://")
    first = await begin(client, session)
    second = await further_chat(client, session)
    await took(client, second, "t1", "error")
    await watcher.settled()
    assert await _flags(watcher, session) == (2, 2)
    await asked(client, first, "form")
    await watcher.settled()
    assert await _flags(watcher, session) == (24, 24), "a question comes before an error: somebody can answer it"
    await cancel(client, first, "t1")
    await took(client, second, "t2", "hello")
    await watcher.settled()
    assert await _flags(watcher, session) == (1, 1)
    await consistent(clients, session, client)


@aio
async def test_a_session_is_as_new_as_its_newest_chat(clients: Clients, session: str) -> None:  # S-16
    client, watcher = await clients(), await clients("ahp-root://")
    first = await begin(client, session)
    second = await further_chat(client, session)
    for chat, turn in ((second, "t1"), (first, "t2"), (second, "t3")):
        await took(client, chat, turn, "hello")
        state = await consistent(clients, session, client)
        stamps = {entry["resource"]: entry["modifiedAt"] for entry in state["chats"]}
        await watcher.settled()
        assert told(watcher, session)["modifiedAt"] == max(stamps.values()) == stamps[chat]
    assert (await listed(watcher, session))["createdAt"] < told(watcher, session)["modifiedAt"]


@aio
async def test_a_chat_is_mirrored_step_by_step(clients: Clients, session: str) -> None:  # S-10, S-37, S-38
    client, watcher = await clients(), await clients("ahp-root://")
    chat = await begin(client, session)
    await wait_for_call(client, chat, "pending-confirmation", "approve")
    await consistent(clients, session, client)
    await cancel(client, chat, "t1")
    await took(client, chat, "t2", "error")
    await consistent(clients, session, client)
    changes = [each["changes"] for each in client.actions("session/chatUpdated", session)]
    assert all(each["chat"] == chat for each in client.actions("session/chatUpdated", session))
    assert [each["status"] for each in changes if "status" in each] == [8, 24, 1, 8, 2]
    assert [each for each in changes if "resource" in each] == []
    await watcher.settled()
    seen = [note["changes"] for note in watcher.notices("root/sessionSummaryChanged")]
    assert [each["status"] for each in seen if "status" in each] == [8, 24, 1, 8, 2]
    chats = [each["chats"][0]["status"] for each in seen if "chats" in each]
    assert chats == [8, 24, 1, 8, 2], "a status change always takes the chats with it"


@aio
async def test_what_a_chat_is_doing_shows_in_the_catalogue_and_the_lists(
    clients: Clients, session: str
) -> None:  # S-37, INTEROP 2.19
    client, watcher = await clients(), await clients("ahp-root://")
    chat = await begin(client, session)
    await client.say(chat, "t1", "wait")
    doing = "Waiting for you to cancel"
    await watcher.until(lambda: told(watcher, session).get("activity") == doing)
    await client.settled()
    state = await consistent(clients, session, client)
    assert (state["activity"], state["chats"][0]["activity"]) == (doing, doing)
    await cancel(client, chat, "t1")
    await watcher.settled()
    changes = [note["changes"] for note in watcher.notices("root/sessionSummaryChanged")]
    assert [each["activity"] for each in changes if "activity" in each] == [doing, ""]
    assert "activity" not in await listed(watcher, session)
    state = await consistent(clients, session, client)
    assert "activity" not in state
    assert "activity" not in state["chats"][0]


# What is the host's


# What each would have to look like to do harm. The rest is harmful without any field.
_BODIES: dict[str, dict[str, Any]] = {
    "session/creationFailed": {"error": {"errorType": "forged", "message": "no"}},
    "session/chatAdded": {"summary": {"resource": "ahp-chat:/x", "title": "", "status": 1, "modifiedAt": "now"}},
    "session/chatRemoved": {"chat": "<chat>"},
    "session/chatUpdated": {"chat": "<chat>", "changes": {"title": "Forged"}},
    "session/chatsReordered": {"chats": ["<chat>"]},
    "session/activityChanged": {"activity": "Forging"},
    "session/changesetsChanged": {"changesets": []},
    "session/serverToolsChanged": {"tools": [{"name": "forge"}]},
    "session/inputNeededSet": {"request": {"kind": "chatInput", "id": "i", "chat": "<chat>", "request": {"id": "r"}}},
    "session/inputNeededRemoved": {"id": "i"},
    "session/customizationsChanged": {"customizations": []},
    "session/customizationUpdated": {"customization": {"type": "plugin", "id": "p", "uri": "x:/p", "name": "P"}},
    "session/customizationRemoved": {"id": "p"},
    "session/mcpServerStateChanged": {"id": "p", "state": {"kind": "ready"}},
    "session/metaChanged": {"_meta": {"forged": True}},
}


@aio
async def test_what_only_the_host_may_say_is_refused(clients: Clients, session: str) -> None:  # S-17
    client, other = await clients(), await clients()
    chat = await begin(client, session)
    await other.subscribe(session)
    before = await consistent(clients, session, client, other)
    host_only = [name for name, info in ACTIONS.items() if name.startswith("session/") and not info.client]
    assert len(host_only) == 17
    for name in host_only:
        fields = {key: _filled(value, chat) for key, value in _BODIES.get(name, {}).items()}
        assert await refused(client, session, name, **fields) == f"{name} comes from the host only"
    assert await consistent(clients, session, client, other) == before
    assert other.envelopes(session) == []


def _filled(value: Any, chat: str) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, chat) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, chat) for inner in value]
    return chat if value == "<chat>" else value


@aio
async def test_actions_of_other_channels_and_unknown_ones_are_refused(clients: Clients, session: str) -> None:  # S-17
    client = await clients()
    await begin(client, session)
    before = await consistent(clients, session, client)
    turn = {"turnId": "t1", "message": user("hello")}
    reason = await refused(client, session, "chat/turnStarted", **turn)
    assert reason == "chat/turnStarted does not belong on a session channel"
    reason = await refused(client, session, "session/levitated", height=3)
    assert reason == "this host does not know the action 'session/levitated'"
    reason = await refused(client, session, "session/titleChanged", title=7)
    assert reason.startswith("malformed session/titleChanged: ")
    assert await consistent(clients, session, client) == before


# Options


@aio
async def test_a_mutable_option_is_changed_for_everybody(clients: Clients, session: str) -> None:  # S-19
    client, other = await clients(), await clients()
    chat = await begin(client, session)
    await other.subscribe(session)
    before = await shown(clients, session)
    await accepted(client, session, "session/configChanged", config={"permissionMode": "auto"})
    await other.settled()
    assert other.actions("session/configChanged", session) == [
        {"type": "session/configChanged", "config": {"permissionMode": "auto"}}
    ]
    after = await consistent(clients, session, client, other)
    assert after["config"]["values"] == {**before["config"]["values"], "permissionMode": "auto"}
    turn = await took(client, chat, "t1", "approve")
    (tool,) = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    assert (tool["status"], tool["confirmed"]) == ("completed", "setting"), "the agent goes by the new options"


@aio
async def test_an_option_that_is_fixed_is_refused_with_all_that_came_with_it(
    clients: Clients, session: str
) -> None:  # S-18
    client, other = await clients(), await clients()
    await begin(client, session, isolation="worktree")
    await other.subscribe(session)
    before = await shown(clients, session)
    for config in (
        {"greeting": "Ahoy"},
        {"permissionMode": "auto", "branch": "docs/contributing"},
        {"isolation": "none"},
        {"brandNew": 1},
    ):
        (culprit,) = config.keys() - {"permissionMode"}
        reason = await refused(client, session, "session/configChanged", config=config)
        assert reason == f"{culprit} cannot be changed while the session runs"
    assert await refused(client, session, "session/configChanged", config={"permissionMode": "never"}) == (
        "permissionMode must be one of ask, auto, read-only"
    )
    assert await refused(client, session, "session/configChanged", config={"speed": "fast"}) == (
        "speed must be of type number"
    )
    assert await consistent(clients, session, client, other) == before
    assert other.envelopes(session) == []


@aio
async def test_replacing_takes_all_values_and_repeats_the_fixed_ones(clients: Clients, session: str) -> None:  # S-20
    client, other = await clients(), await clients()
    await begin(client, session, permissionMode="auto")
    await other.subscribe(session)
    fixed = {"greeting": "Hello", "branch": "main"}
    reason = await refused(client, session, "session/configChanged", config={"speed": 5}, replace=True)
    assert reason == "greeting cannot be changed while the session runs"
    await accepted(client, session, "session/configChanged", config={**fixed, "speed": 5}, replace=True)
    state = await consistent(clients, session, client, other)
    assert state["config"]["values"] == {**fixed, "speed": 5}
