"""What comes with a message: attachments of every kind, and other chats whose history the agent is given."""

from __future__ import annotations

from typing import Any

from aio import aio
from interaction.talk import accepted, agree, begin, cancel, refused, shown, spoken, took
from served import Clients, Wire, user

SPAN = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 6}}
ATTACHMENTS: list[dict[str, Any]] = [
    {"type": "simple", "label": "note", "modelRepresentation": "a note", "_meta": {"command": "note", "null": None}},
    {"type": "embeddedResource", "label": "dot.png", "data": "iVBORw==", "contentType": "image/png"},
    {
        "type": "resource",
        "label": "a.py",
        "uri": "file:///w/a.py",
        "sizeHint": 12,
        "nonce": "n1",
        "range": SPAN,
        "displayKind": "selection",
        "selection": {"range": SPAN},
    },
    {"type": "annotations", "label": "remarks", "resource": "demo:/s/annotations", "annotationIds": ["a1", "a2"]},
    {"type": "hologram", "label": "later", "depth": 3, "inside": {"null": None}},
    {"type": "simple", "label": "odd", "displayKind": "telegram"},
]


@aio
async def test_attachments_are_kept_as_they_came(clients: Clients, session: str) -> None:  # C-21
    one, two = await clients(), await clients()
    chat = await begin(one, session)
    await two.subscribe(chat)
    message = {**user("recall"), "attachments": ATTACHMENTS, "_meta": {"from": "a test"}}
    for turn in ("t1", "t2"):
        action = await accepted(one, chat, "chat/turnStarted", turnId=turn, message=message)
        assert action["message"] == message
        await one.ended(chat, int(turn[1]))
    said = spoken(one.state(chat)["turns"][0])
    assert said.endswith("The message has 6 attachments: note, dot.png, a.py, remarks, later, odd.\n")
    await two.ended(chat, 2)
    after = await agree(clients, chat, one, two)
    assert [turn["message"] for turn in after["turns"]] == [message, message]


@aio
async def test_a_message_may_be_all_attachment(clients: Clients, session: str) -> None:  # C-21
    client = await clients()
    chat = await begin(client, session)
    message = {**user(""), "attachments": ATTACHMENTS[:1]}
    await accepted(client, chat, "chat/turnStarted", turnId="t1", message=message)
    assert spoken(await client.ended(chat)).endswith("The message has 1 attachment: note.\n")


# Other chats


async def _another(client: Wire, session: str, *texts: str) -> str:
    """A chat in a session of its own, in which this was said."""
    chat = await begin(client, f"{session}-other")
    for number, text in enumerate(texts, 1):
        await took(client, chat, f"o{number}", text)
    return chat


def _with_chat(chat: str, **fields: Any) -> dict[str, Any]:
    return {**user("recall"), "attachments": [{"type": "chat", "label": "that chat", "resource": chat, **fields}]}


@aio
async def test_a_chat_that_is_not_there_cannot_be_attached(clients: Clients, session: str) -> None:  # C-22
    client = await clients()
    chat = await begin(client, session)
    other = await _another(client, session, "hello one")
    await client.say(other, "o2", "wait")
    await client.until(lambda: client.states[other].active_turn)
    before = await shown(clients, chat)
    wrong = {
        "there is no chat 'ahp-chat:/nobody' to attach": _with_chat("ahp-chat:/nobody"),
        f"there is no chat {session!r} to attach": _with_chat(session),
        "the attached chat has no completed turn 'o9'": _with_chat(other, endTurn="o9"),
        "the attached chat has no completed turn 'o2'": _with_chat(other, endTurn="o2"),
    }
    for reason, message in wrong.items():
        assert await refused(client, chat, "chat/turnStarted", turnId="t1", message=message) == reason
        for kind in ("queued", "steering"):
            fields = {"kind": kind, "id": "q1", "message": message}
            assert await refused(client, chat, "chat/pendingMessageSet", **fields) == reason
    assert await shown(clients, chat) == before
    await cancel(client, other, "o2")


@aio
async def test_a_turn_that_was_cut_away_cannot_be_attached(clients: Clients, session: str) -> None:  # C-22
    client = await clients()
    chat = await begin(client, session)
    other = await _another(client, session, "hello one", "hello two")
    await accepted(client, other, "chat/truncated", turnId="o1")
    reason = await refused(client, chat, "chat/turnStarted", turnId="t1", message=_with_chat(other, endTurn="o2"))
    assert reason == "the attached chat has no completed turn 'o2'"


@aio
async def test_an_empty_chat_can_be_attached(clients: Clients, session: str) -> None:  # C-23
    client = await clients()
    chat = await begin(client, session)
    other = await _another(client, session)
    message = _with_chat(other)
    action = await accepted(client, chat, "chat/turnStarted", turnId="t1", message=message)
    assert action["message"] == message
    turn = await client.ended(chat)
    assert f"You attached the chat `{other}`: 0 turns with 0 parts." in spoken(turn)


@aio
async def test_a_transcript_ends_at_the_pinned_turn(clients: Clients, session: str) -> None:  # C-24
    client = await clients()
    chat = await begin(client, session)
    other = await _another(client, session, "hello one", "hello two", "hello three")
    await accepted(client, chat, "chat/turnStarted", turnId="t1", message=_with_chat(other, endTurn="o2"))
    turn = await client.ended(chat)
    assert f"You attached the chat `{other}`: 2 turns with 2 parts:\n\n1. hello one\n2. hello two\n\n" in spoken(turn)
    assert "hello three" not in spoken(turn)


@aio
async def test_a_chat_without_an_end_is_pinned_to_its_latest_turn(clients: Clients, session: str) -> None:  # C-24
    client = await clients()
    chat = await begin(client, session)
    other = await _another(client, session, "hello one", "hello two")
    await client.say(other, "o3", "wait")
    await client.until(lambda: client.states[other].active_turn)
    message = _with_chat(other, x_extra=1, _meta={"uri": other, "null": None})
    envelope = await client.act(chat, "chat/turnStarted", turnId="t1", message=message)
    pinned = {**message, "attachments": [{**message["attachments"][0], "endTurn": "o2"}]}
    assert envelope["action"]["message"] == pinned
    turn = await client.ended(chat)
    assert "2 turns with 2 parts:\n\n1. hello one\n2. hello two\n\n" in spoken(turn)
    await cancel(client, other, "o3")
    # Later turns never change what was given.
    assert (await shown(clients, chat))["turns"][0]["message"]["attachments"][0]["endTurn"] == "o2"


@aio
async def test_a_queued_message_is_pinned_when_its_turn_begins(clients: Clients, session: str) -> None:  # C-24
    client = await clients()
    chat = await begin(client, session)
    other = await _another(client, session, "hello one")
    await client.say(chat, "t1", "steer 1 3600")
    await client.until(lambda: client.states[chat].active_turn)
    message = _with_chat(other)
    await accepted(client, chat, "chat/pendingMessageSet", kind="queued", id="q1", message=message)
    await took(client, other, "o2", "hello two")
    await cancel(client, chat, "t1")
    await accepted(client, chat, "chat/pendingMessageSet", kind="queued", id="q2", message=user("hello"))
    await client.ended(chat, 3)
    first = client.state(chat)["turns"][1]
    assert first["message"] == {**message, "attachments": [{**message["attachments"][0], "endTurn": "o2"}]}
    assert "2 turns with 2 parts:\n\n1. hello one\n2. hello two\n\n" in spoken(first)


@aio
async def test_attachments_inside_a_transcript_stay_references(clients: Clients, session: str) -> None:  # C-24
    client = await clients()
    chat = await begin(client, session)
    innermost = await _another(client, session, "hello deep inside")
    middle = await _another(client, f"{session}-middle")
    await accepted(client, middle, "chat/turnStarted", turnId="m1", message=_with_chat(innermost, endTurn="o1"))
    await client.ended(middle)
    await accepted(client, chat, "chat/turnStarted", turnId="t1", message=_with_chat(middle, endTurn="m1"))
    turn = await client.ended(chat)
    assert "1. recall\n\n" in spoken(turn)
    assert "hello deep inside" not in spoken(turn)


@aio
async def test_a_chat_that_is_gone_leaves_the_reference(clients: Clients, session: str) -> None:  # section 4.2
    client = await clients()
    chat = await begin(client, session)
    other = f"ahp-chat:/{session.rpartition('/')[2]}-2"
    await client.request("createChat", session, chat=other)
    await client.subscribe(other)
    await took(client, other, "o1", "hello one")
    await client.say(chat, "t1", "wait")
    await client.until(lambda: client.states[chat].active_turn)
    message = _with_chat(other, endTurn="o1")
    await accepted(client, chat, "chat/pendingMessageSet", kind="queued", id="q1", message=message)
    await client.request("disposeChat", other)
    await cancel(client, chat, "t1")
    await accepted(client, chat, "chat/pendingMessageSet", kind="queued", id="q2", message=user("hello"))
    await client.ended(chat, 3)
    turn = client.state(chat)["turns"][1]
    assert turn["message"] == message
    assert f"You attached the chat `{other}`: 0 turns with 0 parts." in spoken(turn)
