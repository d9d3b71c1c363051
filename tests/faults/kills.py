"""A host is killed at random instants under load, again and again, and its clients are asked what they lost.

Three clients work at once: each writes numbered remarks, plays turns with streams, tools and questions in a chat that
all of them follow, renames and drafts. After each kill the host is started again, the clients reconnect, now and then
one of them a round later, send again what was not acknowledged, and then:

- what was acknowledged is there, once, and in the order in which it was sent;
- what every client believes equals what a newcomer is shown;
- no number was given to two different envelopes, and none came after a higher one;
- a turn that ran has ended with an error and can be resumed, its question is still there, and so are the messages
  that were queued behind it and the draft (`keepsakes`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from websockets.exceptions import ConnectionClosed

from faults.answering import answers_to
from faults.keepsakes import Keeper
from faults.lost import Lost
from holdfast.protocol.uris import annotations_of
from holdfast.testing import comparable
from served import DEMO, HostProcess, Wire, kind_of, user

__all__ = ["Campaign", "Tally"]

_ROUNDS: Final = 10
"""Kills that one session lives through. Then comes another, so that comparing stays quick."""

_ABSENT: Final = 0.15
"""How likely a client is to stay away for a round. It has missed much when it comes back."""

_PROMPTS: Final = (
    "burst 300",
    "markdown",
    "long 200 2000",
    "approve",
    "form",
    "parallel",
    "think",
    "big 40",
    "big 600",
)


@dataclass
class Worker:
    """One client with what it sent. `sent` keeps every action until its echo has come."""

    number: int
    wire: Wire
    chance: random.Random
    session: str = ""
    chat: str = ""
    remarks: int = 0
    turns: int = 0
    absent: bool = False
    sent: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    acknowledged: list[str] = field(default_factory=list)
    """The remarks whose echoes came, in order."""
    begun: list[str] = field(default_factory=list)
    """The turns whose echoes came."""
    heard: int = 0
    """How many messages were looked at."""

    async def enter(self, session: str, chat: str) -> None:
        """Work in another session from now on."""
        self.session, self.chat = session, chat
        for channel in tuple(self.wire.states):
            if kind_of(channel) != "root":
                del self.wire.states[channel]
        for channel in (session, chat, annotations_of(session)):
            await self.wire.subscribe(channel)
        self.remarks = 0
        self.sent.clear()
        self.acknowledged.clear()
        self.begun.clear()

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
            await self.dispatch(self.session, "session/titleChanged", title=f"by {self.number}, {self.remarks}")
        elif dice < 0.8:
            draft = user(f"draft {self.chance.random()}")
            await self.dispatch(self.chat, "chat/draftChanged", draft=draft)
        else:
            await self._converse()

    async def _remark(self) -> None:
        self.remarks += 1
        entry = {"id": f"{self.number}-{self.remarks}", "text": "x" * self.chance.randrange(200)}
        await self.dispatch(annotations_of(self.session), "annotations/entrySet", annotationId="log", entry=entry)

    async def _converse(self) -> None:
        """Start a turn, answer what the running one asks, or end it."""
        state = self.wire.state(self.chat)
        if "activeTurn" not in state:
            self.turns += 1
            await self.dispatch(
                self.chat,
                "chat/turnStarted",
                turnId=f"{self.number}-{self.turns}",
                message=user(self.chance.choice(_PROMPTS)),
            )
            return
        asked = [*answers_to(state)]
        for _, kind, fields in asked:
            await self.dispatch(self.chat, kind, **fields)
        if not asked and self.chance.random() < 0.1:
            await self.dispatch(self.chat, "chat/turnCancelled", turnId=state["activeTurn"]["id"])

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
        elif sent[1]["type"] == "chat/turnStarted" and "rejectionReason" not in envelope:
            self.begun.append(sent[1]["turnId"])

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
        there = set(remarks_in(self.wire.state(annotations_of(self.session))))
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
    turns: int = 0
    replays: int = 0
    snapshots: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.acknowledged} acknowledged remarks and {self.turns} turns: 0 lost,"
            f" 0 duplicated, 0 out of order; {self.replays} reconnects by replay, {self.snapshots} by snapshot;"
            f" {self.kills} broken turns with their questions, queues and drafts resumed"
        )


class Campaign:
    """Many kills of one host."""

    def __init__(self, directory: Path, seed: int, *flags: str, clients: int = 3) -> None:
        self.host = HostProcess(directory / "data", "--rate-limit", "0", "--log-level", "warning", *flags)
        self.chance = random.Random(seed)
        self.tally = Tally()
        self.workers = [
            Worker(number, Wire("", f"worker-{number}-{seed}"), random.Random(f"{seed}/{number}"))
            for number in range(clients)
        ]
        self._numbers: dict[int, int] = {}
        """Every number that was seen, and what it was given to."""
        self._highest = 0

    async def run(self, kills: int, report: Callable[[Tally], None] = lambda _: None) -> Tally:
        """Do all of it. Raises `Lost`."""
        async with self._prepared():
            for number in range(kills):
                if number % _ROUNDS == 0:
                    await self._change_session(number // _ROUNDS)
                await self._round(is_last=(number + 1) % _ROUNDS == 0 or number + 1 == kills)
                report(self.tally)
        return self.tally

    @asynccontextmanager
    async def _prepared(self) -> AsyncIterator[None]:
        await self.host.start()
        try:
            for worker in self.workers:
                worker.wire.url = self.host.url
                await worker.wire.initialize("ahp-root://")
            yield
        finally:
            for worker in self.workers:
                await worker.wire.close()
            await self.host.kill()

    async def _change_session(self, number: int) -> None:
        session = f"demo:/0197b1a2-0000-7000-8000-{number:012}"
        first = self.workers[0].wire
        await first.request("createSession", session, provider=DEMO, config={"speed": 2000})
        chat = (await first.subscribe(session))["defaultChat"]
        log = {
            "id": "log",
            "origin": {"session": session, "turnId": ""},
            "resource": "file:///log",
            "resolved": False,
            "entries": [{"id": "0", "text": ""}],
        }
        await first.subscribe(annotations_of(session))
        await first.dispatch(annotations_of(session), "annotations/set", seq=0, annotation=log)
        await first.settled()
        for worker in self.workers:
            await worker.enter(session, chat)

    async def _round(self, *, is_last: bool) -> None:
        """Work, a kill, a new start, and a look at what is left."""
        keeper = Keeper(Wire(self.host.url, f"keeper-{self.tally.kills}"), self.tally.kills)
        present = [worker for worker in self.workers if not worker.absent]
        tasks = [asyncio.create_task(worker.work()) for worker in present]
        await keeper.prepare()
        await asyncio.sleep(self.chance.uniform(0.01, 0.5))
        await self.host.kill()
        await asyncio.gather(*tasks)
        for wire in (keeper.wire, *(worker.wire for worker in present)):
            await wire.gone()
        await self.host.start()
        self.tally.kills += 1
        await keeper.look(self.host.url)
        for worker in self.workers:
            worker.absent = not is_last and self.chance.random() < _ABSENT
            if not worker.absent:
                await self._bring_back(worker)
        await self._check(is_last)

    async def _bring_back(self, worker: Worker) -> None:
        if await worker.come_back(self.host.url) == "replay":
            self.tally.replays += 1
        else:
            self.tally.snapshots += 1

    async def _check(self, is_last: bool) -> None:
        newcomer = Wire(self.host.url, f"newcomer-{self.tally.kills}")
        result = await newcomer.initialize("ahp-root://")
        if result["serverSeq"] < self._highest:
            raise Lost(f"the host is at {result['serverSeq']}, {self._highest} was seen before")
        channels = [self.workers[0].session, self.workers[0].chat, annotations_of(self.workers[0].session)]
        for channel in channels:
            await newcomer.subscribe(channel)
        present = [worker for worker in self.workers if not worker.absent]
        for worker in present:
            # Everything that was sent again has its echo, or was known already and never gets one.
            await worker.wire.settled()
            worker.note()
            worker.sent.clear()
        await self._quiet(newcomer, present)
        for worker in present:
            self._compare(worker, newcomer, channels)
        self._check_remarks(newcomer, present)
        self._check_turns(newcomer)
        self._check_numbers(present)
        if is_last:
            self.tally.acknowledged += sum(len(worker.acknowledged) for worker in self.workers)
            self.tally.turns += sum(len(worker.begun) for worker in self.workers)
        await newcomer.close()

    async def _quiet(self, newcomer: Wire, present: list[Worker]) -> None:
        """Stop what runs, and wait until everybody has heard of it and has all of the history."""
        chat = self.workers[0].chat
        wires = [newcomer, *(worker.wire for worker in present)]
        turn = newcomer.state(chat).get("activeTurn")
        if turn is not None:
            await newcomer.dispatch(chat, "chat/turnCancelled", turnId=turn["id"])
        for wire in wires:
            await wire.until(lambda wire=wire: wire.states[chat].active_turn is None)  # type: ignore[misc]
            while (cursor := wire.states[chat].turns_next_cursor) is not None:
                await wire.request("fetchTurns", chat, cursor=cursor)
            await wire.settled()

    def _compare(self, worker: Worker, newcomer: Wire, channels: list[str]) -> None:
        for channel in channels:
            kind = kind_of(channel)
            believed, shown = (comparable(kind, wire.state(channel)) for wire in (worker.wire, newcomer))
            if believed != shown:
                raise Lost(f"client {worker.number} believes of {channel}:\n{believed}\nshown is:\n{shown}")

    def _check_remarks(self, newcomer: Wire, present: list[Worker]) -> None:
        there = remarks_in(newcomer.state(annotations_of(self.workers[0].session)))
        if len(set(there)) != len(there):
            raise Lost("a remark is there twice")
        for worker in self.workers:
            missing = set(worker.acknowledged) - set(there)
            if missing:
                raise Lost(f"acknowledged and gone: {sorted(missing)}")
            mine = [int(each.split("-")[1]) for each in there if each.startswith(f"{worker.number}-")]
            if mine != sorted(mine):
                raise Lost(f"the remarks of client {worker.number} changed their order: {mine}")
            if worker in present and len(mine) != worker.remarks:
                raise Lost(f"client {worker.number} sent {worker.remarks} remarks, {len(mine)} are there")

    def _check_turns(self, newcomer: Wire) -> None:
        there = Counter(turn["id"] for turn in newcomer.state(self.workers[0].chat)["turns"])
        if max(there.values(), default=1) > 1:
            raise Lost("a turn is there twice")
        missing = [turn for worker in self.workers for turn in worker.begun if turn not in there]
        if missing:
            raise Lost(f"acknowledged and gone: {missing}")

    def _check_numbers(self, present: list[Worker]) -> None:
        """One number, one envelope, whoever received it. Clients check that numbers rise."""
        for worker in present:
            for message in worker.wire.messages:
                if message.get("method") == "action":
                    self._check_number(message["params"])
            worker.wire.messages.clear()
            worker.heard = 0

    def _check_number(self, envelope: dict[str, Any]) -> None:
        number, text = envelope["serverSeq"], json.dumps(envelope, sort_keys=True)
        self._highest = max(self._highest, number)
        # Private pages of history have a number of their own; nobody else has seen it.
        if self._numbers.setdefault(number, hash(text)) != hash(text):
            raise Lost(f"number {number} was given twice")
