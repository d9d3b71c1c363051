"""`holdfast replay`: what the clients of a wire log said, said again, and whether the same comes back."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click

from holdfast.cli.exits import Exit, Stopped, die_of, in_words
from holdfast.cli.output import as_json, clean, emit, emit_json, remark

if TYPE_CHECKING:
    from holdfast.cli.shapes import Replayed
    from holdfast.cli.wire_log import Entry
    from holdfast.client.targets import Dial

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("replay",)

# How long a host may take to start and to end, in seconds.
_START: Final = 30.0
_HANDSHAKE: Final = 10.0


@click.command("replay")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--host",
    "address",
    metavar="ADDRESS",
    help="The host to say it to, instead of a new one: ws://…/?tkn=…, unix:PATH, HOST:PORT or exec:COMMAND.",
)
@click.option(
    "--patience",
    type=click.FloatRange(min=0.01),
    default=5.0,
    metavar="SECONDS",
    help="How much silence there may be before a client goes on without what it has heard in the log.  [5]",
)
@as_json()
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def command(file: IO[bytes], address: str | None, patience: float, as_json: bool, flags: tuple[str, ...]) -> None:
    """Say again what the clients of a wire log said, and compare.

    FILE is what `holdfast capture` wrote (`-` is stdin). It is said to a new host with an empty data directory, which
    is started with FLAGS and thrown away, or to --host, where everything that is created gets another name.

    Compared are answers, refusals, what lists were told of sessions, and the states that all snapshots and actions
    make in the end; not numbers, times, and ids that a host makes. Ends with exit code 1 if something differs.

    \b
    holdfast replay talk.jsonl
    holdfast replay talk.jsonl -- --demo-auth --frame-budget 300kB
    """
    with in_words():
        from holdfast.cli.hosts import telling
        from holdfast.cli.wire_log import parsed

        if address is not None and flags:
            raise Stopped(Exit.USAGE, "flags are for a new host; --host names one that runs")
        entries = list(parsed(file, getattr(file, "name", "stdin")))
        try:
            with telling():
                replayed = asyncio.run(_replayed(entries, address, patience, flags))
        except KeyboardInterrupt:
            die_of(signal.SIGINT)
    if as_json:
        emit_json(replayed)
    else:
        _show(replayed)
    sys.exit(Exit.FAILED if replayed.differences else Exit.OK)


async def _replayed(entries: list[Entry], address: str | None, patience: float, flags: tuple[str, ...]) -> Replayed:
    from holdfast.cli.replaying import Player
    from holdfast.cli.shapes import ReplayDifference, Replayed

    async with _host(address, flags) as dial:
        player = Player(dial, patience=patience, apart=address is not None)
        found = await player.play(entries)
    return Replayed(
        connections=player.connections,
        messages=player.messages,
        differences=tuple(ReplayDifference(where=each.where, says=each.says) for each in found),
        notes=tuple(dict.fromkeys(player.notes)),
    )


def _show(replayed: Replayed) -> None:
    for note in replayed.notes:
        remark(f"note: {note}")
    for each in replayed.differences:
        emit(clean(f"{each.where}: {each.says}") + "\n")
    count = len(replayed.differences)
    said = f"{replayed.messages} messages over {replayed.connections} connections"
    remark(f"said {said}; {f'{count} differences' if count else 'the same came back'}")


# The host


@asynccontextmanager
async def _host(address: str | None, flags: tuple[str, ...]) -> AsyncIterator[Dial]:
    from holdfast.client.targets import target_of

    if address is not None:
        yield target_of(address, token=None, data_dir=None, environ=os.environ, patience=_HANDSHAKE).dial
        return
    async with _new_host(flags) as url:
        yield target_of(url, token=None, data_dir=None, environ={}, patience=_HANDSHAKE).dial


@asynccontextmanager
async def _new_host(flags: tuple[str, ...]) -> AsyncIterator[str]:
    """A host of nobody's, in a directory of its own. Raises `Stopped` if it does not start."""
    from holdfast.cli.daemon import program

    with tempfile.TemporaryDirectory(prefix="holdfast-") as directory:
        process = await asyncio.create_subprocess_exec(
            *(*program(), "serve", "--data-dir", directory, "--port", "0", *flags),
            *("--unix-socket", "off", "--log-file", str(Path(directory) / "log")),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")},
        )
        assert process.stdout is not None, "a pipe"
        try:
            async with asyncio.timeout(_START):
                line = (await process.stdout.readline()).decode()
            if not line.startswith("ready "):
                raise Stopped(await process.wait() or Exit.FAILED)
            yield line.removeprefix("ready ").strip()
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
