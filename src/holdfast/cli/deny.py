"""`holdfast deny`: keep tools from running."""

from __future__ import annotations

from typing import Final

import click

from holdfast.cli.deciding import Deciders, decide, one_session
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("waiting", "decided")


@click.command("deny", short_help="Keep a tool from running, or list what waits.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@one_session
@click.option("--all", "everything", is_flag=True, help="Everything that waits; with --session, what waits in there.")
@click.option("--reason", metavar="TEXT", help="Told to the agent.")
@click.option("--option", metavar="NAME", help="With this of the answers it offers.")
@click.option("--skip", is_flag=True, help="It is merely not wanted now.")
@as_json()
@at_host
def command(
    ids: tuple[str, ...],
    session: str | None,
    everything: bool,
    reason: str | None,
    option: str | None,
    skip: bool,
    as_json: bool,
    place: Place,
) -> None:
    """Keep a tool from running, a result from the agent, or decline a form. Without an ID, list what waits.

    An ID may be cut short as long as it is clear which one is meant.
    """

    def deciders() -> Deciders:
        from holdfast.client.asks import Approval, Question, ResultApproval

        async def tool(ask: Approval) -> str:
            await ask.deny(reason, option=option, skip=skip)
            return "denied"

        async def result(ask: ResultApproval) -> str:
            await ask.deny()
            return "denied"

        async def form(ask: Question) -> str:
            await ask.decline()
            return "declined"

        return {Approval: tool, ResultApproval: result, Question: form}

    run(place, lambda host: decide(host, ids, session, deciders(), everything=everything, as_json=as_json))
