"""Commands and notifications of the root channel: the session catalogue, session configuration, progress."""

from __future__ import annotations

from msgspec import UNSET, field
from msgspec.structs import force_setattr

from holdfast.protocol.annotations.state import AnnotationsSummary
from holdfast.protocol.codec import Patch, Patched, Wire
from holdfast.protocol.common import (
    URI,
    ChangesSummary,
    JsonObject,
    Number,
    ProjectInfo,
    Timestamp,
)
from holdfast.protocol.params import RootParams
from holdfast.protocol.session.state import (
    SessionChatSummary,
    SessionConfigSchema,
    SessionOrigin,
    SessionSummary,
)
from holdfast.protocol.status import Status

__all__ = [
    "ListSessionsParams",
    "ListSessionsResult",
    "PartialSessionSummary",
    "ProgressParams",
    "ResolveSessionConfigParams",
    "ResolveSessionConfigResult",
    "SessionAddedParams",
    "SessionConfigCompletionsParams",
    "SessionConfigCompletionsResult",
    "SessionConfigValueItem",
    "SessionRemovedParams",
    "SessionSummaryChangedParams",
]


class ListSessionsParams(RootParams, frozen=True, kw_only=True):
    limit: int | None = None
    cursor: str | None = None


class ListSessionsResult(Wire, frozen=True, kw_only=True):
    items: tuple[SessionSummary, ...]
    next_cursor: str | None = None


class ResolveSessionConfigParams(RootParams, frozen=True, kw_only=True):
    """`working_directory` is singular in every version."""

    provider: str | None = None
    working_directory: URI | None = None
    config: JsonObject | None = None


class ResolveSessionConfigResult(Wire, frozen=True, kw_only=True):
    schema: SessionConfigSchema
    values: JsonObject


class SessionConfigCompletionsParams(RootParams, frozen=True, kw_only=True):
    property: str
    provider: str | None = None
    working_directory: URI | None = None
    config: JsonObject | None = None
    query: str | None = None


class SessionConfigValueItem(Wire, frozen=True, kw_only=True):
    value: str
    label: str
    description: str | None = None


class SessionConfigCompletionsResult(Wire, frozen=True, kw_only=True):
    items: tuple[SessionConfigValueItem, ...]


class PartialSessionSummary(Patch, frozen=True, kw_only=True):
    """Changed fields of a `SessionSummary`. Identity fields are never sent and ignored when received.

    A cleared `activity` is the empty string, here and only here; a `null` that arrives reads as that.
    """

    provider: Patched[str] = UNSET
    title: Patched[str] = UNSET
    status: Patched[Status] = UNSET
    activity: Patched[str] = UNSET
    origin: Patched[SessionOrigin] = UNSET
    project: Patched[ProjectInfo] = UNSET
    working_directories: Patched[tuple[URI, ...]] = UNSET
    annotations: Patched[AnnotationsSummary] = UNSET
    resource: Patched[URI] = UNSET
    created_at: Patched[Timestamp] = UNSET
    modified_at: Patched[Timestamp] = UNSET
    changes: Patched[ChangesSummary] = UNSET
    meta: Patched[JsonObject] = field(default=UNSET, name="_meta")
    chats: Patched[tuple[SessionChatSummary, ...]] = UNSET
    default_chat: Patched[URI] = UNSET

    def __post_init__(self) -> None:
        if getattr(self, "activity", None) is None:
            force_setattr(self, "activity", "")
        super().__post_init__()


class SessionAddedParams(Wire, frozen=True, kw_only=True):
    channel: URI
    summary: SessionSummary


class SessionRemovedParams(Wire, frozen=True, kw_only=True):
    channel: URI
    session: URI


class SessionSummaryChangedParams(Wire, frozen=True, kw_only=True):
    channel: URI
    session: URI
    changes: PartialSessionSummary


class ProgressParams(Wire, frozen=True, kw_only=True):
    """Finished when `progress == total`. Never decreases."""

    channel: URI
    progress_token: str
    progress: Number
    total: Number | None = None
    message: str | None = None
