"""Whether what a host keeps is there, whole, and nobody else's."""

from __future__ import annotations

import os
import socket
import sqlite3
import stat
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from holdfast.cli import local
from holdfast.cli.checks import Place, found, skipped, warning, wrong
from holdfast.cli.shapes import Finding
from holdfast.journal.failures import translated
from holdfast.journal.schema import check
from holdfast.places import LOCK_FILE, Running, journal_file, open_private, token_file
from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server import dirs

__all__ = ["config", "data_dir", "journal", "last_words", "lock", "socket_path", "token"]


def config(place: Place) -> Finding:
    """Options can be read from wherever they are given."""
    if place.complaint is not None:
        return wrong(place.complaint, "correct it; `holdfast config` shows what is in force and where it comes from")
    given = {origin for origin in place.settings.origins.values() if origin != "default"}
    return found(f"options from {', '.join(sorted(given))}" if given else "the defaults")


def data_dir(place: Place) -> Finding:
    """The data directory is ours alone, and can be written."""
    folder = place.data_dir
    if not folder.exists():
        parent = next(each for each in folder.parents if each.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            return found(f"{folder} will be made by the first host")
        return wrong(f"{folder} is not there, and {parent} cannot be written", "choose another --data-dir")
    try:
        dirs.require_private(folder)
    except EnvironmentFailure as error:
        return wrong(str(error), f"chmod 700 {folder}" if folder.is_dir() else "choose another --data-dir")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return wrong(f"{folder} cannot be written", f"chmod u+rwx {folder}")
    return found(str(folder))


_LONGEST_TOKEN: Final = 258


def token(place: Place) -> Finding:
    """The token can be read by us and by nobody else."""
    if place.settings.no_token:
        return warning("no token is asked for (--no-token)", "leave that out, unless every program may come in")
    file = token_file(place.data_dir)
    try:
        text, _ = open_private(file, _LONGEST_TOKEN)
    except FileNotFoundError:
        return found("will be made by the first host")
    except EnvironmentFailure as error:
        return wrong(str(error), f"chmod 600 {file} && holdfast token --rotate")
    if not text.strip():
        return wrong(f"{file} is empty", "holdfast token --rotate")
    return found(f"{file}, for you alone")


# Who runs


def lock(place: Place) -> Finding:
    """Who holds the lock is there, and who answers holds the lock."""
    host = place.host
    if host is not None:
        if not local.is_alive(host.pid):
            return wrong(
                f"the lock is held, and process {host.pid}, whose it was, is gone: a child of it holds it",
                f"find it with `fuser {place.data_dir / LOCK_FILE}` and end it",
            )
        return found(f"a host runs, process {host.pid}")
    path = place.settings.unix_socket
    if path is None or not path.exists() or local.ask(_at(path), "/healthz") is None:
        return found("no host runs")
    pid = _peer(path)
    return wrong(
        f"a host answers at {path}, and does not hold the lock: {place.data_dir / LOCK_FILE} was removed or replaced",
        f"kill {pid}" if pid else "find its process and end it, before another host starts here",
    )


def _at(path: Path) -> Running:
    return Running(pid=0, started="", socket=str(path))


def _peer(path: Path) -> int | None:
    """The process behind a unix socket, where the system says."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    with closing(socket.socket(socket.AF_UNIX)) as probe:
        probe.connect(str(path))
        return int.from_bytes(probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)


# sizeof(sockaddr_un.sun_path), one byte of which ends the path
_LONGEST_PATH: Final = 103 if sys.platform == "darwin" else 107


def socket_path(place: Place) -> Finding:
    """The unix socket can have its name, and is a socket."""
    path = place.settings.unix_socket
    if path is None:
        return skipped("switched off")
    length = len(os.fsencode(path))
    if length > _LONGEST_PATH:
        return warning(
            f"{path} has {length} bytes, and a unix socket {_LONGEST_PATH} at the most: hosts do without it",
            "choose a shorter one with --unix-socket, such as /tmp/holdfast.sock",
        )
    if path.exists() and not stat.S_ISSOCK(path.stat().st_mode):
        return wrong(f"{path} is no socket", "move it away")
    return found(str(path))


# The journal

_LOOK: Final = 10.0
"""Seconds that a journal is looked at, unless somebody wants all of it."""


def journal(place: Place) -> Finding:
    """The journal is ours, of a version we read, and whole."""
    file = journal_file(place.data_dir)
    if not file.exists():
        return found("will be made by the first host")
    size = f"{file}, {file.stat().st_size / 1e6:.1f} MB"
    try:
        with translated(str(file)), closing(sqlite3.connect(file, timeout=2)) as database:
            database.execute("PRAGMA query_only = ON")
            check(database, str(file))
            complaints = _complaints(database, None if place.thorough else time.monotonic() + _LOOK)
    except EnvironmentFailure as error:
        return wrong(str(error), _RESTORE)
    if complaints is None:
        return found(f"{size}; nothing wrong in {_LOOK:g} s of looking, `--thorough` looks at the rest")
    if complaints:
        return wrong(f"{file} is damaged: {complaints[0]}", _RESTORE)
    return found(size)


_RESTORE: Final = (
    "stop the host and put a backup in its place (see docs/host.md), or move journal.db, journal.db-wal and"
    " journal.db-shm away to begin anew"
)


def _complaints(database: sqlite3.Connection, deadline: float | None) -> list[str] | None:
    """What SQLite finds wrong with its file; None if that would take longer."""
    if deadline is not None:
        database.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    try:
        rows = [str(row[0]) for row in database.execute("PRAGMA quick_check(5)")]
    except sqlite3.OperationalError:
        if deadline is not None and time.monotonic() > deadline:
            return None
        raise
    return [row for row in rows if row != "ok"]


def last_words(place: Place) -> Finding:
    """The last host in the background went without complaint."""
    from holdfast.cli.daemon import complaints_file

    file = complaints_file(place.data_dir)
    said = file.read_text(errors="replace").strip() if file.exists() else ""
    if not said:
        return found("none") if file.exists() else skipped("none ran in the background")
    if place.host is not None:
        return warning(f"the host that runs complains: {said.splitlines()[-1]}", f"see {file}")
    return warning(f"the last host ended with: {said.splitlines()[-1]}", f"see {file} and `holdfast logs`")
