"""Everything there is of a session, fetched from a host: what `export` writes down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from holdfast.cli import rows, shapes
from holdfast.cli.output import remark
from holdfast.protocol import uris
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.common import URI, Timestamp
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.resources.commands import ContentEncoding, ResourceReadParams, ResourceReadResult
from holdfast.protocol.session.state import SessionState

if TYPE_CHECKING:
    from holdfast.client.host import Host
    from holdfast.client.session import Session

__all__ = ["Whole", "as_export", "contents_of", "fetch"]

_PROTOCOL: Final = "1.0.0"
"""The version of the states, whichever one the host speaks: the SDK lifts what older hosts say."""

_CONTENT: Final = "ahp-content:"
_ABSENT: Final = (ErrorCode.NOT_FOUND, ErrorCode.METHOD_NOT_FOUND, ErrorCode.INVALID_PARAMS)


class Whole(NamedTuple):
    """A session with all turns of all its chats."""

    uri: URI
    session: SessionState
    chats: tuple[ChatState, ...]
    created_at: Timestamp | None


async def fetch(host: Host, session: Session) -> Whole:
    """Read a session as it is now, with its history."""
    created = [each.created_at async for each in host.sessions() if each.resource == session.uri]
    chats = []
    for summary in session.chats:
        chat = await session.open_chat(summary.resource)
        turns = [turn async for turn in chat.history()][::-1]
        chats.append(replace(chat.state, turns=tuple(turns), turns_next_cursor=None))
    return Whole(session.uri, session.state, tuple(chats), created[0] if created else None)


async def as_export(host: Host, whole: Whole) -> shapes.Export:
    """The document that another host can take in, with the content that the turns refer to."""
    return shapes.Export(
        format="holdfast-session",
        version=1,
        protocol=_PROTOCOL,
        uri=whole.uri,
        created_at=whole.created_at,
        session=rows.as_value(whole.session),
        chats=tuple(rows.as_value(chat) for chat in whole.chats),
        annotations=await _annotations(host, whole.uri),
        contents=await contents_of(host, whole),
    )


async def contents_of(host: Host, whole: Whole) -> tuple[shapes.Content, ...]:
    """Whatever the host keeps of a session outside of its turns. What is lost is remarked and left out."""
    wanted = dict.fromkeys(uri for chat in whole.chats for uri in _references(rows.as_value(chat)))
    return tuple([content for uri in wanted if (content := await _content(host, uri)) is not None])


def _references(value: Any) -> Iterator[URI]:
    """Every URI of content that the host keeps, wherever it stands."""
    if isinstance(value, dict):
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)
    elif isinstance(value, str) and value.startswith(_CONTENT):
        yield value


async def _content(host: Host, uri: URI) -> shapes.Content | None:
    params = ResourceReadParams(channel=uris.ROOT, uri=uri, encoding=ContentEncoding.BASE64)
    try:
        read: ResourceReadResult = await host.request("resourceRead", params)
    except RpcError as error:
        remark(f"left out {uri}: {error}")
        return None
    data = read.data if read.encoding == ContentEncoding.BASE64 else _base64(read.data)
    return shapes.Content(uri=uri, content_type=read.content_type or "application/octet-stream", data=data)


def _base64(text: str) -> str:
    import base64

    return base64.b64encode(text.encode()).decode()


async def _annotations(host: Host, session: URI) -> shapes.Value | None:
    try:
        async with await host.subscribe(uris.annotations_of(session)) as subscription:
            state = subscription.confirmed
    except RpcError as error:
        if error.code not in _ABSENT:
            raise
        return None
    return rows.as_value(state) if state is not None and state.annotations else None
