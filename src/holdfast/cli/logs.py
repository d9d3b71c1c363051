"""`holdfast logs`: what the host in the background wrote down."""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, Final

import click

from holdfast.cli.exits import Exit, Stopped, die_of, in_words
from holdfast.cli.options import host_options, settings_from
from holdfast.cli.output import clean, emit, remark

__all__ = ["command", "read"]

# How often a log is looked at that somebody follows, in seconds: no eye sees a difference.
_INTERVAL: Final = 0.1


@click.command("logs")
@click.option("-f", "--follow", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(min=0), default=100, help="How many lines to begin with.  [100]")
@click.option("--json", "as_json", is_flag=True, help="The lines as they are: one JSON object each.")
@host_options(("data_dir", "log_file"))
def command(follow: bool, lines: int, as_json: bool, **given: Any) -> None:
    """Show what the host in the background wrote into its log.

    A host that was started with `serve` logs to its terminal, one of the system's service manager where that keeps
    its logs (`journalctl --user -u holdfast`).
    """
    with in_words():
        file, is_there = _file(given)
        if not (is_there or follow):
            raise Stopped(Exit.FAILED, f"there is no log {file}; `holdfast up` starts a host that writes one")
        try:
            for line in read(file, lines, follow=follow):
                emit(_shown(line, as_json) + "\n")
        except KeyboardInterrupt:
            die_of(signal.SIGINT)
        _remark_complaints(file)


def _file(given: dict[str, Any]) -> tuple[Path, bool]:
    from holdfast.places import log_file, running

    settings = settings_from(given)
    host = running(settings.data_dir)
    if host is not None and host.log is None and settings.log_file is None:
        raise Stopped(
            Exit.FAILED,
            f"the host (process {host.pid}) logs to where it was started; with `serve --log-file FILE` it has a file",
        )
    file = settings.log_file or Path(host.log if host is not None and host.log else log_file(settings.data_dir))
    return file, file.exists()


def _shown(line: str, as_json: bool) -> str:
    if as_json:
        return clean(line)
    import json

    from holdfast.server.logs import readable

    try:
        return clean(readable(json.loads(line)))
    except (ValueError, KeyError, TypeError):
        return clean(line)


def _remark_complaints(file: Path) -> None:
    """What a host said to nobody: Python's last words, say."""
    complaints = file.with_name("stderr.log")
    said = complaints.read_text(errors="replace").strip() if complaints.exists() else ""
    if said:
        remark(f"\nbeside that, the last host said on its stderr ({complaints}):\n{said}")


# Reading


def read(file: Path, count: int, *, follow: bool) -> Iterator[str]:
    """The last lines of a log, also those in the files put aside; then, to follow, whole lines as they come."""
    lines: deque[bytes] = deque(_aside(file), maxlen=count)
    with ExitStack() as stack:
        opened = stack.enter_context(file.open("rb")) if file.exists() else None
        last = b""
        if opened is not None:
            whole, last = _available(opened, b"")
            lines.extend(whole)
        if last and not follow:
            lines.append(last)
        yield from map(_text, lines)
        if follow and opened is not None:
            yield from _coming(opened, file, last)
    while follow:
        try:
            with file.open("rb") as opened:
                yield from _coming(opened, file, b"")
        except FileNotFoundError:
            time.sleep(_INTERVAL)


def _aside(file: Path) -> Iterator[bytes]:
    """The lines of the files that were put aside, oldest first."""
    from holdfast.server.log_files import KEPT

    for number in range(KEPT, 0, -1):
        with suppress(FileNotFoundError):
            yield from file.with_name(f"{file.name}.{number}").read_bytes().splitlines()


def _available(opened: IO[bytes], begun: bytes) -> tuple[list[bytes], bytes]:
    """The whole lines that are there to be read, and what there is of the next one."""
    *lines, begun = (begun + opened.read()).split(b"\n")
    return lines, begun


def _coming(opened: IO[bytes], file: Path, begun: bytes) -> Iterator[str]:
    """Whole lines, until the file is complete and another one has its name."""
    while True:
        is_last = not _is_current(opened, file)
        lines, begun = _available(opened, begun)
        yield from map(_text, lines)
        if is_last:
            return
        time.sleep(_INTERVAL)


def _text(line: bytes) -> str:
    return line.decode(errors="replace")


def _is_current(opened: IO[bytes], file: Path) -> bool:
    """Whether this is still the file of that name, with at least what was read of it."""
    ours = os.fstat(opened.fileno())
    try:
        theirs = file.stat()
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino) and theirs.st_size >= opened.tell()
