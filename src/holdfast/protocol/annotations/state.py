"""State of an annotations channel."""

from __future__ import annotations

from msgspec import field

from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI, JsonObject, StringOrMarkdown, TextRange

__all__ = ["Annotation", "AnnotationEntry", "AnnotationOrigin", "AnnotationsState", "AnnotationsSummary"]


class AnnotationsSummary(Wire, frozen=True, kw_only=True):
    """Carried by sessions; `resource` is the channel."""

    resource: URI
    annotation_count: int
    entry_count: int


class AnnotationOrigin(Wire, frozen=True, kw_only=True):
    """Which work made the file versions the remark is about. Without `turn_id`: the current file."""

    session: URI
    chat: URI | None = None
    turn_id: str | None = None


class AnnotationEntry(Wire, frozen=True, kw_only=True):
    id: str
    text: StringOrMarkdown
    meta: JsonObject | None = field(default=None, name="_meta")


class Annotation(Wire, frozen=True, kw_only=True):
    """`range` absent: the whole file. Entries are oldest first, at least one."""

    id: str
    origin: AnnotationOrigin
    resource: URI
    resolved: bool
    entries: tuple[AnnotationEntry, ...]
    range: TextRange | None = None
    meta: JsonObject | None = field(default=None, name="_meta")


class AnnotationsState(Wire, frozen=True, kw_only=True):
    annotations: tuple[Annotation, ...]
