"""Logging: events with fields, for a person on a terminal, as one JSON object per line otherwise.

Everything goes to stderr; stdout may be a protocol. No secret gets through: connection tokens and bearer headers
are recognised, everything else is registered with `SECRETS`. The filter works on the finished line, so that
tracebacks and the messages of other libraries pass it too.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TextIO

__all__ = ["SECRETS", "HumanFormatter", "JsonFormatter", "Logger", "Secrets", "configure", "logger", "readable"]

Format = Literal["auto", "human", "json"]

_HIDDEN: Final = "***"

# `tkn=` of a query string, `Authorization: Bearer`, in whatever surroundings. Tokens are URL-safe text.
_RECOGNISED: Final = re.compile(r"(\btkn=|\bbearer\s+)[^\s&\"'\\,;]+", re.IGNORECASE)

# Shorter ones would black out half of the log by chance.
_SHORTEST_SECRET: Final = 6

_CONTROL: Final = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code != 0x09}


class Secrets:
    """What must not be readable in any log line."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def register(self, value: str) -> None:
        """Never show `value` from now on; too short a value is refused silently, it could not be told from text."""
        if len(value) >= _SHORTEST_SECRET:
            self._values |= {value, json.dumps(value)[1:-1]}

    def hide(self, text: str) -> str:
        """`text` without secrets."""
        for value in self._values:
            text = text.replace(value, _HIDDEN)
        return _RECOGNISED.sub(rf"\1{_HIDDEN}", text)


SECRETS: Final = Secrets()
"""The secrets of this process."""


class Logger:
    """A logger of events: a short constant text, and fields that say the rest."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, event: str, /, **fields: object) -> None:
        """For whoever looks for a fault."""
        self._log(logging.DEBUG, event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        """Something happened as it should."""
        self._log(logging.INFO, event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        """Something that somebody may want to change."""
        self._log(logging.WARNING, event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        """Something did not work."""
        self._log(logging.ERROR, event, fields)

    def exception(self, event: str, /, **fields: object) -> None:
        """Something did not work, with the traceback of the exception being handled."""
        self._logger.error(event, extra={"fields": fields}, exc_info=True)

    def _log(self, level: int, event: str, fields: Mapping[str, object]) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, event, extra={"fields": fields})


def logger(name: str) -> Logger:
    """The logger of this name, in the tree of the standard library."""
    return Logger(name)


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = getattr(record, "fields", {})
    return fields


class HumanFormatter(logging.Formatter):
    """`12:34:56.789 INFO  access: opened peer=127.0.0.1:5000`, local time, tracebacks below."""

    def __init__(self, secrets: Secrets = SECRETS) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback if there is one."""
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S.%f")[:-3]
        line = _line(time, record.levelname, record.name, record.getMessage(), _fields(record))
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return self._secrets.hide(line)


def _word(value: object) -> str:
    text = str(value)
    return text if text and not re.search(r"[\s\"=]", text) else json.dumps(text, ensure_ascii=False)


def readable(entry: Mapping[str, Any]) -> str:
    """A line that `JsonFormatter` wrote, in the form of `HumanFormatter`: what programs were told, for people."""
    fields = {key: value for key, value in entry.items() if key not in _OWN}
    moment = datetime.fromisoformat(str(entry["time"])).astimezone()
    time = moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    text = _line(time, str(entry["level"]).upper(), str(entry["logger"]), str(entry["event"]), fields)
    return f"{text}\n{entry['exception']}" if "exception" in entry else text


_OWN: Final = frozenset({"time", "level", "logger", "event", "exception"})


def _line(time: str, level: str, name: str, event: str, fields: Mapping[str, object]) -> str:
    words = [
        f"{name.removeprefix('holdfast.')}: {event}",
        *(f"{key}={_word(value)}" for key, value in fields.items()),
    ]
    # Clients choose some of these words; they must not be able to write lines of their own.
    return f"{time} {level:<7} {' '.join(words).translate(_CONTROL)}"


class JsonFormatter(logging.Formatter):
    """One JSON object: `time` (UTC), `level`, `logger`, `event`, the fields, `exception` if there is one."""

    def __init__(self, secrets: Secrets = SECRETS) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        value = {
            **_fields(record),
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        if record.exc_info:
            value["exception"] = self.formatException(record.exc_info)
        return self._secrets.hide(json.dumps(value, ensure_ascii=False, default=str))


def configure(
    level: str = "info", style: Format = "auto", stream: TextIO | None = None, file: Path | None = None
) -> None:
    """Send everything this process logs to `file`, else to `stream` (stderr), in the form that suits it. Repeatable.

    Raises `EnvironmentFailure` if the file cannot be written.
    """
    stream = stream if stream is not None else sys.stderr
    if style == "auto":
        style = "human" if file is None and stream.isatty() else "json"
    handler: logging.Handler = logging.StreamHandler(stream)
    if file is not None:
        from holdfast.server.log_files import LogFile

        handler = LogFile(file)
    handler.setFormatter(HumanFormatter() if style == "human" else JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("holdfast").setLevel(level.upper())
    # A terminal that went away, or a full disk, must not become an exception in whoever logs.
    logging.raiseExceptions = False
