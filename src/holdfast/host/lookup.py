"""Finding things by the names clients use: channels, chats, sessions, turns.

What is not in memory is asked for and adopted. Nothing is routed by its scheme: a URI is what it was registered
as.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.host import loading
from holdfast.host.jobs import Waiting
from holdfast.host.units import AnnotationsChannel, Channel, Chat, Session, SessionChannel
from holdfast.ports.journal import FindTurn, FindUnit, LoadUnit, ReadTurns, ReadTurnsFrom, TurnPage
from holdfast.protocol.annotations.state import AnnotationsState
from holdfast.protocol.common import URI
from holdfast.protocol.errors import ErrorCode, InvalidValue, RpcError
from holdfast.protocol.uris import Kind, annotations_owner, classify, is_root

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = [
    "bring",
    "channel",
    "chat",
    "find_turn",
    "history",
    "is_arriving",
    "is_taken",
    "session",
    "turns",
    "unknown",
]

T = TypeVar("T")


class _Progress(Struct):
    """How much of something one job has read, and what was made of it."""

    pieces: list[Any] = []
    position: int = 0


def channel(host: Host, uri: URI) -> Channel | None:
    """The channel a URI names; None if there is none."""
    if is_root(uri):
        return host.root.root
    found = host.channels.get(uri)
    if found is None:
        found = _stored(host, uri) or _annotations(host, uri)
    if found is not None and isinstance(found.unit, Session):
        found.unit.used_at = host.clock.monotonic()
    return found


def _stored(host: Host, uri: URI) -> Channel | None:
    """A channel whose session is not in memory."""
    if not uri or len(uri) > _MOST_CHARACTERS:
        return None
    unit_uri = host.ask(FindUnit(uri))
    if unit_uri is None or unit_uri in host.sessions or unit_uri in host.imports:
        # In memory without this channel: it was dropped, and the journal does not know yet. Or not to be seen yet.
        return None
    stored = host.ask(LoadUnit(unit_uri), once=True)
    if stored is None:
        return None
    loading.adopt(host, stored)
    return host.channels.get(uri)


_MOST_CHARACTERS = 8192

_AT_ONCE: Final = 8
"""Sessions that are read into memory at once: a millisecond or two."""


def bring(host: Host, uris: Sequence[URI]) -> None:
    """Have what these URIs name in memory before it is looked for: a few at a time, however many they are."""
    brought = host.memory.setdefault("brought", _Progress())
    while brought.position < len(uris):
        batch = uris[brought.position : brought.position + _AT_ONCE]
        named = [
            name for uri in batch for name in (uri, annotations_owner(uri)) if name and _may_be_stored(host, name)
        ]
        host.ask_ahead(FindUnit(name) for name in named)
        units = {host.ask(FindUnit(name)) for name in named}
        host.ask_ahead(LoadUnit(unit) for unit in units if unit is not None and unit not in host.sessions)
        for uri in batch:
            channel(host, uri)
        brought.position += len(batch)


def _may_be_stored(host: Host, uri: URI) -> bool:
    return not is_root(uri) and uri not in host.channels and len(uri) <= _MOST_CHARACTERS


def _annotations(host: Host, uri: URI) -> Channel | None:
    """The annotations of a session, which has them from the moment somebody asks."""
    owner = annotations_owner(uri)
    found = channel(host, owner) if owner is not None else None
    if not isinstance(found, SessionChannel):
        return None
    unit = found.unit
    made = AnnotationsChannel(uri, unit, AnnotationsState(annotations=()))
    made.moved_at = found.moved_at
    unit.annotations = made
    host.channels[uri] = made
    return made


def is_taken(host: Host, uri: URI) -> bool:
    """Whether a URI names a channel, also of a session that is not there yet, or not there and can come back."""
    if channel(host, uri) is not None or is_arriving(host, uri):
        return True
    return host.ask(FindUnit(uri, disposed=True)) is not None


def is_arriving(host: Host, uri: URI) -> bool:
    """Whether a URI belongs to a session that is being imported."""
    return any(uri in arriving.uris for arriving in host.imports.values())


def session(host: Host, uri: URI) -> Session:
    """A session, or the error its absence gives."""
    found = channel(host, uri)
    if not isinstance(found, SessionChannel):
        raise RpcError(ErrorCode.SESSION_NOT_FOUND, f"there is no session {uri[:200]!r}")
    return found.unit


def chat(host: Host, uri: URI) -> Chat:
    """A chat, or the error its absence gives. A session's URI means its default chat: VS Code writes it so."""
    found = channel(host, uri)
    if isinstance(found, SessionChannel):
        found = found.unit.chats.get(found.state.default_chat or "")
    if not isinstance(found, Chat):
        raise RpcError(ErrorCode.NOT_FOUND, f"there is no chat {uri[:200]!r}")
    return found


def unknown(uri: URI) -> RpcError:
    """The error for subscribing to what is not there (01-wire, section 13)."""
    try:
        kind = classify(uri)
    except InvalidValue:
        kind = Kind.EXTENSION
    if kind in (Kind.SESSION, Kind.FOREIGN):
        return RpcError(ErrorCode.SESSION_NOT_FOUND, f"there is no session {uri[:200]!r}")
    return RpcError(ErrorCode.NOT_FOUND, f"there is no channel {uri[:200]!r}")


def turns(host: Host, chat: Chat, query: ReadTurns) -> TurnPage:
    """Completed turns of a chat, with everything decided so far in them."""
    query = replace(query, edition=chat.cuts)
    if is_moving(host, chat):
        raise Waiting(query)
    page: TurnPage = host.ask(query)
    if page.total != chat.turns:
        # Rows were written after the answer was read and before it was used: read it again.
        raise Waiting(query)
    return page


_PIECE: Final = 32
_PIECE_BYTES: Final = 64_000
"""A piece of a whole history. Reading one, and converting it for an older client, takes a millisecond or two."""


def history(host: Host, chat: Chat, made_of: Callable[[TurnPage], T]) -> tuple[T, ...]:
    """Everything that was completed in a chat, oldest first, in pieces as `made_of` makes them of pages.

    What is completed while they are read one by one comes in more of them; after a cut it all begins again.
    """
    progress = host.memory.setdefault((chat.uri, chat.cuts), _Progress())

    def take(page: TurnPage) -> None:
        progress.pieces.append(made_of(page))
        progress.position += len(page.turns)

    while progress.position < chat.turns:
        query = ReadTurnsFrom(chat.uri, progress.position, _PIECE, _PIECE_BYTES, edition=chat.cuts)
        if is_moving(host, chat):
            raise Waiting(query, is_piece=True)
        host.ask_piece(query, take)
    return tuple(progress.pieces)


def find_turn(host: Host, chat: Chat, turn_id: str) -> int | None:
    """The position of a completed turn, with everything decided so far counted."""
    query = FindTurn(chat.uri, turn_id)
    if is_moving(host, chat):
        raise Waiting(query)
    position: int | None = host.ask(query)
    return position


def is_moving(host: Host, chat: Chat) -> bool:
    """Whether rows of a chat are decided and not yet committed, so that the journal cannot be asked."""
    pending = host.in_flight.batch.rows if host.in_flight else ()
    return chat.uri in host.batch.rows or chat.uri in pending
