"""`holdfast new`: a session to talk to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.creating import Wanted, create, session_options
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit, emit_json

if TYPE_CHECKING:
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("new",)


@click.command("new")
@session_options
@as_json()
@at_host
def command(
    agent: str | None,
    directory: tuple[str, ...],
    title: str | None,
    config: tuple[str, ...],
    as_json: bool,
    place: Place,
) -> None:
    """Make a session and print its URI.

    Values of --config are JSON or text: `speed=0` is a number, `permissionMode=auto` a text.
    """
    run(place, lambda host: _make(host, Wanted(agent, directory, title, config), as_json, place))


async def _make(host: Host, wanted: Wanted, as_json: bool, place: Place) -> None:
    from holdfast.cli import shapes

    session = await create(host, wanted, place)
    if as_json:
        emit_json(shapes.Created(session=session.uri, chat=session.chat.uri))
    else:
        emit(f"{session.uri}\n")
