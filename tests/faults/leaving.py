"""Turns with everything in them, and clients that lose their connection at a frame of our choice and come back.

`play` has a client drive the demo agent through turns with text, tools, questions and a worker's chat. Everybody
follows every channel there is. Whoever was away ends up with the same states as who never was.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from faults.answering import answers_to
from faults.memory import MemoryLink, MemoryWire
from holdfast.server.house import House
from holdfast.server.hub import Hub
from holdfast.testing import comparable
from served import Wire, kind_of, user

__all__ = ["SESSION", "TURNS", "Driver", "Leaver", "Stumbler", "beliefs", "follow_all", "play"]

SESSION: Final = "demo:/0197b1a2-0000-7000-8000-00000000fa18"
CHAT: Final = "ahp-chat://default/"

TURNS: Final = ("tour", "subagent", "form", "parallel", "reconfirm", "review", "flaky")
"""Thoughts, text, tools, pictures; a worker; questions; tools at the same time; results; an end with an error."""


def unknown(client: Wire) -> list[str]:
    """The channels a client knows of and does not follow."""
    if SESSION not in client.states:
        return [SESSION]
    return [chat.resource for chat in client.states[SESSION].chats if chat.resource not in client.states]


async def follow_all(client: Wire) -> None:
    """Follow every channel of the session."""
    while found := unknown(client):
        await client.subscribe(found[0])


def beliefs(client: Wire) -> dict[str, dict[str, Any]]:
    """Everything a client believes, in a form that can be compared."""
    return {uri: comparable(kind_of(uri), client.state(uri)) for uri in sorted(client.states)}


class Driver:
    """Starts turns and answers what they ask, once each. What was not echoed is sent again by `send_again`."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.unacknowledged: dict[int, dict[str, Any]] = {}
        self._done: set[str] = set()

    async def begin(self) -> None:
        await self.wire.initialize("ahp-root://")
        await self.wire.session(SESSION, config={"speed": 0})

    @property
    def chat(self) -> str:
        return str(self.wire.states[SESSION].default_chat)

    async def dispatch(self, channel: str, type: str, **fields: Any) -> None:  # noqa: A002
        number = self.wire.next_seq()
        self.unacknowledged[number] = {"channel": channel, "clientSeq": number, "action": {"type": type, **fields}}
        await self._send(number)

    async def _send(self, number: int) -> None:
        message = {"jsonrpc": "2.0", "method": "dispatchAction", "params": self.unacknowledged[number]}
        await self.wire.send(message)

    async def send_again(self) -> None:
        """After a reconnect: what nobody acknowledged may have been lost."""
        for number in tuple(self.unacknowledged):
            await self._send(number)

    def heard(self, envelope: dict[str, Any]) -> None:
        """Take note of an echo."""
        origin = envelope.get("origin", {})
        if origin.get("clientId") == self.wire.client_id:
            self.unacknowledged.pop(origin["clientSeq"], None)

    async def drive(self, prompts: tuple[str, ...]) -> None:
        """Have all turns played that were not played yet. Raises `ConnectionError` when the connection is lost."""
        for number, prompt in enumerate(prompts, 1):
            fields = {"turnId": f"t{number}", "message": user(prompt)}
            await self._once(f"turn {number}", self.chat, "chat/turnStarted", fields)
            while not self._is_over(number):
                await follow_all(self.wire)
                heard = len(self.wire.messages)
                for chat in [uri for uri in self.wire.states if kind_of(uri) == "chat"]:
                    for about, kind, fields in answers_to(self.wire.state(chat)):
                        await self._once(about, chat, kind, fields)
                await self.wire.until(lambda heard=heard: len(self.wire.messages) > heard)  # type: ignore[misc]
            await follow_all(self.wire)

    def _is_over(self, number: int) -> bool:
        state = self.wire.states[self.chat]
        return state.active_turn is None and len(state.turns) >= number

    async def _once(self, about: str, channel: str, type: str, fields: dict[str, Any]) -> None:  # noqa: A002
        if about not in self._done:
            self._done.add(about)
            await self.dispatch(channel, type, **fields)


class Stumbler(MemoryWire):
    """Loses its connection once: after so many messages, or when it sends so many, which arrive or do not."""

    def __init__(self, hub: Hub, *, takes: int = 0, sends: int = 0, arrives: bool = True) -> None:
        super().__init__(hub, "driver")
        self.takes = takes
        self.sends = sends
        self.arrives = arrives
        self.counting = False
        self.taken = 0
        self.sent = 0
        self.driver = Driver(self)

    def take(self, frame: bytes) -> None:
        super().take(frame)
        self.taken += self.counting
        if self.counting and self.taken == self.takes:
            self._stumble()

    async def send(self, message: Any) -> None:
        self.sent += self.counting
        if not (self.counting and self.sent == self.sends):
            await super().send(message)
            return
        if self.arrives:
            await super().send(message)
        self._stumble()
        raise ConnectionError("lost")

    def _stumble(self) -> None:
        self.counting = False
        self.hub.closed(self.lose())

    def _take_action(self, envelope: dict[str, Any]) -> None:
        super()._take_action(envelope)
        self.driver.heard(envelope)

    async def drive(self, prompts: tuple[str, ...]) -> None:
        """Have the turns played, whatever happens on the way."""
        await self.driver.begin()
        self.counting = True
        while True:
            try:
                await self.driver.drive(prompts)
                await self.settled()
            except ConnectionError:
                await self.reconnect()
                await self.driver.send_again()
            else:
                return


class Leaver(MemoryWire):
    """Follows everything, and loses the connection at every `every`-th frame that it is sent.

    It comes back when another client has got `away` messages more; `late`: before the host noticed that it left.
    """

    def __init__(self, hub: Hub, every: int, away: int, late: bool) -> None:
        super().__init__(hub, f"leaver-{every}")
        self.every = every
        self.away = away
        self.late = late
        self.losses = 0
        self.frames = 0
        self._counting = False
        self._lost: list[MemoryLink] = []
        self._is_over = False

    def take(self, frame: bytes) -> None:
        super().take(frame)
        if self._counting and b'"method"' in frame:
            self.frames += 1
            if self.frames % self.every == 0:
                self._lost.append(self.lose())
                self.losses += 1

    def finish(self) -> None:
        """Come back for good once everything is there."""
        self._is_over = True
        self.every = 1_000_000_000
        self._changed.set()

    async def begin(self) -> None:
        await self.initialize("ahp-root://")
        await follow_all(self)
        self._counting = True

    async def live(self, steady: Wire) -> None:
        """Leave, come back, until `finish`."""
        while True:
            try:
                await self._follow()
            except ConnectionError:
                mark = len(steady.messages) + self.away
                await steady.until(lambda: len(steady.messages) >= mark or self._is_over)  # noqa: B023
                await self._come_back()
            else:
                return

    async def _follow(self) -> None:
        while not self._is_over:
            await follow_all(self)
            await self.until(lambda: unknown(self) or self._is_over)
        await follow_all(self)
        await self.settled()

    async def _come_back(self) -> None:
        if not self.late:
            self._tell_host()
        try:
            await self.reconnect()
        finally:
            self._tell_host()

    def _tell_host(self) -> None:
        while self._lost:
            self.hub.closed(self._lost.pop())


async def play(house: House, leavers: list[Leaver], prompts: tuple[str, ...] = TURNS) -> Wire:
    """Play the turns with these clients watching; the one that drove and never left is returned."""
    driver = Driver(MemoryWire(house.hub, "driver"))
    await driver.begin()
    for leaver in leavers:
        await leaver.begin()
    async with asyncio.TaskGroup() as tasks:
        for leaver in leavers:
            tasks.create_task(leaver.live(driver.wire))
        await driver.drive(prompts)
        for leaver in leavers:
            leaver.finish()
        driver.wire._changed.set()
    return driver.wire
