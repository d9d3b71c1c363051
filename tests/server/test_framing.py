"""What goes on the wire for one message, read back by the library that clients use."""

from __future__ import annotations

import pytest
from websockets.client import ClientProtocol
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from holdfast.server.framing import LINES, MASKED, PLAIN, DeflateFraming, LineFraming, MaskedFraming, PlainFraming
from holdfast.server.links import Framing

SIZES = [0, 1, 125, 126, 1023, 1024, 65535, 65536, 300_000, 1_500_000]


def _read(data: bytes, window_bits: int | None = None) -> Frame:
    """The one frame in `data`, as a client reads it."""
    client = ClientProtocol(parse_uri("ws://localhost/"), state=State.OPEN, max_size=None)
    if window_bits is not None:
        client.extensions = [PerMessageDeflate(True, True, window_bits, 15)]
    client.receive_data(data)
    (frame,) = client.events_received()
    assert isinstance(frame, Frame)
    return frame


def _text(size: int) -> bytes:
    words = b'{"type":"chat/delta","turnId":"t1","partId":"p1","content":"so it goes on and on "},'
    return (words * (size // len(words) + 1))[:size]


@pytest.mark.parametrize("size", SIZES)
def test_a_plain_frame_is_one_text_frame(size: int) -> None:
    text = _text(size)
    data = PLAIN.frame(text)
    assert bytes(_read(data).data) == text
    assert len(data) - size == (2 if size < 126 else 4 if size < 65536 else 10)


@pytest.mark.parametrize("bits", [9, 12, 15])
@pytest.mark.parametrize("size", SIZES)
def test_a_deflated_frame_stands_alone_and_is_smaller_where_it_matters(size: int, bits: int) -> None:
    text = _text(size)
    data = DeflateFraming(bits).frame(text)
    assert bytes(_read(data, bits).data) == text
    assert (len(data) < size / 4) == (1024 <= size <= 1024 * 1024)


def test_a_deflated_frame_depends_on_nothing_before_it() -> None:
    framing = DeflateFraming()
    first = framing.frame(_text(5000))
    framing.frame(b"something else " * 1000)
    assert framing.frame(_text(5000)) == first == DeflateFraming(15).frame(_text(5000))


def test_framings_are_values() -> None:
    framings = {PlainFraming(): 1, PLAIN: 2, DeflateFraming(): 3, DeflateFraming(15): 4, DeflateFraming(9): 5}
    assert framings == {PLAIN: 2, DeflateFraming(15): 4, DeflateFraming(9): 5}
    assert len({LineFraming(), LINES, PlainFraming()}) == 2
    assert MaskedFraming() != MASKED, "masks are random: nothing is shared"


def test_a_masked_frame_is_what_a_server_takes() -> None:
    server = ServerProtocol(state=State.OPEN)
    server.receive_data(MASKED.frame("grüezi".encode()))
    (frame,) = server.events_received()
    assert isinstance(frame, Frame)
    assert bytes(frame.data).decode() == "grüezi"


def test_a_line_is_a_line_whatever_white_space_a_client_sent() -> None:
    assert LINES.frame(b'{"a": 1}') == b'{"a": 1}\n'
    assert LINES.frame(b'{\r\n  "a":\n1}') == b'{    "a": 1}\n'


@pytest.mark.parametrize("framing", [PLAIN, LINES, DeflateFraming()])
@pytest.mark.parametrize("size", [0, 100, 300_000, 1_500_000])
def test_pieces_are_the_frame_of_the_whole(framing: Framing, size: int) -> None:
    text = _text(size) + b"\r\n"
    pieces = [text[start : start + 40_000] for start in range(0, len(text), 40_000)]
    assert b"".join(framing.pieces(pieces)) == framing.frame(text)


def test_pieces_of_a_giant_are_not_copied() -> None:
    pieces = [_text(300_000) for _ in range(5)]
    assert all(one is other for one, other in zip(PLAIN.pieces(pieces)[1:], pieces, strict=True))


def test_masked_pieces_are_one_frame() -> None:
    server = ServerProtocol(state=State.OPEN, max_size=None)
    server.receive_data(b"".join(MASKED.pieces([b"[", _text(1000), b"]"])))
    (frame,) = server.events_received()
    assert isinstance(frame, Frame)
    assert bytes(frame.data) == b"[" + _text(1000) + b"]"
