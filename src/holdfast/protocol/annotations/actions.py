"""Actions of an annotations channel. Clients may dispatch all of them."""

from __future__ import annotations

from holdfast.protocol.annotations.state import Annotation, AnnotationEntry, AnnotationOrigin
from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI, TextRange

__all__ = ["EntryRemoved", "EntrySet", "Removed", "Set", "Updated"]


class Set(Wire, frozen=True, kw_only=True, tag_field="type", tag="annotations/set"):
    annotation: Annotation


class Updated(Wire, frozen=True, kw_only=True, tag_field="type", tag="annotations/updated"):
    """Only what is given changes; a range cannot be cleared this way."""

    annotation_id: str
    origin: AnnotationOrigin | None = None
    resource: URI | None = None
    range: TextRange | None = None
    resolved: bool | None = None


class Removed(Wire, frozen=True, kw_only=True, tag_field="type", tag="annotations/removed"):
    annotation_id: str


class EntrySet(Wire, frozen=True, kw_only=True, tag_field="type", tag="annotations/entrySet"):
    annotation_id: str
    entry: AnnotationEntry


class EntryRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="annotations/entryRemoved"):
    annotation_id: str
    entry_id: str
