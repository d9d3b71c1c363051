"""`holdfast cancel`: stop what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, remark
from holdfast.cli.reaching import chat_option, open_chat, open_session, session_argument

if TYPE_CHECKING:
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("cancel",)


@click.command("cancel")
@session_argument
@chat_option
@as_json()
@at_host
def command(session: str, chat: str | None, as_json: bool, place: Place) -> None:
    """Stop the turn that runs in a session. Nothing running is fine, too."""
    run(place, lambda host: _cancel(host, session, chat, as_json))


async def _cancel(host: Host, given: str, chat_given: str | None, as_json: bool) -> None:
    from holdfast.cli import shapes

    session = await open_session(host, given)
    chat = await open_chat(session, chat_given)
    active = chat.active_turn
    if active is not None:
        await chat.cancel()
    if as_json:
        emit_json(shapes.Cancelled(session=session.uri, chat=chat.uri, turn=None if active is None else active.id))
    else:
        remark("nothing runs" if active is None else f"cancelled the turn in {session.uri}")
