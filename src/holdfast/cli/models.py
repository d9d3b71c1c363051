"""`holdfast models`: what agents can think with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, table

if TYPE_CHECKING:
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("models",)


@click.command("models")
@click.option("--agent", metavar="NAME", help="Only the models of this agent.")
@as_json()
@at_host
def command(agent: str | None, as_json: bool, place: Place) -> None:
    """List the models of the host's agents."""
    run(place, lambda host: _list(host, agent, as_json))


async def _list(host: Host, agent: str | None, as_json: bool) -> None:
    from holdfast.cli import rows

    if agent is not None and agent not in {each.provider for each in host.agents}:
        known = ", ".join(each.provider for each in host.agents) or "none"
        raise Stopped(Exit.FAILED, f"this host has no agent {agent!r}; it has {known}")
    found = [
        rows.model(each, info.provider)
        for info in host.agents
        if agent in (None, info.provider)
        for each in info.models
    ]
    if as_json:
        emit_json(found)
        return
    cells = [
        (each.model, each.agent, each.name, str(each.max_context_window or ""), "yes" if each.vision else "")
        for each in found
    ]
    table(("model", "agent", "name", "context", "vision"), cells, "this host has no models")
