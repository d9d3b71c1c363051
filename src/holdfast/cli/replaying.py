"""The clients' side of a wire log, said again to a host: when to say what, and what came of it.

A client says the next thing once every client has heard as much as it had in the log. Where that never comes it goes
on after some silence; what is missing then shows in the comparison.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from holdfast.cli.heard import Heard, is_delta
from holdfast.cli.matching import Names, differences, rename_apart
from holdfast.cli.wire_log import HIDDEN, Entry
from holdfast.client.targets import Dial
from holdfast.client.transports import Transport, TransportClosed

__all__ = ["Difference", "Player"]

# How a host ends connections because of what a client said; others end with the host or the network.
_DESERVED: Final = frozenset({1002, 1003, 1007, 1008, 1009})

# Requests that make a channel: by its URI, or a chat by that.
_MAKING: Final = frozenset({"createSession", "createChat", "createTerminal"})


@dataclass(frozen=True)
class Difference:
    """Something came back otherwise."""

    where: str
    says: str


@dataclass
class _Link:
    """One connection of the log, and of the replay."""

    number: int
    transport: Transport
    reader: asyncio.Task[None] | None = None
    methods: dict[Any, str] = field(default_factory=dict)
    """What the requests with these ids are about."""
    closed: TransportClosed | None = None


@dataclass
class _Client:
    """What a client heard in the log, and hears now."""

    then: Heard = field(default_factory=Heard)
    now: Heard = field(default_factory=Heard)


class Player:
    """Plays one log. `apart`: the host has sessions of its own, and what the log makes gets other names."""

    def __init__(self, dial: Dial, *, patience: float, apart: bool) -> None:
        self._dial = dial
        self._patience = patience
        self._apart = apart
        self._names = Names()
        self._links: dict[int, _Link] = {}
        self._clients: dict[str, _Client] = {}
        self._by_link: dict[int, str] = {}
        self._learned: dict[tuple[str, str, str], int] = {}
        self._given_up: set[tuple[str, str, Any]] = set()
        self._unanswerable: set[tuple[int, Any]] = set()
        self._methods: dict[tuple[int, Any], str] = {}
        self._changed = asyncio.Event()
        self._closings: list[Difference] = []
        self.messages = 0
        self.notes: list[str] = []

    async def play(self, entries: Iterable[Entry]) -> list[Difference]:
        """Say everything; how what came back differs. Raises `NoHost`."""
        try:
            for entry in entries:
                await self._step(entry)
            await self._catch_up("the end")
        finally:
            for link in self._links.values():
                await self._close(link)
        return [*self._compared(), *self._closings]

    @property
    def connections(self) -> int:
        return len(self._links)

    # Step by step

    async def _step(self, entry: Entry) -> None:
        link = self._links.get(entry.conn)
        if link is None:
            link = await self._opened(entry.conn)
        if entry.event == "close":
            await self._end(link, entry)
        elif entry.raw is not None:
            if entry.dir == "c2s":
                await self._say(link, entry.raw.encode())
        elif isinstance(entry.msg, dict):
            if entry.dir == "s2c":
                self._client(link).then.take(entry.msg, link.number, link.methods)
            else:
                await self._say_again(link, entry.msg)

    async def _opened(self, number: int) -> _Link:
        link = self._links[number] = _Link(number, await self._dial())
        link.reader = asyncio.create_task(self._read(link))
        return link

    async def _read(self, link: _Link) -> None:
        try:
            while True:
                message = json.loads(await link.transport.receive())
                self._client(link).now.take(message, link.number, link.methods)
                self._changed.set()
        except TransportClosed as closed:
            link.closed = closed
            self._changed.set()

    def _client(self, link: _Link) -> _Client:
        name = self._by_link.get(link.number, f"connection {link.number}")
        return self._clients.setdefault(name, _Client())

    async def _say_again(self, link: _Link, message: dict[str, Any]) -> None:
        method = message.get("method")
        await self._catch_up(str(method or "an answer"))
        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        assert isinstance(params, dict), "as asked"
        if method in ("initialize", "reconnect") and "clientId" in params:
            self._by_link[link.number] = str(params["clientId"])
            if self._apart:
                rename_apart(self._names, str(params["clientId"]), str(uuid4()))
        if method in _MAKING and self._apart:
            made = params.get("chat") or params.get("channel") or params.get("session")
            rename_apart(self._names, str(made), str(uuid4()))
        if method is None:
            message = self._as_answer(link, message)
        elif "id" in message:
            link.methods[message["id"]] = self._methods[link.number, message["id"]] = method
        said = self._names.translated(message)
        if method == "reconnect":
            self._client(link).then.forget_after(int(params.get("lastSeenServerSeq", 0)))
            said["params"]["lastSeenServerSeq"] = self._client(link).now.last_seen
        if HIDDEN in json.dumps(params):
            self.notes.append(f"a secret of {method} is not in the log")
            self._unanswerable.add((link.number, message.get("id")))
        await self._say(link, json.dumps(said).encode())

    def _as_answer(self, link: _Link, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of the host, under the id that it has now."""
        client = self._client(link)
        place = next((i for i, asked in enumerate(client.then.asked) if asked["id"] == message.get("id")), None)
        if place is None or place >= len(client.now.asked):
            self.notes.append("a request of the host did not come again")
            return message
        return {**message, "id": client.now.asked[place]["id"]}

    async def _say(self, link: _Link, data: bytes) -> None:
        self.messages += 1
        try:
            await link.transport.send(data)
        except TransportClosed as closed:
            link.closed = closed

    async def _end(self, link: _Link, entry: Entry) -> None:
        if entry.dir == "s2c" and entry.code in _DESERVED:
            await self._until(lambda: link.closed is not None)
            code = link.closed.code if link.closed else None
            if code != entry.code:
                where = f"connection {link.number}"
                self._closings.append(Difference(where, f"was closed with {entry.code} before, now {code or 'not'}"))
            return
        await self._catch_up("the end of a connection")
        if entry.dir == "s2c":
            self.notes.append(f"the host ended connection {link.number} ({entry.code}); here the client does")
        await self._close(link)

    async def _close(self, link: _Link) -> None:
        await link.transport.close()
        if link.reader is not None:
            await link.reader

    # Waiting

    async def _catch_up(self, what_for: str) -> None:
        """Until every client has heard as much as in the log."""
        if not await self._until(lambda: not self._missing()):
            self.notes.append(f"before {what_for}: not everything came within {self._patience:g} s")
            # It is not waited for again.
            self._given_up |= self._missing()
        self._learn()

    def _missing(self) -> set[tuple[str, str, Any]]:
        self._learn()
        found = {
            (name, *what)
            for name, client in self._clients.items()
            for what in client.now.lacks(client.then, self._names)
        }
        return found - self._given_up

    async def _until(self, condition: Any) -> bool:
        """Wait for something to become true, as long as something comes at all."""
        while not condition():
            self._changed.clear()
            try:
                async with asyncio.timeout(self._patience):
                    await self._changed.wait()
            except TimeoutError:
                return False
        return True

    def _learn(self) -> None:
        """What the host calls things now, from what came and is complete."""
        for name, client in self._clients.items():
            for kind, key, then, now in _pairs(client, self._names):
                first = self._learned.get((name, kind, key), 0)
                complete = min(len(then), len(now))
                if kind == "stream" and complete and any(map(is_delta, (then[complete - 1], now[complete - 1]))):
                    complete -= 1  # it may go on
                for old, new in zip(then[first:complete], now[first:complete], strict=True):
                    list(differences(old, new, self._names))
                self._learned[name, kind, key] = max(first, complete)

    # Comparing

    def _compared(self) -> Iterator[Difference]:
        for name, client in self._clients.items():
            if client.then.is_in_the_middle:
                client.now.cut_to(client.then, self._names)
            yield from self._answers(client)
            yield from _each("rejection", client.then.rejections, client.now.rejections, self._names)
            yield from _each("summary", client.then.catalogue, client.now.catalogue, self._names, others=False)
            then, now = dict(client.then.states()), dict(client.now.states())
            yield from _each("state", then, now, self._names)
            for method in client.then.notices.keys() | client.now.notices.keys():
                before, after = (len(heard.notices.get(method, ())) for heard in (client.then, client.now))
                if before != after and not (self._apart and method.startswith("root/")):
                    yield Difference(name, f"{method} came {before} times before, {after} now")

    def _answers(self, client: _Client) -> Iterator[Difference]:
        for place, then in client.then.answers.items():
            if place in self._unanswerable:
                continue
            connection, id = place
            method = self._methods.get(place, "a message")
            where = f"answer to {method} (connection {connection}, id {id})"
            now = client.now.answers.get(place)
            if now is None:
                yield Difference(where, "did not come")
            else:
                old, new = (_said(answer, method) for answer in (then, now))
                if method == "listSessions" and self._apart:
                    new["result"] = {"items": _same_items(old, new, self._names)}
                for says in differences(old, new, self._names):
                    yield Difference(where, says)


def _pairs(client: _Client, names: Names) -> Iterator[tuple[str, str, list[Any], list[Any]]]:
    """What belongs together, in the order in which it came."""
    for place, answer in client.then.answers.items():
        if place in client.now.answers:
            yield "answer", repr(place), [answer], [client.now.answers[place]]
    yield "asked", "", client.then.asked, client.now.asked
    for method, told in client.then.notices.items():
        yield "notice", method, told, client.now.notices.get(method, [])
    for uri, stream in client.then.streams.items():
        yield "stream", uri, stream, client.now.streams.get(names.translated(uri), [])


def _said(answer: dict[str, Any], method: str) -> dict[str, Any]:
    """An answer without the states in it, which are compared in the end, and the page of all sessions in order."""
    result = answer.get("result")
    if not isinstance(result, dict):
        return answer
    kept = {key: value for key, value in result.items() if key not in ("snapshots", "snapshot", "actions")}
    if method == "listSessions" and isinstance(result.get("items"), list):
        kept["items"] = sorted(result["items"], key=lambda item: str(item.get("createdAt", "")))
    return {**answer, "result": kept}


def _same_items(old: dict[str, Any], new: dict[str, Any], names: Names) -> list[Any]:
    """Of a list of sessions those that the log has too, in its order."""
    items = {item.get("resource"): item for item in new.get("result", {}).get("items", ())}
    wanted = [names.translated(item.get("resource")) for item in old.get("result", {}).get("items", ())]
    return [items[uri] for uri in wanted if uri in items]


def _each(
    what: str, then: dict[Any, Any], now: dict[Any, Any], names: Names, *, others: bool = True
) -> Iterator[Difference]:
    """Differences between values by name. `others`: what is new counts too."""
    here = {names.translated(key): key for key in then}
    for new_key, key in here.items():
        where = f"{what} of {key}"
        if new_key not in now:
            yield Difference(where, "is missing")
            continue
        for says in differences(then[key], now[new_key], names):
            yield Difference(where, says)
    for new_key in now:
        if others and new_key not in here:
            yield Difference(f"{what} of {new_key}", "is new")
