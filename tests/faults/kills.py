"""A host is killed at random instants under load, again and again, and its clients are asked what they lost.

Three clients work at once: each writes numbered remarks, plays turns with streams, tools and questions in chats that
all of them follow, renames and drafts. After each kill the host is started again, every client reconnects, sends
again what was not acknowledged, and then:

- what was acknowledged is there, once, and in the order in which it was sent;
- what every client believes equals what a newcomer is shown;
- no number was given to two different envelopes, and none came after a higher one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from websockets.exceptions import ConnectionClosed

from holdfast.protocol.uris import annotations_of
from holdfast.testing import comparable
from served import HostProcess, Wire, kind_of, user

__all__ = ["Campaign", "Lost"]

SESSION: Final = "demo:/0197b1a2-0000-7000-8000-00000000fa17"
REMARKS: Final = annotations_of(SESSION)

_PROMPTS: Final = ("burst 300", "markdown", "long 200 2000", "approve", "form", "parallel", "think", "big 200")


class Lost(AssertionError):
    """A promise was broken."""


@dataclass
class Worker:
    """One client with what it sent. `sent` keeps every action until its echo has come."""

    number: int
    wire: Wire
    chance: random.Random
    chat: str = ""
    remarks: int = 0
    turns: int = 0
    sent: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    acknowledged: list[str] = field(default_factory=list)
    """The remarks whose echoes came, in order."""
    heard: int = 0
    """How many messages were looked at."""

    async def dispatch(self, channel: str, type: str, **fields: Any) -> None:  # noqa: A002
        """Send an action, and remember it before: a kill may come in between."""
        number = self.wire.next_seq()
        self.sent[number] = (channel, {"type": type, **fields})
        await self.wire.dispatch(channel, type, seq=number, **fields)

    async def work(self) -> None:
        """Do something, over and over, until the connection is lost."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self._step()
                self.note()
                await asyncio.sleep(self.chance.expovariate(500))

    async def _step(self) -> None:
        dice = self.chance.random()
        if dice < 0.6:
            await self._remark()
        elif dice < 0.7:
            await self.dispatch(SESSION, "session/titleChanged", title=f"by {self.number}, {self.remarks}")
        elif dice < 0.8:
            draft = user(f"draft {self.chance.random()}")
            await self.dispatch(self.chat, "chat/draftChanged", draft=draft)
        else:
            await self._converse()

    async def _remark(self) -> None:
        self.remarks += 1
        entry = {"id": f"{self.number}-{self.remarks}", "text": "x" * self.chance.randrange(200)}
        await self.dispatch(REMARKS, "annotations/entrySet", annotationId="log", entry=entry)

    async def _converse(self) -> None:
        """Start a turn, or answer what the running one asks."""
        state = self.wire.state(self.chat)
        turn = state.get("activeTurn")
        if turn is None:
            self.turns += 1
            await self.dispatch(
                self.chat,
                "chat/turnStarted",
                turnId=f"{self.number}-{self.turns}",
                message=user(self.chance.choice(_PROMPTS)),
            )
            return
        for part in turn["responseParts"]:
            call = part.get("toolCall", {})
            if call.get("status") == "pending-confirmation":
                ids = {"turnId": turn["id"], "toolCallId": call["toolCallId"]}
                await self.dispatch(
                    self.chat, "chat/toolCallConfirmed", **ids, approved=True, confirmed="user-action"
                )
            elif part["kind"] == "inputRequest" and "response" not in part:
                await self.dispatch(
                    self.chat, "chat/inputCompleted", requestId=part["request"]["id"], response="decline"
                )

    def note(self) -> None:
        """Take note of the echoes that came."""
        for message in self.wire.messages[self.heard :]:
            if message.get("method") == "action":
                self._acknowledge(message["params"])
        self.heard = len(self.wire.messages)

    def _acknowledge(self, envelope: dict[str, Any]) -> None:
        origin = envelope.get("origin", {})
        if origin.get("clientId") != self.wire.client_id or origin["clientSeq"] == 0:
            return
        sent = self.sent.pop(origin["clientSeq"], None)
        if sent is None:
            raise Lost(f"client {self.number} heard of its action {origin['clientSeq']} twice: {envelope}")
        if sent[1]["type"] == "annotations/entrySet":
            if "rejectionReason" in envelope:
                raise Lost(f"a remark was refused: {envelope['rejectionReason']}")
            self.acknowledged.append(sent[1]["entry"]["id"])

    async def come_back(self, url: str) -> str:
        """Reconnect, and send again what nobody acknowledged. How the host answered is returned."""
        self.note()
        self.wire.url = url
        result = await self.wire.reconnect()
        if result["type"] == "replay":
            for envelope in result["actions"]:
                self._acknowledge(envelope)
        else:
            self._look_in_snapshot()
        for number, (channel, action) in sorted(self.sent.items()):
            await self.wire.send(
                {
                    "jsonrpc": "2.0",
                    "method": "dispatchAction",
                    "params": {"channel": channel, "clientSeq": number, "action": action},
                }
            )
        return str(result["type"])

    def _look_in_snapshot(self) -> None:
        """A snapshot says of no action whether it is in it; of a remark it can be seen."""
        there = set(remarks_in(self.wire.state(REMARKS)))
        for number, (_, action) in tuple(self.sent.items()):
            if action["type"] != "annotations/entrySet" or action["entry"]["id"] in there:
                del self.sent[number]
                if action["type"] == "annotations/entrySet":
                    self.acknowledged.append(action["entry"]["id"])


def remarks_in(state: dict[str, Any]) -> list[str]:
    return [entry["id"] for annotation in state["annotations"] for entry in annotation["entries"]]


@dataclass
class Tally:
    """What a campaign saw."""

    kills: int = 0
    acknowledged: int = 0
    replays: int = 0
    snapshots: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.acknowledged} acknowledged actions, 0 lost, 0 duplicated, 0 out of order; "
            f"{self.replays} reconnects by replay, {self.snapshots} by snapshot"
        )


class Campaign:
    """Many kills of one host."""

    def __init__(self, directory: Path, seed: int, clients: int = 3) -> None:
        self.host = HostProcess(directory / "data", "--rate-limit", "0", "--log-level", "warning")
        self.chance = random.Random(seed)
        self.tally = Tally()
        self.workers = [
            Worker(number, Wire("", f"worker-{number}-{seed}"), random.Random(f"{seed}/{number}"))
            for number in range(clients)
        ]
        self._numbers: dict[int, str] = {}
        self._highest = 0

    async def run(self, kills: int) -> Tally:
        """Do all of it. Raises `Lost`."""
        async with self._prepared():
            for _ in range(kills):
                await self._round()
        return self.tally

    @asynccontextmanager
    async def _prepared(self) -> AsyncIterator[None]:
        await self.host.start()
        try:
            first, *others = self.workers
            first.wire.url = self.host.url
            await first.wire.initialize("ahp-root://")
            chat = await first.wire.session(SESSION)
            await first.wire.subscribe(REMARKS)
            origin = {"session": SESSION, "turnId": ""}
            log = {
                "id": "log",
                "origin": origin,
                "resource": "file:///log",
                "resolved": False,
                "entries": [{"id": "0", "text": ""}],
            }
            await first.wire.dispatch(REMARKS, "annotations/set", seq=0, annotation=log)
            for worker in others:
                worker.wire.url = self.host.url
                await worker.wire.initialize("ahp-root://")
                for channel in (SESSION, chat, REMARKS):
                    await worker.wire.subscribe(channel)
            for worker in self.workers:
                worker.chat = chat
            yield
        finally:
            for worker in self.workers:
                await worker.wire.close()
            await self.host.kill()

    async def _round(self) -> None:
        """Work, a kill, a new start, and a look at what is left."""
        tasks = [asyncio.create_task(worker.work()) for worker in self.workers]
        await asyncio.sleep(self.chance.uniform(0.02, 0.6))
        await self.host.kill()
        await asyncio.gather(*tasks)
        for worker in self.workers:
            await worker.wire.gone()
        await self.host.start()
        self.tally.kills += 1
        for worker in self.workers:
            if await worker.come_back(self.host.url) == "replay":
                self.tally.replays += 1
            else:
                self.tally.snapshots += 1
        await self._check()

    async def _check(self) -> None:
        newcomer = Wire(self.host.url, f"newcomer-{self.tally.kills}")
        await newcomer.initialize("ahp-root://")
        channels = [SESSION, self.workers[0].chat, REMARKS]
        for channel in channels:
            await newcomer.subscribe(channel)
        for worker in self.workers:
            # Everything that was sent again has its echo, or was known already and never gets one.
            await worker.wire.request("ping")
            worker.note()
            self._forget_known(worker, newcomer)
        await self._quiet(newcomer)
        for worker in self.workers:
            self._compare(worker, newcomer, channels)
        self._check_remarks(newcomer)
        self._check_numbers()
        await newcomer.close()

    def _forget_known(self, worker: Worker, newcomer: Wire) -> None:
        """What was committed and never acknowledged is a duplicate to the host, and is dropped without a word."""
        worker.sent.clear()
        there = set(remarks_in(newcomer.state(REMARKS)))
        missing = [each for each in worker.acknowledged if each not in there]
        if missing:
            raise Lost(f"acknowledged and gone: {missing}")

    async def _quiet(self, newcomer: Wire) -> None:
        """Stop what runs, and wait until everybody has heard of it."""
        chat = self.workers[0].chat
        wires = [worker.wire for worker in self.workers]
        turn = newcomer.state(chat).get("activeTurn")
        if turn is not None:
            await newcomer.dispatch(chat, "chat/turnCancelled", turnId=turn["id"])
        for wire in (newcomer, *wires):
            await wire.until(lambda wire=wire: wire.states[chat].active_turn is None)  # type: ignore[misc]
        for wire in (newcomer, *wires):
            await wire.request("ping")

    def _compare(self, worker: Worker, newcomer: Wire, channels: list[str]) -> None:
        for channel in channels:
            kind = kind_of(channel)
            believed, shown = (comparable(kind, wire.state(channel)) for wire in (worker.wire, newcomer))
            if believed != shown:
                raise Lost(f"client {worker.number} believes of {channel}:\n{believed}\nshown is:\n{shown}")

    def _check_remarks(self, newcomer: Wire) -> None:
        there = remarks_in(newcomer.state(REMARKS))
        if len(set(there)) != len(there):
            raise Lost("a remark is there twice")
        for worker in self.workers:
            mine = [int(each.split("-")[1]) for each in there if each.startswith(f"{worker.number}-")]
            if mine != sorted(mine):
                raise Lost(f"the remarks of client {worker.number} changed their order: {mine}")
            if len(mine) != worker.remarks:
                raise Lost(f"client {worker.number} sent {worker.remarks} remarks, {len(mine)} are there")
        self.tally.acknowledged = sum(len(worker.acknowledged) for worker in self.workers)

    def _check_numbers(self) -> None:
        """One number, one envelope, whoever received it. Clients check that numbers rise."""
        for worker in self.workers:
            for message in worker.wire.messages:
                params = message.get("params", {})
                if message.get("method") != "action" or "rejectionReason" in params:
                    continue
                text = json.dumps(params, sort_keys=True)
                if self._numbers.setdefault(params["serverSeq"], text) != text:
                    raise Lost(f"number {params['serverSeq']} was given twice")
            worker.wire.messages.clear()
            worker.heard = 0
