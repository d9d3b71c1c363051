"""One host for each data directory.

A host holds a lock on the file `lock` for as long as it lives; the system lets go of it when the process ends,
however it ends. In the file is who holds it. The file stays: only the lock on it means something.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from holdfast.protocol.errors import EnvironmentFailure

__all__ = ["AlreadyRunning", "Lock", "Running", "running"]

LOCK_FILE: Final = "lock"

# Whoever only asks whether a host is running holds the lock for microseconds, and must not keep one from starting.
_ATTEMPTS: Final = 20
_BETWEEN: Final = 0.005  # seconds


@dataclass(frozen=True, kw_only=True)
class Running:
    """A host that runs: its process, when it started (ISO 8601, UTC), and where it listens, once it does."""

    pid: int
    started: str
    address: str | None = None
    socket: str | None = None


_FIELDS: Final = tuple(field.name for field in fields(Running))


class AlreadyRunning(EnvironmentFailure):
    """Another host owns the data directory; `host` says which, as far as is known."""

    def __init__(self, data_dir: Path, host: Running | None) -> None:
        who = f"process {host.pid}" if host else "another process"
        where = f", at {host.address or host.socket}" if host and (host.address or host.socket) else ""
        super().__init__(f"a host is running in {data_dir} already ({who}{where})")
        self.host = host


class Lock:
    """The lock of this process on a data directory, taken when it is made. Raises `AlreadyRunning`.

    Leaving the block, or the end of the process, lets go of it.
    """

    def __init__(self, data_dir: Path, *, started: str) -> None:
        self._host = Running(pid=os.getpid(), started=started)
        try:
            self._file = os.open(data_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise EnvironmentFailure(f"cannot use {data_dir / LOCK_FILE}: {error.strerror}") from error
        try:
            if not _take(self._file):
                raise AlreadyRunning(data_dir, _read(self._file))
            self._write()
        except BaseException:
            os.close(self._file)
            raise

    def publish(self, address: str | None, socket: Path | None) -> None:
        """Say where this host listens, without its token."""
        self._host = Running(
            pid=self._host.pid, started=self._host.started, address=address, socket=str(socket) if socket else None
        )
        self._write()

    def release(self) -> None:
        """Let go. Harmless when repeated."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def _write(self) -> None:
        # One write, then the cut: whoever reads in between finds a whole first line.
        line = json.dumps(asdict(self._host)).encode() + b"\n"
        os.pwrite(self._file, line, 0)
        os.ftruncate(self._file, len(line))


def running(data_dir: Path) -> Running | None:
    """The host that runs in `data_dir`, if one does."""
    try:
        file = os.open(data_dir / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _read(file)
        return None
    finally:
        os.close(file)


def _take(file: int) -> bool:
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_BETWEEN)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def _read(file: int) -> Running | None:
    """Who holds the lock, or held it last."""
    first_line = os.pread(file, 4096, 0).partition(b"\n")[0]
    try:
        value: dict[str, Any] = json.loads(first_line)
        return Running(**{name: value[name] for name in _FIELDS if name in value})
    except (ValueError, TypeError):
        return None
