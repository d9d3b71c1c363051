"""Which reducer a channel has, by the kind of channel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from holdfast.protocol.annotations import reducer as remarks
from holdfast.protocol.automation import reducer as automation
from holdfast.protocol.canvas import reducer as canvas
from holdfast.protocol.changeset import reducer as changeset
from holdfast.protocol.chat import reducer as chat
from holdfast.protocol.root import reducer as root
from holdfast.protocol.session import reducer as session
from holdfast.protocol.terminal import reducer as terminal
from holdfast.protocol.watch import reducer as watch

__all__ = ["REDUCERS", "Reducer"]

Reducer = Callable[[Any, Any], Any]
"""Takes the state of its channel and an action, gives the state after it."""

REDUCERS: Final[dict[str, Reducer]] = {
    "root": root.reduce,
    "session": session.reduce,
    "chat": chat.reduce,
    "terminal": terminal.reduce,
    "changeset": changeset.reduce,
    "annotations": remarks.reduce,
    "resourceWatch": watch.reduce,
    "automation": automation.reduce,
    "automationRun": automation.reduce_run,
    "canvas": canvas.reduce,
}
"""The ten reducers, under the names `snapshot.STATES` uses for their states."""
