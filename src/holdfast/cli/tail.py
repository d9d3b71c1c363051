"""`holdfast tail`: sessions as they go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, remark
from holdfast.cli.reaching import open_session, unless_gone

if TYPE_CHECKING:
    from holdfast.client.broadcast import Feed
    from holdfast.client.chat import Chat
    from holdfast.client.host import Host
    from holdfast.client.session import Session

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("tail",)

# Sessions that are followed from the beginning, the newest; the others join when something happens in them.
_AT_ONCE: Final = 50


@click.command("tail")
@click.argument("session", required=False)
@click.option("--until-idle", is_flag=True, help="End when nothing runs in SESSION any more.")
@as_json("The actions of the protocol as JSON, one a line, instead of text.")
@at_host
def command(session: str | None, until_idle: bool, as_json: bool, place: Place) -> None:
    """Show what happens in a session, or in all of them, as it happens.

    A turn that runs is shown from its beginning. With several sessions, every line begins with the id of its own.

    With --json a session or chat that is added begins with a line that has its `state` instead of an `action`, and so
    does one of which actions were missed while the host was away.
    """
    if until_idle and session is None:
        raise click.UsageError("--until-idle needs SESSION.")
    run(place, lambda host: _tail(host, session, until_idle, as_json))


async def _tail(host: Host, given: str | None, until_idle: bool, as_json: bool) -> None:
    from holdfast.cli.lines import Lines

    lines = Lines(several=given is None)
    begin = _tell_actions if as_json else lines.follow
    async with asyncio.TaskGroup() as group:
        tails = _Tails(host, begin, group)
        if given is None:
            await _all(host, tails)
            raise Stopped(Exit.NO_HOST, "the host went away")
        session = await open_session(host, given)
        await tails.follow(session)
        remark(f"following {session.uri}")
        if until_idle:
            await _idle(session)
            tails.end()
    if not until_idle:
        remark("the session is gone")


_Begin = Callable[["Session", "Chat | None", bool], "tuple[Feed[Any], Coroutine[Any, Any, None]] | None"]
"""Opens a feed of a session or chat, and says how it is told: with what there is already, if it is new."""


class _Tails:
    """The channels that are followed, each told by a task of its own."""

    def __init__(self, host: Host, begin: _Begin, group: asyncio.TaskGroup) -> None:
        self._host = host
        self._begin = begin
        self._group = group
        self._known: set[str] = set()
        self._feeds: list[Feed[Any]] = []

    async def follow_uri(self, uri: str, *, is_new: bool = False) -> None:
        """Follow a session, unless it is gone meanwhile."""
        if uri not in self._known:
            with unless_gone():
                await self.follow(await self._host.session(uri), is_new=is_new)

    async def follow(self, session: Session, *, is_new: bool = False) -> None:
        """Follow a session and its chats, also those that are added."""
        if session.uri in self._known:
            return
        self._known.add(session.uri)
        changes = session.changes()
        self._feeds.append(changes)
        self._start(session, None, is_new)
        await self._follow_chats(session, is_new)
        self._group.create_task(self._follow_more(session, changes))

    async def _follow_more(self, session: Session, changes: Feed[Any]) -> None:
        async for _ in changes:
            if session.is_followed:
                await self._follow_chats(session, True)

    async def _follow_chats(self, session: Session, is_new: bool) -> None:
        for summary in session.chats:
            if summary.resource not in self._known:
                self._known.add(summary.resource)
                with unless_gone():
                    self._start(session, await session.open_chat(summary.resource), is_new)

    def _start(self, session: Session, chat: Chat | None, is_new: bool) -> None:
        begun = self._begin(session, chat, is_new)
        if begun is not None:
            feed, telling = begun
            self._feeds.append(feed)
            self._group.create_task(telling)

    def end(self) -> None:
        """Tell what has happened, and no more."""
        for feed in self._feeds:
            feed.end()


async def _all(host: Host, tails: _Tails) -> None:
    """Follow the newest sessions, and every one in which something happens, for as long as the host is there."""
    from holdfast.client.status import SessionAdded, SessionSummaryChanged

    async with host.events() as events:
        async for summary in host.sessions(limit=_AT_ONCE):
            await tails.follow_uri(summary.resource)
        remark("following all sessions")
        async for event in events:
            if isinstance(event, SessionAdded):
                await tails.follow_uri(event.summary.resource, is_new=True)
            elif isinstance(event, SessionSummaryChanged):
                await tails.follow_uri(event.session)


def _tell_actions(session: Session, chat: Chat | None, is_new: bool) -> tuple[Feed[Any], Coroutine[Any, Any, None]]:
    """Every action on a channel, as a line of JSON."""
    from holdfast.cli import rows, shapes

    followed = chat or session
    changes = followed.changes()

    def line(**what: Any) -> shapes.Action:
        values = {name: rows.as_value(value) for name, value in what.items()}
        return shapes.Action(session=session.uri, channel=followed.uri, **values)

    begun = line(state=followed.state) if is_new else None

    async def tell() -> None:
        if begun is not None:
            emit_json(begun, indent=False)
        async for change in changes:
            if change.action is not None:
                emit_json(line(action=change.action), indent=False)
            elif change.channel is not None:
                emit_json(line(state=change.channel.confirmed), indent=False)

    return changes, tell()


async def _idle(session: Session) -> None:
    """Wait until nothing runs in a session, and nothing that waits in its queues will."""
    async with session.changes() as changes:
        while session.is_followed:
            chats = [await session.open_chat(chat.resource) for chat in session.chats]
            if not any(_is_at_work(chat) for chat in chats) or await anext(changes, None) is None:
                return


def _is_at_work(chat: Chat) -> bool:
    # A queue is held after a turn that did not complete.
    goes_on = not chat.turns or chat.turns[-1].state == "complete"
    return chat.is_busy or (bool(chat.queued) and goes_on)
