"""Messages on their way to clients: made once, whoever gets them."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from msgspec import Raw

from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import encode
from holdfast.protocol.common import URI, JsonObject
from holdfast.protocol.errors import HoldfastError

__all__ = ["About", "Message", "Shape", "action", "envelope_bytes", "failed", "notification", "succeeded"]


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


def action(envelope: bytes, about: About | None = None) -> Message:
    """The notification that carries an encoded envelope."""
    return Message(Shape.ACTION, "action", envelope, about=about)


def notification(method: str, params: Any) -> Message:
    """Any other notification."""
    return Message(Shape.NOTIFICATION, method, encode(params))


def succeeded(id: jsonrpc.Id, method: str, result: Any) -> Message:
    """The answer to a request that succeeded; bytes are an encoded result."""
    return Message(Shape.SUCCESS, method, result if isinstance(result, bytes) else encode(result), id)


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
