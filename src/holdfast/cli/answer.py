"""`holdfast answer`: fill in forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli.answers import pairs
from holdfast.cli.deciding import Deciders, decide, one_session
from holdfast.cli.exits import Exit, Stopped, in_words
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json

if TYPE_CHECKING:
    from holdfast.client.asks import Question

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("waiting", "decided")


@click.command("answer", short_help="Fill in a form, or list what waits.")
@click.argument("id", required=False)
@click.argument("values", nargs=-1, metavar="[KEY=VALUE]...")
@one_session
@click.option("--decline", "response", flag_value="declined", help="Say no to the form.")
@click.option("--cancel", "response", flag_value="cancelled", help="Say neither yes nor no.")
@as_json()
@at_host
def command(
    id: str | None,
    values: tuple[str, ...],
    session: str | None,
    response: str | None,
    as_json: bool,
    place: Place,
) -> None:
    """Answer the questions of a form. Without an ID, list what waits.

    KEY is the id of a question. Options are named by id or label, several with commas between them. Questions that
    are left out keep the answer they have, or their default. Without any KEY=VALUE, whoever is at the terminal is
    asked.

    \b
    holdfast answer 01a1f5a3 name=Seagull rig=ketch gear=anchor,radio
    """
    with in_words():
        given = pairs(values)

    def deciders() -> Deciders:
        from holdfast.client.asks import Question

        async def form(ask: Question) -> str:
            if response == "declined":
                await ask.decline()
            elif response == "cancelled":
                await ask.cancel()
            else:
                await ask.answer(await _values(ask, given))
            return response or "accepted"

        return {Question: form}

    ids = () if id is None else (id,)
    run(place, lambda host: decide(host, ids, session, deciders(), as_json=as_json))


async def _values(ask: Question, given: Mapping[str, str]) -> dict[str, Any]:
    from holdfast.cli import answers
    from holdfast.cli.asking import ask_question, terminal

    if given or not ask.questions:
        return answers.values(ask.request, given)
    with terminal() as person:
        if person is None:
            return answers.values(ask.request, {})
        asked = await ask_question(person, ask)
    if asked is None:
        raise Stopped(Exit.FAILED, "the form was not filled in; it still waits")
    return asked
