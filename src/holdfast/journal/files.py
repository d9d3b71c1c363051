"""The journal's file before SQLite sees it: what may be opened, who may read it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from holdfast.ports.journal import JournalFailed

__all__ = ["PRIVATE", "claim_file", "sync_directory"]

PRIVATE: Final = 0o600
"""Journals hold conversations. SQLite gives its companion files the mode of the main one."""


def claim_file(path: Path) -> None:
    """Make an empty file that only we may read, or see that what is there is a file and make it so.

    Raises `JournalFailed` for what is no file, and `OSError` for what cannot be reached.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))
    except FileExistsError:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise JournalFailed(f"{path} is not a file; move it away or choose another --data-dir") from None
        if stat.S_IMODE(found.st_mode) & ~PRIVATE:
            path.chmod(PRIVATE)
    else:
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory survive a power cut; SQLite does so for its companion files only."""
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
