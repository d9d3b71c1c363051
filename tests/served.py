"""Real hosts in processes of their own, and clients that speak raw JSON to them over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed

from holdfast.protocol.codec import convert, encode
from holdfast.protocol.envelope import decode_action
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.snapshot import STATES

__all__ = ["DEMO", "Clients", "Failed", "HostProcess", "Wire", "hosting", "kind_of", "user"]

DEMO: Final = "demo"

_PATIENCE: Final = 30.0
"""Seconds after which something that should have happened is believed not to happen."""


def user(text: str) -> dict[str, Any]:
    """A message as a person sends it."""
    return {"text": text, "origin": {"kind": "user"}}


def environment(home: Path) -> dict[str, str]:
    """The environment of a user who has set nothing; only what a program needs to start is kept."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "COVERAGE_PROCESS_START") if name in os.environ}
    return {**kept, "HOME": str(home), "PYTHONUNBUFFERED": "1"}


class HostProcess:
    """`holdfast serve` in a process of its own."""

    program: tuple[str, ...] = ("-m", "holdfast")
    """What Python is to run; a test may have a program of its own that does more than `holdfast`."""

    def __init__(self, data_dir: Path, *flags: str) -> None:
        self.data_dir = data_dir
        self.flags = flags
        self.url = ""
        self.log = data_dir.with_name(f"{data_dir.name}.log")
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "started"
        return self._process.pid

    async def start(self) -> None:
        """Start it and wait until it is ready."""
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *self.program,
                "serve",
                *("--data-dir", str(self.data_dir), "--port", "0", *self.flags),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=environment(self.data_dir.parent),
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(_PATIENCE):
            line = (await self._process.stdout.readline()).decode()
        word, _, self.url = line.strip().partition(" ")
        assert word == "ready", self.log.read_text()

    async def kill(self) -> None:
        """End it without a warning."""
        await self.end(signal.SIGKILL)

    async def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit code is returned."""
        assert self._process is not None, "started"
        if self._process.returncode is None:
            self._process.send_signal(number)
        async with asyncio.timeout(_PATIENCE):
            return await self._process.wait()

    def logged(self) -> list[dict[str, Any]]:
        """What it wrote to stderr so far."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@asynccontextmanager
async def hosting(directory: Path, *flags: str, program: tuple[str, ...] | None = None) -> AsyncIterator[HostProcess]:
    """A host with a data directory in this one, ended with the block however that ends."""
    host = HostProcess(directory / "data", *flags)
    host.program = program or host.program
    await host.start()
    try:
        yield host
    finally:
        await host.kill()


class Failed(Exception):
    """A request was answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.error = error


def kind_of(uri: str) -> str:
    """The kind of a channel, by the URIs these tests use."""
    if uri.startswith("ahp-root:"):
        return "root"
    if uri.startswith("ahp-chat:"):
        return "chat"
    return "annotations" if uri.endswith("/annotations") else "session"


class Wire:
    """A client: keeps every message it got, and the states they add up to."""

    _numbers = itertools.count(1)

    def __init__(self, url: str, client_id: str | None = None) -> None:
        self.url = url
        self.client_id = client_id or f"client-{next(self._numbers)}"
        self.messages: list[dict[str, Any]] = []
        self.states: dict[str, Any] = {}
        self.last_seen = 0
        self.close_code: int | None = None
        self.connection: ClientConnection | None = None
        self._answers: dict[int, tuple[asyncio.Future[Any], Callable[[Any], None] | None]] = {}
        self._changed = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._ids = itertools.count(1)
        self._seqs = itertools.count(1)

    # The connection

    async def open(self) -> None:
        """Connect, without a handshake of the protocol."""
        if self.url.startswith("unix:"):
            path = self.url.removeprefix("unix:")
            self.connection = await unix_connect(path, "ws://localhost/", max_size=None, ping_interval=None)
        else:
            self.connection = await connect(self.url, max_size=None, proxy=None, ping_interval=None)
        self.close_code = None
        self._reader = asyncio.create_task(self._read(self.connection))

    async def initialize(self, *subscriptions: str, versions: tuple[str, ...] = ("1.0.0",), **params: Any) -> Any:
        """Connect and begin."""
        await self.open()
        return await self.request(
            "initialize",
            protocolVersions=list(versions),
            clientId=self.client_id,
            initialSubscriptions=list(subscriptions),
            take=self._take_beginning,
            **params,
        )

    async def reconnect(self) -> Any:
        """Come back to what this client followed, and take what it missed."""
        await self.open()
        followed = list(self.states)
        return await self.request(
            "reconnect",
            clientId=self.client_id,
            lastSeenServerSeq=self.last_seen,
            subscriptions=followed,
            take=self._take_missed,
        )

    async def drop(self) -> None:
        """Lose the connection without a word."""
        if self.connection is not None:
            self.connection.transport.abort()
        await self.gone()

    async def gone(self) -> None:
        """Wait until the connection is closed, whoever closed it."""
        if self._reader is not None:
            async with asyncio.timeout(_PATIENCE):
                await self._reader

    async def close(self) -> None:
        if self.connection is not None:
            await self.connection.close()
            await self.gone()

    async def _read(self, connection: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for text in connection:
                self._receive(json.loads(text))
        self.close_code = connection.close_code
        for answer, _ in self._answers.values():
            answer.cancel()
        self._answers.clear()
        self._changed.set()

    # Sending

    async def send(self, message: Any) -> None:
        assert self.connection is not None, "open"
        await self.connection.send(message if isinstance(message, str) else json.dumps(message))

    async def post(
        self, method: str, channel: str = "ahp-root://", *, take: Callable[[Any], None] | None = None, **params: Any
    ) -> asyncio.Future[Any]:
        """Send a request without waiting for its answer. `take` is given the result before anything after it."""
        id = next(self._ids)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[id] = answer, take
        await self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": {"channel": channel, **params}})
        return answer

    async def request(
        self, method: str, channel: str = "ahp-root://", *, take: Callable[[Any], None] | None = None, **params: Any
    ) -> Any:
        """Send a request and return its result; an error raises `Failed`."""
        answer = await self.post(method, channel, take=take, **params)
        async with asyncio.timeout(_PATIENCE):
            return await answer

    def next_seq(self) -> int:
        """The number of this client's next action."""
        return next(self._seqs)

    async def dispatch(self, channel: str, type: str, *, seq: int | None = None, **fields: Any) -> int:  # noqa: A002
        """Send an action; its number is returned."""
        number = self.next_seq() if seq is None else seq
        params = {"channel": channel, "clientSeq": number, "action": {"type": type, **fields}}
        await self.send({"jsonrpc": "2.0", "method": "dispatchAction", "params": params})
        return number

    async def act(self, channel: str, type: str, **fields: Any) -> dict[str, Any]:  # noqa: A002
        """Send an action and return the envelope in which it came back, accepted or refused."""
        number = await self.dispatch(channel, type, **fields)
        envelope: dict[str, Any] = await self.until(lambda: self.echo(number))
        return envelope

    async def settled(self) -> None:
        """Wait until this client has everything that happened so far. Lists are answered in order with actions."""
        await self.request("listSessions", limit=1)

    async def subscribe(self, channel: str, **params: Any) -> Any:
        """Follow a channel; its state is returned."""
        result = await (await self.follow(channel, **params))
        return result["snapshot"]["state"]

    async def follow(self, channel: str, **params: Any) -> asyncio.Future[Any]:
        """Ask for a channel's snapshot without waiting for it."""
        return await self.post(
            "subscribe", channel, take=lambda result: self._take_snapshot(result["snapshot"]), **params
        )

    async def session(self, uri: str, **params: Any) -> str:
        """Make a session and follow it and its chat, whose URI is returned."""
        await self.request("createSession", uri, **{"provider": DEMO, **params})
        state = await self.subscribe(uri)
        await self.subscribe(state["defaultChat"])
        return str(state["defaultChat"])

    async def say(self, chat: str, turn: str, text: str) -> None:
        """Start a turn."""
        await self.dispatch(chat, "chat/turnStarted", turnId=turn, message=user(text))

    # Receiving

    def _receive(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        if "id" in message and "method" not in message:
            answer, take = self._answers.pop(message["id"], (None, None))
            if answer is not None and not answer.done():
                if "error" in message:
                    answer.set_exception(Failed(message["error"]))
                else:
                    if take is not None:
                        take(message["result"])
                    answer.set_result(message["result"])
        elif message["method"] == "action":
            self._take_action(message["params"])
        self._changed.set()

    def _take_beginning(self, result: dict[str, Any]) -> None:
        self.last_seen = result["serverSeq"]
        for snapshot in result["snapshots"]:
            self._take_snapshot(snapshot)

    def _take_missed(self, result: dict[str, Any]) -> None:
        if result["type"] == "snapshot":
            self.states.clear()
            for snapshot in result["snapshots"]:
                self._take_snapshot(snapshot)
        else:
            for envelope in result["actions"]:
                self._take_action(envelope)
            for uri in result["missing"]:
                del self.states[uri]

    def _take_snapshot(self, snapshot: dict[str, Any]) -> None:
        uri = snapshot["resource"]
        self.states[uri] = convert(STATES[kind_of(uri)], snapshot["state"])
        self.last_seen = max(self.last_seen, snapshot["fromSeq"])

    def _take_action(self, envelope: dict[str, Any]) -> None:
        assert envelope["serverSeq"] > self.last_seen, f"{envelope['serverSeq']} came after {self.last_seen}"
        self.last_seen = envelope["serverSeq"]
        uri = envelope["channel"]
        if uri in self.states and "rejectionReason" not in envelope:
            action = decode_action(json.dumps(envelope["action"]).encode())
            self.states[uri] = REDUCERS[kind_of(uri)](self.states[uri], action)

    async def until(self, condition: Callable[[], object]) -> Any:
        """Wait until something this client received makes the condition true; what it gave is returned."""
        async with asyncio.timeout(_PATIENCE):
            while not (found := condition()):
                self._changed.clear()
                if self._reader is not None and self._reader.done():
                    raise ConnectionError(f"the connection was closed ({self.close_code}) while waiting")
                await self._changed.wait()
        return found

    def envelopes(self, channel: str | None = None) -> list[dict[str, Any]]:
        """The envelopes that came as notifications, in order."""
        found = [message["params"] for message in self.messages if message.get("method") == "action"]
        return [each for each in found if channel is None or each["channel"] == channel]

    def actions(self, type: str, channel: str | None = None) -> list[dict[str, Any]]:  # noqa: A002
        """The accepted actions of a type."""
        found = [each for each in self.envelopes(channel) if "rejectionReason" not in each]
        return [each["action"] for each in found if each["action"]["type"] == type]

    def notices(self, method: str) -> list[dict[str, Any]]:
        """The params of the notifications of a method, in order."""
        return [message["params"] for message in self.messages if message.get("method") == method]

    def state(self, channel: str) -> dict[str, Any]:
        """What this client believes of a channel, as JSON."""
        found: dict[str, Any] = json.loads(encode(self.states[channel]))
        return found

    def echo(self, number: int) -> dict[str, Any] | None:
        """What came back of one of this client's own actions."""
        origin = {"clientId": self.client_id, "clientSeq": number}
        return next((each for each in self.envelopes() if each.get("origin") == origin), None)

    async def ended(self, chat: str, turns: int = 1) -> Any:
        """Wait until a chat has so many completed turns and none that runs; the last one is returned."""

        def done() -> Any:
            state = self.states[chat]
            return state.active_turn is None and len(state.turns) >= turns

        await self.until(done)
        return self.state(chat)["turns"][-1]


class Clients(AsyncExitStack):
    """Makes the clients of one test, and closes them at its end."""

    def __init__(self, host: HostProcess) -> None:
        super().__init__()
        self.host = host

    def wire(self, client_id: str | None = None) -> Wire:
        """A client that has not connected."""
        wire = Wire(self.host.url, client_id)
        self.push_async_callback(wire.close)
        return wire

    async def opened(self) -> Wire:
        """A client that is connected and has not said a word."""
        wire = self.wire()
        await wire.open()
        return wire

    async def __call__(self, *subscriptions: str, client_id: str | None = None, **params: Any) -> Wire:
        """A client that has shaken hands."""
        wire = self.wire(client_id)
        await wire.initialize(*subscriptions, **params)
        return wire
