"""What a client believes of a host, without I/O: see `mirror` for the whole, `channel` for one channel."""

from __future__ import annotations

from holdfast.client.mirror.channel import Channel, Pending
from holdfast.client.mirror.mirror import Change, Mirror, Redo, Resumed, Settled

__all__ = ["Change", "Channel", "Mirror", "Pending", "Redo", "Resumed", "Settled"]
