"""What service managers are told about a host: their files, and the commands that make them read those. Pure.

The ready line has the token in it and belongs into nobody's log, so the host's stdout leads nowhere.
"""

from __future__ import annotations

import plistlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from holdfast.places import log_file

__all__ = ["ManagerName", "Service", "launchd", "systemd"]

ManagerName = Literal["systemd", "launchd"]

NAME: Final = "holdfast"

# How much longer than the turns a host may take to end, in seconds: it has connections to close and a journal.
_CLOSING: Final = 15


@dataclass(frozen=True, kw_only=True)
class Service:
    """A host as one service manager has it. `undo` may fail: there may be nothing to undo."""

    manager: ManagerName
    file: Path
    text: str
    undo: tuple[tuple[str, ...], ...]
    load: tuple[tuple[str, ...], ...]
    forget: tuple[tuple[str, ...], ...]
    """To be run when the file is gone."""
    ask: tuple[str, ...]
    """Ends with 0 if the service is active."""


_UNIT: Final = """\
# Made by `holdfast service install`, which overwrites it.
[Unit]
Description=Holdfast agent host

[Service]
ExecStart={program}
# The line it prints has the token in it.
StandardOutput=null
Environment={path}
UMask=0077
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec={patience}
OOMPolicy=continue

[Install]
WantedBy=default.target
"""


def systemd(words: Sequence[str], config_home: Path, path: str, drain: float) -> Service:
    """A user unit. `words` are the program and its arguments, `path` what it finds programs by."""
    unit = f"{NAME}.service"
    text = _UNIT.format(
        program=" ".join(_systemd_word(word) for word in words),
        path=_systemd_word(f"PATH={path}", expands=False),
        patience=round(drain + _CLOSING),
    )
    control = ("systemctl", "--user")
    return Service(
        manager="systemd",
        file=config_home / "systemd" / "user" / unit,
        text=text,
        undo=((*control, "disable", "--now", unit),),
        load=((*control, "daemon-reload"), (*control, "enable", unit), (*control, "restart", unit)),
        forget=((*control, "daemon-reload"),),
        ask=(*control, "is-active", "--quiet", unit),
    )


_PLAIN: Final = re.compile(r"[\w@:,./+=-]+", re.ASCII)


def _systemd_word(word: str, *, expands: bool = True) -> str:
    """One word of a command as systemd reads it: quoted, with nothing in it that is expanded."""
    if _PLAIN.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    return '"' + (escaped.replace("$", "$$") if expands else escaped) + '"'


def launchd(words: Sequence[str], home: Path, data_dir: Path, path: str, drain: float, user: int) -> Service:
    """A launch agent, which logs into the data directory: launchd keeps no logs."""
    log = log_file(data_dir)
    logging = () if "--log-file" in words else ("--log-file", str(log))
    value: Mapping[str, object] = {
        "Label": NAME,
        "ProgramArguments": [*words, *logging],
        "EnvironmentVariables": {"PATH": path},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": str(log.with_name("stderr.log")),
        "ExitTimeOut": round(drain + _CLOSING),
        "Umask": 0o077,
    }
    file = home / "Library" / "LaunchAgents" / f"{NAME}.plist"
    domain = f"gui/{user}"
    return Service(
        manager="launchd",
        file=file,
        text=plistlib.dumps(value, sort_keys=False).decode(),
        undo=(("launchctl", "bootout", f"{domain}/{NAME}"),),
        load=(("launchctl", "enable", f"{domain}/{NAME}"), ("launchctl", "bootstrap", domain, str(file))),
        forget=(),
        ask=("launchctl", "print", f"{domain}/{NAME}"),
    )
