"""What a client believes of a host, without I/O: see `mirror` for the whole, `channel` for one channel."""

from __future__ import annotations

from holdfast.client.mirror.channel import Channel, Pending
from holdfast.client.mirror.mirror import Batch, Change, Lost, Mirror, Redo, Replayed, Resumed, Settled

__all__ = [
    "Batch",
    "Change",
    "Channel",
    "Lost",
    "Mirror",
    "Pending",
    "Redo",
    "Replayed",
    "Resumed",
    "Settled",
]
