"""What waits for a person, in one session or in all of them, and how to name it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from holdfast.cli import rows, shapes
from holdfast.cli.exits import Stopped
from holdfast.cli.finding import by_prefix
from holdfast.cli.output import line
from holdfast.cli.reaching import open_session, unless_gone
from holdfast.client.asks import Ask, ask_of

if TYPE_CHECKING:
    from holdfast.client.host import Host
    from holdfast.client.session import Session

__all__ = ["Waiting", "all_waits", "command_for", "find", "how_to_answer", "key", "waits_in"]


# Seconds until a session lists what one of its chats waits for.
_LISTED: Final = 5.0


class Waiting(NamedTuple):
    """Something that waits, and the way to answer it: None if that is not for a person."""

    shown: shapes.Wait
    ask: Ask | None


async def waits_in(session: Session) -> tuple[shapes.Wait, ...]:
    """What waits in a session that is followed and of which we know that something does.

    Its chat may tell before the session lists it, so the list is waited for; not for ever, because somebody may
    settle it meanwhile.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_LISTED), session.changes() as changes:
            while not session.state.input_needed and await anext(changes, None) is not None:
                pass
    return tuple(rows.wait(session.uri, request) for request in session.state.input_needed or ())


async def all_waits(host: Host, session: str | None = None) -> list[Waiting]:
    """What waits in a session, or in all that say they need input; the newest session first."""
    if session is not None:
        async with await open_session(host, session) as opened:
            return _listed(host, opened.uri, opened.state)
    found: list[Waiting] = []
    needing = [each.resource async for each in host.sessions() if rows.state_of(each.status) == "input-needed"]
    for uri in needing:
        with unless_gone():
            async with await host.subscribe(uri) as subscription:
                found += _listed(host, uri, subscription.state)
    return found


def _listed(host: Host, uri: str, state: Any) -> list[Waiting]:
    return [Waiting(rows.wait(uri, request), ask_of(request, host.dispatch)) for request in state.input_needed or ()]


def key(id: str) -> str:
    """The part of an id that people write: hosts put the chat before it."""
    return id.rpartition("#")[2]


def find(given: str, among: list[Waiting]) -> Waiting:
    """What is meant by an id or its beginning. Raises `Stopped`."""
    exact = [each for each in among if each.shown.id == given]
    if len(exact) == 1:
        return exact[0]
    try:
        return by_prefix(given, among, lambda each: key(each.shown.id), kind="question")
    except Stopped as stopped:
        raise Stopped(stopped.code, f"{stopped}; `holdfast approve` lists what waits") from None


_COMMANDS: Final = {"approval": "approve", "result": "approve", "question": "answer"}


def command_for(wait: shapes.Wait) -> str | None:
    """The command that decides it; None if there is none."""
    return _COMMANDS.get(wait.kind)


def how_to_answer(wait: shapes.Wait) -> str:
    """What waits, and the command that answers it."""
    command = command_for(wait)
    how = f"`holdfast {command} {key(wait.id)}`" if command else "this needs a client that can do that"
    return f"? {line(wait.message)}: {how}"
