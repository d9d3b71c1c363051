"""One connection while it lasts: requests and their answers, notifications, and what the host asks of us.

Values of 1.0 on this side; on the other side the shapes of the negotiated version, through the same bridge that a
host uses for older clients, the other way round. Messages are taken strictly in the order they arrive.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from holdfast.client.errors import Interrupted
from holdfast.client.mirror import Batch, Replayed
from holdfast.client.transports import Transport, TransportClosed
from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import Wire as Struct
from holdfast.protocol.codec import convert, decode, encode, to_json
from holdfast.protocol.common import URI
from holdfast.protocol.compat.context import Json
from holdfast.protocol.compat.older_host import OlderHost, older_host
from holdfast.protocol.envelope import ActionEnvelope, StateAction, decode_envelope
from holdfast.protocol.errors import ErrorCode, HoldfastError, InvalidValue, ProtocolError, RpcError
from holdfast.protocol.methods import NOTIFICATIONS, REQUESTS, Direction
from holdfast.protocol.timestamps import from_milliseconds

__all__ = ["Owner", "Wire"]

_log: Final = logging.getLogger(__name__)


class Owner(Protocol):
    """What a wire tells whoever owns it."""

    def envelopes(self, envelopes: Sequence[ActionEnvelope]) -> None:
        """Actions that came as one."""

    def notified(self, method: str, params: Any) -> None:
        """A notification, with the params of its type; raw JSON if the method is not in the protocol."""

    async def asked(self, method: str, params: Any) -> Any:
        """A request of the host; what is returned is the result."""

    def ended(self) -> None:
        """The connection is over: nothing that is said on it from now on leaves."""

    def skipped(self, server_seq: int) -> None:
        """An action that means nothing to 1.0; its number was seen all the same."""

    def state(self, uri: URI) -> Json | None:
        """The confirmed state of a followed channel."""

    def kind(self, uri: URI) -> str:
        """The kind of a followed channel; empty for one that is not followed."""


_ANY: Final[Any] = Any
"""Free-form JSON, as a type to decode to."""


_BROKE: Final = "the connection broke before the host answered"

_SAME_EVERYWHERE: Final = frozenset({"initialize", "reconnect"})
"""Requests that are sent as 1.0 has them: older hosts ignore the keys they do not know."""


class _Negotiated(Struct, frozen=True, kw_only=True):
    """What an answer to `initialize` has in every version."""

    protocol_version: str


class _Waiting(NamedTuple):
    method: str
    answer: asyncio.Future[Any]
    take: Callable[[Any], None] | None


class Wire:
    """Over one transport. `run` reads until the connection ends; everything else may be called meanwhile."""

    def __init__(self, transport: Transport, owner: Owner) -> None:
        self._transport = transport
        self._owner = owner
        self._older: OlderHost | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._outgoing: deque[bytes] = deque()
        self._has_outgoing = asyncio.Event()
        self._flushed = asyncio.Event()
        self._flushed.set()
        self._answering: set[asyncio.Task[None]] = set()
        self._last_id = 0
        self._is_over = False

    @property
    def older(self) -> OlderHost | None:
        """What the host's version needs; None for 1.0. The next connection of the same client wants to know."""
        return self._older

    def speak(self, older: OlderHost | None) -> None:
        """Go on in the version that was negotiated before; `initialize` negotiates one anew."""
        self._older = older

    # Sending

    def request(self, method: str, params: Any, take: Callable[[Any], None] | None = None) -> asyncio.Future[Any]:
        """Send a request. `take` is given its result before any later message is looked at.

        The future raises `RpcError`, `InvalidValue`, or `Interrupted` if the connection ends first.
        """
        written, sent = method, params
        if self._older is not None and method not in _SAME_EVERYWHERE:
            written, sent = self._older.request(method, to_json(params))
        self._last_id += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._is_over:
            answer.set_exception(Interrupted(_BROKE))
            return answer
        self._waiting[self._last_id] = _Waiting(method, answer, take)
        self._send(jsonrpc.request(self._last_id, written, sent))
        return answer

    def notify(self, method: str, params: Any) -> None:
        """Send a notification that is the same in every version."""
        self._send(jsonrpc.notification(method, params))

    def dispatch(self, channel: URI, client_seq: int, action: StateAction) -> bool:
        """Send an action. False if the host's version has no words for it, and nothing was sent."""
        said: Sequence[Any] = (action,)
        if self._older is not None:
            said = self._older.dispatch(channel, to_json(action))
        for each in said:
            # The echo of the last one confirms. 0 is no number of ours, and no host takes it for a duplicate.
            number = client_seq if each is said[-1] else 0
            self.notify("dispatchAction", {"channel": channel, "clientSeq": number, "action": each})
        return bool(said)

    def _send(self, message: bytes) -> None:
        self._outgoing.append(message)
        self._flushed.clear()
        self._has_outgoing.set()

    async def flush(self, patience: float) -> None:
        """Wait until everything was handed to the transport, but no longer than `patience` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._flushed.wait()

    # Running

    async def run(self) -> str:
        """Exchange messages until the connection ends; why it did is returned."""
        writer = asyncio.create_task(self._write())
        try:
            while True:
                self._received(await self._transport.receive())
        except TransportClosed as closed:
            return str(closed)
        except ProtocolError as error:
            _log.warning("the host broke the protocol: %s", error)
            return f"the host broke the protocol: {error}"
        finally:
            self._is_over = True
            self._owner.ended()
            writer.cancel()
            for task in self._answering:
                task.cancel()
            await self._transport.close()
            await asyncio.gather(writer, *self._answering, return_exceptions=True)
            self._fail(Interrupted(_BROKE))

    def _fail(self, error: HoldfastError) -> None:
        waiting, self._waiting = self._waiting, {}
        for each in waiting.values():
            if not each.answer.done():
                each.answer.set_exception(error)
                each.answer.exception()  # nobody may be waiting any more

    async def _write(self) -> None:
        try:
            while True:
                while self._outgoing:
                    await self._transport.send(self._outgoing.popleft())
                self._has_outgoing.clear()
                self._flushed.set()
                await self._has_outgoing.wait()
        except TransportClosed:
            self._flushed.set()  # as far as that goes
            await self._transport.close()  # and the reader notices

    # Receiving

    def _received(self, data: bytes | str) -> None:
        message = jsonrpc.parse(data)
        match message:
            case jsonrpc.Success():
                self._answered(message)
            case jsonrpc.Failure():
                self._failed(message)
            case jsonrpc.Notification():
                self._notified(message.method, message.params)
            case jsonrpc.Request():
                self._begin_answer(message)

    def _answered(self, message: jsonrpc.Success) -> None:
        waiting = self._waiting.pop(message.id, None) if isinstance(message.id, int) else None
        if waiting is None or waiting.answer.done():
            return
        try:
            result = self._result(waiting, message.result)
            if waiting.take is not None:
                waiting.take(result)
        except Exception as error:
            waiting.answer.set_exception(error)
            if not isinstance(error, InvalidValue):
                raise
        else:
            waiting.answer.set_result(result)

    def _result(self, waiting: _Waiting, raw: msgspec.Raw) -> Any:
        info = REQUESTS.get(waiting.method)
        expected = _ANY if info is None or info.result is None else info.result
        if waiting.method == "initialize":
            version = decode(_Negotiated, bytes(raw)).protocol_version
            self._older = older_host(version, self._owner.state, _now, self._owner.kind)
        if self._older is None:
            return decode(expected, bytes(raw))
        result = self._older.result(waiting.method, decode(_ANY, bytes(raw)))
        if waiting.method == "reconnect" and result.get("type") == "replay":
            return Replayed(self._replayed(result.get("actions", ())), tuple(result.get("missing", ())))
        return convert(expected, result)

    def _replayed(self, actions: Sequence[Json]) -> Iterator[Batch]:
        """Lifted one by one, because some mean something only after those before them."""
        for envelope in actions:
            yield Batch(envelope["serverSeq"], self._lifted(envelope))

    def _failed(self, message: jsonrpc.Failure) -> None:
        waiting = self._waiting.pop(message.id, None) if isinstance(message.id, int) else None
        if waiting is None:
            _log.warning("the host could not read something: %s", message.error.message)
            return
        error = message.error
        if self._older is not None:
            error = convert(jsonrpc.ErrorObject, self._older.error(waiting.method, to_json(error)))
        if not waiting.answer.done():
            waiting.answer.set_exception(RpcError(error.code, error.message, error.data))

    def _notified(self, method: str, raw: msgspec.Raw) -> None:
        if self._older is None:
            if method == "action":
                self._owner.envelopes([decode_envelope(raw)])
            else:
                self._tell(method, bytes(raw))
            return
        params: Json = decode(_ANY, bytes(raw))
        if method != "action":
            for call in self._older.heard(method, params):
                self._tell(*call)
        elif envelopes := self._lifted(params):
            self._owner.envelopes(envelopes)
        else:
            self._owner.skipped(params["serverSeq"])

    def _lifted(self, envelope: Json) -> list[ActionEnvelope]:
        assert self._older is not None, "the caller has looked"
        return [convert(ActionEnvelope, each) for each in self._older.envelope(envelope)]

    def _tell(self, method: str, params: Any) -> None:
        info = NOTIFICATIONS.get(method)
        expected = _ANY if info is None or info.direction is Direction.TO_HOST else info.params
        try:
            read = decode(expected, params) if isinstance(params, bytes) else convert(expected, params)
        except InvalidValue as error:
            _log.warning("ignored a malformed %s: %s", method, error)
            return
        self._owner.notified(method, read)

    # What the host asks

    def _begin_answer(self, message: jsonrpc.Request) -> None:
        task = asyncio.create_task(self._answer(message))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, message: jsonrpc.Request) -> None:
        older = self._older
        method, params = message.method, message.params
        try:
            if older is not None:
                method, params = older.asked(method, decode(_ANY, bytes(params)))
            result = await self._owner.asked(method, _asked_params(method, params))
        except HoldfastError as error:
            refusal = jsonrpc.error_of(error)
            if older is not None:
                refusal = convert(jsonrpc.ErrorObject, older.refusal(method, to_json(refusal)))
            self._send(encode(jsonrpc.Failure(id=message.id, error=refusal)))
            return
        if older is not None:
            result = older.answer(method, to_json(result))
        self._send(jsonrpc.success(message.id, result))


def _asked_params(method: str, params: Any) -> Struct:
    info = REQUESTS.get(method)
    if info is None or info.direction is Direction.TO_HOST:
        raise RpcError(ErrorCode.METHOD_NOT_FOUND, f"clients have no {method[:100]}")
    read: Struct = (
        decode(info.params, bytes(params)) if isinstance(params, msgspec.Raw) else convert(info.params, params)
    )
    return read


def _now() -> str:
    return from_milliseconds(time.time() * 1000)
