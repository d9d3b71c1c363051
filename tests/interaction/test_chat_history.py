"""History in pages: the newest turns first, older ones on demand, and actions about turns nobody loaded."""

from __future__ import annotations

from typing import Any

import pytest

from aio import aio
from holdfast.testing import comparable
from interaction.talk import accepted, agree, begin, cancel, shown, spoken, took
from served import Clients, Failed, Wire

PAGE = 50
"""Turns in one page, as the host is set."""


async def _filled(client: Wire, session: str, turns: int) -> tuple[str, list[Any]]:
    """A chat with so many turns."""
    chat = await begin(client, session)
    return chat, [await took(client, chat, f"t{number}", f"hello {number}") for number in range(1, turns + 1)]


async def _older(client: Wire, chat: str, **params: Any) -> list[Any]:
    """Ask for older turns; the `turnsLoaded` that arrived before the answer."""
    known = len(client.messages)
    assert await client.request("fetchTurns", chat, **params) == {}
    news = [each for each in client.messages[known:] if each.get("method") == "action" or "result" in each]
    assert news[-1].get("result") == {}
    actions = [each["params"]["action"] for each in news[:-1]]
    assert {action["type"] for action in actions} <= {"chat/turnsLoaded"}
    return actions


@pytest.mark.parametrize(("wanted", "got"), [(1, 1), (2, 2), (4, 4), (5, 5), (9, 5), (0, 1)])
@aio
async def test_a_view_shows_the_newest_turns(clients: Clients, session: str, wanted: int, got: int) -> None:  # C-55
    client, viewer = await clients(), await clients()
    chat, turns = await _filled(client, session, 5)
    state = await viewer.subscribe(chat, view={"turns": wanted})
    assert state["turns"] == turns[5 - got :]
    assert ("turnsNextCursor" in state) == (got < 5)
    assert "turnsNextCursor" not in await shown(clients, chat)


@aio
async def test_an_empty_chat_has_no_older_turns(clients: Clients, session: str) -> None:  # C-55, C-56
    client = await clients()
    chat = await begin(client, session)
    viewer = await clients()
    state = await viewer.subscribe(chat, view={"turns": 3})
    assert state["turns"] == []
    assert "turnsNextCursor" not in state
    assert await _older(viewer, chat) == []


@aio
async def test_older_turns_come_before_the_answer(clients: Clients, session: str) -> None:  # C-56
    client, viewer, other = await clients(), await clients(), await clients()
    chat, turns = await _filled(client, session, 5)
    state = await viewer.subscribe(chat, view={"turns": 2})
    await other.subscribe(chat, view={"turns": 2})
    assert await _older(viewer, chat, cursor=state["turnsNextCursor"]) == [
        {"type": "chat/turnsLoaded", "turns": turns[:3]}
    ]
    assert await _older(viewer, chat) == []
    await agree(clients, chat, viewer)
    # Nobody else is shown a page that they did not ask for.
    await other.settled()
    assert other.envelopes(chat) == []
    assert other.state(chat)["turns"] == turns[3:]
    assert await _older(other, chat, cursor=state["turnsNextCursor"]) == [
        {"type": "chat/turnsLoaded", "turns": turns[:3]}
    ]


@aio
async def test_page_by_page_the_whole_history_arrives(clients: Clients, session: str) -> None:  # C-57, C-56
    client, viewer = await clients(), await clients()
    chat, turns = await _filled(client, session, 2 * PAGE + 13)
    await viewer.subscribe(chat, view={"turns": 3})
    pages = []
    while "turnsNextCursor" in viewer.state(chat):
        (page,) = await _older(viewer, chat)
        assert page.get("turnsNextCursor") == viewer.state(chat).get("turnsNextCursor")
        pages.append([turn["id"] for turn in page["turns"]])
    ids = [turn["id"] for turn in turns]
    assert pages == [ids[60:110], ids[10:60], ids[:10]]
    assert (await agree(clients, chat, viewer, client))["turns"] == turns


@aio
async def test_turns_that_end_meanwhile_are_not_loaded_twice(clients: Clients, session: str) -> None:  # C-56, C-57
    client, viewer = await clients(), await clients()
    chat, _ = await _filled(client, session, 3)
    cursor = (await viewer.subscribe(chat, view={"turns": 1}))["turnsNextCursor"]
    await took(client, chat, "t4", "hello 4")
    await viewer.until(lambda: len(viewer.states[chat].turns) == 2)
    await _older(viewer, chat, cursor=cursor)
    await _older(viewer, chat, cursor=cursor)
    assert [turn["id"] for turn in viewer.state(chat)["turns"]] == ["t1", "t2", "t3", "t4"]
    await agree(clients, chat, viewer, client)


@aio
async def test_a_cursor_that_leads_nowhere(clients: Clients, session: str) -> None:  # C-58
    client, viewer = await clients(), await clients()
    chat, _ = await _filled(client, session, 3)
    cursor = (await viewer.subscribe(chat, view={"turns": 1}))["turnsNextCursor"]
    for wrong in ("", "nonsense", f"{cursor}x", "before:t9"):
        with pytest.raises(Failed) as failed:
            await viewer.request("fetchTurns", chat, cursor=wrong)
        assert failed.value.code == -32602
    with pytest.raises(Failed) as failed:
        await viewer.request("fetchTurns", "ahp-chat:/nobody", cursor=cursor)
    assert failed.value.code == -32008
    await accepted(client, chat, "chat/truncated", turnId="t1")
    with pytest.raises(Failed) as failed:
        await viewer.request("fetchTurns", chat, cursor=cursor)
    assert failed.value.code == -32602


@aio
async def test_a_cursor_is_good_for_everybody(clients: Clients, session: str) -> None:  # SEMANTICS 14
    client, viewer, stranger = [await clients() for _ in range(3)]
    chat, turns = await _filled(client, session, 5)
    cursor = (await viewer.subscribe(chat, view={"turns": 2}))["turnsNextCursor"]
    await viewer.drop()
    await stranger.subscribe(chat, view={"turns": 1})
    (page,) = await _older(stranger, chat, cursor=cursor)
    assert page == {"type": "chat/turnsLoaded", "turns": turns[:3]}


@aio
async def test_a_chat_that_nobody_follows_has_nothing_to_load(clients: Clients, session: str) -> None:  # C-56
    client, stranger = await clients(), await clients()
    chat, _ = await _filled(client, session, 3)
    assert await _older(stranger, chat) == []


@aio
async def test_cutting_back_to_a_turn_nobody_loaded(clients: Clients, session: str) -> None:  # C-59, SEMANTICS 14
    client, viewer, other = [await clients() for _ in range(3)]
    chat, turns = await _filled(client, session, 6)
    await viewer.subscribe(chat, view={"turns": 1})
    await other.subscribe(chat, view={"turns": 5})
    number = await viewer.dispatch(chat, "chat/truncated", turnId="t3")
    await viewer.until(lambda: viewer.echo(number))
    kinds = [each["action"]["type"] for each in viewer.envelopes(chat)]
    assert kinds == ["chat/turnsLoaded", "chat/truncated"]
    assert viewer.envelopes(chat)[0]["action"]["turns"] == turns[:3]
    await other.until(lambda: other.actions("chat/truncated", chat))
    assert [each["action"]["type"] for each in other.envelopes(chat)] == ["chat/truncated"]
    assert other.state(chat)["turns"] == turns[1:3]
    await agree(clients, chat, client, viewer)
    await _older(other, chat)
    assert (await agree(clients, chat, other))["turns"] == turns[:3]


@aio
async def test_cutting_back_far_beyond_a_page(clients: Clients, session: str) -> None:  # C-59
    client, viewer = await clients(), await clients()
    chat, turns = await _filled(client, session, PAGE + 20)
    await viewer.subscribe(chat, view={"turns": 2})
    await accepted(viewer, chat, "chat/truncated", turnId="t60")
    state = viewer.state(chat)
    assert state["turns"] == turns[10:60]
    await _older(viewer, chat, cursor=state["turnsNextCursor"])
    assert (await agree(clients, chat, client, viewer))["turns"] == turns[:60]


@aio
async def test_a_chat_cut_back_to_nothing_has_no_cursor(clients: Clients, session: str) -> None:  # C-17, C-59
    client, viewer = await clients(), await clients()
    chat, _ = await _filled(client, session, 4)
    assert "turnsNextCursor" in await viewer.subscribe(chat, view={"turns": 1})
    await accepted(viewer, chat, "chat/truncated")
    state = await agree(clients, chat, client, viewer)
    assert state["turns"] == []
    assert "turnsNextCursor" not in viewer.state(chat)


@aio
async def test_forking_and_attaching_turns_nobody_loaded(clients: Clients, session: str) -> None:  # C-59, C-69
    client, viewer = await clients(), await clients()
    chat, turns = await _filled(client, session, 5)
    await viewer.subscribe(session)
    await viewer.subscribe(chat, view={"turns": 1})
    id = session.rpartition("/")[2]
    fork, side = f"ahp-chat:/{id}-fork", f"ahp-chat:/{id}-side"
    await viewer.request("createChat", session, chat=fork, source={"kind": "fork", "chat": chat, "turnId": "t2"})
    assert (await shown(clients, fork))["turns"] == turns[:2]
    await viewer.request("createChat", session, chat=side, source={"kind": "sideChat", "chat": chat, "turnId": "t3"})
    await viewer.subscribe(side)
    said = spoken(await took(viewer, side, "s1", "recall"))
    assert f"This side chat is about the chat `{chat}`: 3 turns with 3 parts:" in said
    attachment = {"type": "chat", "label": "far back", "resource": chat, "endTurn": "t1"}
    message = {"text": "recall", "origin": {"kind": "user"}, "attachments": [attachment]}
    await viewer.subscribe(fork)
    await accepted(viewer, fork, "chat/turnStarted", turnId="f1", message=message)
    said = spoken(await viewer.ended(fork, 3))
    assert f"You attached the chat `{chat}`: 1 turn with 1 part:\n\n1. hello 1\n" in said


@aio
async def test_a_view_of_a_running_turn(clients: Clients, session: str) -> None:  # C-55, C-5
    client, viewer = await clients(), await clients()
    chat, turns = await _filled(client, session, 3)
    await client.say(chat, "t4", "wait")
    await client.until(lambda: client.state(chat).get("activity"))
    state = await viewer.subscribe(chat, view={"turns": 1})
    assert state["turns"] == turns[2:]
    assert state["activeTurn"] == client.state(chat)["activeTurn"]
    await _older(viewer, chat)
    assert comparable("chat", viewer.state(chat)) == comparable("chat", await shown(clients, chat))
    await cancel(client, chat, "t4")
    await viewer.ended(chat, 4)
    await agree(clients, chat, client, viewer)
