"""Messages on their way to clients: made once, whoever gets them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from msgspec import Raw

from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import encode
from holdfast.protocol.common import URI, JsonObject
from holdfast.protocol.errors import HoldfastError

__all__ = [
    "PLACE",
    "About",
    "LongAnswer",
    "Message",
    "Shape",
    "action",
    "envelope_bytes",
    "failed",
    "notification",
    "succeeded",
]


_ROOT_CHANNEL = b'"channel":"ahp-root://"'


class Shape(Enum):
    """What a message is."""

    ACTION = "action"
    NOTIFICATION = "notification"
    SUCCESS = "success"
    FAILURE = "failure"


class About(NamedTuple):
    """What of an action's surroundings an older version's form of it depends on, as it was when it happened."""

    kind: str
    """The channel's kind."""
    type: str
    unit: URI
    default_chat: URI
    facts: JsonObject | None = None


class Message:
    """One JSON-RPC message in the present version's form.

    `payload` is the encoded params, result or error; `method` for an answer is the method it answers. `framed`
    belongs to the shell: the bytes each kind of link sends, kept so that a broadcast is framed once. `lowered`
    keeps what older versions are sent instead. An action without `about` is in its receiver's form already.
    """

    __slots__ = ("_spelled", "about", "framed", "id", "lowered", "method", "payload", "shape", "text")

    def __init__(
        self,
        shape: Shape,
        method: str,
        payload: bytes,
        id: jsonrpc.Id | None = None,
        about: About | None = None,
    ) -> None:
        self.shape = shape
        self.method = method
        self.payload = payload
        self.id = id
        self.about = about
        self.lowered: dict[Any, tuple[Message, ...]] = {}
        self.framed: dict[Any, bytes] = {}
        self.text = self._text()
        self._spelled: dict[URI, Message] | None = None

    @property
    def size(self) -> int:
        """Bytes of its text."""
        return len(self.text)

    @property
    def is_answer(self) -> bool:
        return self.shape in (Shape.SUCCESS, Shape.FAILURE)

    def spelled(self, root: URI) -> Message:
        """The same for a client that writes the root's URI in another way."""
        if self._spelled is None:
            self._spelled = {}
        if root not in self._spelled:
            payload = self.payload.replace(_ROOT_CHANNEL, b'"channel":' + encode(root), 1)
            self._spelled[root] = Message(self.shape, self.method, payload, self.id)
        return self._spelled[root]

    def _text(self) -> bytes:
        match self.shape:
            case Shape.ACTION:
                return b'{"jsonrpc":"2.0","method":"action","params":' + self.payload + b"}"
            case Shape.NOTIFICATION:
                return jsonrpc.notification(self.method, Raw(self.payload))
            case Shape.SUCCESS:
                return b'{"jsonrpc":"2.0","id":' + encode(self.id) + b',"result":' + self.payload + b"}"
            case Shape.FAILURE:
                return b'{"jsonrpc":"2.0","id":' + encode(self.id) + b',"error":' + self.payload + b"}"


class LongAnswer:
    """The answer to a request, in its receiver's form and in pieces: a whole history is never put together here."""

    __slots__ = ("pieces", "size")

    def __init__(self, id: jsonrpc.Id, pieces: Sequence[bytes]) -> None:
        self.pieces = (b'{"jsonrpc":"2.0","id":' + encode(id) + b',"result":', *pieces, b"}")
        self.size = sum(map(len, self.pieces))

    @property
    def text(self) -> bytes:
        """All of it, for those who must have it so."""
        return b"".join(self.pieces)


def action(envelope: bytes, about: About | None = None) -> Message:
    """The notification that carries an encoded envelope."""
    return Message(Shape.ACTION, "action", envelope, about=about)


def notification(method: str, params: Any) -> Message:
    """Any other notification."""
    return Message(Shape.NOTIFICATION, method, encode(params))


PLACE: Final = Raw(b"\0")
"""Stands in a result where encoded turns go. No encoded JSON has such a byte in it."""

_LONG: Final = 128_000
"""Bytes above which an answer stays in pieces."""


def succeeded(id: jsonrpc.Id, method: str, result: Any, runs: Sequence[Sequence[bytes]] = ()) -> Message | LongAnswer:
    """The answer to a request that succeeded; bytes are an encoded result. `runs` go to its places, in order."""
    payload = result if isinstance(result, bytes) else encode(result)
    if not runs:
        return Message(Shape.SUCCESS, method, payload, id)
    before, *parts = payload.split(bytes(PLACE))
    pieces = [before]
    for run, after in zip(runs, parts, strict=True):
        first, *others = run
        pieces.append(first)
        for other in others:
            pieces += (b",", other)
        pieces.append(after)
    if sum(map(len, pieces)) > _LONG:
        return LongAnswer(id, pieces)
    return Message(Shape.SUCCESS, method, b"".join(pieces), id)


def failed(id: jsonrpc.Id | None, method: str, error: HoldfastError) -> Message:
    """The answer to a request that failed."""
    return Message(Shape.FAILURE, method, encode(jsonrpc.error_of(error)), id)


def envelope_bytes(
    channel: URI, action: bytes, seq: int, origin: bytes | None = None, rejection: str | None = None
) -> bytes:
    """An `ActionEnvelope` around an action that is encoded already, and stays as it is."""
    parts = [b'{"channel":', encode(channel), b',"action":', action, b',"serverSeq":', str(seq).encode()]
    if origin is not None:
        parts += [b',"origin":', origin]
    if rejection is not None:
        parts += [b',"rejectionReason":', encode(rejection)]
    parts.append(b"}")
    return b"".join(parts)
