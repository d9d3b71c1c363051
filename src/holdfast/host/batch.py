"""One transaction in the making: what changed, what is to be written, and what may be told once it is.

Everything a batch changes can be taken back, so that a commit that fails leaves no trace, and a command that
fails halfway leaves none either.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from holdfast.host.connection import Connection
from holdfast.host.outgoing import About, LongAnswer, Message
from holdfast.host.units import Channel, Session
from holdfast.ports.agent import AgentEffect
from holdfast.ports.journal import Write
from holdfast.protocol import jsonrpc
from holdfast.protocol.common import URI

__all__ = ["AsSent", "Batch", "Close", "Emission", "Mark", "Note", "Output", "Refusal", "Reply", "Undo"]

_ABSENT: Final = object()

Undo: TypeAlias = Callable[[], None]
Deferred: TypeAlias = Callable[[int], Write | None]
"""A write that needs the number everything before it has, known when the batch is sealed."""


class AsSent(Struct):
    """A client's action in the form in which it came; a refusal gives it back like that."""

    channel: URI
    action: bytes


class Emission(Struct):
    """An accepted action. `dispatcher` sent it; if it cannot be kept, it is refused to them."""

    channel: URI
    unit: URI
    action: bytes
    origin: bytes | None
    recipients: tuple[Connection, ...]
    dispatcher: Connection | None = None
    private: bool = False
    """Takes a number but is not journalled: history loaded for one connection."""
    about: About | None = None
    """What lowering it for older clients needs."""
    as_sent: AsSent | None = None
    """The dispatcher's own form, if its version is older than the host's."""
    last: bool = False
    """Said in a session that ends in the same transaction: journalled by a write of its own, ahead of that."""
    seq: int = 0
    envelope: bytes = b""
    """The encoded envelope, once there is a number to put into it."""


class Refusal(Struct):
    """A dispatched action that was not accepted; goes to the one who sent it."""

    channel: URI
    action: bytes
    origin: bytes
    reason: str
    dispatcher: Connection
    seq: int = 0


class Reply(Struct):
    """The answer to a request. `result` may be made late, from the number everything before it has."""

    connection: Connection
    id: jsonrpc.Id | None
    method: str
    result: Any | Callable[[int], Any]
    independent: bool = False
    """True whatever becomes of the commit."""
    seq: int = 0


class Note(Struct):
    """A notification that is no action."""

    recipients: tuple[Connection, ...]
    message: Message | LongAnswer


class Close(Struct):
    connection: Connection
    code: int
    reason: str


Output: TypeAlias = Emission | Refusal | Reply | Note | Close


class Mark(Struct):
    """A point in a batch to go back to."""

    outputs: int
    writes: int
    undo: int
    effects: int


class Batch(Struct):
    outputs: list[Output] = field(default_factory=list)
    writes: list[Write | Deferred] = field(default_factory=list)
    effects: list[AgentEffect] = field(default_factory=list)
    redo: list[Callable[[], None]] = field(default_factory=list)
    """Work of nobody's connection (agents' events, timers) in this batch; done again if the batch is lost."""
    touched: dict[URI, Channel] = field(default_factory=dict)
    rows: set[URI] = field(default_factory=set)
    """Chats whose turns change."""
    dirty: dict[URI, Session] = field(default_factory=dict)
    """Sessions whose summary may have changed."""
    _undo: list[Undo] = field(default_factory=list)

    def mark(self) -> Mark:
        return Mark(len(self.outputs), len(self.writes), len(self._undo), len(self.effects))

    def back_to(self, mark: Mark) -> None:
        """Take back everything since a mark."""
        while len(self._undo) > mark.undo:
            self._undo.pop()()
        del self.outputs[mark.outputs :]
        del self.writes[mark.writes :]
        del self.effects[mark.effects :]

    def undo(self) -> None:
        """Take back everything that changed. What was to be told is kept, so that those who wait can be refused."""
        while self._undo:
            self._undo.pop()()

    def unchanged_since(self, mark: Mark) -> bool:
        return self.mark() == mark

    # Changes that can be taken back

    def assign(self, target: Any, name: str, value: Any) -> None:
        """`target.name = value`"""
        before = getattr(target, name)
        setattr(target, name, value)
        self._undo.append(lambda: setattr(target, name, before))

    def put(self, mapping: MutableMapping[Any, Any], key: Any, value: Any) -> None:
        """`mapping[key] = value`"""
        before = mapping.get(key, _ABSENT)
        mapping[key] = value
        self._undo.append(lambda: _restore(mapping, key, before))

    def remove(self, mapping: MutableMapping[Any, Any], key: Any) -> None:
        """`mapping.pop(key, None)`"""
        before = mapping.pop(key, _ABSENT)
        self._undo.append(lambda: _restore(mapping, key, before))

    def on_undo(self, action: Undo) -> None:
        """Anything else that has to be taken back."""
        self._undo.append(action)

    # What is to happen

    def write(self, *writes: Write | Deferred) -> None:
        self.writes.extend(writes)

    def tell(self, effect: AgentEffect) -> None:
        self.effects.append(effect)

    @property
    def envelopes(self) -> int:
        """How many numbers sealing will take."""
        return sum(isinstance(output, Emission | Refusal) for output in self.outputs)

    @property
    def empty(self) -> bool:
        return not (self.outputs or self.writes or self.effects or self.touched)

    def __bool__(self) -> bool:
        return not self.empty


def _restore(mapping: MutableMapping[Any, Any], key: Any, before: Any) -> None:
    if before is _ABSENT:
        mapping.pop(key, None)
    else:
        mapping[key] = before
