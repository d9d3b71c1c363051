"""The host of this user's data directory, as it is seen from beside it: who holds the lock, and what it answers.

A lock is the truth about whether a host runs; a file that says so is not. What is asked over HTTP needs no protocol.
"""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from holdfast.cli.shapes import HostStatus
from holdfast.places import Running, open_private, running, token_file
from holdfast.protocol.errors import EnvironmentFailure

__all__ = ["ask", "described", "duration", "listens", "logs_into", "shown_address", "token", "wait_for"]

# How long a host may take to answer what it answers from memory, in seconds.
_PATIENCE: Final = 3.0

# How often a condition is looked at that nobody tells us of, in seconds.
_INTERVAL: Final = 0.02

_LONGEST_TOKEN: Final = 4096


def wait_for(condition: Callable[[], bool], patience: float) -> bool:
    """Wait until it is so; False if it never was."""
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_INTERVAL)
    return True


def listens(host: Running) -> bool:
    """Whether clients may come; before, it starts."""
    return bool(host.address or host.socket)


def shown_address(host: Running) -> str:
    """Where it listens, without a token."""
    return host.address or (f"unix:{host.socket}" if host.socket else "")


def token(data_dir: Path) -> str | None:
    """The connection token, if there is one that we may read."""
    try:
        return open_private(token_file(data_dir), _LONGEST_TOKEN)[0].strip() or None
    except (FileNotFoundError, EnvironmentFailure):
        return None


def logs_into(host: Running | None, default: Path) -> Path:
    """The file the host logs into, or did when it ran in the background."""
    return Path(host.log) if host is not None and host.log else default


# Over HTTP


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_PATIENCE)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_PATIENCE)
        self.sock.connect(self._path)


def _connection(host: Running) -> http.client.HTTPConnection:
    if host.socket is not None:
        return _Unix(host.socket)
    parts = urlsplit(host.address or "")
    name, port = parts.hostname or "", parts.port
    if parts.scheme == "wss":
        # Who holds the lock is known; a certificate for this name would say nothing more.
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection(name, port, timeout=_PATIENCE, context=context)
    return http.client.HTTPConnection(name, port, timeout=_PATIENCE)


def ask(host: Running, path: str, secret: str | None = None) -> str | None:
    """What the host answers to a plain GET; None if it does not, or says no."""
    connection = _connection(host)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {secret}"} if secret else {})
        answer = connection.getresponse()
        text = answer.read().decode()
    except (OSError, http.client.HTTPException, UnicodeDecodeError):
        return None
    finally:
        connection.close()
    return text if answer.status == http.client.OK else None


def _metrics(host: Running, data_dir: Path) -> dict[str, int]:
    text = ask(host, "/metrics", token(data_dir)) or ""
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    found = {}
    for key, name in _NUMBERS.items():
        if numbers.get(name, "").isdecimal():
            found[key] = int(numbers[name])
    return found


_NUMBERS: Final = {
    "sessions": "holdfast_sessions",
    "turns_running": "holdfast_turns_running",
    "connections": "holdfast_connections",
    "memory": "process_resident_memory_bytes",
}


# The whole picture


def described(data_dir: Path) -> HostStatus:
    """What there is to know about the host of a data directory."""
    host = running(data_dir)
    if host is None:
        return HostStatus(state="stopped", data_dir=str(data_dir))
    known: dict[str, Any] = {
        "data_dir": str(data_dir),
        "pid": host.pid,
        "started": host.started,
        "uptime": _age(host.started),
        "address": host.address,
        "socket": host.socket,
        "version": host.version,
        "log": host.log,
    }
    if not listens(host):
        return HostStatus(state="starting", **known)
    if ask(host, "/healthz") is None:
        return HostStatus(state="silent", **known)
    return HostStatus(state="running", **{**known, **_metrics(host, data_dir)})


def _age(started: str) -> int | None:
    try:
        return max(0, int((datetime.now(UTC) - datetime.fromisoformat(started)).total_seconds()))
    except (ValueError, TypeError):
        return None


def duration(seconds: int) -> str:
    """`3 d 4 h`: the two largest units."""
    parts: list[str] = []
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, length)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def is_alive(pid: int) -> bool:
    """Whether there is a process of this number, ours or not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
