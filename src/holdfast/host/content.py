"""Content the host holds outside any state: kept, replaced, read (05-resources, section 4)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from holdfast.host.connection import Connection
from holdfast.host.units import Chat
from holdfast.ports.journal import Content, PutContent, ReadContent
from holdfast.protocol import jsonrpc
from holdfast.protocol.common import URI, ContentRef
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.resources.commands import (
    ContentEncoding,
    ResourceReadParams,
    ResourceReadResult,
    ResourceResolveParams,
    ResourceResolveResult,
    ResourceType,
)

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["put", "put_text", "read", "replace_text", "resolve"]

SCHEME: Final = "ahp-content"
_TEXT: Final = "text/plain; charset=utf-8"


def put(host: Host, chat: Chat, data: bytes, content_type: str) -> ContentRef:
    """Keep content as long as the chat's session and refer to it."""
    uri = f"{SCHEME}:/{host.ids.new()}"
    host.batch.write(PutContent(Content(uri, chat.unit.uri, content_type, data)))
    return ContentRef(uri=uri, size_hint=len(data), content_type=content_type, nonce=_nonce(data))


def put_text(host: Host, chat: Chat, text: str) -> ContentRef:
    return put(host, chat, text.encode(), _TEXT)


def replace_text(host: Host, chat: Chat, uri: URI, text: str) -> None:
    """Put other text behind a reference that stays as it is."""
    host.batch.write(PutContent(Content(uri, chat.unit.uri, _TEXT, text.encode())))


def _nonce(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()


def _kept(host: Host, uri: URI) -> Content:
    """Content a client may read: what a state refers to, kept here or carried by the URI itself."""
    if uri.startswith("data:"):
        return _inline(uri)
    found = host.ask(ReadContent(uri)) if uri.startswith(f"{SCHEME}:") else None
    if not isinstance(found, Content):
        raise RpcError(ErrorCode.NOT_FOUND, f"this host holds nothing under {uri[:200]!r}")
    return found


def _inline(uri: URI) -> Content:
    """The content of a `data:` URI (RFC 2397)."""
    head, comma, body = uri.removeprefix("data:").partition(",")
    kind = head.removesuffix(";base64") or "text/plain;charset=US-ASCII"
    data = unquote_to_bytes(body)
    try:
        data = base64.b64decode(data, validate=True) if head.endswith(";base64") else data
    except binascii.Error:
        comma = ""
    if not comma:
        raise RpcError(ErrorCode.NOT_FOUND, "this data: URI holds nothing readable")
    return Content(uri, "", kind, data)


def read(host: Host, connection: Connection, request: jsonrpc.Request, params: ResourceReadParams) -> None:
    """Read content whole, as text where it is text and nobody asked otherwise."""
    content = _kept(host, params.uri)
    text = None
    if params.encoding != ContentEncoding.BASE64 and (params.encoding or content.content_type.startswith("text/")):
        text = _text(content.data)
    if text is None:
        data, encoding = base64.b64encode(content.data).decode(), ContentEncoding.BASE64
    else:
        data, encoding = text, ContentEncoding.UTF_8
    result = ResourceReadResult(data=data, encoding=encoding, content_type=content.content_type)
    host.reply(connection, request, result)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def resolve(host: Host, connection: Connection, request: jsonrpc.Request, params: ResourceResolveParams) -> None:
    """Say what there is without reading it; clients look before they read."""
    content = _kept(host, params.uri)
    result = ResourceResolveResult(
        uri=params.uri,
        type=ResourceType.FILE,
        size=len(content.data),
        content_type=content.content_type,
        etag=_nonce(content.data),
    )
    host.reply(connection, request, result)
