"""`holdfast attach`: sessions in a full-screen terminal."""

from __future__ import annotations

import sys
from typing import Final

import click

from holdfast.cli.exits import Exit, Stopped, in_words
from holdfast.cli.finding import id_of
from holdfast.cli.hosts import Place, at_host, connected, telling

__all__ = ["command"]

_SHORT: Final = 8
"""Characters of an id that name a session well enough to come back to it."""


@click.command("attach")
@click.argument("session", metavar="[SESSION]", required=False)
@at_host
def command(session: str | None, place: Place) -> None:
    """Work with sessions in a full-screen terminal.

    Shows what needs you, streams answers, and lets you approve, answer, queue and steer by keys: F1 lists them, ^q
    leaves. Sessions go on at the host. SESSION is a URI, or the beginning of an id or title.
    """
    with in_words():
        # The application draws on stderr, so that stdout stays free.
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise Stopped(Exit.USAGE, "attach needs a terminal; `holdfast send` and `holdfast show` do without one")
        import asyncio

        code, last = asyncio.run(_attach(place, session))
        if code:
            raise Stopped(Exit.FAILED)
        if last is not None:
            click.echo(f"It goes on without you. Come back: holdfast attach {id_of(last)[:_SHORT]}")


async def _attach(place: Place, given: str | None) -> tuple[int, str | None]:
    from holdfast.attach.run import attach
    from holdfast.cli.reaching import open_session

    with telling():
        async with connected(place) as host:
            session = await open_session(host, given) if given is not None else None
            return await attach(host, session.uri if session is not None else None)
