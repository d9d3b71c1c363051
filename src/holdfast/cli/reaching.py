"""Opening the session and the chat that somebody named, on a host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from holdfast.cli.finding import pick
from holdfast.protocol import uris
from holdfast.protocol.errors import ErrorCode, InvalidValue, RpcError
from holdfast.protocol.session.state import SessionSummary

if TYPE_CHECKING:
    from holdfast.client.chat import Chat
    from holdfast.client.host import Host
    from holdfast.client.session import Session
    from holdfast.protocol.chat.state import Turn

__all__ = [
    "chat_option",
    "open_chat",
    "open_session",
    "session_argument",
    "sessions_argument",
    "summaries",
    "summary_of",
]

F = TypeVar("F", bound=Callable[..., Any])

session_argument: Final = click.argument("session", metavar="SESSION")
"""A session: its URI, or the beginning of its id or title."""

sessions_argument: Final = click.argument("sessions", metavar="SESSION...", nargs=-1, required=True)
"""The same, one or more."""

chat_option: Final = click.option(
    "--chat",
    metavar="CHAT",
    help="Another chat of the session than its default one: URI, or beginning of id or title.",
)


async def summaries(host: Host) -> list[SessionSummary]:
    """Every session of the host, as lists show it, newest first."""
    return [summary async for summary in host.sessions()]


async def summary_of(host: Host, given: str) -> SessionSummary:
    """The session that is meant. Raises `Stopped` if that is none, or several."""
    return pick(given, await summaries(host))


_GONE: Final = (ErrorCode.SESSION_NOT_FOUND, ErrorCode.NOT_FOUND)


@contextmanager
def unless_gone() -> Iterator[None]:
    """What is done with something that somebody deletes meanwhile is not done, and that is fine."""
    try:
        yield
    except RpcError as error:
        if error.code not in _GONE:
            raise


async def open_session(host: Host, given: str) -> Session:
    """Follow the session that is meant. A whole URI needs no list, and may be of a session no list has."""
    if _is_uri(given):
        with unless_gone():
            return await host.session(given)
    return await host.session((await summary_of(host, given)).resource)


def _is_uri(given: str) -> bool:
    try:
        return bool(uris.parse(given).path.strip("/"))
    except InvalidValue:
        return False


async def open_chat(session: Session, given: str | None) -> Chat:
    """Follow the chat that is meant, the default one if nothing is said."""
    if given is None:
        return session.chat
    return await session.open_chat(pick(given, session.chats, kind="chat").resource)


async def newest_turns(chat: Chat, count: int) -> list[Turn]:
    """So many of the newest turns that are over, oldest first; 0 for all."""
    found: list[Turn] = []
    async for turn in chat.history():
        found.append(turn)
        if len(found) == count:
            break
    return found[::-1]
