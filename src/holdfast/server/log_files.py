"""Log files: kept small, and readable for their owner only. Imported when there is one, for it takes its time."""

from __future__ import annotations

import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from holdfast.protocol.errors import EnvironmentFailure

__all__ = ["KEPT", "LogFile"]

_BYTES: Final = 8 * 2**20
"""A file that would grow beyond this is put aside."""

KEPT: Final = 2
"""How many of those are kept: `host.log.1` is the younger one."""


class LogFile(RotatingFileHandler):
    """Appends to `path`. Raises `EnvironmentFailure` if that cannot be."""

    def __init__(self, path: Path, most: int = _BYTES) -> None:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            super().__init__(path, maxBytes=most, backupCount=KEPT, encoding="utf-8")
        except OSError as error:
            raise EnvironmentFailure(f"cannot log into {path}: {error.strerror}") from error

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
