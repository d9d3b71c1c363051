"""Clients as they were written for each version of the protocol: raw JSON, in the words of that version's documents.

They share nothing with the host: each knows only how its own version spells things.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import Callable
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from served import Failed

__all__ = ["VINTAGES", "Vintage", "at_least"]

VINTAGES: Final = (
    "0.1.0",
    "0.2.0",
    "0.3.0",
    "0.4.0",
    "0.5.0",
    "0.5.1",
    "0.5.2",
    "0.6.0",
    "0.7.0",
    "0.8.0",
    "0.9.0",
    "1.0.0",
)

_PATIENCE: Final = 30.0
"""Seconds after which something that should have happened is believed not to happen."""


def at_least(version: str, since: str) -> bool:
    """Whether a version is not older than another."""
    return [int(part) for part in version.split(".")] >= [int(part) for part in since.split(".")]


class Vintage:
    """A client of one version."""

    _numbers = itertools.count(1)

    def __init__(self, url: str, version: str) -> None:
        self.url = url
        self.version = version
        self.client_id = f"vintage-{version}-{next(self._numbers)}"
        self.received: list[dict[str, Any]] = []
        self.methods: dict[int, str] = {}
        """What was asked, by the id of the request."""
        self.last_seen = 0
        self.close_code: int | None = None
        self._connection: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._changed = asyncio.Event()
        self._ids = itertools.count(1)
        self._seqs = itertools.count(1)

    def since(self, version: str) -> bool:
        return at_least(self.version, version)

    @property
    def root(self) -> str:
        return "ahp-root://" if self.since("0.2.0") else "agenthost:/root"

    # The connection

    async def begin(self) -> dict[str, Any]:
        """Connect and shake hands."""
        await self._open()
        result: dict[str, Any] = await self.request(
            "initialize",
            self.root,
            protocolVersions=[self.version],
            clientId=self.client_id,
            initialSubscriptions=[self.root],
        )
        return result

    async def come_back(self, *followed: str) -> dict[str, Any]:
        """Connect again and ask for what was missed."""
        await self._open()
        result: dict[str, Any] = await self.request(
            "reconnect",
            self.root,
            clientId=self.client_id,
            lastSeenServerSeq=self.last_seen,
            subscriptions=[self.root, *followed],
        )
        for envelope in result.get("actions", ()):
            self.last_seen = max(self.last_seen, envelope["serverSeq"])
        return result

    async def _open(self) -> None:
        self._connection = await connect(self.url, max_size=None, proxy=None)
        self._reader = asyncio.create_task(self._read(self._connection))

    async def drop(self) -> None:
        """Lose the connection without a word."""
        assert self._connection is not None, "open"
        self._connection.transport.abort()
        await self.gone()

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            await self.gone()

    async def gone(self) -> None:
        """Wait until the connection is closed, whoever closed it."""
        assert self._reader is not None, "open"
        async with asyncio.timeout(_PATIENCE):
            await self._reader

    async def _read(self, connection: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for text in connection:
                self._receive(json.loads(text))
        self.close_code = connection.close_code
        for answer in self._answers.values():
            answer.cancel()
        self._answers.clear()
        self._changed.set()

    def _receive(self, message: dict[str, Any]) -> None:
        self.received.append(message)
        if "method" not in message:
            answer = self._answers.pop(message["id"])
            if "error" in message:
                answer.set_exception(Failed(message["error"]))
            else:
                answer.set_result(message["result"])
        elif message["method"] == "action":
            assert message["params"]["serverSeq"] > self.last_seen, "numbers rise"
            self.last_seen = message["params"]["serverSeq"]
        self._changed.set()

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._connection is not None, "open"
        await self._connection.send(json.dumps({"jsonrpc": "2.0", **message}))

    async def request(self, method: str, channel: str, **params: Any) -> Any:
        """Ask something about a channel. 0.1 named what it was about in a key of its own, or not at all."""
        about = {"channel": channel} if self.since("0.2.0") else _FIRST_NAMES.get(method, _nothing)(channel)
        return await self._answered(await self._post(method, {**about, **params}))

    async def _post(self, method: str, params: dict[str, Any]) -> asyncio.Future[Any]:
        id = next(self._ids)
        self.methods[id] = method
        answer = self._answers[id] = asyncio.get_running_loop().create_future()
        await self._send({"id": id, "method": method, "params": params})
        return answer

    @staticmethod
    async def _answered(answer: asyncio.Future[Any]) -> Any:
        async with asyncio.timeout(_PATIENCE):
            return await answer

    async def dispatch(self, channel: str, type: str, **fields: Any) -> int:  # noqa: A002 - the protocol's word
        """Send an action; its number is returned."""
        number = next(self._seqs)
        action = {"type": type, **fields}
        params: dict[str, Any] = {"clientSeq": number, "action": action}
        if self.since("0.2.0"):
            params["channel"] = channel
        else:
            action["session"] = channel
        await self._send({"method": "dispatchAction", "params": params})
        return number

    async def until(self, condition: Callable[[], object]) -> Any:
        """Wait until something this client received makes the condition true; what it gave is returned."""
        async with asyncio.timeout(_PATIENCE):
            while not (found := condition()):
                self._changed.clear()
                await self._changed.wait()
        return found

    # What arrived

    def envelopes(self, channel: str) -> list[dict[str, Any]]:
        """The envelopes of a channel. In 0.1 the action says where it belongs."""
        found = [each["params"] for each in self.received if each.get("method") == "action"]
        if self.since("0.2.0"):
            return [each for each in found if each["channel"] == channel]
        return [each for each in found if each["action"].get("session") == channel]

    def actions(self, channel: str, type: str) -> list[dict[str, Any]]:  # noqa: A002
        """The accepted actions of a type on a channel."""
        accepted = (each for each in self.envelopes(channel) if "rejectionReason" not in each)
        return [each["action"] for each in accepted if each["action"]["type"] == type]

    def echo(self, channel: str, number: int) -> dict[str, Any] | None:
        """What came back of one of this client's own actions."""
        origin = {"clientId": self.client_id, "clientSeq": number}
        return next((each for each in self.envelopes(channel) if each.get("origin") == origin), None)

    def notices(self, name: str) -> list[dict[str, Any]]:
        """The catalogue's notifications: `sessionAdded` and the like. 0.1 wrapped them."""
        if self.since("0.2.0"):
            return [each["params"] for each in self.received if each.get("method") == f"root/{name}"]
        wrapped = [each["params"]["notification"] for each in self.received if each.get("method") == "notification"]
        return [each for each in wrapped if each["type"] == f"notify/{name}"]

    # Sessions

    async def create(self, session: str, **params: Any) -> None:
        assert await self.request("createSession", session, provider="demo", **params) is None

    async def follow(self, channel: str, **params: Any) -> Any:
        """Follow a channel; its state is returned."""
        snapshot = (await self.request("subscribe", channel, **params))["snapshot"]
        assert snapshot["resource"] == channel
        self.last_seen = max(self.last_seen, snapshot["fromSeq"])
        return snapshot["state"]

    async def conversation(self, session: str) -> str:
        """Follow a session and where its conversation is: a chat since 0.4, before that the session itself."""
        state = await self.follow(session)
        if not self.since("0.4.0"):
            return session
        await self.follow(state["defaultChat"])
        return str(state["defaultChat"])

    def metadata(self, state: dict[str, Any]) -> Any:
        """Title, status and the like of a session's state: in a summary of its own up to 0.4."""
        return state if self.since("0.5.0") else state["summary"]

    async def listed(self, session: str) -> Any:
        """What the catalogue says of a session; None if it is not in it."""
        result = await self.request("listSessions", self.root)
        return next((each for each in result["items"] if each["resource"] == session), None)

    # Conversations

    def verb(self, name: str) -> str:
        """An action of the conversation: `chat/delta` since 0.4, `session/delta` before."""
        return f"{'chat' if self.since('0.4.0') else 'session'}/{name}"

    def message(self, text: str) -> dict[str, Any]:
        """A message under the key it has."""
        if not self.since("0.3.0"):
            return {"userMessage": {"text": text}}
        return {"message": {"text": text, "origin": {"kind": "user"}}}

    def text_of(self, holder: dict[str, Any]) -> str:
        """The text of the message in a turn or a pending message."""
        return str(holder["message" if self.since("0.3.0") else "userMessage"]["text"])

    async def say(self, talk: str, turn: str, text: str) -> int:
        """Start a turn."""
        started = {"startedAt": "2026-03-01T12:00:00.000Z"} if self.since("0.6.0") else {}
        return await self.dispatch(talk, self.verb("turnStarted"), turnId=turn, **started, **self.message(text))

    @property
    def duration(self) -> dict[str, int]:
        """What ends a turn says how long that took."""
        return {"duration": 5} if self.since("0.6.0") else {}

    async def cancel(self, talk: str, turn: str) -> None:
        await self.dispatch(talk, self.verb("turnCancelled"), turnId=turn, **self.duration)

    def spoken(self, talk: str, turn: str) -> str:
        """The text of a turn, from the parts and the deltas that came."""
        parts = [each["part"] for each in self.actions(talk, self.verb("responsePart")) if each["turnId"] == turn]
        deltas = [each["content"] for each in self.actions(talk, self.verb("delta")) if each["turnId"] == turn]
        return "".join([part["content"] for part in parts if part["kind"] == "markdown"] + deltas)

    async def ended(self, talk: str, turn: str, how: str = "turnComplete") -> dict[str, Any]:
        """Wait for the end of a turn."""
        found: dict[str, Any] = await self.until(
            lambda: next((each for each in self.actions(talk, self.verb(how)) if each["turnId"] == turn), None)
        )
        return found

    async def asked(self, talk: str, turn: str) -> dict[str, Any]:
        """Wait until a tool of a turn waits for a decision; the action that says so is returned."""

        def waiting() -> dict[str, Any] | None:
            ready = (each for each in self.actions(talk, self.verb("toolCallReady")) if each["turnId"] == turn)
            return next((each for each in ready if "confirmed" not in each), None)

        found: dict[str, Any] = await self.until(waiting)
        return found


def _nothing(channel: str) -> dict[str, str]:
    return {}


# What 0.1 called the thing a request is about.
_FIRST_NAMES: Final[dict[str, Callable[[str], dict[str, str]]]] = {
    "subscribe": lambda uri: {"resource": uri},
    "createSession": lambda uri: {"session": uri},
    "disposeSession": lambda uri: {"session": uri},
    "fetchTurns": lambda uri: {"session": uri},
    "completions": lambda uri: {"session": uri},
}
