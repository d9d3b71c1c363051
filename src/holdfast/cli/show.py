"""`holdfast show`: what was said in a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, clean, emit, emit_json, is_person, line, show
from holdfast.cli.reaching import chat_option, newest_turns, open_chat, open_session, session_argument

if TYPE_CHECKING:
    from holdfast.cli.shapes import Shown
    from holdfast.client.chat import Chat
    from holdfast.client.host import Host
    from holdfast.protocol.chat.state import Turn

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("show",)


@click.command("show")
@session_argument
@click.option(
    "--turns",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    metavar="NUMBER",
    help="The newest so many turns; 0 for all.",
)
@chat_option
@as_json()
@at_host
def command(session: str, turns: int, chat: str | None, as_json: bool, place: Place) -> None:
    """Show a session: what was said, what runs, what waits."""
    run(place, lambda host: _show(host, session, turns, chat, as_json))


async def _show(host: Host, given: str, count: int, chat_given: str | None, as_json: bool) -> None:
    from holdfast.cli import rows

    session = await open_session(host, given)
    chat = await open_chat(session, chat_given)
    turns = await newest_turns(chat, count)
    shown = rows.shown(session.uri, session.state, chat.state, turns)
    if as_json:
        emit_json(shown)
    else:
        _print(shown, chat, turns)


def _print(shown: Shown, chat: Chat, turns: list[Turn]) -> None:
    from holdfast.cli.render import plain
    from holdfast.cli.render.blocks import blocks_of
    from holdfast.cli.waits import how_to_answer

    active = (chat.active_turn,) if chat.active_turn is not None else ()
    told = [block for turn in (*turns, *active) for block in blocks_of(turn)]
    heading = _heading(shown)
    waits = [f"{how_to_answer(wait)}\n" for wait in shown.waits or ()]
    queue = [f"queued: {line(each.text)}\n" for each in shown.queue or ()]
    if is_person():
        from holdfast.cli.render.screen import drawn

        show(clean(heading), *drawn(told), *(clean(each).rstrip() for each in (*waits, *queue)))
    else:
        emit(f"{heading}\n{plain.text_of(told)}{''.join([*waits, *queue])}")


def _heading(shown: Shown) -> str:
    from holdfast.cli.render.blocks import place

    facts = [shown.session, f"agent {shown.agent}", shown.state, *(["archived"] if shown.archived else [])]
    facts += [place(each) for each in shown.directories or ()]
    more = "" if shown.is_whole else "(older turns are left out; --turns 0 shows all)\n"
    others = [f"chat: {line(each.title) or each.chat}\n" for each in shown.chats if each.chat != shown.chat]
    return f"{line(shown.title) or '(untitled)'}\n{'  '.join(facts)}\n{''.join(others)}{more}"
