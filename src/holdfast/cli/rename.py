"""`holdfast rename`: what a session is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, remark
from holdfast.cli.reaching import open_session, session_argument

if TYPE_CHECKING:
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("rename",)


@click.command("rename")
@session_argument
@click.argument("title")
@as_json()
@at_host
def command(session: str, title: str, as_json: bool, place: Place) -> None:
    """Give a session another title."""
    run(place, lambda host: _rename(host, session, title, as_json))


async def _rename(host: Host, given: str, title: str, as_json: bool) -> None:
    from holdfast.cli import shapes

    session = await open_session(host, given)
    await session.rename(title)
    if as_json:
        emit_json(shapes.Renamed(session=session.uri, title=title))
    else:
        remark(f"{session.uri} is now called {title!r}")
