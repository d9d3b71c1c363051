"""What is left of a session when its host was killed: everything that was said, and nothing half done."""

from __future__ import annotations

from pathlib import Path

from aio import aio
from interaction.catalogue import Restartable, consistent, entries, further_chat, listed, restartable, told
from interaction.talk import accepted, agree, asked, begin, refused, shown, took
from served import Wire

SESSION = "demo:/survivor"


async def _twice(clients: Restartable, wire: Wire) -> None:
    """Kill the host, look at everything, and kill it again: reading back must not change anything."""
    await clients.restart()
    await clients.back(wire)
    await consistent(clients, SESSION, wire)
    await clients.restart()
    await clients.back(wire)


@aio
async def test_title_flags_and_options_survive(tmp_path: Path) -> None:  # S-12
    async with restartable(tmp_path) as clients:
        client = await clients()
        chat = await begin(client, SESSION, isolation="worktree")
        await took(client, chat, "t1", "hello")
        await accepted(client, SESSION, "session/titleChanged", title="Knots")
        await accepted(client, SESSION, "session/isReadChanged", isRead=True)
        await accepted(client, SESSION, "session/isArchivedChanged", isArchived=True)
        await accepted(client, SESSION, "session/configChanged", config={"permissionMode": "auto"})
        await accepted(client, SESSION, "session/workingDirectorySet", directory="file:///w")
        before = await consistent(clients, SESSION, client)
        summary = await listed(client, SESSION)
        assert (before["title"], before["status"], before["lifecycle"]) == ("Knots", 97, "ready")
        await _twice(clients, client)
        assert await consistent(clients, SESSION, client) == before
        assert await listed(client, SESSION) == summary
        assert (await clients("ahp-root://")).state("ahp-root://")["activeSessions"] == 1
        await took(client, chat, "t2", "title Another")
        state = await consistent(clients, SESSION, client)
        assert (state["title"], state["status"]) == ("Knots", 65), "chosen is chosen, and the turn made it unread"


@aio
async def test_the_order_of_chats_and_their_flags_survive(tmp_path: Path) -> None:  # S-12, S-46
    async with restartable(tmp_path) as clients:
        client = await clients()
        one = await begin(client, SESSION)
        two = await further_chat(client, SESSION, 2)
        three = await further_chat(client, SESSION, 3)
        gone = await further_chat(client, SESSION, 4)
        await took(client, three, "t3", "hello")
        await client.request("moveChat", three, destination={"kind": "session", "session": SESSION})
        await client.request("disposeChat", gone)
        await accepted(client, two, "chat/isArchivedChanged", isArchived=True)
        await accepted(client, two, "session/isReadChanged", isRead=True)
        await accepted(client, three, "session/titleChanged", title="Third")
        before = await consistent(clients, SESSION)
        assert entries(before) == [three, one, two]
        await clients.restart()
        await client.gone()
        client = await clients()
        assert await consistent(clients, SESSION) == before
        await client.subscribe(SESSION)
        await further_chat(client, SESSION, 5)
        assert entries(await consistent(clients, SESSION, client))[:3] == [three, one, two]
        await clients.restart()
        state = await consistent(clients, SESSION)
        assert (entries(state)[:3], state["defaultChat"]) == ([three, one, two], one)
        assert [(chat["title"], chat["status"]) for chat in state["chats"]][:3] == [("Third", 1), ("", 1), ("", 97)]


@aio
async def test_a_chat_that_moved_stays_where_it_went(tmp_path: Path) -> None:  # S-42, S-43, S-46
    async with restartable(tmp_path) as clients:
        client, target = await clients(), f"{SESSION}-target"
        one = await begin(client, SESSION)
        two = await further_chat(client, SESSION, 2)
        three = await further_chat(client, SESSION, 3)
        for chat, turn in ((two, "t2"), (three, "t3")):
            await took(client, chat, turn, "hello")
        host_chat = await begin(client, target)
        place = {"kind": "session", "session": target, "after": host_chat}
        await client.request("moveChat", two, destination=place)
        own = (await client.request("moveChat", three, destination={"kind": "newSession"}))["session"]
        before = {chat: await shown(clients, chat) for chat in (two, three)}
        for _ in range(2):
            await clients.restart()
            assert entries(await consistent(clients, SESSION)) == [one]
            assert entries(await consistent(clients, target)) == [host_chat, two]
            assert entries(await consistent(clients, own)) == [three]
            assert {chat: await shown(clients, chat) for chat in before} == before
        assert (await clients.back(client))["type"] == "snapshot"
        await took(client, two, "t9", "hello")
        await took(client, three, "t9", "hello")
        assert (await consistent(clients, own))["chats"][0]["movable"] is False


@aio
async def test_a_question_ends_with_the_life_it_was_asked_in(tmp_path: Path) -> None:  # S-58, S-61
    async with restartable(tmp_path) as clients:
        client = await clients("ahp-root://")
        chat = await begin(client, SESSION)
        second = await further_chat(client, SESSION)
        request = await asked(client, chat, "form")
        await client.say(second, "t2", "client")
        await client.ended(second)
        assert told(client, SESSION)["status"] == 24
        await clients.restart()
        assert (await clients.back(client))["type"] == "replay"
        state = await consistent(clients, SESSION, client)
        assert ("inputNeeded" in state, state["status"]) == (False, 2)
        (turn,) = (await agree(clients, chat, client))["turns"]
        assert (turn["state"], turn["responseParts"][-1]["error"]["errorType"]) == ("error", "hostRestart")
        fields = {"requestId": request["id"], "response": "cancel"}
        assert (
            await refused(client, chat, "chat/inputCompleted", **fields) == "there is no open question with this id"
        )
        await took(client, chat, "t3", "hello")
        assert (await consistent(clients, SESSION, client))["status"] == 1
        assert (await listed(client, SESSION))["status"] == 1


@aio
async def test_a_failed_session_is_still_failed(tmp_path: Path) -> None:  # S-5
    async with restartable(tmp_path) as clients:
        client = await clients()
        await client.session(SESSION, provider="broken")
        await client.until(lambda: client.state(SESSION)["lifecycle"] == "failed")
        before = await consistent(clients, SESSION, client)
        await _twice(clients, client)
        assert await consistent(clients, SESSION, client) == before


@aio
async def test_a_session_whose_creation_was_interrupted_becomes_ready(tmp_path: Path) -> None:  # S-4
    async with restartable(tmp_path) as clients:
        client, sessions = await clients(), (SESSION, f"{SESSION}-2")
        for session in sessions:
            await client.session(session, provider="late")
            assert client.state(session)["lifecycle"] == "creating"
        await clients.restart()
        await clients.back(client)
        await client.request("resolveSessionConfig", provider="late")
        await client.until(lambda: len(client.actions("session/ready")) == len(sessions))
        for session in sessions:
            assert client.actions("session/ready", session) == [{"type": "session/ready"}]
            await consistent(clients, session, client)
