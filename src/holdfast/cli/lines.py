"""Sessions as text, as they go on, for `tail`: one is told as it streams, several line by line."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from holdfast.cli.finding import id_of
from holdfast.cli.output import clean, emit, is_person
from holdfast.cli.render.blocks import said, tool_of
from holdfast.cli.render.plain import text_of, tool_line
from holdfast.cli.times import is_recent
from holdfast.client import asks, events
from holdfast.client.follow import Follower

if TYPE_CHECKING:
    from holdfast.client.broadcast import Feed
    from holdfast.client.chat import Chat
    from holdfast.client.session import Session

__all__ = ["Lines"]

# Characters of an id before each line.
_SHORT: Final = 8


class Lines:
    """Writes what happens. `several`: in whole lines, each with the session it belongs to."""

    def __init__(self, *, several: bool) -> None:
        self._several = several
        self._open: dict[str, str] = {}
        self._streaming = ""

    def follow(
        self, session: Session, chat: Chat | None, is_new: bool
    ) -> tuple[Feed[Any], Coroutine[Any, Any, None]] | None:
        """Tell the turns of a chat: the one that runs and those to come. A new chat may have had one."""
        if chat is None:
            return None
        feed = chat.events(from_start=True)
        before = _just_now(chat) if is_new else []
        prefix = f"{id_of(session.uri)[:_SHORT]}  " if self._several else ""

        async def tell() -> None:
            for event in before:
                self._tell(chat.uri, prefix, event)
            async for event in feed:
                self._tell(chat.uri, prefix, event)

        return feed, tell()

    def _tell(self, chat: str, prefix: str, event: Any) -> None:
        if isinstance(event, events.Text):
            self._text(chat, prefix, event.text)
            return
        words = _words(event)
        if words:
            self._end_line(chat, prefix)
            for each in words.rstrip("\n").split("\n"):
                self._write(f"{prefix}{each}".rstrip() + "\n")

    def _text(self, chat: str, prefix: str, text: str) -> None:
        if not self._several:
            if self._streaming not in ("", chat):
                self._write("\n")
            self._write(text)
            self._streaming = "" if text.endswith("\n") else chat
            return
        *whole, rest = (self._open.pop(chat, "") + text).split("\n")
        for each in whole:
            self._write(f"{prefix}{each}".rstrip() + "\n")
        self._open[chat] = rest

    def _end_line(self, chat: str, prefix: str) -> None:
        if self._streaming:
            self._write("\n")
            self._streaming = ""
        rest = self._open.pop(chat, "")
        if rest:
            self._write(f"{prefix}{rest}\n")

    def _write(self, text: str) -> None:
        emit(clean(text) if is_person() else text)


def _just_now(chat: Chat) -> list[Any]:
    """What happened in the last turn, if it was over before anybody could follow; older ones were brought along."""
    last = chat.turns[-1] if chat.turns else None
    if chat.confirmed is None or last is None or not is_recent(last.started_at or "", datetime.now(UTC)):
        return []
    return list(Follower(last.id, chat.dispatch).look(chat.confirmed, ()))


def _words(event: Any) -> str:
    """What there is to read in an event that is not text; nothing for what only programs care about."""
    match event:
        case events.Started(message):
            return text_of([said(message)])
        case events.ToolReady(call) | events.ToolFinished(call):
            return tool_line(tool_of(call))
        case asks.Approval() | asks.ResultApproval():
            return f"? {event.title}: `holdfast approve {event.call.tool_call_id}`"
        case asks.Question():
            return f"? {event.message}: `holdfast answer {event.request.id}`"
        case asks.AuthenticationNeeded():
            return f"? {event.call.display_name} needs a token for {event.resource}"
        case events.Notice(text):
            return f"* {text}"
        case events.Failed(error):
            return f"! {error.message}"
        case events.Rewritten():
            return "* what was said changed meanwhile; it is told again"
        case events.Ended(state):
            return f"[{state or 'taken back'}]"
        case _:
            return ""
