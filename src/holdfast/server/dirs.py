"""Where this host keeps its things, by the customs of the platform, and who else may look at them: nobody."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from holdfast.places import config_dir, data_dir
from holdfast.protocol.errors import EnvironmentFailure

__all__ = ["config_dir", "data_dir", "prepare_data_dir", "require_posix", "require_private"]


def require_posix(platform: str = sys.platform) -> None:
    """Raise `EnvironmentFailure` where this host cannot run."""
    if platform == "win32":
        raise EnvironmentFailure("Holdfast runs on Linux and macOS for now; on Windows, run it in WSL")


def prepare_data_dir(path: Path) -> None:
    """Make the data directory if it is not there, closed to others. Raises `EnvironmentFailure` if it cannot be.

    An empty directory, such as a fresh volume of a container, is taken over and closed. One with content that
    others can read is refused: closing it might not be what its owner wants.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if stat.S_IMODE(path.stat().st_mode) & 0o077 and not any(path.iterdir()):
            path.chmod(0o700)
    except OSError as error:
        raise EnvironmentFailure(f"cannot use {path} as data directory: {error.strerror}") from error
    require_private(path)


def require_private(path: Path) -> None:
    """Raise `EnvironmentFailure` unless the directory `path` belongs to us and nobody else may enter it."""
    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise EnvironmentFailure(f"{path} is not a directory")
    if status.st_uid != os.geteuid() and os.geteuid() != 0:
        raise EnvironmentFailure(f"{path} belongs to another user; choose a directory of your own")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise EnvironmentFailure(f"others may enter {path}; run `chmod 700 {path}` or choose another directory")
