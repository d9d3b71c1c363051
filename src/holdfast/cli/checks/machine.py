"""Whether this machine and this Python can run a host."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import sqlite3
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

from holdfast.cli.checks import Place, found, skipped, warning, wrong
from holdfast.cli.shapes import Finding

__all__ = ["disk", "libraries", "open_files", "python", "service", "sqlite"]

_PYTHON: Final = (3, 11)

_SQLITE: Final = (3, 31, 0)
"""The first one with everything the journal uses."""

_ENOUGH_FILES: Final = 1024
"""A connection is a file, and so are the journal's."""

_LITTLE: Final = 1 << 30
_VERY_LITTLE: Final = 100 * (1 << 20)
"""Bytes of free space: a long session with large tool output is a few hundred megabytes."""


def python(_: Place) -> Finding:
    """The interpreter is one we support."""
    says = f"Python {platform.python_version()}, {sys.executable}"
    if sys.version_info < _PYTHON:
        return wrong(says, f"install Holdfast with Python {'.'.join(map(str, _PYTHON))} or newer")
    if sys.platform == "win32":
        return wrong(f"{says}, on Windows", "run Holdfast in WSL")
    return found(says)


def sqlite(_: Place) -> Finding:
    """The database library is new enough."""
    if sqlite3.sqlite_version_info < _SQLITE:
        wanted = ".".join(map(str, _SQLITE))
        return wrong(f"SQLite {sqlite3.sqlite_version}", f"use a Python with SQLite {wanted} or newer")
    return found(f"SQLite {sqlite3.sqlite_version}")


def libraries(_: Place) -> Finding:
    """What Holdfast needs is installed, as new as it needs it."""
    try:
        wanted = metadata.requires("holdfast") or []
    except metadata.PackageNotFoundError:
        return skipped("Holdfast is not installed as a package")
    shown = []
    for requirement in wanted:
        name, least = _requirement(requirement)
        if name is None:
            continue
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            return wrong(f"{name} is missing", "install Holdfast again: pip install --force-reinstall holdfast")
        if _numbers(version) < _numbers(least):
            return wrong(f"{name} is {version}, and {least} is needed", f"pip install --upgrade {name}")
        shown.append(f"{name} {version}")
    return found(", ".join(shown))


_REQUIREMENT: Final = re.compile(r"([\w.-]+)\s*>=\s*([\d.]+)\s*")


def _requirement(text: str) -> tuple[str | None, str]:
    """`click>=8.1.7`; others, such as those of extras, are not looked at."""
    match = _REQUIREMENT.fullmatch(text)
    return (match[1], match[2]) if match else (None, "")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def open_files(_: Place) -> Finding:
    """A process may have enough files open."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _ENOUGH_FILES:
        return warning(f"a process may have {soft} files open, and a connection is one", f"ulimit -n {_ENOUGH_FILES}")
    return found("unlimited" if soft == resource.RLIM_INFINITY else f"{soft} at a time")


def disk(place: Place) -> Finding:
    """There is space for sessions."""
    folder = next(each for each in (place.data_dir, *place.data_dir.parents) if each.exists())
    free = shutil.disk_usage(folder).free
    says = f"{free / 1e9:.1f} GB free where {place.data_dir} is"
    fix = "make space there, or move the data directory and say --data-dir"
    if free < _VERY_LITTLE:
        return wrong(says, fix)
    return warning(says, fix) if free < _LITTLE else found(says)


_PROGRAM: Final = re.compile(r'^ExecStart="?([^"\s]+)', re.MULTILINE)


def service(place: Place) -> Finding:
    """A service that is installed starts a program that is there."""
    from holdfast.places import config_home

    file = config_home(place.environ) / "systemd" / "user" / "holdfast.service"
    if sys.platform == "darwin":
        file = Path.home() / "Library" / "LaunchAgents" / "holdfast.plist"
    if not file.exists():
        return skipped("none is installed")
    text = file.read_text(errors="replace")
    program = _PROGRAM.search(text) or re.search(r"<array>\s*<string>([^<]+)", text)
    if program is not None and not os.access(program[1], os.X_OK):
        return wrong(f"{file} starts {program[1]}, which is not there", "run `holdfast service install` again")
    return found(f"{file} is installed")
