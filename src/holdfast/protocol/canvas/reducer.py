"""What the one action does to a canvas (13-canvas, section 1)."""

from __future__ import annotations

from holdfast.protocol.canvas.actions import StateChanged
from holdfast.protocol.canvas.state import CanvasState
from holdfast.protocol.codec import Unknown, Wire

__all__ = ["reduce"]


def reduce(state: CanvasState, action: Wire | Unknown) -> CanvasState:
    """The canvas an action carries, whole; without one the same object."""
    return (isinstance(action, StateChanged) and action.canvas) or state
