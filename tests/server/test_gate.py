"""Who may come in, as a table."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest
from websockets.datastructures import Headers

from holdfast.server.gate import Gate

GATE = Gate(
    is_token=lambda text: text == "secret",
    allowed_hosts=("Box.example",),
    allowed_origins=("https://vscode.dev", "https://*.cdn.example"),
    metrics=lambda: "up 1\n",
)
UPGRADE: dict[str, Any] = {"Upgrade": "websocket", "Authorization": "Bearer secret"}


def _status(
    target: str = "/",
    *,
    host: str = "localhost:7447",
    dialled: str | None = "127.0.0.1",
    rules: Gate = GATE,
    method: str = "GET",
    **headers: Any,
) -> int | None:
    """The status of the answer, None for an upgrade."""
    answer = rules.answer(method, target, Headers({"Host": host, **headers}), dialled)
    return answer.status if answer else None


def _with(**changes: Any) -> Gate:
    rules: dict[str, Any] = {"is_token": None, **changes}
    return Gate(**rules)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:9000",
        "localhost.:1",
        "127.0.0.1",
        "127.8.8.8:1",
        "[::1]:7447",
        "box.example:80",
        "10.1.2.3",
    ],
)
def test_known_hosts(host: str) -> None:
    assert _status(host=host, dialled="10.1.2.3", **UPGRADE) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "10.1.2.4",
        "0.0.0.0",
        "",
        ":80",
        "[::1",
        "a b",
        "127.0.0.1.evil.example",
    ],
)
def test_unknown_hosts(host: str) -> None:
    assert _status(host=host, dialled="10.1.2.3", **UPGRADE) == HTTPStatus.FORBIDDEN


def test_the_address_dialled_is_compared_by_value() -> None:
    assert _status(host="[FE80:0:0::1]:1", dialled="fe80::1", **UPGRADE) is None
    assert _status(host="10.0.0.1", dialled="::ffff:10.0.0.1", **UPGRADE) is None
    assert _status(host="anything", rules=_with(allowed_hosts=["*"]), **UPGRADE) is None


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:7447",
        "https://LOCALHOST:7447",
        "vscode-file://vscode-app",
        "vscode-webview://0a1b2c",
        "https://vscode.dev",
        "https://a.b.cdn.example",
    ],
)
def test_known_origins(origin: str) -> None:
    assert _status(Origin=origin, **UPGRADE) is None


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "file://",
        "https://evil.example",
        "http://localhost:5173",
        "http://localhost",
        "http://127.0.0.1:7447",
        "http://vscode.dev",
        "https://cdn.example",
        "https://evilcdn.example",
        "vscode-browser://x",
        "http://localhost:7447.evil.example",
    ],
)
def test_unknown_origins(origin: str) -> None:
    assert _status(Origin=origin, **UPGRADE) == HTTPStatus.FORBIDDEN


def test_the_port_of_an_origin_may_be_the_default_one() -> None:
    assert _status(host="box.example", Origin="https://box.example", **UPGRADE) is None
    assert _status(host="box.example:443", Origin="https://box.example", **UPGRADE) is None
    assert _status(host="box.example", Origin="http://box.example:80", **UPGRADE) is None
    assert _status(host="box.example", Origin="http://box.example:8080", **UPGRADE) == HTTPStatus.FORBIDDEN


def test_origins_can_be_opened_on_purpose() -> None:
    assert _status(Origin="null", rules=_with(allowed_origins=["null"]), **UPGRADE) is None
    assert _status(Origin="https://x.example", rules=_with(allowed_origins=["*"]), **UPGRADE) is None


@pytest.mark.parametrize(
    ("target", "authorization", "expected"),
    [
        ("/?tkn=secret", "", None),
        ("/any/path?a=b&tkn=secret", "", None),
        ("/?tkn=%73ecret", "", None),
        ("/", "Bearer secret", None),
        ("/", "bearer   secret ", None),
        ("/?tkn=wrong", "Bearer secret", None),
        ("/", "", HTTPStatus.FORBIDDEN),
        ("/?tkn=", "", HTTPStatus.FORBIDDEN),
        ("/?tkn=wrong", "Bearer wrong", HTTPStatus.FORBIDDEN),
        ("/?tkn=secre", "Basic secret", HTTPStatus.FORBIDDEN),
        ("/secret", "", HTTPStatus.FORBIDDEN),
    ],
)
def test_tokens(target: str, authorization: str, expected: int | None) -> None:
    assert _status(target, Upgrade="websocket", Authorization=authorization) == expected


def test_doubled_headers_are_refused() -> None:
    headers = Headers([("Host", "localhost"), ("Host", "localhost"), *UPGRADE.items()])
    answer = GATE.answer("GET", "/", headers, "127.0.0.1")
    assert answer is not None
    assert answer.status == HTTPStatus.BAD_REQUEST
    answer = GATE.answer("GET", "/", Headers(UPGRADE), "127.0.0.1")
    assert answer is not None
    assert answer.status == HTTPStatus.BAD_REQUEST, "there is no Host header"


def test_on_a_unix_socket_nobody_is_asked() -> None:
    assert _status(host="whatever", dialled=None, Upgrade="websocket", Origin="https://evil.example") is None


def test_plain_requests() -> None:
    assert _status("/healthz", host="10.9.9.9") == HTTPStatus.OK
    assert _status("/healthz?x", Upgrade="h2c", host="x") == HTTPStatus.OK
    assert _status("/metrics") == HTTPStatus.FORBIDDEN
    assert _status("/metrics?tkn=secret") == HTTPStatus.OK
    assert _status("/metrics?tkn=secret", host="evil.example") == HTTPStatus.FORBIDDEN
    assert _status("/metrics", rules=_with()) == HTTPStatus.NOT_FOUND
    assert _status("/") == HTTPStatus.UPGRADE_REQUIRED
    assert _status("/etc/passwd?tkn=secret") == HTTPStatus.NOT_FOUND
    assert _status("/healthz", method="POST") == HTTPStatus.METHOD_NOT_ALLOWED


def test_answers_are_a_sentence_and_quote_nothing() -> None:
    for host, origin, token in (
        ("evil.example", "", ""),
        ("localhost", "https://evil.example", ""),
        ("localhost", "", ""),
    ):
        headers = Headers({"Host": host, "Upgrade": "websocket", **({"Origin": origin} if origin else {})})
        answer = GATE.answer("GET", f"/?tkn=guess{token}", headers, "127.0.0.1")
        assert answer is not None
        assert answer.text.endswith(".\n")
        assert not any(word in answer.text for word in ("evil", "guess", "secret"))
