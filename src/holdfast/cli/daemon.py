"""A host in the background: started so that it outlives the terminal, and ended so that it loses nothing."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.local import listens, wait_for
from holdfast.places import Running, log_file, running
from holdfast.server import dirs
from holdfast.server.settings import OPTIONS, Option, Settings
from holdfast.server.values import BOOL, TEXTS

__all__ = ["arguments", "complaints_file", "end", "program", "start"]

# How long a process that has closed its stdout may take to end, in seconds.
_CLOSING: Final = 0.5

# How long a host that did not become ready may take to end, in seconds, before it is ended at once.
_ENDING: Final = 5.0


def complaints_file(data_dir: Path) -> Path:
    """What the last host in the background said on its stderr: why it did not start, or how Python broke."""
    return log_file(data_dir).with_name("stderr.log")


def program() -> list[str]:
    """The words that start `holdfast`, whatever lies about in the directory they are said in."""
    return [sys.executable, "-P", "-m", "holdfast"]


def _home() -> Path:
    """Where agents find themselves unless a session says otherwise: no directory that somebody may want to remove."""
    home = Path.home()
    return home if home.is_dir() else Path("/")


def arguments(settings: Settings, given: Mapping[str, Any], *, with_variables: bool = False) -> list[str]:
    """The words after `serve` for a host with these options, whatever directory it is started in.

    Options from files are not among them, they are read again; nor are those from the environment, but for paths
    and unless that will be another one.
    """
    words = ["--data-dir", str(settings.data_dir.absolute())]
    if given.get("config"):
        words += ["--config", str(Path(given["config"]).absolute())]
    for name, option in OPTIONS.items():
        value, origin = getattr(settings, name), settings.origins[name]
        if name == "data_dir" or origin not in (option.flag, option.variable):
            continue
        if origin == option.flag or with_variables or isinstance(value, Path):
            words += _flags(option, value)
    return words


def _flags(option: Option, value: Any) -> list[str]:
    if option.kind is BOOL:
        return [option.flag if value else f"--no-{option.name.replace('_', '-')}"]
    if option.kind is TEXTS:
        return [word for each in value for word in (option.flag, each)]
    return [option.flag, str(value.absolute()) if isinstance(value, Path) else option.kind.show(value)]


def start(settings: Settings, given: Mapping[str, Any], patience: float) -> tuple[Running, bool]:
    """The host of the data directory, listening, and whether it was there already. Raises `Stopped`."""
    dirs.require_posix()
    dirs.prepare_data_dir(settings.data_dir)
    deadline = time.monotonic() + patience
    host = running(settings.data_dir)
    if host is None:
        words = arguments(settings, given)
        if settings.log_file is None:
            words += ["--log-file", str(log_file(settings.data_dir).absolute())]
        host = _started(settings, words, deadline)
        if host is not None:
            return host, False
    # There was one, or somebody else was quicker just now. It may still be on its way.
    wait_for(lambda: _listening(settings.data_dir) is not None, deadline - time.monotonic())
    host = _listening(settings.data_dir)
    if host is None:
        raise Stopped(Exit.FAILED, f"a host is starting in {settings.data_dir}, and did not get ready in time")
    return host, True


def _listening(data_dir: Path) -> Running | None:
    host = running(data_dir)
    return host if host is not None and listens(host) else None


def _started(settings: Settings, words: list[str], deadline: float) -> Running | None:
    """The host we started; None if there was another one all of a sudden."""
    complaints = complaints_file(settings.data_dir)
    try:
        complaints.parent.mkdir(mode=0o700, exist_ok=True)
        errors = os.open(complaints, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise Stopped(Exit.FAILED, f"cannot write {complaints}: {error.strerror}") from error
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [*program(), "serve", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=_home(),
            start_new_session=True,
        )
    finally:
        os.close(errors)
    assert process.stdout is not None, "a pipe"
    with process.stdout as out:
        if _says_ready(out.fileno(), deadline):
            return running(settings.data_dir)
    code = _ended(process)
    if code is None:
        raise Stopped(Exit.FAILED, "the host did not get ready in time and was stopped; see `holdfast logs`")
    if running(settings.data_dir) is not None:
        return None
    said = complaints.read_text(errors="replace").strip().removeprefix("holdfast: ")
    raise Stopped(code or Exit.FAILED, said or "the host ended at once, and did not say why")


def _says_ready(pipe: int, deadline: float) -> bool:
    """Whether the line comes with which a host says that clients may come. There is nothing else on its stdout."""
    said = b""
    while b"\n" not in said:
        left = deadline - time.monotonic()
        readable, _, _ = select.select([pipe], [], [], max(0.0, left))
        more = os.read(pipe, 4096) if readable else b""
        if not more:
            return False
        said += more
    return said.startswith(b"ready ")


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    """The exit code of a process that ends by itself; None for one that had to be ended."""
    try:
        return process.wait(_CLOSING)
    except subprocess.TimeoutExpired:
        process.terminate()
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return None


def end(data_dir: Path, patience: float, *, at_once: bool) -> Running:
    """End the host of a data directory and wait until it is gone; it is returned. Raises `Stopped`."""
    host = running(data_dir)
    if host is None:
        raise Stopped(Exit.NO_HOST, f"no host runs in {data_dir}")
    _signal(host.pid)
    if at_once:
        # The first signal lets turns end, the second one does not.
        wait_for(lambda: running(data_dir) is None, 0.2)
        if running(data_dir) is not None:
            _signal(host.pid)
    if not wait_for(lambda: _is_gone(data_dir, host.pid), patience):
        raise Stopped(
            Exit.FAILED,
            f"process {host.pid} has not ended after {patience:g} s; turns may be running: `holdfast down --now`"
            " does not wait for them",
        )
    return host


def _is_gone(data_dir: Path, pid: int) -> bool:
    """Whether that host is gone; by now there may be another one."""
    host = running(data_dir)
    return host is None or host.pid != pid


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except PermissionError:
        raise Stopped(Exit.REFUSED, f"process {pid} belongs to another user") from None
