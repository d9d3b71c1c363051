"""Where a host listens: TCP, TLS, unix sockets."""

from __future__ import annotations

import os
import socket
import ssl
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trustme
from websockets.asyncio.client import connect, unix_connect

from aio import TOKEN, Raw, Recorder, aio, gate, listening, until
from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server.framing import PLAIN
from holdfast.server.limits import Limits
from holdfast.server.listener import Listener
from holdfast.server.tls import server_context
from holdfast.server.unix import bind_unix


@pytest.fixture
def run_dir() -> Iterator[Path]:
    """A directory with a path short enough for a socket in it."""
    with TemporaryDirectory(prefix="hf") as name:
        yield Path(name)


def _listener(owner: Recorder) -> Listener:
    return Listener(gate(), owner, Limits())


# TCP.


@aio
async def test_localhost_is_every_loopback_address_on_one_port() -> None:
    owner = Recorder()
    async with _listener(owner) as listener:
        port = await listener.tcp("localhost", 0)
        families = {info[0] for info in socket.getaddrinfo("localhost", port, type=socket.SOCK_STREAM)}
        for family in families:
            host = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "[::1]"}[family]
            async with connect(f"ws://{host}:{port}/?tkn={TOKEN}", proxy=None):
                assert (await owner.opened_links.get()).peer.startswith(f"{host}:")


@aio
async def test_a_port_that_is_taken_is_named() -> None:
    async with listening(Recorder()) as (_, port), _listener(Recorder()) as second:
        with pytest.raises(EnvironmentFailure, match=rf"port {port} of 127\.0\.0\.1 already; choose another"):
            await second.tcp("127.0.0.1", port)


@aio
async def test_an_address_of_another_machine_is_refused() -> None:
    async with _listener(Recorder()) as listener:
        with pytest.raises(EnvironmentFailure, match=r"192\.0\.2\.1"):
            await listener.tcp("192.0.2.1", 0)


# TLS.


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def _issue(authority: trustme.CA, directory: Path) -> tuple[Path, Path]:
    issued = authority.issue_cert("localhost")
    certificate, key = directory / "cert.pem", directory / "key.pem"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    return certificate, key


@aio
async def test_tls_carries_messages_of_any_size_and_closes(authority: trustme.CA, tmp_path: Path) -> None:
    context = server_context(*_issue(authority, tmp_path))
    client_context = ssl.create_default_context()
    authority.configure_trust(client_context)
    owner = Recorder(answer=lambda text: text)
    async with _listener(owner) as listener:
        port = await listener.tcp("127.0.0.1", 0, context)
        options: dict[str, Any] = {
            "ssl": client_context,
            "server_hostname": "localhost",
            "proxy": None,
            "max_size": None,
        }
        async with connect(f"wss://localhost:{port}/?tkn={TOKEN}", **options) as client:
            link = await owner.opened_links.get()
            for size in (1, 1000, 3_000_000):
                await client.send("x" * size)
                assert await client.recv() == "x" * size
            link.write([PLAIN.frame(b"y" * 5_000_000)])
            link.close(1001, "enough")
            assert len(await client.recv()) == 5_000_000
            await client.wait_closed()
            assert (client.close_code, client.close_reason) == (1001, "enough")
            assert await owner.closed_links.get() is link


@aio
async def test_a_client_that_does_not_speak_tls_is_dropped_in_time(authority: trustme.CA, tmp_path: Path) -> None:
    context = server_context(*_issue(authority, tmp_path))
    async with Listener(gate(), Recorder(), Limits(handshake_timeout=0.1)) as listener:
        port = await listener.tcp("127.0.0.1", 0, context)
        async with Raw.connected(port) as raw:
            raw.send(b"GET / HTTP/1.1\r\n\r\n")
            await raw.ended()
        async with Raw.connected(port) as silent:
            await silent.ended()
        async with Raw.connected(port):
            await until(lambda: listener.waiting == 1)  # and closes in the middle of it
        await until(lambda: listener.waiting == 0)


@aio
async def test_a_listener_may_be_left_in_the_middle_of_a_tls_handshake(authority: trustme.CA, tmp_path: Path) -> None:
    context = server_context(*_issue(authority, tmp_path))
    async with _listener(Recorder()) as listener:
        port = await listener.tcp("127.0.0.1", 0, context)
        async with Raw.connected(port) as raw:
            await until(lambda: listener.waiting == 1)
            await listener.close(1001, "")
            await raw.ended()


def test_a_certificate_that_cannot_be_used_is_named(authority: trustme.CA, tmp_path: Path) -> None:
    certificate, key = _issue(authority, tmp_path)
    with pytest.raises(EnvironmentFailure, match="there is no file"):
        server_context(certificate, tmp_path / "missing.pem")
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(EnvironmentFailure, match="are not a PEM certificate and its unencrypted key"):
        server_context(certificate, _issue(authority, other)[1])
    key.write_text("nonsense")
    with pytest.raises(EnvironmentFailure, match="are not a PEM certificate and its unencrypted key"):
        server_context(certificate, key)


# Unix sockets.


@aio
async def test_on_a_unix_socket_no_token_is_needed(run_dir: Path) -> None:
    owner = Recorder(answer=lambda text: text)
    path = run_dir / "run" / "holdfast.sock"
    async with _listener(owner) as listener:
        listener.unix(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        async with unix_connect(str(path), "ws://anything/", compression="deflate") as client:
            link = await owner.opened_links.get()
            assert link.framing == PLAIN
            assert link.peer == (f"unix:{os.getpid()}" if sys.platform == "linux" else "unix")
            await client.send("x" * 1_000_000)
            assert await client.recv() == "x" * 1_000_000
    assert list(path.parent.iterdir()) == []


@aio
async def test_a_socket_left_by_a_host_that_was_killed_is_replaced(run_dir: Path) -> None:
    path = run_dir / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    async with _listener(Recorder()) as listener:
        listener.unix(path)
        async with unix_connect(str(path), "ws://x/"):
            pass


@aio
async def test_a_socket_somebody_listens_on_is_refused_and_lives_on(run_dir: Path) -> None:
    path = run_dir / "s"
    async with _listener(Recorder()) as first:
        first.unix(path)
        async with _listener(Recorder()) as second:
            with pytest.raises(EnvironmentFailure, match=r"somebody listens on .* already"):
                second.unix(path)
        async with unix_connect(str(path), "ws://x/"):
            assert first.links == 1


def test_a_successor_keeps_its_socket_when_the_predecessor_closes(run_dir: Path) -> None:
    path = run_dir / "s"
    first = bind_unix(path)
    path.unlink()
    second = bind_unix(path)
    first.close()
    assert path.exists()
    second.close()
    assert not path.exists()
    second.close()


def test_what_is_not_ours_to_use_is_refused(run_dir: Path) -> None:
    (run_dir / "file").write_text("precious")
    with pytest.raises(EnvironmentFailure, match="is not a socket"):
        bind_unix(run_dir / "file")
    assert (run_dir / "file").read_text() == "precious"
    shared = run_dir / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    with pytest.raises(EnvironmentFailure, match=r"others may enter .*; run `chmod 700"):
        bind_unix(shared / "s")
    with pytest.raises(EnvironmentFailure, match=r"cannot listen on .*: the path is longer than"):
        bind_unix(run_dir / ("x" * 200))
    assert sorted(entry.name for entry in run_dir.iterdir()) == ["file", "shared"]
