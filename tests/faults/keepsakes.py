"""What a chat holds besides its history, put there before a kill and looked for afterwards.

A turn that waits for the answer to a question, two messages queued behind it, and a draft. All of it is
acknowledged. After the kill the turn is over, with an error that can be resumed; resumed, it asks again, and then
the queue has its turn.
"""

from __future__ import annotations

from typing import Any, Final

from faults.answering import answers_to
from faults.lost import Lost
from holdfast.testing import comparable
from served import Wire, user

__all__ = ["Keeper"]

_QUEUED: Final = ("hello first", "hello second")


class Keeper:
    """A client with a session of its own."""

    def __init__(self, wire: Wire, number: int) -> None:
        self.wire = wire
        self.session = f"demo:/0197b1a2-0000-7000-8001-{number:012}"
        self.chat = ""
        self.draft = user(f"draft {number}")

    async def prepare(self) -> None:
        """Put everything there."""
        wire = self.wire
        await wire.initialize("ahp-root://")
        self.chat = await wire.session(self.session, config={"speed": 0})
        await wire.say(self.chat, "asked", "form")
        await wire.until(self._question)
        for id in _QUEUED:
            await wire.act(self.chat, "chat/pendingMessageSet", kind="queued", id=id, message=user(id))
        await wire.act(self.chat, "chat/draftChanged", draft=self.draft)

    def _question(self) -> Any:
        return next(answers_to(self.wire.state(self.chat)), None)

    async def look(self, url: str) -> None:
        """See that it is still there, for who comes back and for a newcomer, and go on with it."""
        self.wire.url = url
        if (await self.wire.reconnect())["type"] != "replay":
            raise Lost("so little is replayed")
        newcomer = Wire(url)
        await newcomer.initialize()
        self._compare(await newcomer.subscribe(self.chat))
        await newcomer.close()
        await self._go_on()
        await self.wire.close()

    def _compare(self, shown: dict[str, Any]) -> None:
        believed = comparable("chat", self.wire.state(self.chat))
        if believed != comparable("chat", shown):
            raise Lost(f"{believed} is not {shown}")
        (turn,) = shown["turns"]
        *parts, last = turn["responseParts"]
        found = (
            turn["state"],
            (last["kind"], last["error"]["errorType"], last["resumable"]),
            [part["kind"] for part in parts if part["kind"] == "inputRequest" and "response" not in part],
            [each["id"] for each in shown["queuedMessages"]],
            shown["draft"],
            "activeTurn" in shown,
        )
        if found != ("error", ("error", "hostRestart", True), ["inputRequest"], [*_QUEUED], self.draft, False):
            raise Lost(f"something is not as it was left: {found}")
        if "inputNeeded" in self.wire.state(self.session):
            raise Lost("a question that nobody waits for any more is still announced")

    async def _go_on(self) -> None:
        wire = self.wire
        echo = await wire.act(self.chat, "chat/turnResume", turnId="asked")
        if "rejectionReason" in echo:
            raise Lost(f"the turn could not be resumed: {echo['rejectionReason']}")
        _, kind, fields = await wire.until(self._question)
        await wire.act(self.chat, kind, **fields)
        await wire.ended(self.chat, 3)
        turns = wire.state(self.chat)["turns"]
        found = [(turn["state"], turn["message"]["text"]) for turn in turns]
        if found != [("complete", text) for text in ("form", *_QUEUED)]:
            raise Lost(f"the queue was not worked off: {found}")
