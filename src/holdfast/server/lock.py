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
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from holdfast import __version__
from holdfast.places import LOCK_FILE, Running, read_running, running
from holdfast.protocol.errors import EnvironmentFailure

__all__ = ["AlreadyRunning", "Lock", "Running", "running"]

# Whoever only asks whether a host is running holds the lock for microseconds, and must not keep one from starting.
_ATTEMPTS: Final = 20
_BETWEEN: Final = 0.005  # seconds


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

    def __init__(self, data_dir: Path, *, started: str, log: Path | None = None) -> None:
        self._host = Running(
            pid=os.getpid(), started=started, version=__version__, log=str(log.absolute()) if log else None
        )
        try:
            self._file = os.open(data_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise EnvironmentFailure(f"cannot use {data_dir / LOCK_FILE}: {error.strerror}") from error
        try:
            if not _take(self._file):
                raise AlreadyRunning(data_dir, read_running(self._file))
            self._write()
        except BaseException:
            os.close(self._file)
            raise

    def publish(self, address: str | None, socket: Path | None) -> None:
        """Say where this host listens, without its token."""
        self._host = replace(self._host, address=address, socket=str(socket) if socket else None)
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


def _take(file: int) -> bool:
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_BETWEEN)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False
