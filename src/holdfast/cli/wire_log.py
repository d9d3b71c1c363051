"""Wire logs: what went between clients and a host, one JSON object per line, without secrets. docs/capture.md.

{"ts": "2026-01-31T12:34:56.789Z", "dir": "c2s", "conn": 1, "msg": {"jsonrpc": "2.0", ...}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, Literal

import msgspec

from holdfast.protocol.codec import decode, encode
from holdfast.protocol.common import Timestamp
from holdfast.protocol.errors import InvalidValue, UsageError
from holdfast.server.logs import Secrets

__all__ = ["HIDDEN", "Direction", "Entry", "Redactor", "now", "parsed"]

Direction = Literal["c2s", "s2c"]
"""Client to server, server to client."""

HIDDEN: Final = "***"


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line. It has a message (`msg`, or `raw` where that is no JSON), or says what became of the connection.

    `conn` counts the connections of one log from 1. `dir` of a `close` says who closed.
    """

    ts: Timestamp
    dir: Direction
    conn: int
    msg: Any = msgspec.UNSET
    raw: str | None = None
    event: Literal["open", "close"] | None = None
    code: int | None = None
    reason: str | None = None


def now() -> Timestamp:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parsed(lines: Iterable[bytes], name: str) -> Iterator[Entry]:
    """The entries of a log. Raises `UsageError` with the line that is none."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield decode(Entry, line)
        except InvalidValue as error:
            raise UsageError(f"{name}, line {number} is not of a wire log: {error}") from None


# Secrets

# The last words of a key whose value is nobody's business.
_SECRET: Final = re.compile(
    r"(?:^|_)(?:token|secret|password|passwd|passphrase|authorization|cookie|credentials?|(?:api|private)_?key)$"
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# Tokens that open no door.
_HARMLESS: Final = frozenset({"progress_token"})


class Redactor:
    """Makes lines of messages, with `***` in the place of every secret that was ever seen as one."""

    def __init__(self, *secrets: str) -> None:
        self._secrets = Secrets()
        for secret in secrets:
            self._secrets.register(secret)

    def line(self, data: bytes | str, direction: Direction, connection: int) -> bytes:
        """The line of one message."""
        try:
            message = json.loads(data)
        except ValueError:
            text = data if isinstance(data, str) else data.decode(errors="replace")
            return self._written(Entry(ts=now(), dir=direction, conn=connection, raw=text))
        return self._written(Entry(ts=now(), dir=direction, conn=connection, msg=self._hidden(message)))

    def opened(self, connection: int) -> bytes:
        """The line of a connection that a client opened."""
        return self._written(Entry(ts=now(), dir="c2s", conn=connection, event="open"))

    def closed(self, connection: int, by: Direction, code: int | None, reason: str) -> bytes:
        """The line of its end."""
        entry = Entry(ts=now(), dir=by, conn=connection, event="close", code=code, reason=reason or None)
        return self._written(entry)

    def _written(self, entry: Entry) -> bytes:
        return self._secrets.hide(encode(entry).decode()).encode() + b"\n"

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._entry(key, entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._hidden(entry) for entry in value]
        return value

    def _entry(self, key: str, value: Any) -> Any:
        if not isinstance(value, str) or not _is_secret(key):
            return self._hidden(value)
        if not value:
            return value  # An empty token takes one back, which is no secret.
        # It may come again where no key says what it is.
        self._secrets.register(value)
        return HIDDEN


def _is_secret(key: str) -> bool:
    words = _CAMEL.sub("_", key).replace("-", "_").lower()
    return words not in _HARMLESS and _SECRET.search(words) is not None
