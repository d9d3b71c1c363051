"""`holdfast queue`: what is said after the turn that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import click

from holdfast.cli.finding import by_prefix
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, table
from holdfast.cli.reaching import chat_option, open_chat, open_session, session_argument

if TYPE_CHECKING:
    from holdfast.client.chat import Chat
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("queue",)


class _Wanted(NamedTuple):
    """What is to become of the queue."""

    text: str | None
    remove: str | None
    first: str | None
    start: bool


@click.command("queue")
@session_argument
@click.argument("text", required=False)
@click.option("--remove", metavar="ID", help="Take this message out of the queue.")
@click.option("--first", metavar="ID", help="Put this message before the others.")
@click.option("--start", is_flag=True, help="Go on with a queue that is held.")
@chat_option
@as_json()
@at_host
def command(
    session: str,
    text: str | None,
    remove: str | None,
    first: str | None,
    start: bool,
    chat: str | None,
    as_json: bool,
    place: Place,
) -> None:
    """Queue TEXT, or show what is queued.

    A queued message is sent when the turn before it is complete; if none runs, it is sent at once. After a turn that
    was cancelled or failed the queue is held, until a message is queued or sent, or with --start.
    """
    run(place, lambda host: _queue(host, session, chat, _Wanted(text, remove, first, start), as_json))


async def _queue(host: Host, given: str, chat_given: str | None, wanted: _Wanted, as_json: bool) -> None:
    from holdfast.cli import rows, shapes
    from holdfast.cli.finding import short_ids

    session = await open_session(host, given)
    chat = await open_chat(session, chat_given)
    await _change(chat, wanted)
    found = tuple(rows.pending(each) for each in chat.queued)
    if as_json:
        emit_json(shapes.Queue(session=session.uri, chat=chat.uri, queue=found))
        return
    short = short_ids([each.id for each in found])
    table(("id", "text"), [(short[each.id], each.text) for each in found], "nothing is queued")


async def _change(chat: Chat, wanted: _Wanted) -> None:
    from holdfast.protocol.chat.actions import PendingMessageKind, PendingMessageSet

    def id_of(beginning: str) -> str:
        return by_prefix(beginning, [each.id for each in chat.queued], str, kind="message")

    if wanted.remove is not None:
        await chat.unqueue(id_of(wanted.remove))
    if wanted.first is not None:
        chosen = id_of(wanted.first)
        await chat.reorder([chosen, *(each.id for each in chat.queued if each.id != chosen)])
    if wanted.text is not None:
        await chat.queue(wanted.text)
    if wanted.start and chat.queued and not chat.is_busy:
        # A message that is queued while nothing runs is sent at once, also if it was there before.
        head = chat.queued[0]
        again = PendingMessageSet(kind=PendingMessageKind.QUEUED, id=head.id, message=head.message)
        await chat.dispatch(chat.uri, again)
