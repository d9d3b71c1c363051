"""Frames become messages: fragments joined, size and UTF-8 checked. Pure; `websocket` owns the connection."""

from __future__ import annotations

from websockets.frames import CloseCode, Frame, Opcode

__all__ = ["Joiner", "RuleBroken", "check_text"]


class RuleBroken(Exception):
    """A message we do not take; the connection is closed with `code` and `reason`."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def check_text(text: bytes, max_message: int) -> bytes:
    """`text`, if it may be a message. Raises `RuleBroken`."""
    if len(text) > max_message:
        raise RuleBroken(CloseCode.MESSAGE_TOO_BIG, f"a message has up to {max_message} bytes")
    if not text.isascii():  # which most are, and which is the cheaper question
        try:
            text.decode()
        except UnicodeDecodeError as error:
            raise RuleBroken(CloseCode.INVALID_DATA, f"messages are UTF-8; byte {error.start} is not") from None
    return text


class Joiner:
    """The messages of one connection.

    The library has checked each frame: opcodes, masks, reserved bits, and that fragments follow each other.
    """

    def __init__(self, max_message: int) -> None:
        self._max_message = max_message
        self._fragments: bytearray | None = None

    def feed(self, frame: Frame) -> bytes | None:
        """The message that `frame` completes, if it does. Raises `RuleBroken`."""
        if frame.opcode is Opcode.TEXT:
            if frame.fin:
                return check_text(bytes(frame.data), self._max_message)
            self._fragments = bytearray(frame.data)
        elif frame.opcode is Opcode.CONT and self._fragments is not None:
            # One buffer, not a list of fragments: a million of one byte each must not cost fifty times their size.
            self._fragments += frame.data
            if frame.fin or len(self._fragments) > self._max_message:
                text, self._fragments = bytes(self._fragments), None
                return check_text(text, self._max_message)
        elif frame.opcode is Opcode.BINARY:
            raise RuleBroken(CloseCode.UNSUPPORTED_DATA, "messages are text")
        return None
