"""`holdfast capture`: a wire log of what clients and a host say to each other."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import click

from holdfast.cli.exits import Exit, Stopped, in_words
from holdfast.cli.hosts import Place, at_host
from holdfast.cli.output import emit, remark

if TYPE_CHECKING:
    from holdfast.cli.proxy import Proxy

__all__ = ["command"]


@click.command("capture")
@click.option(
    *("-o", "--output", "--out", "out"),
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Written there, readable for you alone.  [stdout]",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port clients come to; 0 picks one.  [0]")
@at_host
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
def command(out: Path | None, port: int, place: Place, program: tuple[str, ...]) -> None:
    """Write down what clients and a host say to each other.

    Opens a door to the host and prints `ready URL` (to stderr if the log goes to stdout); clients that come to that
    URL talk to the host, and every message is logged as a line of JSON, until Ctrl-C. Tokens and what else is
    secret are replaced by ***; what people and agents wrote is not.

    With PROGRAM that is run instead, with HOLDFAST_HOST leading through the door, and the end is its end:

    \b
    holdfast capture -o talk.jsonl -- holdfast send hello
    """
    with in_words(), ExitStack() as stack:
        write: Callable[[bytes], object] = _to_stdout
        ready = _ready_beside
        if out is not None:
            write, ready = stack.enter_context(_private(out)).write, _ready
        proxy, code = asyncio.run(_run(place, port, program, write, _run_quietly if program else ready))
        if out is not None:
            remark(f"wrote {out}: {proxy.messages} messages of {proxy.connections} connections")
    sys.exit(code)


def _to_stdout(line: bytes) -> None:
    emit(line.decode())


def _ready(url: str) -> None:
    emit(f"ready {url}\n")


def _ready_beside(url: str) -> None:
    remark(f"ready {url}")


def _run_quietly(url: str) -> None:
    """The program is told, nobody else."""


def _private(path: Path) -> FileIO:
    """A file for its owner only, written at once: it holds what people said, and may be looked at while it grows."""
    try:
        return FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w")
    except OSError as error:
        raise Stopped(Exit.FAILED, f"cannot write {path}: {error.strerror}") from error


async def _run(
    place: Place, port: int, program: tuple[str, ...], write: Callable[[bytes], object], ready: Callable[[str], None]
) -> tuple[Proxy, int]:
    """The door, from its opening until somebody ends it, and the exit code of the program."""
    from holdfast.cli.hosts import target_at
    from holdfast.cli.local import token
    from holdfast.cli.proxy import Proxy
    from holdfast.cli.wire_log import Redactor

    target, data_dir = target_at(place)
    known = [*parse_qs(urlsplit(place.host or os.environ.get("HOLDFAST_HOST", "")).query).get("tkn", [])]
    ours = token(data_dir)
    # Whoever may talk to this user's host knows its token and has only the port to change.
    secret = ours if ours and not place.is_elsewhere else secrets.token_urlsafe(32)
    redactor = Redactor(secret, *known, *([ours] if ours else []))
    proxy = Proxy(target.dial, secret, redactor, write)
    async with proxy.listening(port) as url:
        ready(url)
        if program:
            return proxy, await _ended(program, {**os.environ, "HOLDFAST_HOST": url})
        await _told_to_stop()
    return proxy, 0


async def _told_to_stop() -> None:
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopping.set)
    await stopping.wait()


async def _ended(program: tuple[str, ...], environ: dict[str, str]) -> int:
    """Run a program to its end; its exit code. Ctrl-C is for it."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
    try:
        process = await asyncio.create_subprocess_exec(*program, env=environ)
    except OSError as error:
        raise Stopped(Exit.FAILED, f"cannot start {program[0]}: {error.strerror}") from error
    code = await process.wait()
    return code if code >= 0 else 128 - code
