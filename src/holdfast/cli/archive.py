"""`holdfast archive`: out of sight, not gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.finding import pick
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, remark
from holdfast.cli.reaching import sessions_argument, summaries

if TYPE_CHECKING:
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("archive",)


@click.command("archive", short_help="Put sessions out of sight, without removing them.")
@sessions_argument
@click.option("--undo", is_flag=True, help="Take them out of the archive.")
@as_json()
@at_host
def command(sessions: tuple[str, ...], undo: bool, as_json: bool, place: Place) -> None:
    """Archive sessions: lists leave them out, `holdfast sessions --all` does not."""
    run(place, lambda host: _archive(host, sessions, not undo, as_json))


async def _archive(host: Host, given: tuple[str, ...], archived: bool, as_json: bool) -> None:
    from holdfast.cli import shapes

    known = await summaries(host)
    done = []
    # All are looked up before anything happens to one of them.
    for summary in [pick(each, known) for each in given]:
        async with await host.session(summary.resource) as session:
            await session.archive(archived)
        done.append(shapes.Archived(session=summary.resource, archived=archived))
    if as_json:
        emit_json(done)
    else:
        for each in done:
            remark(f"{'archived' if archived else 'took out of the archive'} {each.session}")
