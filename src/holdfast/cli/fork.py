"""`holdfast fork`: go on from an earlier point, beside what was done since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.finding import by_prefix
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit, emit_json
from holdfast.cli.reaching import chat_option, open_chat, open_session, session_argument

if TYPE_CHECKING:
    from holdfast.client.chat import Chat
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("fork",)


@click.command("fork")
@session_argument
@click.option(
    "--turn", metavar="ID", help="Up to this turn; see `holdfast show --json`.  [the last one that is over]"
)
@click.option("--title", metavar="TEXT", help="What the new chat is called.")
@click.option("--new-session", is_flag=True, help="As a session of its own.")
@chat_option
@as_json()
@at_host
def command(
    session: str,
    turn: str | None,
    title: str | None,
    new_session: bool,
    chat: str | None,
    as_json: bool,
    place: Place,
) -> None:
    """Copy a chat up to a turn into a new one, and print its URI.

    The new chat is in the same session; `--chat` of the other commands talks to it.
    """
    run(place, lambda host: _fork(host, session, chat, turn, title, new_session, as_json))


async def _fork(
    host: Host,
    given: str,
    chat_given: str | None,
    turn: str | None,
    title: str | None,
    new_session: bool,
    as_json: bool,
) -> None:
    from holdfast.cli import shapes

    session = await open_session(host, given)
    source = await open_chat(session, chat_given)
    chat = await session.create_chat(fork=(source.uri, await _turn(source, turn)))
    if title is not None:
        await chat.rename(title)
    home = await session.move_chat(chat.uri) if new_session else session.uri
    if new_session and title is not None:
        await (await host.session(home)).rename(title)
    if as_json:
        emit_json(shapes.Created(session=home, chat=chat.uri))
    else:
        emit(f"{home if new_session else chat.uri}\n")


async def _turn(chat: Chat, given: str | None) -> str:
    """The turn that is meant, which has to be over."""
    if given is None:
        if not chat.turns:
            raise Stopped(Exit.FAILED, "there is nothing to fork: no turn is over yet")
        return chat.turns[-1].id
    ids = [each.id async for each in chat.history()]
    return by_prefix(given, ids, str, kind="turn")
