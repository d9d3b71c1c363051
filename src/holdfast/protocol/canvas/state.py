"""State of one canvas."""

from __future__ import annotations

from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI

__all__ = ["CanvasReference", "CanvasState"]


class CanvasReference(Wire, frozen=True, kw_only=True):
    """An entry of `ChatState.canvases`."""

    resource: URI


class CanvasState(Wire, frozen=True, kw_only=True):
    """`url` is a bearer secret in practice: never log it, never restore it."""

    instance_id: str
    extension_id: str
    canvas_id: str
    extension_name: str | None = None
    title: str | None = None
    status: str | None = None
    url: str | None = None
