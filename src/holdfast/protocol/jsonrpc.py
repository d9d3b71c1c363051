"""JSON-RPC 2.0 messages: told apart, read, and built (01-wire, section 2).

`parse` looks at the outside of a message only; params and results stay raw bytes until somebody knows their
type. Ids come back exactly as they were sent, numbers and strings alike. Batches are refused.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from holdfast.protocol.codec import Wire, decode, encode
from holdfast.protocol.errors import ErrorCode, HoldfastError, InvalidMessage, InvalidValue, RpcError

__all__ = [
    "ErrorObject",
    "Failure",
    "Id",
    "Message",
    "Notification",
    "Request",
    "Success",
    "error_of",
    "failure",
    "notification",
    "parse",
    "request",
    "success",
]

_NO_PARAMS: Final = Raw(b"{}")

Id: TypeAlias = int | float | str
"""AHP sends integers; strings (and fractions, which JSON-RPC merely discourages) are echoed all the same."""


class Request(Wire, frozen=True, kw_only=True, tag_field="jsonrpc", tag="2.0"):
    """Exactly one answer with the same id must follow. Params that were not sent read as an empty object."""

    id: Id
    method: str
    params: Any = _NO_PARAMS


class Notification(Wire, frozen=True, kw_only=True, tag_field="jsonrpc", tag="2.0"):
    """Never answered, not even when it is wrong."""

    method: str
    params: Any = _NO_PARAMS


class Success(Wire, frozen=True, kw_only=True, tag_field="jsonrpc", tag="2.0"):
    """`result` may be null or `{}`, depending on the command."""

    id: Id
    result: Any


class ErrorObject(Wire, frozen=True, kw_only=True):
    code: int
    message: str
    data: Any = None


class Failure(Wire, frozen=True, kw_only=True, tag_field="jsonrpc", tag="2.0"):
    """`id` is None when the message it answers could not be read that far."""

    id: Id | None
    error: ErrorObject


Message: TypeAlias = Request | Notification | Success | Failure


class _Incoming(Wire, frozen=True, kw_only=True):
    jsonrpc: str
    id: Id | UnsetType | None = UNSET
    method: str | None = None
    params: Raw = _NO_PARAMS
    result: Raw | UnsetType = UNSET
    error: ErrorObject | None = None


class _Identified(Wire, frozen=True, kw_only=True):
    id: Id | None = None


def parse(data: bytes | bytearray | str) -> Message:
    """Read one message; raises `InvalidMessage` with the code and id its sender is to be answered with."""
    try:
        incoming = decode(_Incoming, data)
    except InvalidValue as error:
        raise _unreadable(data, error) from None
    if incoming.jsonrpc != "2.0":
        raise _refused(incoming, 'the key "jsonrpc" must be "2.0"')
    if incoming.method is not None:
        return _call(incoming)
    return _answer(incoming)


def _call(incoming: _Incoming) -> Request | Notification:
    if incoming.result is not UNSET or incoming.error is not None:
        raise _refused(incoming, "a message has either a method or a result or error")
    assert incoming.method is not None, "the caller has looked"
    params = _NO_PARAMS if bytes(incoming.params) == b"null" else incoming.params
    if incoming.id is UNSET:
        return Notification(method=incoming.method, params=params)
    if incoming.id is None:
        raise _refused(incoming, "the id of a request is a number or a string")
    return Request(id=incoming.id, method=incoming.method, params=params)


def _answer(incoming: _Incoming) -> Success | Failure:
    if incoming.error is not None and incoming.result is UNSET:
        return Failure(id=_id_of(incoming), error=incoming.error)
    if incoming.error is not None or incoming.result is UNSET:
        raise _refused(incoming, "a message has a method, or exactly one of result and error")
    if incoming.id is UNSET or incoming.id is None:
        raise _refused(incoming, "a result must carry the id of its request")
    return Success(id=incoming.id, result=incoming.result)


def _id_of(incoming: _Incoming) -> Id | None:
    return None if incoming.id is UNSET else incoming.id


def _refused(incoming: _Incoming, reason: str) -> InvalidMessage:
    return InvalidMessage(ErrorCode.INVALID_REQUEST, reason, _id_of(incoming))


def _unreadable(data: bytes | bytearray | str, error: InvalidValue) -> InvalidMessage:
    """Tell text that is no JSON from JSON that is no message, and find the id if there is one."""
    try:
        found = decode(_Identified, data)
    except InvalidValue:
        try:
            decode(Raw, data)
        except InvalidValue as malformed:
            return InvalidMessage(ErrorCode.PARSE_ERROR, str(malformed))
        return InvalidMessage(ErrorCode.INVALID_REQUEST, str(error))
    return InvalidMessage(ErrorCode.INVALID_REQUEST, str(error), found.id)


def request(id: Id, method: str, params: Any) -> bytes:
    """Build a request."""
    return encode(Request(id=id, method=method, params=params))


def notification(method: str, params: Any) -> bytes:
    """Build a notification."""
    return encode(Notification(method=method, params=params))


def success(id: Id, result: Any) -> bytes:
    """Build the answer to a request that succeeded."""
    return encode(Success(id=id, result=result))


def failure(id: Id | None, error: HoldfastError) -> bytes:
    """Build the answer to a request that failed."""
    return encode(Failure(id=id, error=error_of(error)))


def error_of(error: HoldfastError) -> ErrorObject:
    """The one place where an exception becomes an error on the wire. Nobody's inside is shown."""
    match error:
        case RpcError():
            return ErrorObject(code=error.code, message=error.message, data=error.data)
        case InvalidMessage():
            return ErrorObject(code=error.code, message=str(error))
        case InvalidValue():
            return ErrorObject(code=ErrorCode.INVALID_PARAMS, message=str(error))
        case _:
            return ErrorObject(code=ErrorCode.INTERNAL_ERROR, message="internal error")
