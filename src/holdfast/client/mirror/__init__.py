"""What a client believes of a host, without I/O: see `mirror` for the whole, `channel` for one channel."""

from __future__ import annotations

from holdfast.client.mirror.channel import Channel, Pending
from holdfast.client.mirror.mirror import Batch, Change, Mirror, Redo, Replayed, Resumed, Settled

__all__ = [
    "Batch",
    "Change",
    "Channel",
    "Mirror",
    "Pending",
    "Redo",
    "Replayed",
    "Resumed",
    "Settled",
]
