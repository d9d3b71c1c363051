"""Messages as lines over descriptors: pipes, files, one socket for both, and a real process."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aio import Recorder, aio
from holdfast.server.framing import LINES
from holdfast.server.limits import Limits
from holdfast.server.links import Link
from holdfast.server.stdio import StdioLink

PATIENT = Limits(linger=10)


class Ends:
    """The other ends of a link's stdin and stdout."""

    def __init__(self) -> None:
        self.stdin, self._write = os.pipe()
        self._read, self.stdout = os.pipe()

    def send(self, data: bytes) -> None:
        assert os.write(self._write, data) == len(data)

    def end_input(self) -> None:
        if self._write >= 0:
            os.close(self._write)
            self._write = -1

    async def read(self, size: int = 1 << 20) -> bytes:
        """What arrives next; empty at the end."""
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()
        loop.add_reader(self._read, arrived.set)
        await arrived.wait()
        loop.remove_reader(self._read)
        return os.read(self._read, size)

    async def read_all(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += await self.read()
        return data

    def close_output(self) -> None:
        if self._read >= 0:
            os.close(self._read)
            self._read = -1


@pytest.fixture
def ends() -> Iterator[Ends]:
    both = Ends()
    yield both
    both.end_input()
    both.close_output()


def _link(ends: Ends, owner: Recorder, limits: Limits = PATIENT) -> StdioLink:
    link = StdioLink(owner, limits, ends.stdin, ends.stdout)
    link.start()
    return link


@aio
async def test_lines_are_messages(ends: Ends) -> None:
    owner = Recorder(answer=lambda text: b"[" + text + b"]")
    link = _link(ends, owner)
    assert await owner.opened_links.get() is link
    assert (link.framing, link.peer) == (LINES, "stdio")
    ends.send('{"a": "ü"}\r\n\n  \r\n{"b'.encode())
    ends.send(b'": 2}\n')
    assert await owner.texts.get() == '{"a": "ü"}'.encode()
    assert await owner.texts.get() == b'{"b": 2}'
    assert await ends.read_all(24) == '[{"a": "ü"}]\n[{"b": 2}]\n'.encode()
    link.close(1000, "")
    await link.wait_closed()
    assert await ends.read() == b""
    assert await owner.closed_links.get() is link
    assert owner.texts.empty()


@aio
async def test_after_the_end_of_stdin_answers_still_come(ends: Ends) -> None:
    owner = Recorder()
    link = _link(ends, owner, Limits(linger=0.05))
    ends.send(b"one\ntwo, without an end of line")
    ends.end_input()
    assert await owner.texts.get() == b"one"
    assert await owner.texts.get() == b"two, without an end of line"
    link.write([LINES.frame(b"answer")])
    assert await ends.read() == b"answer\n"
    assert await ends.read() == b""
    await link.wait_closed()
    assert owner.closed_links.qsize() == 1


@aio
async def test_giants_pass_and_back_pressure_is_told(ends: Ends) -> None:
    owner = Recorder()
    link = _link(ends, owner)
    giant = LINES.frame(b"x" * 5_000_000)
    link.write([giant, LINES.frame(b"end")])
    assert link.buffered > 4_000_000
    assert owner.drained_links.empty()
    assert await ends.read_all(len(giant) + 4) == giant + b"end\n"
    assert await owner.drained_links.get() is link
    assert link.buffered == 0
    link.close(1000, "")
    await link.wait_closed()


@aio
async def test_while_paused_nothing_is_taken_and_nothing_is_lost(ends: Ends) -> None:
    class Careful(Recorder):
        def received(self, link: Link, text: bytes) -> None:
            super().received(link, text)
            link.pause()

    owner = Careful()
    link = _link(ends, owner)
    ends.send(b"".join(b"%d\n" % number for number in range(20)))
    for number in range(20):
        assert await owner.texts.get() == b"%d" % number
        await asyncio.sleep(0)
        assert owner.texts.empty()
        link.resume()
    link.close(1000, "")
    await link.wait_closed()


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        pytest.param(b"x" * 2000 + b"\n", "1009", id="long line"),
        pytest.param(b"x" * 2000, "1009", id="long line that does not end"),
        pytest.param(b'"\xff"\n', "1007", id="no UTF-8"),
    ],
)
@aio
async def test_what_breaks_the_rules_ends_the_link(ends: Ends, sent: bytes, why: str) -> None:
    owner = Recorder()
    link = _link(ends, owner, Limits(max_message=1500))
    ends.send(b"good\n" + sent + b"too late\n")
    await link.wait_closed()
    assert await ends.read() == b""
    assert (await owner.texts.get(), owner.texts.qsize()) == (b"good", 0)
    assert why in link.visit.why
    assert owner.closed_links.qsize() == 1


@aio
async def test_a_reader_that_goes_away_ends_the_link(ends: Ends) -> None:
    owner = Recorder()
    link = _link(ends, owner)
    ends.close_output()
    link.write([LINES.frame(b"is there anybody")])
    await link.wait_closed()
    assert owner.closed_links.qsize() == 1
    link.write([LINES.frame(b"no")])
    link.abort()
    link.close(1000, "")
    assert link.buffered == 0


@aio
async def test_a_reader_that_reads_nothing_cannot_hold_a_closing_link_open(ends: Ends) -> None:
    owner = Recorder()
    link = _link(ends, owner, Limits(close_timeout=0.05))
    link.write([b"x" * 1_000_000])
    link.close(1000, "")
    await link.wait_closed()
    assert owner.closed_links.qsize() == 1


@aio
async def test_a_failing_owner_ends_the_link(ends: Ends) -> None:
    class Broken(Recorder):
        def received(self, link: Link, text: bytes) -> None:
            raise RuntimeError("no")

    link = _link(ends, Broken())
    ends.send(b"{}\n")
    await link.wait_closed()
    assert "1011" in link.visit.why


@aio
async def test_files_do_for_pipes(tmp_path: Path) -> None:
    class Fickle(Recorder):
        def received(self, link: Link, text: bytes) -> None:
            link.pause()
            super().received(link, text)
            link.resume()

    owner = Fickle(answer=lambda text: text)
    source, target = tmp_path / "in", tmp_path / "out"
    lines = b"".join(b"%d\n" % number for number in range(50_000))
    source.write_bytes(lines)
    stdin, stdout = os.open(source, os.O_RDONLY), os.open(target, os.O_WRONLY | os.O_CREAT)
    link = StdioLink(owner, Limits(linger=0.01), stdin, stdout)
    link.start()
    await link.wait_closed()
    assert target.read_bytes() == lines


@aio
async def test_nothing_at_either_end_is_a_short_conversation() -> None:
    owner = Recorder()
    link = StdioLink(owner, Limits(linger=0.01), os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY))
    link.start()
    await link.wait_closed()
    assert (owner.opened_links.qsize(), owner.closed_links.qsize()) == (1, 1)


@aio
async def test_one_socket_may_be_both_and_is_given_back_as_it_was() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        owner = Recorder(answer=lambda text: text * 100_000)
        link = StdioLink(owner, PATIENT, os.dup(theirs.fileno()), os.dup(theirs.fileno()))
        link.start()
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(ours, b"ab\n")
        answer = b""
        while len(answer) < 200_001:
            answer += await loop.sock_recv(ours, 1 << 16)
        assert answer == b"ab" * 100_000 + b"\n"
        link.close(1000, "")
        await link.wait_closed()
        assert os.get_blocking(theirs.fileno())


PROGRAM = """
import asyncio, os, subprocess, sys
from holdfast.server.limits import Limits
from holdfast.server.stdio import StdioLink, claim_stdio

class Owner:
    def opened(self, link): print("opened")
    def received(self, link, text):
        subprocess.run([sys.executable, "-c", "print(input())"], check=False, stderr=subprocess.DEVNULL)
        os.write(1, b"a stray line\\n")
        link.write([link.framing.frame(text)])
    def drained(self, link): pass
    def closed(self, link): print("closed", flush=True)

async def main():
    link = StdioLink(Owner(), Limits(linger=0.05), *claim_stdio())
    link.start()
    await link.wait_closed()

asyncio.run(main())
"""


def _run(**options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", PROGRAM], timeout=30, check=False, **options)


def test_nothing_but_the_protocol_gets_to_stdout() -> None:
    done = _run(input=b'{"a": 1}\n{"b": 2}\n', capture_output=True)
    assert done.stdout == b'{"a": 1}\n{"b": 2}\n'
    assert sorted(done.stderr.splitlines()) == [b"a stray line", b"a stray line", b"closed", b"opened"]
    assert done.returncode == 0


def test_closed_stdin_is_told_in_a_sentence() -> None:
    command = f"exec {sys.executable} -c '{PROGRAM}' <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=30, check=False)
    assert b"stdin and stdout have to be open" in done.stderr


@aio
async def test_closing_before_the_start_closes_the_descriptors(ends: Ends) -> None:
    owner = Recorder()
    link = StdioLink(owner, PATIENT, ends.stdin, ends.stdout)
    link.abort()
    await link.wait_closed()
    assert await ends.read() == b""
    assert owner.closed_links.empty()
