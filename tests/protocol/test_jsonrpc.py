"""JSON-RPC: four shapes told apart, ids echoed, everything else refused with the right code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import encode
from holdfast.protocol.connection.commands import PingParams
from holdfast.protocol.error_data import ERROR_DATA
from holdfast.protocol.errors import (
    AHP_ERROR_RANGE,
    EnvironmentFailure,
    ErrorCode,
    HoldfastError,
    InvalidMessage,
    InvalidValue,
    RpcError,
)


def _message(**keys: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **keys}).encode()


@pytest.mark.parametrize(
    ("data", "shape"),
    [
        (_message(id=1, method="ping", params={"channel": "ahp-root://"}), jsonrpc.Request),
        (_message(method="unsubscribe", params={"channel": "c"}), jsonrpc.Notification),
        (_message(id=1, result={"a": None}), jsonrpc.Success),
        (_message(id=1, result=None), jsonrpc.Success),
        (_message(id=1, error={"code": -32601, "message": "x", "data": [None]}), jsonrpc.Failure),
        (_message(id=None, error={"code": -32700, "message": "x"}), jsonrpc.Failure),
    ],
)
def test_four_shapes_round_trip(data: bytes, shape: type) -> None:  # W-3
    message = jsonrpc.parse(data)
    assert type(message) is shape
    assert json.loads(encode(message)) == json.loads(data)


@pytest.mark.parametrize("id", [0, 7, -1, 2**53 - 1, 10**30, "a", "7", "", 1.5])
def test_ids_are_echoed_as_they_came(id: Any) -> None:  # W-1
    request = jsonrpc.parse(_message(id=id, method="ping"))
    assert isinstance(request, jsonrpc.Request)
    answer = json.loads(jsonrpc.success(request.id, None))
    assert answer == {"jsonrpc": "2.0", "id": id, "result": None}
    assert type(answer["id"]) is type(id)


@pytest.mark.parametrize("params", [{}, {"params": None}, {"params": {}}])
def test_missing_params_are_an_empty_object(params: dict[str, Any]) -> None:
    request = jsonrpc.parse(_message(id=1, method="ping", **params))
    assert isinstance(request, jsonrpc.Request)
    assert bytes(request.params) == b"{}"


@pytest.mark.parametrize("id", [{}, {"id": 1}])
@pytest.mark.parametrize("params", [{}, {"params": {}}, {"params": {"channel": None}}])
def test_params_are_written_as_they_came(id: dict[str, Any], params: dict[str, Any]) -> None:
    data = _message(**id, method="ping", **params)
    assert json.loads(encode(jsonrpc.parse(data))) == json.loads(data)


@pytest.mark.parametrize(
    ("data", "code", "id"),
    [
        (b"", ErrorCode.PARSE_ERROR, None),
        (b"{", ErrorCode.PARSE_ERROR, None),
        (b"hello", ErrorCode.PARSE_ERROR, None),
        (b"\xff\xff", ErrorCode.PARSE_ERROR, None),
        (b"[" * 100_000, ErrorCode.PARSE_ERROR, None),
        (b"[]", ErrorCode.INVALID_REQUEST, None),  # W-6
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', ErrorCode.INVALID_REQUEST, None),  # W-6
        (b"null", ErrorCode.INVALID_REQUEST, None),
        (b'"ping"', ErrorCode.INVALID_REQUEST, None),
        (b"{}", ErrorCode.INVALID_REQUEST, None),
        (b'{"id":4,"method":"ping"}', ErrorCode.INVALID_REQUEST, 4),
        (_message(id=4, method=3), ErrorCode.INVALID_REQUEST, 4),
        (_message(id="x"), ErrorCode.INVALID_REQUEST, "x"),
        (_message(id=True, method="ping"), ErrorCode.INVALID_REQUEST, None),
        (_message(id=[1], method="ping"), ErrorCode.INVALID_REQUEST, None),
        (_message(id=None, method="ping"), ErrorCode.INVALID_REQUEST, None),
        (_message(id=5, method="ping", result={}), ErrorCode.INVALID_REQUEST, 5),
        (_message(id=5, result={}, error={"code": 1, "message": ""}), ErrorCode.INVALID_REQUEST, 5),
        (_message(result={}), ErrorCode.INVALID_REQUEST, None),
        (_message(id=5, error={"message": "no code"}), ErrorCode.INVALID_REQUEST, 5),
        (b'{"jsonrpc":"1.0","id":6,"method":"ping"}', ErrorCode.INVALID_REQUEST, 6),
    ],
)
def test_everything_else_is_refused(data: bytes, code: ErrorCode, id: Any) -> None:  # W-5
    with pytest.raises(InvalidMessage) as caught:
        jsonrpc.parse(data)
    assert (caught.value.code, caught.value.id) == (code, id)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RpcError(-32001, "no such session"), {"code": -32001, "message": "no such session"}),
        (
            RpcError(-32005, "no version", {"supportedVersions": ["^1.0.0"]}),
            {"code": -32005, "message": "no version", "data": {"supportedVersions": ["^1.0.0"]}},
        ),
        (
            InvalidValue("$.channel", "str", "int"),
            {"code": -32602, "message": "$.channel: expected str, got int"},
        ),
        (InvalidMessage(ErrorCode.PARSE_ERROR, "not JSON"), {"code": -32700, "message": "not JSON"}),
        (EnvironmentFailure("/secret/place is full"), {"code": -32603, "message": "internal error"}),
    ],
)
def test_exceptions_become_errors_without_showing_insides(error: HoldfastError, expected: dict[str, Any]) -> None:
    assert json.loads(jsonrpc.failure(1, error)) == {"jsonrpc": "2.0", "id": 1, "error": expected}


def test_building() -> None:
    params = PingParams(channel="ahp-root://")
    assert jsonrpc.request(1, "ping", params) == (
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}'
    )
    assert jsonrpc.notification("x", {}) == b'{"jsonrpc":"2.0","method":"x","params":{}}'


def test_error_codes_lie_in_their_ranges() -> None:
    for code in ErrorCode:
        assert code in AHP_ERROR_RANGE or -32700 <= code <= -32600
    assert set(ERROR_DATA) <= set(ErrorCode)
