"""What SQLite and the system report, as the journal's own failures: one plain sentence that says what to do."""

from __future__ import annotations

import errno
import sqlite3
from typing import Final

import msgspec

from holdfast.ports.journal import JournalFailed, JournalFull

__all__ = ["translated"]

_FOREIGN: Final = "{path} is not a Holdfast journal; move it away or choose another --data-dir"
_DAMAGED: Final = "{path} is damaged; restore a backup, or move it away, or choose another --data-dir"
_FULL: Final = "there is no space left for {path}; make room and try again"
_BUSY: Final = "{path} is in use by another process; stop it or choose another --data-dir"
_READ_ONLY: Final = "{path} may not be read and written; change its permissions or choose another --data-dir"
_UNREACHABLE: Final = "{path} cannot be opened; see to its directory and permissions, or choose another --data-dir"

# SQLite's result code -> what happened. The extended code is looked for first, then the primary one in its low byte.
_FAILURES: Final = {
    sqlite3.SQLITE_NOTADB: _FOREIGN,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR_SHMSIZE: _FULL,  # the file of shared memory could not grow; nothing else makes it fail
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: _UNREACHABLE,
}


# The same for what the system says when we ask it ourselves.
_SYSTEM_FAILURES: Final = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EACCES: _READ_ONLY,
    errno.EPERM: _READ_ONLY,
    errno.EROFS: _READ_ONLY,
    errno.ENOENT: _UNREACHABLE,
    errno.ENOTDIR: _UNREACHABLE,
}


def _sentence(error: Exception) -> str | None:
    if isinstance(error, msgspec.DecodeError):
        return _DAMAGED
    if isinstance(error, OSError):
        return _SYSTEM_FAILURES.get(error.errno or 0)
    code: int = getattr(error, "sqlite_errorcode", 0)
    return _FAILURES.get(code) or _FAILURES.get(code & 0xFF)


def _failure(error: Exception, path: str) -> JournalFailed:
    sentence = _sentence(error)
    if sentence is None:
        return JournalFailed(f"{path} could not be used: {error}")
    return (JournalFull if sentence is _FULL else JournalFailed)(sentence.format(path=path))


_FOREIGN_ERRORS: Final = (sqlite3.Error, OSError, UnicodeError, OverflowError, msgspec.DecodeError)


class translated:  # noqa: N801 - read as a word: `with translated(path)`
    """Raise what SQLite or the system raises inside as `JournalFailed`, or `JournalFull`.

    Text with lone surrogates and integers beyond 64 bits have no form in the file: they fail here as well.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, _FOREIGN_ERRORS):
            raise _failure(error, self._path) from error
