"""`holdfast rm`: remove sessions, and bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.finding import pick
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, line, remark, table
from holdfast.cli.reaching import summaries

if TYPE_CHECKING:
    from holdfast.client.host import Host
    from holdfast.protocol.extensions import DisposedSession

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("rm",)


@click.command("rm")
@click.argument("sessions", metavar="[SESSION]...", nargs=-1)
@click.option("--undo", is_flag=True, help="Bring removed sessions back; without SESSION, list those that can be.")
@as_json()
@at_host
def command(sessions: tuple[str, ...], undo: bool, as_json: bool, place: Place) -> None:
    """Remove sessions with everything in them.

    A Holdfast host keeps them for a week, and `--undo` brings them back until then.
    """
    if not sessions and not undo:
        raise click.UsageError("Missing argument 'SESSION...'.")
    run(place, lambda host: (_restore if undo else _remove)(host, sessions, as_json))


async def _remove(host: Host, given: tuple[str, ...], as_json: bool) -> None:
    from holdfast.cli import shapes
    from holdfast.protocol.extensions import RESTORE_SESSION

    known = await summaries(host)
    # All are looked up before one of them is removed.
    meant = [pick(each, known) for each in given]
    can_undo = RESTORE_SESSION in host.extensions
    for summary in meant:
        await host.dispose_session(summary.resource)
        if not as_json:
            undo = f"; `holdfast rm --undo {summary.resource}` brings it back" if can_undo else ""
            remark(f"removed {line(summary.title) or summary.resource}{undo}")
    if as_json:
        emit_json([shapes.Removed(session=each.resource, removed=True, title=each.title) for each in meant])


async def _restore(host: Host, given: tuple[str, ...], as_json: bool) -> None:
    from holdfast.cli import shapes

    known = await _disposed(host)
    if not given:
        found = [
            shapes.Removed(session=each.resource, removed=True, title=each.title, until=each.until) for each in known
        ]
        if as_json:
            emit_json(found)
        else:
            cells = [(each.session, each.title or "", each.until or "") for each in found]
            table(("session", "title", "until"), cells, "no removed session can be brought back")
        return
    meant = [pick(each, known, kind="removed session") for each in given]
    for one in meant:
        await host.restore_session(one.resource)
        if not as_json:
            remark(f"brought back {line(one.title) or one.resource}")
    if as_json:
        emit_json([shapes.Removed(session=each.resource, removed=False, title=each.title) for each in meant])


async def _disposed(host: Host) -> list[DisposedSession]:
    """Every session that can be brought back."""
    from holdfast.protocol.codec import convert
    from holdfast.protocol.extensions import LIST_DISPOSED, ListDisposedResult
    from holdfast.protocol.uris import ROOT

    if LIST_DISPOSED not in host.extensions:
        raise Stopped(Exit.FAILED, "this host cannot bring sessions back")
    found: list[DisposedSession] = []
    cursor: str | None = None
    while True:
        given = {"channel": ROOT, **({"cursor": cursor} if cursor else {})}
        page = convert(ListDisposedResult, await host.extension(LIST_DISPOSED, given))
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found
