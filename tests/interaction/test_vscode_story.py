"""One window of VS Code from its first second to a lost connection, at each version that its builds speak.

What it does is odd in places (INTEROP, section 2); none of it may cost its user anything.
"""

from __future__ import annotations

import json
import uuid
from typing import Any, Final

import pytest

from aio import aio
from served import Failed, HostProcess
from vintage import Vintage, at_least

OFFERS: Final = {
    "0.9.0": ["0.9.0", "0.7.0", "0.6.0", "0.5.2", "0.5.1"],
    "0.7.0": ["0.7.0", "0.6.0", "0.5.2", "0.5.1"],
    "0.6.0": ["0.6.0", "0.5.2", "0.5.1"],
}

each_build = pytest.mark.parametrize("version", OFFERS)


class Window(Vintage):
    """The window: it shakes hands its own way, and numbers nothing it says to the root."""

    async def begin(self) -> dict[str, Any]:
        await self._open()
        result: dict[str, Any] = await self.request(
            "initialize",
            "ahp-root://",
            protocolVersions=OFFERS[self.version],
            clientId=self.client_id,
            clientInfo={"name": "vscode", "title": "Visual Studio Code"},
            _meta={"vscode.window": 1},
            initialSubscriptions=["ahp-root://"],
        )
        for number in range(7):
            params = {
                "channel": "ahp-root://",
                "clientSeq": 0,
                "action": {"type": "root/configChanged", "config": {"generateTitles": number % 2 == 0}},
            }
            await self._send({"method": "dispatchAction", "params": params})
        await self._send({"method": "setClientManagedSettingsPermissions", "params": {"channel": "ahp-root://"}})
        return result

    async def reconnect(self, *followed: str) -> dict[str, Any]:
        """Its request has no channel."""
        await self._open()
        params = {"clientId": self.client_id, "lastSeenServerSeq": self.last_seen, "subscriptions": list(followed)}
        found: dict[str, Any] = await self._answered(await self._post("reconnect", params))
        return found

    async def begin_talking(self, chat: str, turn: str, text: str) -> None:
        """Follow a chat and start a turn in it without waiting for anything."""
        await self._post("subscribe", {"channel": chat})
        await self.say(chat, turn, text)

    def directories(self, *uris: str) -> dict[str, Any]:
        """The working directories of a new session."""
        return {"workingDirectories": list(uris)} if self.since("0.7.0") else {"workingDirectory": uris[0]}

    def entry(self) -> dict[str, Any]:
        """Its entry among a session's active clients."""
        return {"clientId": self.client_id, "displayName": "VS Code", "tools": []}


@each_build
@aio
async def test_a_window_works_from_start_to_end(  # INTEROP 2.1, INTEROP 2.3, INTEROP 2.5, INTEROP 2.6, INTEROP 2.7
    host: HostProcess, version: str
) -> None:
    window, watcher = Window(host.url, version), Vintage(host.url, "1.0.0")
    try:
        await watcher.begin()
        begun = await window.begin()
        assert begun["protocolVersion"] == version
        await window.request("listSessions", "ahp-root://")

        # An agent is picked: options are asked for again and again, a session is made and thrown away.
        discarded, session = f"demo:/{uuid.uuid4()}", f"demo:/{uuid.uuid4()}"
        for _ in range(3):
            resolved = await window.request(
                "resolveSessionConfig", "ahp-root://", provider="demo", config={"speed": 0}
            )
            assert resolved["values"]["speed"] == 0
        extra = {"isolation": "folder", "autoApprove": "default", "mode": "agent"}
        for uri in (discarded, session):
            await window.create(uri, config={**extra, "speed": 0}, **window.directories("file:///work"))
            for _ in range(13):
                await window.dispatch(uri, "session/activeClientSet", activeClient=window.entry())
        state = await window.follow(session)
        assert [each["clientId"] for each in state["activeClients"]] == [window.client_id]
        assert extra.items() <= state["config"]["values"].items()
        assert await window.request("disposeSession", discarded) is None
        assert await watcher.listed(session) is None
        assert await watcher.listed(discarded) is None

        # The chat is followed and the first turn started in one breath, before the session is ready.
        chat = state["defaultChat"]
        window.received.clear()
        await window.begin_talking(chat, "t1", "approve")
        ready = await window.asked(chat, "t1")
        answered = next(index for index, each in enumerate(window.received) if "result" in each)
        assert "activeTurn" not in window.received[answered]["result"]["snapshot"]["state"]
        later = [each["params"]["action"] for each in window.received[answered:] if each.get("method") == "action"]
        assert "t1" in [each["turnId"] for each in later if each["type"] == "chat/turnStarted"]
        listed = await watcher.listed(session)
        assert listed is not None
        assert listed["status"] & 24 == 24

        # Typing while a prompt is open: the turn is cancelled, the prompt approved, a message queued.
        await window.cancel(chat, "t1")
        approval = await window.dispatch(
            chat,
            "chat/toolCallConfirmed",
            turnId="t1",
            toolCallId=ready["toolCallId"],
            approved=True,
            confirmed="user-action",
        )
        await window.dispatch(chat, "chat/pendingMessageSet", kind="queued", id="q1", **window.message("hello"))
        started = await window.until(
            lambda: [each for each in window.actions(chat, "chat/turnStarted") if "queuedMessageId" in each]
        )
        await window.ended(chat, started[0]["turnId"])
        refused = window.echo(chat, approval)
        assert refused is not None
        assert refused["rejectionReason"]

        # Renamed on the chat, completions on the session, flags on a session nobody follows.
        renamed = await window.dispatch(chat, "session/titleChanged", title="Voyage")
        await window.until(lambda: window.echo(chat, renamed))
        listed = await watcher.listed(session)
        assert listed["title"] == "Voyage"
        found = await window.request("completions", session, kind="userMessage", text="/he", offset=3)
        assert [item["insertText"] for item in found["items"]]
        other = f"demo:/{uuid.uuid4()}"
        await watcher.create(other)
        await window.dispatch(other, "session/isReadChanged", isRead=True)
        await window.dispatch(other, "session/isArchivedChanged", isArchived=True)
        listed = await window.listed(other)
        assert listed["status"] & 96 == 96

        # Remarks are followed without asking.
        assert await window.follow(f"{session}/annotations") == {"annotations": []}

        # The connection is lost; meanwhile something happens; the window comes back.
        await window.drop()
        await watcher.follow(chat)
        await watcher.say(chat, "t2", "hello")
        await watcher.ended(chat, "t2")
        again = await window.reconnect("ahp-root://", session, chat, chat)
        assert again["type"] == "replay"
        types = [each["action"]["type"] for each in again["actions"] if each["channel"] == chat]
        assert types.count("chat/turnStarted") == 1
        assert ("duration" in _ender(again, chat)) == at_least(version, "0.6.0")
        assert await window.request("ping", "ahp-root://") is None

        # A host that does not know it sends it back to the handshake, on the same connection.
        stranger = Window(host.url, version)
        with pytest.raises(Failed) as unknown:
            await stranger.reconnect("ahp-root://")
        assert unknown.value.code == -32008
        await stranger.close()
        assert await window.request("disposeSession", session) is None
        assert all("error" not in each for each in window.received)
    finally:
        await window.close()
        await watcher.close()


def _ender(result: dict[str, Any], chat: str) -> dict[str, Any]:
    on_chat = (each["action"] for each in result["actions"] if each["channel"] == chat)
    return next(action for action in on_chat if action["type"] == "chat/turnComplete")


@each_build
@aio
async def test_a_window_that_left_keeps_its_version(host: HostProcess, version: str) -> None:  # W-47
    window = Window(host.url, version)
    await window.begin()
    session = f"demo:/{uuid.uuid4()}"
    await window.create(session, config={"speed": 0})
    talk = await window.conversation(session)
    await window.say(talk, "t1", "error")
    await window.ended(talk, "t1", "error")
    await window.drop()
    result = await window.reconnect("ahp-root://", session, talk)
    assert result["type"] == "replay"
    text = json.dumps(result)
    assert ("workingDirectories" in text) <= at_least(version, "0.7.0")
    await window.close()
