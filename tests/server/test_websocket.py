"""An open WebSocket link: messages both ways, rules broken, ends."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from aio import TOKEN, Raw, Recorder, aio, frame, listening, until
from holdfast.server.framing import PLAIN
from holdfast.server.limits import Limits
from holdfast.server.links import Link

TEXT, BINARY, CONT, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10


def _client(port: int, **options: Any) -> connect:
    options = {"proxy": None, "compression": None, "max_size": None, **options}
    return connect(f"ws://127.0.0.1:{port}/?tkn={TOKEN}", **options)


async def _close_code(client: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed):
        await client.recv()
    assert client.close_code is not None
    return client.close_code


# Messages.


@aio
async def test_messages_pass_both_ways_in_order() -> None:
    owner = Recorder(answer=lambda text: text.upper())
    async with listening(owner) as (_, port), _client(port) as client:
        for number in range(100):
            await client.send(f'{{"n": {number}, "x": "grüezi"}}')
        answers = [await client.recv(decode=False) for _ in range(100)]
        assert answers == [f'{{"n": {number}, "x": "grüezi"}}'.encode().upper() for number in range(100)]
        assert owner.texts.qsize() == 100


@aio
async def test_fragments_are_one_message_and_control_frames_fit_between_them() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), Raw.upgraded(port) as raw:
        text = "grüezi mitenand".encode()
        raw.send(frame(TEXT, text[:3], fin=False))  # in the middle of the ü
        raw.send(frame(PING, b"now"))
        raw.send(frame(CONT, b"", fin=False) + frame(CONT, text[3:5], fin=False))
        assert await raw.frame() == (0x80 | PONG, b"now")
        raw.send(frame(CONT, text[5:]) + frame(TEXT, b"next"))
        assert await owner.texts.get() == text
        assert await owner.texts.get() == b"next"


@aio
async def test_bytes_may_come_one_by_one() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), Raw.upgraded(port) as raw:
        for byte in frame(TEXT, b'{"slow": true}'):
            raw.send(bytes((byte,)))
            await raw.writer.drain()
        assert await owner.texts.get() == b'{"slow": true}'


@aio
async def test_a_message_of_the_largest_size_passes_and_one_byte_more_does_not() -> None:
    owner = Recorder()
    limits = Limits(max_message=1_000_000)
    async with listening(owner, limits) as (_, port):
        async with _client(port) as client:
            await client.send("x" * 1_000_000)
            assert len(await owner.texts.get()) == 1_000_000
            await client.send("x" * 1_000_001)
            assert await _close_code(client) == 1009
        async with Raw.upgraded(port) as raw:
            raw.send(frame(TEXT, b"x" * 600_000, fin=False) + frame(CONT, b"x" * 400_000, fin=False))
            raw.send(frame(CONT, b"x"))
            assert await raw.close_code() == 1009
        assert owner.texts.empty()


@aio
async def test_a_frame_that_announces_too_much_is_refused_before_it_comes() -> None:
    async with listening(Recorder()) as (_, port), Raw.upgraded(port) as raw:
        raw.send(b"\x81\xff" + (1 << 62).to_bytes(8, "big"))
        assert await raw.close_code() == 1009
        await raw.ended()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(frame(BINARY, b"\0\1"), 1003, id="binary"),
        pytest.param(frame(BINARY, b"", fin=False) + frame(CONT, b"\0"), 1003, id="fragmented binary"),
        pytest.param(frame(TEXT, b'"\xff"'), 1007, id="no UTF-8"),
        pytest.param(frame(TEXT, b"\xed\xa0\x80"), 1007, id="a surrogate"),
        pytest.param(frame(TEXT, b"a\xc3", fin=False) + frame(CONT, b"b"), 1007, id="no UTF-8 over fragments"),
        pytest.param(frame(TEXT, b"{}", masked=False), 1002, id="not masked"),
        pytest.param(frame(CONT, b"{}"), 1002, id="continuation of nothing"),
        pytest.param(frame(TEXT, b"{", fin=False) + frame(TEXT, b"}"), 1002, id="a message within a message"),
        pytest.param(frame(3, b""), 1002, id="unknown opcode"),
        pytest.param(frame(TEXT, b"{}", rsv1=True), 1002, id="compressed without agreement"),
        pytest.param(frame(PING, b"x" * 126), 1002, id="a long ping"),
        pytest.param(frame(PING, b"x", fin=False), 1002, id="a fragmented ping"),
        pytest.param(frame(CLOSE, b"x"), 1002, id="half a close code"),
        pytest.param(frame(CLOSE, b"\x03\xee"), 1002, id="a close code that cannot be sent"),
        pytest.param(frame(CLOSE, b"\x03\xe8\xff"), 1007, id="a reason that is no UTF-8"),
    ],
)
@aio
async def test_what_breaks_the_rules_closes_with_a_code_and_is_the_last_thing_heard(data: bytes, code: int) -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), Raw.upgraded(port) as raw:
        raw.send(frame(TEXT, b"good") + data + frame(TEXT, b"too late"))
        assert await raw.close_code() == code
        raw.send(frame(TEXT, b"much too late"))
        await raw.ended()
        await owner.closed_links.get()
        assert await owner.texts.get() == b"good"
        assert owner.texts.empty()


@aio
async def test_a_million_tiny_fragments_cost_what_they_carry() -> None:
    owner = Recorder()
    limits = Limits(max_message=10_000)
    async with listening(owner, limits) as (_, port), Raw.upgraded(port) as raw:
        raw.send(frame(TEXT, b"x", fin=False))
        raw.send(frame(CONT, b"x", fin=False) * 10_000)
        assert await raw.close_code() == 1009


# Sending.


@aio
async def test_a_giant_and_what_follows_it_arrive_whole_and_in_order() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), _client(port) as client:
        link = await owner.opened_links.get()
        giant = b'"' + bytes(range(32, 127)).replace(b'"', b"'") * 300_000 + b'"'
        link.write([PLAIN.frame(b"1"), PLAIN.frame(giant)])
        link.write([PLAIN.frame(b"2")])
        assert link.buffered > 20_000_000
        assert await client.recv(decode=False) == b"1"
        assert await client.recv(decode=False) == giant
        assert await client.recv(decode=False) == b"2"
        assert await owner.drained_links.get() is link
        assert owner.drained_links.empty()


@aio
async def test_drained_is_told_when_a_client_goes_on_to_read() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), Raw.upgraded(port) as raw:
        link = await owner.opened_links.get()
        raw.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a StreamWriter has a full Transport
        frames = [PLAIN.frame(b"x" * 50_000)] * 400
        link.write(frames)
        await until(lambda: link.buffered < 20_000_000)
        assert owner.drained_links.empty()
        raw.writer.transport.resume_reading()  # type: ignore[attr-defined]
        for _ in frames:
            assert len((await raw.frame())[1]) == 50_000
        assert await owner.drained_links.get() is link
        assert link.buffered == 0


@aio
async def test_while_paused_nothing_is_taken_and_nothing_is_lost() -> None:
    class Careful(Recorder):
        def received(self, link: Link, text: bytes) -> None:
            super().received(link, text)
            link.pause()

    owner = Careful()
    async with listening(owner) as (_, port), _client(port) as client:
        link = await owner.opened_links.get()
        for number in range(50):
            await client.send(str(number))
        for number in range(50):
            assert await owner.texts.get() == str(number).encode()
            await asyncio.sleep(0)
            assert owner.texts.empty()
            link.resume()
        link.resume()


@aio
async def test_pausing_and_resuming_within_a_message_keeps_the_order() -> None:
    class Fickle(Recorder):
        def received(self, link: Link, text: bytes) -> None:
            link.pause()
            link.resume()
            super().received(link, text)

    owner = Fickle()
    async with listening(owner) as (_, port), Raw.upgraded(port) as raw:
        raw.send(b"".join(frame(TEXT, str(number).encode()) for number in range(1000)))
        assert [int(await owner.texts.get()) for _ in range(1000)] == list(range(1000))


@aio
async def test_a_client_that_pings_and_never_reads_gets_one_late_pong() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), Raw.upgraded(port) as raw:
        link = await owner.opened_links.get()
        raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
        link.write([PLAIN.frame(b"x" * 20_000_000)])
        await until(lambda: link.buffered < 20_000_000)
        raw.send(b"".join(frame(PING, str(number).encode()) for number in range(10_000)) + frame(TEXT, b"done"))
        await owner.texts.get()
        assert link.buffered <= 20_000_010
        raw.writer.transport.resume_reading()  # type: ignore[attr-defined]
        await raw.frame()
        assert await raw.frame() == (0x80 | PONG, b"9999")


# Ends.


@aio
async def test_closing_comes_after_everything_that_was_written() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), _client(port) as client:
        link = await owner.opened_links.get()
        link.write([PLAIN.frame(b"x" * 3_000_000), PLAIN.frame(b"bye")])
        link.close(1013, "come back later " + "ü" * 100)
        link.close(1000, "again")
        link.write([PLAIN.frame(b"dropped")])
        assert len(await client.recv(decode=False)) == 3_000_000
        assert await client.recv(decode=False) == b"bye"
        assert await _close_code(client) == 1013
        assert client.close_reason == "come back later " + "ü" * 53
        assert await owner.closed_links.get() is link
        assert link.buffered == 0
        link.write([b"gone"])
        link.pause()
        link.resume()
        link.close(1000, "")
        link.abort()
    assert owner.closed_links.empty()


@aio
async def test_after_closing_nothing_more_is_taken() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), Raw.upgraded(port) as raw:
        link = await owner.opened_links.get()
        link.close(1001, "")
        raw.send(frame(TEXT, b"did you hear"))
        assert await raw.close_code() == 1001
        raw.send(frame(CLOSE, b"\x03\xe9"))
        await raw.ended()
        assert await owner.closed_links.get() is link
        assert owner.texts.empty()


@aio
async def test_a_client_that_leaves_is_answered_and_its_last_words_are_heard() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), Raw.upgraded(port) as raw:
        raw.send(frame(TEXT, b"one last thing") + frame(CLOSE, b"\x03\xe8bye") + b"rubbish")
        assert await raw.frame() == (0x80 | CLOSE, b"\x03\xe8bye")
        await raw.ended()
        assert await owner.texts.get() == b"one last thing"
        await owner.closed_links.get()


@pytest.mark.parametrize(
    "partial", [b"", frame(TEXT, b"{}")[:4], frame(TEXT, b"{", fin=False)], ids=["idle", "half a frame", "a fragment"]
)
@aio
async def test_a_client_that_just_goes_away_is_closed_once(partial: bytes) -> None:
    owner = Recorder()
    async with listening(owner) as (_, port):
        async with Raw.upgraded(port) as raw:
            link = await owner.opened_links.get()
            raw.send(partial)
            raw.writer.write_eof()
            await raw.ended()
            assert await owner.closed_links.get() is link
        async with Raw.upgraded(port) as raw:
            link = await owner.opened_links.get()
            raw.writer.transport.abort()
            assert await owner.closed_links.get() is link
    assert owner.closed_links.empty()
    assert owner.texts.empty()


@aio
async def test_abort_does_not_wait() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), Raw.upgraded(port) as raw:
        link = await owner.opened_links.get()
        link.write([PLAIN.frame(b"x" * 20_000_000)])
        link.abort()
        link.write([PLAIN.frame(b"dropped")] * 10)
        assert link.buffered == 0
        assert await owner.closed_links.get() is link
        await raw.ended()


@aio
async def test_a_client_that_never_answers_a_close_is_dropped() -> None:
    owner = Recorder()
    async with listening(owner, Limits(close_timeout=0.05)) as (_, port), Raw.upgraded(port) as raw:
        link = await owner.opened_links.get()
        link.close(1001, "")
        assert await raw.close_code() == 1001
        assert await owner.closed_links.get() is link
        await raw.ended()


@aio
async def test_a_client_that_reads_nothing_cannot_hold_a_closing_link_open() -> None:
    owner = Recorder()
    async with listening(owner, Limits(close_timeout=0.05)) as (_, port), Raw.upgraded(port) as raw:
        link = await owner.opened_links.get()
        raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
        link.write([PLAIN.frame(b"x" * 20_000_000)])
        link.close(1013, "too slow")
        assert await owner.closed_links.get() is link
        raw.writer.transport.resume_reading()  # type: ignore[attr-defined]


@aio
async def test_a_silent_client_is_pinged_and_then_dropped() -> None:
    owner = Recorder()
    limits = Limits(keepalive=0.05, keepalive_timeout=0.05)
    async with listening(owner, limits) as (_, port), Raw.upgraded(port) as raw:
        link = await owner.opened_links.get()
        assert await raw.frame() == (0x80 | PING, b"")
        await raw.ended()
        assert await owner.closed_links.get() is link


@aio
async def test_a_client_that_answers_pings_stays() -> None:
    owner = Recorder()
    limits = Limits(keepalive=0.02, keepalive_timeout=1)
    async with listening(owner, limits) as (_, port), Raw.upgraded(port) as raw:
        for _ in range(2):
            assert await raw.frame() == (0x80 | PING, b"")
            raw.send(frame(PONG))
        assert owner.closed_links.empty()


@aio
async def test_a_failing_owner_costs_the_connection_and_not_the_host() -> None:
    class Broken(Recorder):
        def received(self, link: Link, text: bytes) -> None:
            raise RuntimeError(f"cannot bear {text!r}")

    owner = Broken()
    async with listening(owner) as (_, port):
        async with _client(port) as client:
            await client.send("{}")
            assert await _close_code(client) == 1011
            assert client.close_reason == "internal error"
        async with _client(port):
            assert owner.opened_links.qsize() == 2


@aio
async def test_every_frame_leaves_at_once() -> None:
    owner = Recorder()
    async with listening(owner) as (_, port), Raw.upgraded(port):
        link: Any = await owner.opened_links.get()
        connection = link._transport.get_extra_info("socket")
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert link.peer.startswith("127.0.0.1:")
