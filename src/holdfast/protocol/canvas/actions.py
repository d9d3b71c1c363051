"""The one action of a canvas."""

from __future__ import annotations

from holdfast.protocol.canvas.state import CanvasState
from holdfast.protocol.codec import Wire

__all__ = ["StateChanged"]


class StateChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="canvas/stateChanged"):
    """The complete new state. Without one (a sender's mistake) nothing changes."""

    canvas: CanvasState | None = None
