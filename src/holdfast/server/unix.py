"""A unix socket that only its owner can reach.

The directory is the door: it belongs to us and nobody else may enter it, so that no token is asked for behind it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server.dirs import require_private

__all__ = ["UnixSocket", "bind_unix"]

_BACKLOG: Final = 128

# `sun_path`, less the zero at its end.
_LONGEST_PATH: Final = 107 if sys.platform == "linux" else 103


@dataclass(frozen=True, slots=True)
class UnixSocket:
    """A listening socket and the file that leads to it."""

    socket: socket.socket
    path: Path
    inode: tuple[int, int]

    def close(self) -> None:
        """Listen no more; remove the file, unless another host has put its own there since."""
        with contextlib.suppress(FileNotFoundError):
            if _inode(self.path) == self.inode:
                self.path.unlink()
        self.socket.close()


def bind_unix(path: Path) -> UnixSocket:
    """Listen at `path`, for its owner alone; the socket does not block.

    The directory is made if need be. A socket that nobody listens on any more is replaced. Raises
    `EnvironmentFailure` if somebody does, if something else is in the place, or if others could get in.
    """
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise EnvironmentFailure(
            f"cannot listen on {path}: the path is longer than {_LONGEST_PATH} bytes, which is all the system takes;"
            " choose a shorter --unix-socket, or off"
        )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        require_private(path.parent)
        _require_free(path)
        return _bind(path)
    except OSError as error:
        raise EnvironmentFailure(f"cannot listen on {path}: {error.strerror or error}") from error


def _bind(path: Path) -> UnixSocket:
    # Bound beside its place and then moved there: whoever finds the socket can connect to it, and one that is
    # replaced is never missing.
    beside = path.with_name(f".{os.getpid()}")
    beside.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.setblocking(False)
        listening.bind(str(beside))
        beside.chmod(0o600)
        listening.listen(_BACKLOG)
        beside.rename(path)
    except OSError:
        listening.close()
        beside.unlink(missing_ok=True)
        raise
    return UnixSocket(listening, path, _inode(path))


def _inode(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_dev, status.st_ino


def _require_free(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise EnvironmentFailure(f"{path} is not a socket; remove it or choose another --unix-socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return  # left behind by a host that was killed
        except BlockingIOError:
            pass  # it is so alive that its backlog is full
    raise EnvironmentFailure(f"somebody listens on {path} already; choose another --unix-socket")
