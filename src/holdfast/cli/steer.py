"""`holdfast steer`: a word to an agent that is at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, remark
from holdfast.cli.reaching import chat_option, open_chat, open_session, session_argument

if TYPE_CHECKING:
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("steer",)


@click.command("steer")
@session_argument
@click.argument("text")
@chat_option
@as_json()
@at_host
def command(session: str, text: str, chat: str | None, as_json: bool, place: Place) -> None:
    """Tell the agent something while it works, without stopping it.

    It hears it at the next opportunity. A second message replaces one that was not heard yet.
    """
    run(place, lambda host: _steer(host, session, chat, text, as_json))


async def _steer(host: Host, given: str, chat_given: str | None, text: str, as_json: bool) -> None:
    from holdfast.cli import shapes

    session = await open_session(host, given)
    chat = await open_chat(session, chat_given)
    if chat.active_turn is None:
        raise Stopped(Exit.FAILED, f"no turn runs in {session.uri}; `holdfast send` begins one")
    id = await chat.steer(text)
    if as_json:
        emit_json(shapes.Steered(session=session.uri, chat=chat.uri, id=id))
    else:
        remark(f"told the agent in {session.uri}")
