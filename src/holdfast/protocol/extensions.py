"""What a Holdfast host can beyond the protocol: methods whose names begin `x-holdfast/`.

`initialize` announces them in its `_meta.holdfast`; a host that does not announce a method does not have it.

An import goes `importSession`, then `importContent` and `importTurns` as often as it takes, then `commitImport`.
Until then nobody sees any of it. It ends unfinished with `abortImport`, and with the connection that began it.
"""

from __future__ import annotations

from typing import Final

from holdfast.protocol.annotations.state import AnnotationsState
from holdfast.protocol.chat.state import ChatState, Turn
from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI, JsonObject, Timestamp
from holdfast.protocol.methods import Direction, RequestInfo
from holdfast.protocol.params import Params, RootParams
from holdfast.protocol.session.state import SessionState

__all__ = [
    "ABORT_IMPORT",
    "COMMIT_IMPORT",
    "EXTENSIONS",
    "IMPORT_CONTENT",
    "IMPORT_SESSION",
    "IMPORT_TURNS",
    "LIST_DISPOSED",
    "RESTORE_SESSION",
    "AbortImportParams",
    "CommitImportParams",
    "DisposedSession",
    "ImportContentParams",
    "ImportContentResult",
    "ImportSessionParams",
    "ImportSessionResult",
    "ImportTurnsParams",
    "ImportTurnsResult",
    "ImportedChat",
    "ListDisposedParams",
    "ListDisposedResult",
    "RestoreSessionParams",
    "announced",
    "announcement",
]

RESTORE_SESSION: Final = "x-holdfast/restoreSession"
LIST_DISPOSED: Final = "x-holdfast/listDisposed"
IMPORT_SESSION: Final = "x-holdfast/importSession"
IMPORT_CONTENT: Final = "x-holdfast/importContent"
IMPORT_TURNS: Final = "x-holdfast/importTurns"
COMMIT_IMPORT: Final = "x-holdfast/commitImport"
ABORT_IMPORT: Final = "x-holdfast/abortImport"


# Second thoughts


class RestoreSessionParams(Params, frozen=True, kw_only=True):
    """`channel` is the disposed session."""


class ListDisposedParams(RootParams, frozen=True, kw_only=True):
    limit: int | None = None
    cursor: str | None = None


class DisposedSession(Wire, frozen=True, kw_only=True):
    """A session that can be restored `until` then."""

    resource: URI
    provider: str
    title: str
    modified_at: Timestamp
    disposed_at: Timestamp
    until: Timestamp


class ListDisposedResult(Wire, frozen=True, kw_only=True):
    """Most recently disposed of first."""

    items: tuple[DisposedSession, ...]
    next_cursor: str | None = None


# Import


class ImportSessionParams(Params, frozen=True, kw_only=True):
    """`channel` is the new session's URI, `source` the one it had where it comes from, if that was another.

    The states are those a client is given when it subscribes. The chats come in their order and without turns.
    """

    session: SessionState
    chats: tuple[ChatState, ...]
    source: URI | None = None
    annotations: AnnotationsState | None = None
    created_at: Timestamp | None = None


class ImportedChat(Wire, frozen=True, kw_only=True):
    """What the chat that was `source` is called here."""

    source: URI
    resource: URI


class ImportSessionResult(Wire, frozen=True, kw_only=True):
    chats: tuple[ImportedChat, ...]


class ImportContentParams(Params, frozen=True, kw_only=True):
    """Content that turns refer to by `uri`, before those turns. `data` is base64.

    With `more` it goes on in the next request with this `uri`.
    """

    uri: URI
    content_type: str
    data: str
    more: bool | None = None


class ImportContentResult(Wire, frozen=True, kw_only=True):
    """What the content is called here."""

    uri: URI


class ImportTurnsParams(Params, frozen=True, kw_only=True):
    """The next completed turns of a chat, oldest first. `chat` is what it was called where it comes from."""

    chat: URI
    turns: tuple[Turn, ...]


class ImportTurnsResult(Wire, frozen=True, kw_only=True):
    """How many turns the chat has by now."""

    total: int


class CommitImportParams(Params, frozen=True, kw_only=True):
    pass


class AbortImportParams(Params, frozen=True, kw_only=True):
    pass


# The table


def _to_host(params: object, result: object) -> RequestInfo:
    return RequestInfo(params, result, Direction.TO_HOST, False)


EXTENSIONS: Final[dict[str, RequestInfo]] = {
    RESTORE_SESSION: _to_host(RestoreSessionParams, None),
    LIST_DISPOSED: RequestInfo(ListDisposedParams, ListDisposedResult, Direction.TO_HOST, True),
    IMPORT_SESSION: _to_host(ImportSessionParams, ImportSessionResult),
    IMPORT_CONTENT: _to_host(ImportContentParams, ImportContentResult),
    IMPORT_TURNS: _to_host(ImportTurnsParams, ImportTurnsResult),
    COMMIT_IMPORT: _to_host(CommitImportParams, None),
    ABORT_IMPORT: _to_host(AbortImportParams, None),
}
"""Every extension, as `methods.REQUESTS` has the protocol's own."""


def announcement(version: str, methods: tuple[str, ...]) -> JsonObject:
    """The `_meta` of an `initialize` result that says which extensions this host has on this connection."""
    return {"holdfast": {"version": version, "extensions": methods}}


def announced(meta: JsonObject | None) -> frozenset[str]:
    """The extensions that the `_meta` of an `initialize` result announces."""
    found = (meta or {}).get("holdfast")
    methods = found.get("extensions") if isinstance(found, dict) else None
    return frozenset(method for method in methods or () if isinstance(method, str))
