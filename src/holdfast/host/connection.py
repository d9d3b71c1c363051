"""One client's connection as the core sees it, and what is remembered of the client behind it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from msgspec import Struct, field

from holdfast.ports.journal import ClientRecord
from holdfast.protocol.common import URI

if TYPE_CHECKING:
    from holdfast.host.jobs import Job
    from holdfast.host.outgoing import LongAnswer, Message
    from holdfast.protocol.compat.bridge import Bridge

__all__ = ["Client", "Connection", "Subscription", "Token"]


class Subscription(Struct):
    """What a connection has of a channel.

    `window` is the position of the oldest turn the client holds of a chat; None where it holds them all.
    """

    channel: URI
    from_seq: int = 0
    window: int | None = None
    max_latency: float | None = None


class Token(Struct):
    """That a client proved a right. The token itself is for the agent and is never shown."""

    value: str
    expires_at: int | None = None
    """Monotonic milliseconds."""

    def __repr__(self) -> str:
        return f"Token(…, expires_at={self.expires_at})"


class Client(Struct):
    """A client across its connections."""

    id: str
    version: str
    resync: bool = False
    """Something happened that its version cannot be told: when it comes back it is given snapshots."""
    connection: Connection | None = None
    """The newest connection; older ones with the same id receive nothing."""
    superseded: list[Connection] = field(default_factory=list)
    """Those older ones, as long as they are open."""
    tokens: dict[str, Token] = field(default_factory=dict)
    dispatched: set[tuple[int, bytes]] | None = None
    """Accepted dispatches since `initialize`; None until they were read."""

    def record(self, now: int) -> ClientRecord:
        """What is kept of it for when it comes back."""
        return ClientRecord(self.id, self.version, now, self.resync)


class Connection:
    """One connection, from its opening to its closing."""

    def __init__(self, id: int) -> None:
        self.id = id
        self.client: Client | None = None
        self.bridge: Bridge | None = None
        """To the version this client speaks, if it is older than the host's own."""
        self.name: str | None = None
        self.root_spelling: URI | None = None
        """How this client writes the root, if not as we do."""
        self.subscriptions: dict[URI, Subscription] = {}
        self.resumed = False
        """Whether it began with `reconnect`."""
        self.open = True
        self.inbox: deque[bytes] = deque()
        """Messages that wait for an earlier one."""
        self.job: Job | None = None
        """The message that waits for something to be read."""
        self.lagging_since: int | None = None
        """The last number sent, while the client is too slow to be sent more."""
        self.passed = 0
        """The highest number that passed it by meanwhile."""
        self.held: list[tuple[int, Message | LongAnswer]] = []
        """What only this connection gets, with the number it comes after, to be sent when it catches up."""
        self.held_size = 0

    @property
    def ready(self) -> bool:
        return self.client is not None

    @property
    def current(self) -> bool:
        """Whether this is the connection its client is reached by."""
        return self.client is not None and self.client.connection is self

    def __repr__(self) -> str:
        return f"<Connection {self.id} of {self.client.id if self.client else 'nobody yet'}>"
