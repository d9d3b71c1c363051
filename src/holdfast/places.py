"""Where a host keeps its things, and how others on this machine find it. Hosts and clients both look here.

POSIX. Only reads: making the data directory, the token and the lock is the host's part (`holdfast.server`).
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from holdfast.protocol.errors import EnvironmentFailure

__all__ = [
    "LOCK_FILE",
    "Running",
    "config_dir",
    "config_home",
    "data_dir",
    "journal_file",
    "log_file",
    "open_private",
    "read_running",
    "running",
    "token_file",
]

LOCK_FILE: Final = "lock"


def data_dir(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The data directory of this user, if nothing else is said."""
    if platform == "darwin":
        return _home(environ) / "Library" / "Application Support" / "holdfast"
    return _xdg(environ, "XDG_DATA_HOME", ".local/share") / "holdfast"


def config_dir(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where this user's `holdfast.toml` is looked for."""
    if platform == "darwin":
        return _home(environ) / "Library" / "Application Support" / "holdfast"
    return config_home(environ) / "holdfast"


def config_home(environ: Mapping[str, str]) -> Path:
    """Where this user's programs have their settings, but on macOS."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def _home(environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME")
    return Path(home) if home else Path.home()


def _xdg(environ: Mapping[str, str], variable: str, default: str) -> Path:
    value = Path(environ.get(variable, ""))
    # The specification of these variables says that a relative path is to be ignored.
    return value if value.is_absolute() else _home(environ) / default


def journal_file(data_dir: Path) -> Path:
    """Sessions and everything in them; SQLite keeps two more files beside it."""
    return data_dir / "journal.db"


def log_file(data_dir: Path) -> Path:
    """Where a host in the background logs."""
    return data_dir / "log" / "host.log"


def token_file(data_dir: Path) -> Path:
    """The connection token, readable for its owner."""
    return data_dir / "token"


# Who runs


@dataclass(frozen=True, kw_only=True)
class Running:
    """A host that runs: its process, when it started (ISO 8601, UTC), and where it listens, once it does.

    `log` is the file it logs into, if it does.
    """

    pid: int
    started: str
    address: str | None = None
    socket: str | None = None
    version: str | None = None
    log: str | None = None


_FIELDS: Final = tuple(field.name for field in fields(Running))


def running(data_dir: Path) -> Running | None:
    """The host that runs in `data_dir`, if one does: it holds a lock on the file that says so."""
    try:
        file = os.open(data_dir / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return read_running(file)
        return None
    finally:
        os.close(file)


def read_running(file: int) -> Running | None:
    """Who holds the lock, or held it last, as the open lock file says."""
    first_line = os.pread(file, 4096, 0).partition(b"\n")[0]
    try:
        value: dict[str, Any] = json.loads(first_line)
        return Running(**{name: value[name] for name in _FIELDS if name in value})
    except (ValueError, TypeError):
        return None


def open_private(path: Path, most: int) -> tuple[str, os.stat_result]:
    """The first `most` characters of a file only its owner can read, and its status.

    Raises `FileNotFoundError`, or `EnvironmentFailure` if others could have read it or nobody can.
    """
    try:
        with path.open(encoding="ascii") as file:
            status = os.fstat(file.fileno())
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise EnvironmentFailure(
                    f"others can read the token in {path}; run `chmod 600 {path}`, and if they may have"
                    " done so, `holdfast token --rotate`"
                )
            return file.read(most), status
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentFailure(f"cannot read the token in {path}: {error}") from error
