"""From a connection to a link, with clients that mean well and clients that do not."""

from __future__ import annotations

import contextlib
import logging
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

from aio import TOKEN, Raw, Recorder, aio, frame, gate, listening, until
from holdfast.server.framing import PLAIN, DeflateFraming
from holdfast.server.limits import Limits


@contextlib.asynccontextmanager
async def _client(port: int, **options: Any) -> AsyncIterator[Any]:
    async with connect(f"ws://127.0.0.1:{port}/?tkn={TOKEN}", proxy=None, **options) as client:
        yield client


# Who is let in. `test_gate` has the rules; here is that they are asked.


@aio
async def test_a_client_with_the_token_is_let_in_on_any_path() -> None:
    owner = Recorder()
    async with listening(owner) as (listener, port):
        async with Raw.connected(port) as raw:
            assert await raw.ask(f"/some/where?tkn={TOKEN}") == (101, "")
        async with Raw.connected(port) as raw:
            assert await raw.ask(Authorization=f"Bearer {TOKEN}", Origin="vscode-file://vscode-app") == (101, "")
            assert owner.opened_links.qsize() == 2
            assert listener.accepted == 2


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="no token"),
        pytest.param({"Authorization": f"Bearer {TOKEN}x"}, id="wrong token"),
        pytest.param({"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}, id="host"),
        pytest.param({"Authorization": f"Bearer {TOKEN}", "Origin": "https://evil.example"}, id="origin"),
    ],
)
@aio
async def test_others_get_a_sentence_and_never_reach_the_owner(headers: dict[str, str]) -> None:
    owner = Recorder()
    async with listening(owner) as (listener, port), Raw.connected(port) as raw:
        status, body = await raw.ask(**headers)
        assert status == 403
        assert body.count("\n") == 1
        assert "/" not in body
        await raw.ended()
        await until(lambda: listener.waiting == 0)
    assert owner.opened_links.empty()
    assert owner.closed_links.empty()


@aio
async def test_the_library_of_clients_sees_the_refusal_as_an_answer() -> None:
    async with listening(Recorder()) as (_, port):
        with pytest.raises(InvalidStatus) as refused:
            async with connect(f"ws://127.0.0.1:{port}/?tkn=wrong", proxy=None):
                pass
        assert refused.value.response.status_code == 403


@aio
async def test_plain_requests_are_answered() -> None:
    rules = gate(metrics=lambda: "holdfast_up 1\n")
    async with listening(Recorder(), rules=rules) as (_, port):
        expected = {
            "/healthz": (200, "ok\n"),
            "/metrics": (403, "The connection token is missing or wrong. The host prints it when it starts.\n"),
            f"/metrics?tkn={TOKEN}": (200, "holdfast_up 1\n"),
            "/": (426, "This is an agent host. Connect to it with a WebSocket.\n"),
            "/favicon.ico": (404, "There is nothing here.\n"),
        }
        for target, answer in expected.items():
            async with Raw.connected(port) as raw:
                raw.send(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                assert await raw.answer() == answer
        async with Raw.connected(port) as raw:
            raw.send(b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head, _, body = (await raw.reader.read()).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 OK\r\n")
            assert b"Content-Length: 3" in head
            assert body == b""
        async with Raw.connected(port) as raw:
            raw.send(b"GET /healthz HTTP/1.0\r\n\r\n")
            raw.writer.write_eof()
            assert await raw.answer() == (200, "ok\n")


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        pytest.param(b"\x16\x03\x01 TLS?\r\n", 400, id="not HTTP"),
        pytest.param(b"GET / HTTP/2.0\r\n\r\n", 400, id="another HTTP"),
        pytest.param(b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400, id="not a header"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", 400, id="a body"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, id="another method"),
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, 431, id="endless headers"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"X: " + b"x" * 9000 + b"\r\n\r\n", 431, id="a long header"),
        pytest.param(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Authorization: Bearer " + TOKEN.encode() + b"\r\nSec-WebSocket-Version: 13\r\n\r\n",
            400,
            id="no key",
        ),
        pytest.param(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Authorization: Bearer " + TOKEN.encode() + b"\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            b"Sec-WebSocket-Version: 8\r\n\r\n",
            400,
            id="another version",
        ),
    ],
)
@aio
async def test_malformed_requests_are_answered_shortly(request_bytes: bytes, status: int) -> None:
    async with listening(Recorder()) as (_, port), Raw.connected(port) as raw:
        raw.send(request_bytes)
        answered, body = await raw.answer()
        assert answered == status
        assert 0 < len(body) < 200
        assert "Traceback" not in body


@aio
async def test_rubbish_behind_a_request_ends_the_connection() -> None:
    owner = Recorder()
    async with listening(owner) as (listener, port), Raw.connected(port) as raw:
        raw.send(f"GET /?tkn={TOKEN} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\nrubbish".encode())
        await raw.ended()
        await until(lambda: listener.waiting == 0)
    assert owner.opened_links.empty()


# Who takes too long, or comes too often.


@aio
async def test_a_slow_request_is_not_waited_for() -> None:
    limits = Limits(handshake_timeout=0.05)
    async with listening(Recorder(), limits) as (listener, port), Raw.connected(port) as raw:
        raw.send(b"GET / HTTP/1.1\r\nHost: ")
        await raw.ended()
        await until(lambda: listener.waiting == 0)


@aio
async def test_of_many_who_say_nothing_the_oldest_goes_and_a_client_gets_in() -> None:
    owner = Recorder()
    async with listening(owner, Limits(handshakes=3)) as (listener, port), contextlib.AsyncExitStack() as stack:
        silent = []
        for _ in range(3):
            silent.append(await stack.enter_async_context(Raw.connected(port)))
            await until(lambda: listener.waiting == len(silent))
        async with Raw.upgraded(port):
            await silent[0].ended()
            assert (listener.waiting, listener.links) == (2, 1)


@aio
async def test_leaving_the_listener_leaves_nobody_connected() -> None:
    owner = Recorder()
    async with contextlib.AsyncExitStack() as stack:
        async with listening(owner, Limits(close_timeout=0.1)) as (listener, port):
            silent = await stack.enter_async_context(Raw.connected(port))
            await until(lambda: listener.waiting == 1)
            open_one = await stack.enter_async_context(Raw.upgraded(port))
        assert (listener.waiting, listener.links) == (0, 0)
        assert await open_one.close_code() == 1001
        await silent.ended()
        assert owner.closed_links.qsize() == 1
        with pytest.raises(ConnectionRefusedError):
            async with Raw.connected(port):
                pass


@aio
async def test_links_stay_open_when_no_more_are_accepted() -> None:
    owner = Recorder(answer=lambda text: text)
    async with listening(owner) as (listener, port), _client(port) as client:
        await listener.stop_accepting()
        await client.send("still here")
        assert await client.recv() == "still here"
        with pytest.raises(ConnectionRefusedError):
            async with Raw.connected(port):
                pass


# Compression.


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody comes from another machine."""
    monkeypatch.setattr("holdfast.server.listener._is_remote", lambda _: True)


LONG = "so it goes on and on " * 1000


@aio
async def test_on_this_machine_nothing_is_compressed() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), _client(port, compression="deflate") as client:
        assert client.protocol.extensions == []
        assert (await owner.opened_links.get()).framing == PLAIN


@pytest.mark.usefixtures("remote")
@aio
async def test_links_that_compress_alike_share_their_frames() -> None:
    owner = Recorder()
    smaller = ClientPerMessageDeflateFactory(server_max_window_bits=10)
    async with (
        listening(owner) as (_, port),
        _client(port, compression="deflate") as one,
        _client(port, compression="deflate") as two,
        _client(port, extensions=[smaller], compression=None) as small,
        _client(port, compression=None) as plain,
    ):
        clients = [one, two, small, plain]
        links = [await owner.opened_links.get() for _ in clients]
        framings = [link.framing for link in links]
        assert framings == [DeflateFraming(15), DeflateFraming(15), DeflateFraming(10), PLAIN]
        frames = {framing: framing.frame(LONG.encode()) for framing in framings}
        assert len(frames) == 3
        for link in links:
            link.write([frames[link.framing]] * 2)
        for client in clients:
            assert [await client.recv(), await client.recv()] == [LONG, LONG]
        for client in clients:
            await client.send(LONG)
            assert await owner.texts.get() == LONG.encode()


@pytest.mark.usefixtures("remote")
@aio
async def test_what_is_small_packed_and_giant_unpacked_is_refused() -> None:
    owner = Recorder()
    limits = Limits(max_message=1_000_000)
    async with listening(owner, limits) as (_, port):
        headers = {"Sec_WebSocket_Extensions": "permessage-deflate"}
        async with Raw.upgraded(port, **headers) as raw:
            deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
            bomb = deflate.compress(b"x" * 100_000_000) + deflate.flush(zlib.Z_SYNC_FLUSH)
            raw.send(frame(1, bomb[:-4], rsv1=True))
            assert await raw.close_code() == 1009
        async with Raw.upgraded(port, **headers) as raw:
            raw.send(frame(1, b"\xff\xff\xff\xff", rsv1=True))
            assert await raw.close_code() == 1002
    assert owner.texts.empty()


# The access log.


@aio
async def test_the_access_log_says_who_came_and_what_they_carried(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "holdfast.access")
    owner = Recorder(answer=lambda text: text)
    async with listening(owner) as (_, port):
        async with Raw.connected(port) as raw:
            await raw.ask("/?tkn=wrong")
        async with _client(port, user_agent_header="editor/1.2", compression=None) as client:
            await client.send("ping")
            await client.recv()
            peer = (await owner.opened_links.get()).peer
    lines = [(record.getMessage(), getattr(record, "fields", {})) for record in caplog.records]
    (first, refused), (second, opened), (third, closed) = lines
    assert (first, second, third) == ("refused", "opened", "closed")
    assert refused["status"] == 403
    assert opened == {"peer": peer, "user_agent": "editor/1.2"}
    assert closed.pop("seconds") < 20
    sent = closed.pop("bytes_in"), closed.pop("bytes_out")
    assert sent[0] > 200
    assert sent[1] > 100
    assert closed == {**opened, "messages_in": 1, "messages_out": 1, "why": "left 1000"}
