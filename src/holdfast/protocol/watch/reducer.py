"""A resource watch's state is fixed for life: its actions are events for whoever listens."""

from __future__ import annotations

from holdfast.protocol.codec import Unknown, Wire
from holdfast.protocol.watch.state import ResourceWatchState

__all__ = ["reduce"]


def reduce(state: ResourceWatchState, action: Wire | Unknown) -> ResourceWatchState:  # noqa: ARG001
    """The same object, whatever happens."""
    return state
