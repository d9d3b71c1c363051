"""Values as people write them: sizes, durations, switches, lists. Each kind reads and shows one sort of value.

A reader takes what a flag or a variable holds (text) and what TOML gives (numbers, booleans, arrays), and raises
`ValueError` with what it expected; who says where the value came from is `settings`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["BOOL", "COUNT", "DURATION", "PATH", "PORT", "SIZE", "TEXT", "TEXTS", "Kind", "choice", "optional"]


@dataclass(frozen=True)
class Kind:
    """How values of one sort are read and shown; `metavar` is what stands for one in a help text."""

    metavar: str
    expected: str
    read: Callable[[Any], Any]
    show: Callable[[Any], str] = str


_SIZES: Final = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_SECONDS: Final = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_TRUE: Final = ("true", "yes", "on", "1")
_FALSE: Final = ("false", "no", "off", "0")

_AMOUNT: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)


def _amount(value: Any, units: dict[str, float], bare: str) -> float:
    """A number of units; a plain number counts `bare`."""
    if isinstance(value, bool):
        raise ValueError  # noqa: TRY004 - a value that is not right, whatever its type
    match = _AMOUNT.fullmatch(str(value).strip())
    if match is None:
        raise ValueError
    number, unit = match.groups()
    factor = units.get(unit.lower() or bare)
    if factor is None:
        raise ValueError
    return float(number) * factor


def _size(value: Any) -> int:
    return round(_amount(value, dict(_SIZES), "b"))


def _show_size(size: int) -> str:
    for unit, name in ((2**30, "GiB"), (10**9, "GB"), (2**20, "MiB"), (10**6, "MB"), (2**10, "KiB"), (1000, "kB")):
        if size and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def _duration(value: Any) -> float:
    return _amount(value, dict(_SECONDS), "s")


def _show_duration(seconds: float) -> str:
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if seconds and seconds % unit == 0:
            return f"{seconds / unit:g}{name}"
    return f"{seconds:g}s"


def _bool(value: Any) -> bool:
    word = str(value).strip().lower()
    if word not in _TRUE + _FALSE:
        raise ValueError
    return word in _TRUE


def _count(value: Any) -> int:
    if isinstance(value, bool | float):
        raise ValueError  # noqa: TRY004 - as above
    number = int(value)
    if number < 0:
        raise ValueError
    return number


def _port(value: Any) -> int:
    number = _count(value)
    if number > 65535:
        raise ValueError
    return number


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _texts(value: Any) -> tuple[str, ...]:
    """A list; in one text, separated by commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if not isinstance(value, list | tuple):
        raise ValueError  # noqa: TRY004 - as above
    return tuple(text for part in value for text in _texts(_text(part)))


def _path(value: Any) -> Path:
    if isinstance(value, Path):
        return value.expanduser()
    return Path(_text(value)).expanduser()


def choice(*words: str) -> Kind:
    """One of these words."""

    def read(value: Any) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    return Kind("|".join(words), f"one of {', '.join(words)}", read)


def optional(kind: Kind) -> Kind:
    """A value of `kind`, or `off`, which is None."""

    def read(value: Any) -> Any:
        return None if value is False or value == "off" else kind.read(value)

    def show(value: Any) -> str:
        return "off" if value is None else kind.show(value)

    return Kind(f"{kind.metavar}|off", f"{kind.expected}, or off", read, show)


SIZE: Final = Kind("SIZE", "a size such as 16MiB, 900kB or a number of bytes", _size, _show_size)
DURATION: Final = Kind("TIME", "a time such as 30s, 5min, 24h, 7d or a number of seconds", _duration, _show_duration)
BOOL: Final = Kind("BOOL", "true or false", _bool, lambda value: str(value).lower())
COUNT: Final = Kind("NUMBER", "a whole number, not negative", _count)
PORT: Final = Kind("PORT", "a port, 0 to 65535", _port)
TEXT: Final = Kind("TEXT", "a text", _text)
TEXTS: Final = Kind("LIST", "a list of texts, in one text separated by commas", _texts, ",".join)
PATH: Final = Kind("PATH", "a path", _path)
