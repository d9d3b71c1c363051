"""`holdfast sessions`: what there is, and with `--watch` what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from holdfast.cli.creating import directory_uri
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit, emit_json, is_person, line, table

if TYPE_CHECKING:
    from holdfast.cli.shapes import Session
    from holdfast.client.host import Host

__all__ = ["SCHEMAS", "Filter", "command"]

SCHEMAS: Final = ("sessions", "sessions-watch")

_STATES: Final = ("idle", "in-progress", "input-needed", "error")
_COLUMNS: Final = ("id", "title", "state", "agent", "modified", "activity")


class Filter(NamedTuple):
    """Which sessions somebody wants to see. Empty means any."""

    agent: str | None = None
    states: tuple[str, ...] = ()
    search: str = ""
    directory: str | None = None
    unread: bool = False
    archived: bool | None = False
    """None for both kinds."""

    def fits(self, session: Session) -> bool:
        """Whether a session is wanted."""
        return (
            self.agent in (None, session.agent)
            and (not self.states or session.state in self.states)
            and self.search.casefold() in session.title.casefold()
            and (self.directory is None or self.directory in (session.directories or ()))
            and not (self.unread and session.read)
            and self.archived in (None, session.archived)
        )


@click.command("sessions")
@click.option("--agent", metavar="NAME", help="Only sessions with this agent.")
@click.option(
    "--state", "states", type=click.Choice(_STATES), multiple=True, help="Only those in this state; may be repeated."
)
@click.option("--search", metavar="TEXT", default="", help="Only those with this in the title.")
@click.option("--directory", metavar="DIR", help="Only those that work there.")
@click.option("--unread", is_flag=True, help="Only those with something nobody has read.")
@click.option("--archived", is_flag=True, help="Only archived ones.")
@click.option("--all", "also_archived", is_flag=True, help="Archived ones too.")
@click.option("--limit", type=click.IntRange(1), metavar="NUMBER", help="No more than so many, the newest.")
@click.option("--watch", is_flag=True, help="Go on and show what changes, until you stop it.")
@as_json()
@at_host
def command(
    agent: str | None,
    states: tuple[str, ...],
    search: str,
    directory: str | None,
    unread: bool,
    archived: bool,
    also_archived: bool,
    limit: int | None,
    watch: bool,
    as_json: bool,
    place: Place,
) -> None:
    """List sessions, newest first.

    With --watch a terminal shows a list that keeps itself up to date; in a pipe every change is a line.
    """
    wanted = Filter(
        agent=agent,
        states=states,
        search=search,
        directory=None if directory is None else directory_uri(directory),
        unread=unread,
        archived=None if also_archived else archived,
    )
    run(place, lambda host: _watch(host, wanted, as_json) if watch else _list(host, wanted, limit, as_json))


async def _list(host: Host, wanted: Filter, limit: int | None, as_json: bool) -> None:
    from holdfast.cli import rows

    found: list[Session] = []
    async for summary in host.sessions():
        session = rows.session(summary)
        if wanted.fits(session):
            found.append(session)
        if len(found) == limit:
            break
    if as_json:
        emit_json(found)
    else:
        table(_COLUMNS, cells(found), "no sessions; `holdfast new` makes one")


def cells(sessions: Sequence[Session]) -> list[tuple[str, ...]]:
    """The rows of a table, with ids cut as short as they can be. For people, times are relative."""
    from datetime import UTC, datetime

    from holdfast.cli.finding import id_of, short_ids
    from holdfast.cli.times import ago

    short = short_ids([id_of(each.session) for each in sessions])
    now = datetime.now(UTC)
    return [
        (
            short[id_of(each.session)],
            each.title or "(untitled)",
            each.state + (", archived" if each.archived else ""),
            each.agent,
            ago(each.modified_at, now) if is_person() else each.modified_at,
            each.activity or "",
        )
        for each in sessions
    ]


# Watching


async def _watch(host: Host, wanted: Filter, as_json: bool) -> None:
    if is_person() and not as_json:
        await _watch_screen(host, wanted)
    else:
        await _watch_lines(host, wanted, _tell_json if as_json else _tell_text)


async def _watch_lines(host: Host, wanted: Filter, tell: Callable[[str, str, Session | None], None]) -> None:
    """Every session that fits, then every change: one begins to fit, is different, or fits no longer."""
    from holdfast.cli import rows

    async with host.catalogue() as catalogue:
        changes = catalogue.changes()
        shown: dict[str, Session] = {}
        for session in map(rows.session, catalogue.sessions):
            if wanted.fits(session):
                shown[session.session] = session
                tell("listed", session.session, session)
        async for change in changes:
            now = None if change.session is None else rows.session(change.session)
            before = shown.pop(change.uri, None)
            if now is not None and wanted.fits(now):
                shown[change.uri] = now
                if now != before:
                    tell("added" if before is None else "changed", change.uri, now)
            elif before is not None:
                tell("removed", change.uri, None)


def _tell_json(change: str, uri: str, session: Session | None) -> None:
    from holdfast.cli import shapes

    emit_json(shapes.SessionChange(change=change, session=uri, summary=session), indent=False)  # type: ignore[arg-type]  # one of its words


def _tell_text(change: str, uri: str, session: Session | None) -> None:
    facts = () if session is None else (session.state, line(session.title), line(session.activity or ""))
    emit("  ".join([f"{change:7}", uri, *(fact for fact in facts if fact)]) + "\n")


async def _watch_screen(host: Host, wanted: Filter) -> None:
    """A table on a terminal, drawn again whenever something changes."""
    from rich.live import Live

    from holdfast.cli import rows
    from holdfast.cli.output import console, drawn

    async with host.catalogue() as catalogue:
        changes = catalogue.changes()

        def screen() -> object:
            fitting = [each for each in map(rows.session, catalogue.sessions) if wanted.fits(each)]
            return drawn(_COLUMNS, cells(fitting[: console().height - 2]))

        with Live(screen(), console=console(), auto_refresh=False) as live:  # type: ignore[arg-type]  # a table
            async for _ in changes:
                live.update(screen(), refresh=True)  # type: ignore[arg-type]  # a table
