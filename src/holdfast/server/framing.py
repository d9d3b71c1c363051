"""A JSON text becomes the bytes on the wire: one `Framing` for each way of doing it.

Framings are values. Links whose framings are equal get equal bytes, so that what many of them receive is framed,
and compressed, once.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from websockets.frames import Frame, Opcode

__all__ = ["LINES", "MASKED", "PLAIN", "DeflateFraming", "LineFraming", "MaskedFraming", "PlainFraming"]

_TEXT: Final = 0x81  # FIN and the opcode of a text frame
_DEFLATED_TEXT: Final = 0xC1  # the same with RSV1: this message is compressed

# Below this, compressing costs more time than sending; a message of a deflated link may go as it is.
_DEFLATE_FROM: Final = 1024

# Above this, compressing would stall the loop for longer than 8 ms. Such a message is beyond the frame budget,
# for a client that cannot take pages, or carries an image, which does not shrink.
_DEFLATE_UP_TO: Final = 1024 * 1024

# Level 1 takes 7.5 ms for 900 kB of chat, level 6 27 ms; the result is 42 % against 36 % of the text.
_DEFLATE_LEVEL: Final = 1

_SYNC_FLUSH_TAIL: Final = b"\x00\x00\xff\xff"


def _head(first: int, length: int) -> bytes:
    """The header of an unmasked frame, as a server sends it (RFC 6455, section 5.2)."""
    if length < 126:
        return bytes((first, length))
    if length < 1 << 16:
        return bytes((first, 126)) + length.to_bytes(2, "big")
    return bytes((first, 127)) + length.to_bytes(8, "big")


@dataclass(frozen=True, slots=True)
class PlainFraming:
    """One unmasked WebSocket text frame for each message."""

    def frame(self, text: bytes) -> bytes:
        """The bytes for one message."""
        return _head(_TEXT, len(text)) + text

    def pieces(self, text: Sequence[bytes]) -> list[bytes]:
        """The bytes for one long message."""
        return [_head(_TEXT, sum(map(len, text))), *text]


@dataclass(frozen=True, slots=True)
class DeflateFraming:
    """As `PlainFraming`, compressed where it pays (RFC 7692), each message by itself.

    Without context takeover the bytes depend on the message and on the size of the window alone.
    """

    window_bits: int = 15

    def frame(self, text: bytes) -> bytes:
        """The bytes for one message."""
        if not _DEFLATE_FROM <= len(text) <= _DEFLATE_UP_TO:
            return PLAIN.frame(text)
        deflate = zlib.compressobj(_DEFLATE_LEVEL, zlib.DEFLATED, -self.window_bits)
        data = deflate.compress(text) + deflate.flush(zlib.Z_SYNC_FLUSH)
        data = data.removesuffix(_SYNC_FLUSH_TAIL)
        return _head(_DEFLATED_TEXT, len(data)) + data

    def pieces(self, text: Sequence[bytes]) -> list[bytes]:
        """The bytes for one long message."""
        if sum(map(len, text)) > _DEFLATE_UP_TO:
            return PLAIN.pieces(text)
        return [self.frame(b"".join(text))]


@dataclass(frozen=True, slots=True)
class LineFraming:
    """One line for each message, for stdio.

    What a client sent is passed on verbatim and may be spread over lines; outside strings, where JSON allows it,
    a line break is white space.
    """

    def frame(self, text: bytes) -> bytes:
        """The bytes for one message."""
        return _on_one_line(text) + b"\n"

    def pieces(self, text: Sequence[bytes]) -> list[bytes]:
        """The bytes for one long message."""
        return [*map(_on_one_line, text), b"\n"]


def _on_one_line(text: bytes) -> bytes:
    if b"\n" in text or b"\r" in text:
        text = text.replace(b"\n", b" ").replace(b"\r", b" ")
    return text


class MaskedFraming:
    """One masked WebSocket text frame for each message, as a client sends it.

    Masks are random: what this framing makes is for one link and is not shared.
    """

    def frame(self, text: bytes) -> bytes:
        """The bytes for one message."""
        return Frame(Opcode.TEXT, text).serialize(mask=True)

    def pieces(self, text: Sequence[bytes]) -> list[bytes]:
        """The bytes for one long message."""
        return [self.frame(b"".join(text))]


PLAIN: Final = PlainFraming()
LINES: Final = LineFraming()
MASKED: Final = MaskedFraming()
