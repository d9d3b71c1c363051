"""What every request's params have in common (01-wire, section 6)."""

from __future__ import annotations

from msgspec import field

from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI, JsonObject

__all__ = ["Empty", "PaginatedParams", "Params", "RootParams"]


class Params(Wire, frozen=True, kw_only=True):
    """Params of a command addressed to a channel."""

    channel: URI
    meta: JsonObject | None = field(default=None, name="_meta")


class RootParams(Wire, frozen=True, kw_only=True):
    """Params of a connection-level command: the channel is always the root, and may be left out when read."""

    channel: URI | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class PaginatedParams(Wire, frozen=True, kw_only=True):
    """Keyset paging: the first page has no cursor, the last answer has no `nextCursor`."""

    limit: int | None = None
    cursor: str | None = None


class Empty(Wire, frozen=True, kw_only=True):
    """The result `{}` of commands that return nothing to look at."""
