"""One connection while it lasts: requests and their answers, notifications, and what the host asks of us.

Values of 1.0 on this side; on the other side the shapes of the negotiated version, through the same bridge that a
host uses for older clients, the other way round. Messages are taken strictly in the order they arrive.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from holdfast.client.errors import Interrupted
from holdfast.client.transports import Transport, TransportClosed
from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import Wire as Struct
from holdfast.protocol.codec import convert, decode, to_json
from holdfast.protocol.compat.bridge import Bridge, bridge_for
from holdfast.protocol.compat.context import NOWHERE, Context, Json
from holdfast.protocol.envelope import ActionEnvelope, decode_envelope
from holdfast.protocol.errors import ErrorCode, HoldfastError, InvalidValue, ProtocolError, RpcError
from holdfast.protocol.methods import NOTIFICATIONS, REQUESTS, Direction

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

    def about(self, channel: str) -> Context:
        """What conversions may know about a channel."""


_ANY: Final[Any] = Any
"""Free-form JSON, as a type to decode to."""


class _Negotiated(Struct, frozen=True, kw_only=True):
    """What an answer to `initialize` has in every version."""

    protocol_version: str


class _Waiting(NamedTuple):
    method: str
    channel: str
    answer: asyncio.Future[Any]
    take: Callable[[Any], None] | None


class Wire:
    """Over one transport. `run` reads until the connection ends; everything else may be called meanwhile."""

    def __init__(self, transport: Transport, owner: Owner) -> None:
        self._transport = transport
        self._owner = owner
        self._bridge: Bridge | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._outgoing: deque[bytes] = deque()
        self._has_outgoing = asyncio.Event()
        self._flushed = asyncio.Event()
        self._flushed.set()
        self._answering: set[asyncio.Task[None]] = set()
        self._last_id = 0

    def speak(self, version: str) -> None:
        """The host speaks a version that was negotiated before; `initialize` negotiates one anew."""
        self._bridge = bridge_for(version)

    # Sending

    def request(self, method: str, params: Any, take: Callable[[Any], None] | None = None) -> asyncio.Future[Any]:
        """Send a request. `take` is given its result before any later message is looked at.

        The future raises `RpcError`, `InvalidValue`, or `Interrupted` if the connection ends first.
        """
        sent = to_json(params)
        channel = sent.get("channel", "")
        written = method
        if self._bridge is not None:
            written, sent = self._bridge.lower_request(method, sent, self._owner.about(channel))
        self._last_id += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[self._last_id] = _Waiting(method, channel, answer, take)
        self._send(jsonrpc.request(self._last_id, written, sent))
        return answer

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        if self._bridge is None:
            self._send(jsonrpc.notification(method, params))
            return
        sent = to_json(params)
        for call in self._bridge.lower_notification(method, sent, self._owner.about(sent.get("channel", ""))):
            self._send(jsonrpc.notification(*call))

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
            writer.cancel()
            for task in self._answering:
                task.cancel()
            await self._transport.close()
            await asyncio.gather(writer, *self._answering, return_exceptions=True)
            self._fail(Interrupted("the connection broke before the host answered"))

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
        if waiting.method == "initialize":
            self._bridge = bridge_for(decode(_Negotiated, bytes(raw)).protocol_version)
        if self._bridge is None:
            if info is None or info.result is None:
                return decode(_ANY, bytes(raw))
            return decode(info.result, bytes(raw))
        context = self._owner.about(waiting.channel)
        result = self._bridge.lift_result(waiting.method, decode(_ANY, bytes(raw)), context)
        return result if info is None or info.result is None else convert(info.result, result)

    def _failed(self, message: jsonrpc.Failure) -> None:
        waiting = self._waiting.pop(message.id, None) if isinstance(message.id, int) else None
        if waiting is None:
            _log.warning("the host could not read something: %s", message.error.message)
            return
        error = message.error
        if self._bridge is not None:
            lifted = self._bridge.lift_error(waiting.method, to_json(error), self._owner.about(waiting.channel))
            error = convert(jsonrpc.ErrorObject, lifted)
        if not waiting.answer.done():
            waiting.answer.set_exception(RpcError(error.code, error.message, error.data))

    def _notified(self, method: str, raw: msgspec.Raw) -> None:
        if method == "action":
            self._owner.envelopes(self._envelopes(raw))
        elif self._bridge is None:
            self._tell(method, bytes(raw))
        else:
            params: Json = decode(dict, bytes(raw))
            for call in self._bridge.lift_notification(method, params, self._owner.about(params.get("channel", ""))):
                if call.method == "action":
                    self._owner.envelopes(self._lifted(call.params))
                else:
                    self._tell(*call)

    def _envelopes(self, raw: msgspec.Raw) -> list[ActionEnvelope]:
        if self._bridge is None:
            return [decode_envelope(raw)]
        return self._lifted(decode(dict, bytes(raw)))

    def _lifted(self, envelope: Json) -> list[ActionEnvelope]:
        assert self._bridge is not None, "the caller has looked"
        context = self._owner.about(envelope.get("channel", ""))
        return [convert(ActionEnvelope, each) for each in self._bridge.lift_envelope(envelope, context)]

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
        try:
            result = await self._owner.asked(message.method, self._asked_params(message))
        except HoldfastError as error:
            self._send(jsonrpc.failure(message.id, error))
            return
        if self._bridge is not None:
            result = self._bridge.lower_result(message.method, to_json(result), NOWHERE)
        self._send(jsonrpc.success(message.id, result))

    def _asked_params(self, message: jsonrpc.Request) -> Struct:
        info = REQUESTS.get(message.method)
        if info is None or info.direction is Direction.TO_HOST:
            raise RpcError(ErrorCode.METHOD_NOT_FOUND, f"clients have no {message.method[:100]}")
        params: Any = message.params
        if self._bridge is not None:
            lifted = self._bridge.lift_request(message.method, decode(dict, bytes(params)), NOWHERE)
            read: Struct = convert(info.params, lifted.params)
        else:
            read = decode(info.params, bytes(params))
        return read
