"""Snapshots: the state of a channel at a sequence number.

A snapshot names its channel but not the kind of its state; the peer knows what it asked for. Where nobody
does (the handshake's list), the keys tell the kinds apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from holdfast.protocol.annotations.state import AnnotationsState
from holdfast.protocol.automation.state import AutomationRunState, AutomationState
from holdfast.protocol.canvas.state import CanvasState
from holdfast.protocol.changeset.state import ChangesetState
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.codec import ShapedUnion, Unknown, Wire
from holdfast.protocol.common import URI
from holdfast.protocol.root.state import RootState
from holdfast.protocol.session.state import SessionState
from holdfast.protocol.terminal.state import TerminalState
from holdfast.protocol.watch.state import ResourceWatchState

__all__ = ["STATES", "Snapshot", "SnapshotState"]

STATES: Final[dict[str, type[Wire]]] = {
    "root": RootState,
    "session": SessionState,
    "chat": ChatState,
    "terminal": TerminalState,
    "changeset": ChangesetState,
    "annotations": AnnotationsState,
    "resourceWatch": ResourceWatchState,
    "automation": AutomationState,
    "automationRun": AutomationRunState,
    "canvas": CanvasState,
}
"""The ten kinds of state, by the name of their channel."""

# Keys that only one kind of state has, most telling first; each is required in that kind.
_TELLING_KEYS: Final[tuple[tuple[str, type[Wire]], ...]] = (
    ("turns", ChatState),
    ("activeClients", SessionState),
    ("agents", RootState),
    ("claim", TerminalState),
    ("files", ChangesetState),
    ("annotations", AnnotationsState),
    ("recursive", ResourceWatchState),
    ("entries", AutomationState),
    ("automation", AutomationRunState),
    ("canvasId", CanvasState),
)


def _state_type(raw: dict[str, Any]) -> type[Wire] | None:
    return next((state for key, state in _TELLING_KEYS if key in raw), None)


if TYPE_CHECKING:
    SnapshotState: TypeAlias = Wire | Unknown
else:
    SnapshotState = ShapedUnion("SnapshotState", (), {"choose": staticmethod(_state_type)})


class Snapshot(Wire, frozen=True, kw_only=True):
    """`from_seq` is the highest sequence number the state contains."""

    resource: URI
    state: SnapshotState
    from_seq: int
