"""The lines around the transcript: how we stand with the host, what is open, what waits, which keys there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from rich.text import Text

from holdfast.attach.model import words
from holdfast.attach.model.asks import AskKind, AskView
from holdfast.attach.model.contents import Contents
from holdfast.attach.paint.blocks import says
from holdfast.attach.paint.console import Line
from holdfast.attach.paint.sections import sections_lines
from holdfast.protocol import status as bits
from holdfast.protocol.chat.state import ChatInteractivity, ChatState, ChatSummary
from holdfast.protocol.session.state import SessionLifecycle, SessionState

__all__ = ["ask_text", "header_text", "keys_text", "status_text", "tabs", "tabs_text", "text_of", "waiting_text"]


def text_of(lines: Iterable[Line]) -> Text:
    """Lines as one text, for widgets that take one."""
    return Text("\n", no_wrap=True).join(
        Text.assemble(*((segment.text, segment.style or "") for segment in line)) for line in lines
    )


def _between(left: Text, right: Text, width: int) -> Text:
    """One at each end of a line; the right one stays whole."""
    room = max(width - right.cell_len - 1, 0)
    left.truncate(room, overflow="ellipsis")
    left.pad_right(max(room - left.cell_len, 0))
    return Text.assemble(left, " ", right, no_wrap=True)


_STATUSES: Final = {
    "live": ("●", "green"),
    "connecting": ("◌", "bold yellow"),
    "catching up": ("◐", "bold yellow"),
    "gone": ("✗", "bold red"),
}


def status_text(status: str, reason: str, address: str, needs: int, elsewhere: bool, width: int) -> Text:
    """How we stand with the host, and how many sessions wait for a person; `elsewhere`: not only the open one."""
    mark, style = _STATUSES.get(status, ("?", "dim"))
    left = Text.assemble(("holdfast ", "bold"), (f"{mark} {status}", style), no_wrap=True)
    about = words.one_line(reason if status != "live" and reason else address)
    left.append(f"  {about}", "dim" if status == "live" else "")
    hint = " ^g" if elsewhere else ""
    right = Text(f"{needs} need{'s' if needs == 1 else ''} you{hint}" if needs else "", style="bold yellow")
    return _between(left, right, width)


_STANDINGS: Final = {
    bits.IDLE: ("", ""),
    bits.ERROR: ("failed", "red"),
    bits.IN_PROGRESS: ("working", "cyan"),
    bits.INPUT_NEEDED: ("needs you", "bold yellow"),
}


def header_text(session: SessionState, chat: ChatState | None, others: int, width: int) -> Text:
    """What is open: title, agent, where, how it stands, who else is here."""
    left = Text(words.one_line(session.title) or "Untitled", style="bold", no_wrap=True)
    about = [words.one_line(session.provider), *(words.place(each) for each in session.working_directories or ())]
    left.append("  " + " · ".join(filter(None, about)), "not bold dim")
    right = Text()
    if session.lifecycle == SessionLifecycle.FAILED:
        right.append("could not be created", "red")
    elif session.lifecycle == SessionLifecycle.CREATING:
        right.append("is being created", "yellow")
    else:
        needs = session.status & bits.ACTIVITY == bits.INPUT_NEEDED
        word, style = _STANDINGS.get((session if needs or chat is None else chat).status & bits.ACTIVITY, ("", ""))
        right.append(word, style)
    if session.status & bits.IS_ARCHIVED:
        right = Text.assemble(("archived ", "dim"), right)
    if others:
        right = Text.assemble((f"+{others} here ", "magenta"), right)
    return _between(left, right, width)


def tabs(chats: Sequence[ChatSummary]) -> list[ChatSummary]:
    """The chats that people are shown."""
    return [chat for chat in chats if chat.interactivity is not ChatInteractivity.HIDDEN]


def tabs_text(chats: Sequence[ChatSummary], current: str, width: int) -> Text:
    """The chats of a session, if there are several: the open one stands out."""
    shown = tabs(chats)
    if len(shown) < 2:
        return Text("")
    line = Text(no_wrap=True, overflow="ellipsis")
    for number, chat in enumerate(shown):
        needs = chat.status & bits.ACTIVITY == bits.INPUT_NEEDED
        title = words.shorten(words.one_line(chat.title) or ("chat" if number else "main"), 24)
        style = "reverse" if chat.resource == current else "dim"
        line.append(f" {title}{' ?' if needs else ''} ", f"{style} yellow" if needs else style)
        line.append(" ")
    line.truncate(width, overflow="ellipsis")
    return line


def waiting_text(chat: ChatState, elsewhere: str, now: datetime, width: int, *, is_live: bool = True) -> Text:
    """What is going on below the transcript: the running turn, what waits for it, and who types.

    While the host is away nobody knows: it is what was heard last.
    """
    lines: list[Text] = []
    turn = chat.active_turn
    if turn is not None:
        since = words.wall(turn.started_at)
        took = words.span((now - since).total_seconds()) if since else ""
        waits = chat.status & bits.ACTIVITY == bits.INPUT_NEEDED
        doing = words.one_line(chat.activity) or ("waits for you" if waits else "working")
        if is_live:
            lines.append(Text.assemble(("● ", "yellow" if waits else "cyan"), doing, (f"  {took}", "dim")))
        else:
            lines.append(Text.assemble(("◌ ", "yellow"), ("last heard: ", "dim"), doing))
    for work in chat.background_work or ():
        label = getattr(work, "label", "background work")
        lines.append(Text.assemble(("◦ ", "cyan"), words.one_line(label), ("  in the background", "dim")))
    if chat.steering_message is not None:
        text = words.one_line(chat.steering_message.message.text)
        lines.append(Text.assemble(("↪ steering  ", "magenta"), text))
    for number, pending in enumerate(chat.queued_messages or (), 1):
        text = words.one_line(pending.message.text)
        lines.append(Text.assemble((f"⧗ queued {number}  ", "magenta"), text))
    if elsewhere:
        typed = words.one_line(elsewhere)
        lines.append(
            Text.assemble(("✎ typed elsewhere  ", "magenta"), typed[-max(width - 32, 10) :], ("  ^e takes it", "dim"))
        )
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Text("\n").join(lines)


# Asks

_OPENS: Final = {
    AskKind.APPROVAL: "look closer",
    AskKind.REVIEW: "look closer",
    AskKind.FORM: "answer",
    AskKind.SIGN_IN: "sign in",
    AskKind.UNKNOWN: "",
}


def ask_text(
    ask: AskView, more: int, elsewhere: str, *, plain_keys: bool, width: int, height: int, contents: Contents
) -> Text:
    """What waits, what it is about, and the keys. With `plain_keys` letters work without Ctrl."""
    title = Text.assemble(("? ", "bold yellow"), (ask.title, "bold"), no_wrap=True)
    if elsewhere:
        title.append(f"  in {elsewhere}", "dim")
    about = Text(f"{more} more", style="yellow") if more else Text("")
    lines = [_between(title, about, width)]
    said = says(ask.says)
    if said.plain:
        said.truncate(width - 2, overflow="ellipsis")
        lines.append(Text.assemble("  ", said))
    room = height - len(lines) - 1
    body = sections_lines(ask.sections, width - 2, contents, None)
    if len(body) > room:
        body = [*body[: max(room - 1, 0)], []]
        lines += [Text.assemble("  ", text_of([line])) for line in body[:-1]]
        lines.append(Text("  … there is more: look closer before you decide", style="yellow"))
    else:
        lines += [Text.assemble("  ", text_of([line])) for line in body]
    lines.append(_keys_of(ask, plain_keys, width))
    return Text("\n", no_wrap=True).join(lines)


def _keys_of(ask: AskView, plain_keys: bool, width: int) -> Text:
    prefix = "" if plain_keys else "^"
    keys = [(f"{prefix}{choice.key}", choice.label) for choice in ask.choices if plain_keys or choice.key in "yn"]
    if _OPENS[ask.kind]:
        keys.append((f"{prefix}o", _OPENS[ask.kind]))
    if ask.is_editable and plain_keys:
        keys.append(("e", "edit it"))
    return Text.assemble("  ", keys_text(keys, width - 2))


def keys_text(keys: Iterable[tuple[str, str]], width: int, *, last: tuple[str, str] | None = None) -> Text:
    """Keys and what they do, as many as fit; `last` always does."""
    end = _key(*last) if last else Text("")
    shown = Text(no_wrap=True)
    for key, label in keys:
        piece = _key(key, label)
        if shown.cell_len + piece.cell_len + 2 + end.cell_len > width:
            break
        shown.append_text(piece)
    return shown.append_text(end)


def _key(key: str, label: str) -> Text:
    return Text.assemble((key, "bold cyan"), f" {label}  ")
