"""The catalogue entry of a changeset and the content behind its URI."""

from __future__ import annotations

from msgspec import field

from holdfast.protocol.codec import OpenEnum, Wire
from holdfast.protocol.common import ErrorInfo, FileEdit, JsonObject, StringOrMarkdown

__all__ = [
    "Changeset",
    "ChangesetCapabilities",
    "ChangesetFile",
    "ChangesetOperation",
    "ChangesetOperationScope",
    "ChangesetOperationStatus",
    "ChangesetState",
    "ChangesetStatus",
]


class ChangesetStatus(OpenEnum):
    """`recomputing` keeps showing the previous complete result."""

    COMPUTING = "computing"
    RECOMPUTING = "recomputing"
    READY = "ready"
    ERROR = "error"


class ChangesetOperationScope(OpenEnum):
    CHANGESET = "changeset"
    RESOURCE = "resource"
    RANGE = "range"


class ChangesetOperationStatus(OpenEnum):
    IDLE = "idle"
    RUNNING = "running"
    ERROR = "error"
    DISABLED = "disabled"


class ChangesetCapabilities(Wire, frozen=True, kw_only=True):
    """Presence flags: `{}` means supported."""

    review: JsonObject | None = None


class Changeset(Wire, frozen=True, kw_only=True):
    """A catalogue entry. Expand `uri_template` (RFC 6570) to get the channel."""

    label: str
    uri_template: str
    change_kind: str
    description: str | None = None
    capabilities: ChangesetCapabilities | None = None


class ChangesetFile(Wire, frozen=True, kw_only=True):
    """`id` is unique and stable in the changeset; absent `reviewed` means false."""

    id: str
    edit: FileEdit
    reviewed: bool | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class ChangesetOperation(Wire, frozen=True, kw_only=True):
    """`confirmation` present: destructive, ask first. `error` is there exactly while the status is error."""

    id: str
    label: str
    scopes: tuple[ChangesetOperationScope, ...]
    status: ChangesetOperationStatus
    description: str | None = None
    confirmation: StringOrMarkdown | None = None
    icon: str | None = None
    group: str | None = None
    error: ErrorInfo | None = None


class ChangesetState(Wire, frozen=True, kw_only=True):
    status: ChangesetStatus
    files: tuple[ChangesetFile, ...]
    error: ErrorInfo | None = None
    operations: tuple[ChangesetOperation, ...] | None = None
