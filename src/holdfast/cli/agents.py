"""`holdfast agents`: who can be talked to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, table

if TYPE_CHECKING:
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("agents",)


@click.command("agents")
@as_json()
@at_host
def command(as_json: bool, place: Place) -> None:
    """List the agents of the host."""
    run(place, lambda host: _list(host, as_json))


async def _list(host: Host, as_json: bool) -> None:
    from holdfast.cli import rows

    found = [rows.agent(info) for info in host.agents]
    if as_json:
        emit_json(found)
        return
    cells = [(each.agent, each.name, str(len(each.models)), each.description) for each in found]
    table(("agent", "name", "models", "description"), cells, "this host has no agents")
