"""Content that is kept outside of the state: what is known of it, and what is carried by the reference itself."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import unquote, unquote_to_bytes

from holdfast.protocol.common import ContentRef

__all__ = ["LARGEST", "Contents", "Key", "Unread", "is_text", "key", "known"]

LARGEST: Final = 512 * 1024
"""Bytes. What is larger is named and not shown: nobody reads it in a terminal."""


class Unread(NamedTuple):
    """Content that cannot be shown, and why."""

    reason: str


Key: TypeAlias = tuple[str, str | None]
"""A URI and its nonce: a new nonce means new bytes."""

Contents: TypeAlias = Mapping[Key, "str | Unread"]
"""What was read so far."""


def key(ref: ContentRef) -> Key:
    """Under what a reference's content is kept."""
    return ref.uri, ref.nonce


def known(ref: ContentRef, contents: Contents) -> str | Unread | None:
    """The text behind a reference; None as long as somebody would have to read it."""
    if ref.uri.startswith("data:"):
        return _carried(ref.uri)
    if ref.size_hint is not None and ref.size_hint > LARGEST:
        return Unread("too large to show")
    if not is_text(ref.content_type):
        return Unread(ref.content_type or "not text")
    return contents.get(key(ref))


_TEXT: Final = ("text/", "application/json", "application/xml", "application/javascript", "application/toml")


def is_text(content_type: str | None) -> bool:
    """Whether content of this type can be shown as text; what has no type is tried."""
    return content_type is None or content_type.startswith(_TEXT) or content_type.endswith(("+json", "+xml"))


def _carried(uri: str) -> str | Unread:
    """The content of a `data:` URI."""
    head, comma, body = uri.removeprefix("data:").partition(",")
    kind, *parameters = head.split(";")
    if not comma or not is_text(kind or None):
        return Unread(kind or "not text")
    try:
        data = base64.b64decode(unquote(body), validate=True) if "base64" in parameters else unquote_to_bytes(body)
        return data.decode()
    except (binascii.Error, ValueError):
        return Unread("not text")
