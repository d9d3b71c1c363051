"""A host with a journal, clients that speak JSON, and an agent that says what the test tells it to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from holdfast.host import dialects, lag, startup
from holdfast.host.batch import Close
from holdfast.host.connection import Connection
from holdfast.host.core import Host
from holdfast.host.jobs import Job
from holdfast.host.outgoing import LongAnswer, Message
from holdfast.host.sealing import Release, Step
from holdfast.host.settings import HostSettings
from holdfast.host.units import Root
from holdfast.journal.memory import MemoryJournal
from holdfast.ports.agent import (
    AgentEffect,
    AgentEvent,
    AgentQuery,
    AgentSaid,
    CheckToken,
    CompleteConfig,
    CompleteInput,
    OpenSession,
    ResolveConfig,
    ResolvedConfig,
    SessionOpened,
    StartTurn,
    TurnEnded,
    TurnKey,
    UnknownProperty,
)
from holdfast.ports.journal import Journal
from holdfast.protocol.codec import Wire, convert
from holdfast.protocol.common import ErrorInfo, ProtectedResourceMetadata
from holdfast.protocol.envelope import decode_action
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.root.commands import SessionConfigValueItem
from holdfast.protocol.root.state import (
    AgentCapabilities,
    AgentInfo,
    MultipleChatsCapability,
    MultipleWorkingDirectoriesCapability,
    SessionModelInfo,
)
from holdfast.protocol.session.state import SessionConfigPropertySchema, SessionConfigSchema
from holdfast.protocol.snapshot import STATES
from holdfast.server.engine import Engine
from holdfast.testing.environment import CountingIds, ManualClock

RESOURCE = "https://guarded.example/"


def agents() -> list[AgentInfo]:
    model = SessionModelInfo(id="m1", provider="play", name="Model One")
    capable = AgentCapabilities(
        multiple_chats=MultipleChatsCapability(fork=True, side_chat=True),
        multiple_working_directories=MultipleWorkingDirectoriesCapability(primary_replacement=True),
    )
    return [
        AgentInfo(provider="play", display_name="Play", description="Plays", models=(model,), capabilities=capable),
        AgentInfo(provider="plain", display_name="Plain", description="Can little", models=(model,)),
        AgentInfo(
            provider="guarded",
            display_name="Guarded",
            description="Wants a token",
            models=(model,),
            protected_resources=(ProtectedResourceMetadata(resource=RESOURCE),),
        ),
    ]


SCHEMA = SessionConfigSchema(
    type="object",
    properties={
        "mode": SessionConfigPropertySchema(
            type="string", title="Mode", enum=("ask", "auto"), default="ask", session_mutable=True
        ),
        "branch": SessionConfigPropertySchema(type="string", title="Branch", enum_dynamic=True),
        "fixed": SessionConfigPropertySchema(type="string", title="Fixed", read_only=True, session_mutable=True),
    },
)


class Client:
    """One connection: sends JSON, keeps every message it got, and the states they add up to."""

    def __init__(self, bench: Bench, connection: Connection) -> None:
        self.bench = bench
        self.connection = connection
        self.messages: list[dict[str, Any]] = []
        self.states: dict[str, Any] = {}
        self.from_seq: dict[str, int] = {}
        self.last_seen = 0
        self.closed: tuple[int, str] | None = None
        self._ids = 0
        self._seqs = 0

    # Sending

    def send(self, message: Any) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.bench.host.received(self.connection, data)
        self.bench.settle()

    def request_later(self, method: str, **params: Any) -> int:
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        self.bench.host.received(self.connection, json.dumps(message).encode())
        return self._ids

    def request(self, method: str, channel: str = "ahp-root://", **params: Any) -> Any:
        """Send a request and return its result; a failure raises `Failed`."""
        id = self.request_later(method, channel=channel, **params)
        self.bench.settle()
        return self.answer(id)

    def answer(self, id: int) -> Any:
        found = [message for message in self.messages if message.get("id") == id]
        assert len(found) == 1, f"{len(found)} answers to request {id}"
        if "error" in found[0]:
            raise Failed(found[0]["error"])
        return found[0]["result"]

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def dispatch(self, channel: str, type: str, *, seq: int | None = None, **fields: Any) -> int:  # noqa: A002
        """Dispatch an action; returns its number."""
        if seq is None:
            self._seqs += 1
            seq = self._seqs
        self.notify("dispatchAction", channel=channel, clientSeq=seq, action={"type": type, **fields})
        return seq

    # Receiving

    def got(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        if message.get("method") == "action":
            self._apply(message["params"])

    def _apply(self, envelope: dict[str, Any]) -> None:
        seq = envelope["serverSeq"]
        assert seq > self.last_seen, "numbers rise on a connection"
        self.last_seen = seq
        channel = envelope["channel"]
        if "rejectionReason" in envelope or seq <= self.from_seq.get(channel, -1) or channel not in self.states:
            return
        kind, state = self.states[channel]
        action = decode_action(json.dumps(envelope["action"]).encode())
        self.states[channel] = kind, REDUCERS[kind](state, action)

    def keep(self, snapshot: dict[str, Any]) -> Any:
        """Take a snapshot as the state of its channel."""
        for kind, state_type in STATES.items():
            if _looks_like(kind, snapshot["state"]):
                self.states[snapshot["resource"]] = kind, convert(state_type, snapshot["state"])
        self.from_seq[snapshot["resource"]] = snapshot["fromSeq"]
        self.last_seen = max(self.last_seen, snapshot["fromSeq"])
        return snapshot["state"]

    def subscribe(self, channel: str, **params: Any) -> Any:
        """Subscribe, and return the snapshot's state."""
        return self.keep(self.request("subscribe", channel, **params)["snapshot"])

    def state(self, channel: str) -> Any:
        """What the snapshot and everything since add up to."""
        return self.states[channel][1]

    def envelopes(self, channel: str | None = None) -> list[dict[str, Any]]:
        found = [message["params"] for message in self.messages if message.get("method") == "action"]
        return [each for each in found if channel is None or each["channel"] == channel]

    def actions(self, channel: str | None = None) -> list[str]:
        """The types of accepted actions received, in order."""
        return [each["action"]["type"] for each in self.envelopes(channel) if "rejectionReason" not in each]

    def refusals(self) -> list[str]:
        return [each["rejectionReason"] for each in self.envelopes() if "rejectionReason" in each]

    def notes(self, method: str) -> list[dict[str, Any]]:
        return [message["params"] for message in self.messages if message.get("method") == method]

    def clear(self) -> None:
        self.messages.clear()

    def drop(self) -> None:
        """Lose the connection."""
        self.bench.host.disconnected(self.connection)
        self.bench.settle()


def _looks_like(kind: str, state: dict[str, Any]) -> bool:
    keys = {"root": "agents", "session": "activeClients", "chat": "turns", "annotations": "annotations"}
    if kind not in keys or keys[kind] not in state:
        return False
    return kind != "annotations" or isinstance(state["annotations"], list)


class Failed(Exception):
    """A request failed."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.code = error["code"]
        self.data = error.get("data")
        self.message = error["message"]


class Bench:
    """Host, journal and clock of one test."""

    def __init__(self, journal: Journal | None = None, *, clock: ManualClock | None = None, **settings: Any) -> None:
        self.clock = clock or ManualClock()
        self.journal = journal or MemoryJournal()
        self.settings = HostSettings(**settings)
        self.effects: list[AgentEffect] = []
        self.open_at_once = True
        self.passes: int | None = None
        """How many passes the engine gets at a time, if somebody's reading is to last."""
        self.ids = CountingIds()
        self._begin()

    def _begin(self) -> None:
        infos = agents()
        root = Root(startup.root_state({info.provider: info for info in infos}, "1"))
        self.host = Host(self.clock, self.ids, self.settings, infos, root)
        self.engine = Engine(self.host, self.journal, self._deliver, self._ask)
        self.clients: list[Client] = []
        startup.start(self.host, self.journal.open(self.clock.wall()))
        self.settle()

    def restart(self) -> None:
        """Kill the host; another begins with the same journal."""
        self.effects.clear()
        self.clock.advance(1000)
        self._begin()

    def settle(self) -> None:
        self._settle()
        while self._opened():
            self._settle()

    def _settle(self) -> None:
        left = self.passes
        while not self.engine.settle():
            if left is not None:
                left -= 1
                if not left:
                    return

    def _opened(self) -> bool:
        waiting = [effect for effect in self.effects if isinstance(effect, OpenSession)]
        if not (waiting and self.open_at_once):
            return False
        for effect in waiting:
            self.effects.remove(effect)
            self.host.said(SessionOpened(effect.session))
        return True

    def _deliver(self, release: Release) -> None:
        for step in release.steps:
            if isinstance(step, Close):
                self._client(step.connection).closed = (step.code, step.reason)
            else:
                self._send(step)
        self.effects += release.effects

    def _send(self, step: Step) -> None:
        for connection in step.recipients:
            if connection.open and lag.passes(connection, step):
                for message in self._shown(step.message, connection):
                    self._client(connection).got(json.loads(message.text))

    def _shown(self, message: Message | LongAnswer, connection: Connection) -> tuple[Message | LongAnswer, ...]:
        if connection.bridge is None or isinstance(message, LongAnswer):
            return (message,)
        return dialects.shown(message, connection.bridge)

    def _client(self, connection: Connection) -> Client:
        return next(client for client in self.clients if client.connection is connection)

    def _ask(self, job: Job, query: AgentQuery) -> None:
        self.host.answered(job, query, _answer(query))

    # Clients

    def connect(self) -> Client:
        client = Client(self, self.host.connected(len(self.clients) + 1))
        self.clients.append(client)
        return client

    def client(self, id: str = "c1", **params: Any) -> Client:
        """A client that has shaken hands."""
        client = self.connect()
        result = client.request("initialize", protocolVersions=["1.0.0"], clientId=id, **params)
        client.last_seen = result["serverSeq"]
        for snapshot in result["snapshots"]:
            client.keep(snapshot)
        return client

    def reconnect(self, id: str, last_seen: int, subscriptions: list[str]) -> tuple[Client, dict[str, Any]]:
        client = self.connect()
        result = client.request("reconnect", clientId=id, lastSeenServerSeq=last_seen, subscriptions=subscriptions)
        return client, result

    # The agent

    def taken(self, kind: type) -> list[Any]:
        """The effects of one kind since they were last taken."""
        found = [effect for effect in self.effects if isinstance(effect, kind)]
        self.effects = [effect for effect in self.effects if not isinstance(effect, kind)]
        return found

    def started(self) -> StartTurn:
        """The one turn that was started."""
        (start,) = self.taken(StartTurn)
        assert isinstance(start, StartTurn)
        return start

    def say(self, key: TurnKey, *actions: Wire) -> None:
        for action in actions:
            self.host.said(AgentSaid(key, action))
        self.settle()

    def event(self, event: AgentEvent) -> None:
        self.host.said(event)
        self.settle()

    def end(self, key: TurnKey, error: ErrorInfo | None = None, *, resumable: bool = False) -> None:
        self.event(TurnEnded(key, error, resumable))

    def advance(self, milliseconds: int) -> None:
        """Let time pass and do what is due."""
        self.clock.advance(milliseconds)
        self.host.wake()
        self.settle()


def _answer(query: AgentQuery) -> Any:
    match query:
        case ResolveConfig():
            given = json.loads(query.config)
            kept = {key: value for key, value in given.items() if key != "mode" or value in ("ask", "auto")}
            return ResolvedConfig(SCHEMA, {"mode": "ask", **kept})
        case CompleteConfig(property="branch"):
            return (SessionConfigValueItem(value="main", label="main"),)
        case CompleteConfig():
            return UnknownProperty()
        case CompleteInput():
            return ()
        case CheckToken():
            return query.token != "bad"


def user(text: str, **fields: Any) -> dict[str, Any]:
    """A message from a user."""
    return {"text": text, "origin": {"kind": "user"}, **fields}


def numbers(client: Client) -> Iterator[int]:
    """The sequence numbers a client received."""
    return (each["serverSeq"] for each in client.envelopes())
