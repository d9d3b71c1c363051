"""Completed turns: cutting them back, showing them to those who look through a window, handing them to agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Raw
from msgspec.structs import replace

from holdfast.host import lookup, subscriptions
from holdfast.host.connection import Connection
from holdfast.host.units import Chat
from holdfast.ports.agent import Transcript
from holdfast.ports.journal import DropTurns, ReadContent, ReadTurns, TurnPage
from holdfast.protocol.chat.activity import refresh
from holdfast.protocol.chat.messages import Message, MessageChatAttachment
from holdfast.protocol.chat.state import ChatState, SideChatOrigin
from holdfast.protocol.codec import decode
from holdfast.protocol.common import URI

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["MOST", "context", "context_uri", "cut", "drop_rows", "page_for_windows", "show_windows", "transcripts"]

# What of another chat a model is given at the most: more would not fit any context.
MOST: Final = 8_000_000


def cut(chat: Chat) -> ChatState:
    """The state of a chat whose history is cut back; which turns remain is a matter of rows."""
    return refresh(replace(chat.state, turns=(), turns_next_cursor=None, active_turn=None))


def drop_rows(host: Host, chat: Chat, position: int) -> None:
    """Forget the turns from a position on."""
    chat.cuts += 1  # for good: what was read before is not what is read after, whatever becomes of the transaction
    host.batch.write(DropTurns(chat.uri, position))
    host.batch.rows.add(chat.uri)
    host.batch.assign(chat, "turns", position)
    host.batch.assign(chat, "unsaved", True)


# A connection that was shown only the newest turns cannot cut back to one it never had. It is given that one first.


def page_for_windows(host: Host, chat: Chat, keep: int) -> TurnPage | None:
    """The page that ends with the last turn to keep, if somebody lacks that turn."""
    if not _lacking(host, chat, keep):
        return None
    return lookup.turns(host, chat, ReadTurns(chat.uri, keep, host.settings.turn_page, host.settings.frame_budget))


def show_windows(host: Host, chat: Chat, keep: int, page: TurnPage | None) -> None:
    """Send that page to everybody who lacks it."""
    if page is None:
        return
    for connection in _lacking(host, chat, keep):
        subscriptions.load_turns(host, connection, connection.subscriptions[chat.uri], chat, page)


def _lacking(host: Host, chat: Chat, keep: int) -> list[Connection]:
    windows = ((each, each.subscriptions[chat.uri].window) for each in host.recipients(chat.uri))
    return [connection for connection, window in windows if keep and window is not None and window >= keep]


# What agents are given


def transcripts(host: Host, message: Message) -> tuple[Transcript, ...]:
    """The histories that come with a message. Their ends were checked and pinned."""
    return tuple(
        _transcript(host, attachment)
        for attachment in message.attachments or ()
        if isinstance(attachment, MessageChatAttachment)
    )


def _transcript(host: Host, attachment: MessageChatAttachment) -> Transcript:
    source = lookup.channel(host, attachment.resource)
    if not isinstance(source, Chat) or attachment.end_turn is None:
        return Transcript(attachment.resource, ())
    end = lookup.find_turn(host, source, attachment.end_turn)
    if end is None:
        return Transcript(attachment.resource, ())
    page = lookup.turns(host, source, ReadTurns(source.uri, end + 1, None, MOST))
    return Transcript(source.uri, tuple(turn.data for turn in page.turns))


def context_uri(chat: URI) -> URI:
    """Where what a side chat was opened about is kept. Not a content URI: nobody reads it but the host."""
    return f"x-holdfast-context:{chat}"


def context(host: Host, chat: Chat) -> Transcript | None:
    """What a side chat was opened about."""
    origin = chat.state.origin
    if not isinstance(origin, SideChatOrigin):
        return None
    kept = host.ask(ReadContent(context_uri(chat.uri)))
    if kept is None:
        return None
    return Transcript(origin.chat, tuple(bytes(turn) for turn in decode(tuple[Raw, ...], kept.data)))
