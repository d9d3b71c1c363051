"""Pages of long lists: how many entries one answer has, and the cursor that leads to the next."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from holdfast.protocol.codec import decode, encode
from holdfast.protocol.errors import ErrorCode, InvalidValue, RpcError

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["cursor", "key", "limit"]


def limit(host: Host, asked: int | None) -> int:
    """How many entries an answer has at the most."""
    most = host.settings.list_limit
    return most if asked is None else max(1, min(asked, most))


def cursor(key: Any) -> str | None:
    """The cursor for what comes after the entry with this key; None if nothing does."""
    return None if key is None else base64.urlsafe_b64encode(encode(key)).decode()


def key(cursor: str, shape: Any) -> Any:
    """The key a cursor was made from. Raises `RpcError` for one that this host did not make."""
    try:
        return decode(shape, base64.urlsafe_b64decode(cursor.encode()))
    except (InvalidValue, binascii.Error, ValueError):
        raise RpcError(ErrorCode.INVALID_PARAMS, "params.cursor: this host made no such cursor") from None
