"""What `approve`, `deny` and `answer` share: listing what waits, and deciding it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.output import emit_json, remark, table

if TYPE_CHECKING:
    from holdfast.cli.shapes import Decided
    from holdfast.cli.waits import Waiting
    from holdfast.client.host import Host

__all__ = ["Deciders", "decide", "one_session"]

one_session: Final = click.option(
    "-s",
    "--session",
    metavar="SESSION",
    help="Only what waits in this session: URI, or beginning of its id or title.",
)

Deciders = Mapping[type, Callable[[Any], Coroutine[Any, Any, str]]]
"""Kind of ask -> what decides it and says what was decided. Other kinds are for other commands."""


def _listed(found: Sequence[Waiting], as_json: bool) -> None:
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
    host: Host,
    ids: Sequence[str],
    session: str | None,
    deciders: Deciders,
    *,
    everything: bool = False,
    as_json: bool = False,
) -> None:
    """Decide what is meant by the ids, or everything of these kinds; without either, list what waits."""
    from holdfast.cli.waits import all_waits, find

    found = await all_waits(host, session)
    if not ids and not everything:
        _listed(found, as_json)
        return
    # All are looked up before one of them is decided.
    meant = [find(each, found) for each in ids] if ids else [each for each in found if type(each.ask) in deciders]
    for each in meant:
        if type(each.ask) not in deciders:
            raise _wrong_kind(each)
    if not meant:
        remark("nothing like that waits for a person")
    done = [await _decided(each, deciders, as_json) for each in meant]
    if as_json:
        emit_json(done)


async def _decided(waiting: Waiting, deciders: Deciders, as_json: bool) -> Decided:
    from holdfast.cli.shapes import Decided

    decision: Any = await deciders[type(waiting.ask)](waiting.ask)
    if not as_json:
        remark(f"{decision}: {waiting.shown.message}")
    return Decided(id=waiting.shown.id, session=waiting.shown.session, decision=decision)


def _wrong_kind(waiting: Waiting) -> Stopped:
    """What to say of something that this command cannot decide."""
    from holdfast.cli.waits import command_for, key

    shown, id = waiting.shown, key(waiting.shown.id)
    if shown.kind == "authentication":
        return Stopped(Exit.FAILED, f"{id} waits for a token for {shown.url}, from a client that has one")
    command = command_for(shown)
    if command is None:
        return Stopped(Exit.FAILED, f"{id} waits for a program, not for a person")
    return Stopped(Exit.USAGE, f"{id} is decided with `holdfast {command} {id}`")
