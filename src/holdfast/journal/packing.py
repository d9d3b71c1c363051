"""A frame's envelopes as one blob: channels and numbers beside each action's bytes, so that nobody parses JSON.

The form is MessagePack, a list of `{"channel", "seq", "data", "facts"}`. Keys instead of positions let msgspec build
the port's own struct, which halves the time of a replay; a test pins the bytes.
"""

from __future__ import annotations

from typing import Final

from msgspec import msgpack

from holdfast.ports.journal import StoredEnvelope

__all__ = ["pack", "unpack"]

pack: Final = msgpack.Encoder().encode
unpack: Final = msgpack.Decoder(tuple[StoredEnvelope, ...]).decode
