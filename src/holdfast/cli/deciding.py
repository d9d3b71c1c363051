"""What `approve`, `deny` and `answer` share: listing what waits, and deciding it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.output import emit_json, remark, table

if TYPE_CHECKING:
    from holdfast.cli.waits import Waiting
    from holdfast.client.host import Host

__all__ = ["decide", "listed", "one_session", "wrong_kind"]

one_session: Final = click.option(
    "-s",
    "--session",
    metavar="SESSION",
    help="Only what waits in this session: URI, or beginning of its id or title.",
)

Decide = Callable[[Any], Coroutine[Any, Any, str]]
"""Given what asks, decides it and says what was decided. Raises `Stopped` if it is of another kind."""


def listed(found: Sequence[Waiting], as_json: bool) -> None:
    """Print what waits."""
    from holdfast.cli.finding import id_of, short_ids
    from holdfast.cli.waits import key

    if as_json:
        emit_json([each.shown for each in found])
        return
    short = short_ids([key(each.shown.id) for each in found])
    sessions = short_ids([id_of(each.shown.session) for each in found])
    cells = [
        (
            short[key(each.shown.id)],
            each.shown.kind,
            each.shown.message,
            each.shown.input or "",
            sessions[id_of(each.shown.session)],
        )
        for each in found
    ]
    table(("id", "kind", "message", "input", "session"), cells, "nothing waits for a person")


async def decide(
    host: Host, ids: Sequence[str], session: str | None, everything: bool, as_json: bool, decision: Decide
) -> None:
    """Decide what is meant by the ids, or all of it; without either, list what waits."""
    from holdfast.cli import shapes
    from holdfast.cli.waits import all_waits, find, key

    found = await all_waits(host, session)
    if not ids and not everything:
        listed(found, as_json)
        return
    # All are looked up before one of them is decided.
    meant = [find(each, found) for each in ids] if ids else [each for each in found if each.ask is not None]
    done = []
    for each in meant:
        if each.ask is None:
            raise Stopped(Exit.FAILED, f"{key(each.shown.id)} waits for a program, not for a person")
        decided: Any = await decision(each.ask)
        done.append(shapes.Decided(id=each.shown.id, session=each.shown.session, decision=decided))
        if not as_json:
            remark(f"{decided}: {each.shown.message}")
    if as_json:
        emit_json(done)


def wrong_kind(ask: Any, command: str) -> Stopped:
    """What to say of something that this command cannot decide."""
    from holdfast.cli.waits import key
    from holdfast.client.asks import AuthenticationNeeded

    if isinstance(ask, AuthenticationNeeded):
        return Stopped(Exit.FAILED, f"{key(ask.id)} waits for a token for {ask.resource}, from a client that has one")
    return Stopped(Exit.USAGE, f"{key(ask.id)} is decided with `holdfast {command} {key(ask.id)}`")
