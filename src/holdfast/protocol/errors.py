"""What can go wrong, and whose fault it is.

    HoldfastError
    ├── ProtocolError            the peer broke the protocol
    │   ├── InvalidValue         a value has the wrong shape: where, what was expected, what arrived
    │   └── InvalidMessage       the bytes are not a JSON-RPC message
    ├── RpcError                 a request failed; carries the code and data of the error answer
    ├── UsageError               the caller broke our API
    └── EnvironmentFailure       the world failed: disk, network, a process

Codes and their meaning are those of the specification (01-wire, section 8).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

__all__ = [
    "AHP_ERROR_RANGE",
    "EnvironmentFailure",
    "ErrorCode",
    "HoldfastError",
    "InvalidMessage",
    "InvalidValue",
    "ProtocolError",
    "RpcError",
    "UsageError",
]


class ErrorCode(IntEnum):
    """Every error code of the protocol. Clients branch on the code, never on the message."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    SESSION_NOT_FOUND = -32001
    PROVIDER_NOT_FOUND = -32002
    SESSION_ALREADY_EXISTS = -32003
    TURN_IN_PROGRESS = -32004
    UNSUPPORTED_PROTOCOL_VERSION = -32005
    CONTENT_NOT_FOUND = -32006  # Withdrawn in 0.9 and reserved; 1.0 sends NOT_FOUND.
    AUTH_REQUIRED = -32007
    NOT_FOUND = -32008
    PERMISSION_DENIED = -32009
    ALREADY_EXISTS = -32010
    CONFLICT = -32011


AHP_ERROR_RANGE: Final = range(-32099, -31999)


class HoldfastError(Exception):
    """The root of everything this package raises on purpose."""


class ProtocolError(HoldfastError):
    """The peer sent something the protocol does not allow."""


class InvalidValue(ProtocolError):
    """A value does not have the shape its type demands.

    `path` is where (`$.params.action.turnId`), `expected` and `got` say what should have been there and what
    was. `got` names a kind of value and never quotes it, so that the text may be shown and logged.
    """

    def __init__(self, path: str, expected: str, got: str) -> None:
        super().__init__(f"{path}: expected {expected}, got {got}")
        self.path = path
        self.expected = expected
        self.got = got


class InvalidMessage(ProtocolError):
    """The bytes are no JSON-RPC message; `code` and `id` are those of the answer the sender gets."""

    def __init__(self, code: ErrorCode, message: str, id: int | float | str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.id = id


class RpcError(HoldfastError):
    """A request failed with `code`; `data` has the shape `jsonrpc.ERROR_DATA` gives for that code."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class UsageError(HoldfastError):
    """The caller used our API in a way it does not allow."""


class EnvironmentFailure(HoldfastError):
    """The world failed: no space, no network, a process died."""
