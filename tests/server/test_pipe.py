"""Pipe mode: a client that speaks lines, a host that speaks WebSocket, and nothing lost between them."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from aio import Recorder, aio, gate, until
from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server.framing import PLAIN
from holdfast.server.limits import Limits
from holdfast.server.listener import Listener
from holdfast.server.pipe import pipe

LIMITS = Limits(linger=0.05)


@pytest.fixture
def path() -> Iterator[Path]:
    """A place for a socket."""
    with TemporaryDirectory(prefix="hf") as name:
        yield Path(name) / "s"


class Client:
    """Whoever started the process whose stdin and stdout are piped to the host."""

    def __init__(self) -> None:
        self.stdin, write = os.pipe()
        read, self.stdout = os.pipe()
        self._write_end = os.fdopen(write, "wb", buffering=0)
        self._read_end = os.fdopen(read, "rb", buffering=0)

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[tuple[asyncio.StreamWriter, asyncio.StreamReader]]:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=1 << 26)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), self._read_end)
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(), self._write_end
        )
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        try:
            yield writer, reader
        finally:
            writer.close()
            reader._transport.close()  # type: ignore[attr-defined]  # the stream has no method for it
            await asyncio.sleep(0)

    def close(self) -> None:
        self._write_end.close()
        self._read_end.close()


@contextlib.asynccontextmanager
async def _host(path: Path, owner: Recorder) -> AsyncIterator[Listener]:
    async with Listener(gate(), owner, Limits()) as listener:
        listener.unix(path)
        yield listener


@aio
async def test_messages_pass_as_they_are_and_answers_come_after_the_end(path: Path) -> None:
    owner = Recorder(answer=lambda text: text)
    client = Client()
    async with _host(path, owner), client.connected() as (writer, reader):
        piped = asyncio.ensure_future(pipe(path, client.stdin, client.stdout, LIMITS))
        messages = ['{"a":  "grüezi"}'.encode(), b'{ "b":\t1.50 }', b'"' + b"x" * 3_000_000 + b'"']
        writer.write(b"\n".join(messages))
        writer.close()
        for message in messages:
            assert await reader.readline() == message + b"\n"
        assert await reader.readline() == b""
        assert await piped is None
        assert [await owner.texts.get() for _ in messages] == messages
        await owner.closed_links.get()


@aio
async def test_the_end_of_the_host_is_the_end_of_the_pipe(path: Path) -> None:
    owner = Recorder()
    client = Client()
    async with _host(path, owner) as listener, client.connected() as (_, reader):
        piped = asyncio.ensure_future(pipe(path, client.stdin, client.stdout, LIMITS))
        link = await owner.opened_links.get()
        link.write([PLAIN.frame(b'{"pretty":\n1}')])
        await listener.close(1001, "the host stops")
        assert await reader.read() == b'{"pretty": 1}\n'
        assert await piped == "left 1001 the host stops"


@aio
async def test_a_client_that_reads_nothing_holds_back_the_host_and_gets_everything(path: Path) -> None:
    owner = Recorder()
    client = Client()
    async with _host(path, owner), client.connected() as (writer, reader):
        piped = asyncio.ensure_future(pipe(path, client.stdin, client.stdout, LIMITS))
        link = await owner.opened_links.get()
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        for _ in range(200):
            link.write([PLAIN.frame(b"x" * 100_000)])
        await until(lambda: link.buffered < 19_900_000)
        assert owner.drained_links.empty()
        reader._transport.resume_reading()  # type: ignore[attr-defined]
        for _ in range(200):
            assert len(await reader.readline()) == 100_001
        await owner.drained_links.get()
        writer.close()
        await piped


@aio
async def test_a_host_that_takes_nothing_holds_back_the_client(path: Path) -> None:
    owner = Recorder()
    client = Client()
    async with _host(path, owner), client.connected() as (writer, reader):
        piped = asyncio.ensure_future(pipe(path, client.stdin, client.stdout, LIMITS))
        link = await owner.opened_links.get()
        link.pause()
        for number in range(3000):
            writer.write(b'"%05d%s"\n' % (number, b"x" * 1000))
        await until(lambda: writer.transport.get_write_buffer_size() < 3_000_000)
        assert owner.texts.empty()
        link.resume()
        for number in range(3000):
            assert (await owner.texts.get())[1:6] == b"%05d" % number
        writer.close()
        await piped
        assert await reader.read() == b""


@aio
async def test_without_a_host_there_is_a_sentence(path: Path) -> None:
    client = Client()
    with pytest.raises(EnvironmentFailure, match=r"no host listens on .*/s"):
        await pipe(path, client.stdin, client.stdout, LIMITS)
    client.close()


@aio
async def test_what_is_no_host_is_told_apart(path: Path) -> None:
    async def rude(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    client = Client()
    server = await asyncio.start_unix_server(rude, path)
    with pytest.raises(EnvironmentFailure, match="is no host"):
        await pipe(path, client.stdin, client.stdout, LIMITS)
    server.close()
    await server.wait_closed()
    client.close()


@aio
async def test_a_cancelled_pipe_leaves_nothing_open(path: Path) -> None:
    owner = Recorder()
    client = Client()
    async with _host(path, owner), client.connected() as (_, reader):
        piped = asyncio.ensure_future(pipe(path, client.stdin, client.stdout, LIMITS))
        await owner.opened_links.get()
        piped.cancel()
        await asyncio.wait([piped])
        assert piped.cancelled()
        assert await reader.read() == b""
        await owner.closed_links.get()
