"""`holdfast approve`: let tools run."""

from __future__ import annotations

from typing import Final

import click

from holdfast.cli.deciding import Deciders, decide, one_session
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("waiting", "decided")


@click.command("approve", short_help="Let a tool run, or list what waits for a person.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@one_session
@click.option("--all", "everything", is_flag=True, help="Every tool that waits; with --session, those in there.")
@click.option("--option", metavar="NAME", help="With this of the answers it offers.")
@click.option("--input", "edited", metavar="TEXT", help="With this input instead, where it may be edited.")
@as_json()
@at_host
def command(
    ids: tuple[str, ...],
    session: str | None,
    everything: bool,
    option: str | None,
    edited: str | None,
    as_json: bool,
    place: Place,
) -> None:
    """Let a tool run, or give its result to the agent. Without an ID, list everything that waits for a person.

    An ID may be cut short as long as it is clear which one is meant.
    """

    def deciders() -> Deciders:
        from holdfast.client.asks import Approval, ResultApproval

        async def tool(ask: Approval) -> str:
            await ask.approve(option, edited_input=edited)
            return "approved"

        async def result(ask: ResultApproval) -> str:
            await ask.approve()
            return "approved"

        return {Approval: tool, ResultApproval: result}

    run(place, lambda host: decide(host, ids, session, deciders(), everything=everything, as_json=as_json))
