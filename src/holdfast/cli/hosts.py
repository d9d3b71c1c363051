"""Talking to a host: which one, and what it means for a command if that goes wrong.

A command says what it does in a coroutine that is given a connected host; `run` does the rest.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click

from holdfast.cli.exits import Exit, Stopped, die_of, in_words
from holdfast.cli.output import remark

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.client.host import Connecting, Host
    from holdfast.client.targets import Target

__all__ = ["Place", "at_host", "connected", "run", "target_at", "telling"]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

# Seconds a host may be away while a command runs: longer than it takes to be started again, shorter than a coffee.
_PATIENCE: Final = 30.0

# Seconds until somebody who connects is let in.
_HANDSHAKE: Final = 10.0


class Place(NamedTuple):
    """Where somebody said the host is, on the command line; `HOLDFAST_HOST` and the rest come after that."""

    host: str | None = None
    data_dir: str | None = None

    @property
    def is_elsewhere(self) -> bool:
        """Whether a host was named, which may be on another machine."""
        return bool(self.host or (not self.data_dir and os.environ.get("HOLDFAST_HOST")))


def at_host(command: F) -> F:
    """The options `--host` and `--data-dir`, as `place`."""

    def place(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
        given: Place = context.params.setdefault("place", Place())
        if value:
            context.params["place"] = given._replace(**{str(parameter.name): value})

    for name, metavar, help_text in (
        ("data_dir", "PATH", "The host of this data directory.  [HOLDFAST_DATA_DIR]"),
        ("host", "ADDRESS", "The host: ws://…/?tkn=…, unix:PATH, HOST:PORT or exec:COMMAND.  [HOLDFAST_HOST]"),
    ):
        flag = f"--{name.replace('_', '-')}"
        command = click.option(flag, name, metavar=metavar, help=help_text, expose_value=False, callback=place)(
            command
        )
    return command


def run(place: Place, main: Callable[[Host], Coroutine[Any, Any, T]]) -> T:
    """Connect, do it, disconnect. What goes wrong ends the program, in a sentence and with its exit code."""
    with in_words():
        try:
            return asyncio.run(_run(place, main))
        except KeyboardInterrupt:
            die_of(signal.SIGINT)


async def _run(place: Place, main: Callable[[Host], Coroutine[Any, Any, T]]) -> T:
    with telling():
        async with connected(place) as host:
            doing = asyncio.ensure_future(main(host))
            watching = asyncio.ensure_future(_watch(host))
            try:
                await asyncio.wait((doing, watching), return_when=asyncio.FIRST_COMPLETED)
                if not doing.done():
                    await watching  # raises
                return await doing
            finally:
                for task in (doing, watching):
                    task.cancel()
                await asyncio.gather(doing, watching, return_exceptions=True)


async def _watch(host: Host) -> None:
    """Tell people when the host is away. Raises `Stopped` when it stays away."""
    from holdfast.client.status import Status, StatusChanged

    async with host.events() as events:
        statuses = (event.status async for event in events if isinstance(event, StatusChanged))
        async for status in statuses:
            if status is Status.CONNECTING:
                remark(f"the host is away; waiting {_PATIENCE:.0f} s for it to come back")
                try:
                    async with asyncio.timeout(_PATIENCE):
                        while await anext(statuses) is not Status.LIVE:
                            pass
                except TimeoutError:
                    raise Stopped(Exit.NO_HOST, "the host did not come back; `holdfast up` starts it") from None
                except StopAsyncIteration:
                    return  # it is over, which whoever talks to the host is told
                remark("the host is back")


def connected(place: Place) -> Connecting:
    """The connection, to be entered or awaited. Raises what `connect` raises."""
    from holdfast.client.host import connect

    written, data_dir = _written(place)
    return connect(written, data_dir=data_dir, name="holdfast-cli")


def target_at(place: Place) -> tuple[Target, Path]:
    """Where that is, for those who connect themselves, and the data directory. Raises `UsageError`."""
    from holdfast.client.targets import target_of

    written, data_dir = _written(place)
    return target_of(written, token=None, data_dir=data_dir, environ=os.environ, patience=_HANDSHAKE), data_dir


def _written(place: Place) -> tuple[str | None, Path]:
    """The address somebody wrote, if somebody did, and the data directory."""
    from holdfast.cli.options import settings_from

    # What a command was told counts before what stands in a variable.
    variable = os.environ.get("HOLDFAST_HOST") if place.is_elsewhere else None
    return place.host or variable or None, settings_from({"data_dir": place.data_dir}).data_dir


@contextmanager
def telling() -> Iterator[None]:
    """What the SDK raises becomes `Stopped`, with the exit code it stands for."""
    from holdfast.protocol.errors import HoldfastError

    try:
        yield
    except HoldfastError as error:
        raise Stopped(_code(error), str(error)) from error
    except BaseExceptionGroup as group:
        # Of tasks that belong together; what ended one of them ended them all.
        first = group.subgroup((HoldfastError, Stopped))
        if first is None:
            raise
        with telling():
            raise first.exceptions[0] from group


def _code(error: Exception) -> Exit:
    from holdfast.client import errors
    from holdfast.protocol.errors import RpcError, UsageError

    table: Final[dict[type[Exception], Exit]] = {
        errors.NoHost: Exit.NO_HOST,
        errors.Refused: Exit.REFUSED,
        RpcError: Exit.REFUSED,
        UsageError: Exit.USAGE,
    }
    return next((code for kind, code in table.items() if isinstance(error, kind)), Exit.FAILED)
