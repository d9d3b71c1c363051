"""Which keys are shown at the bottom: those that matter now, the most useful first. `F1` has all of them."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

__all__ = ["HELP", "LAST", "Focus", "Now", "keys"]


class Focus(Enum):
    COMPOSER = "composer"
    TRANSCRIPT = "transcript"
    LIST = "list"


class Now(NamedTuple):
    """What decides which keys matter."""

    focus: Focus
    has_session: bool = False
    has_ask: bool = False
    is_busy: bool = False
    has_text: bool = False
    can_resume: bool = False
    has_queue: bool = False
    has_several_chats: bool = False
    others_need_you: bool = False


def keys(now: Now) -> list[tuple[str, str]]:
    """Keys and what they do."""
    return [*_TABLE[now.focus](now), ("^q", "quit")]


def _composer(now: Now) -> list[tuple[str, str]]:
    found = [("⏎", "queue" if now.is_busy else "send")]
    if now.is_busy:
        found += [("^s", "steer"), ("^x", "cancel")]
    if now.can_resume:
        found.append(("^r", "resume"))
    if now.others_need_you:
        found.append(("^g", "next"))
    return [*found, ("esc", "read"), ("^l", "sessions"), ("^t", "new"), ("^p", "more")]


def _transcript(now: Now) -> list[tuple[str, str]]:
    found = [("↑↓", "move"), ("⏎", "fold"), ("v", "view")]
    if now.is_busy:
        found.append(("^x", "cancel"))
    if now.can_resume:
        found.append(("^r", "resume"))
    if now.has_queue:
        found.append(("u", "unqueue"))
    if now.has_several_chats:
        found.append(("[ ]", "chats"))
    return [*found, ("i", "write"), ("^l", "sessions")]


def _list(now: Now) -> list[tuple[str, str]]:
    found = [("⏎", "open"), ("n", "new"), ("r", "rename"), ("a", "archive"), ("/", "search")]
    if now.has_session:
        found.append(("esc", "back"))
    return found


_TABLE: Final = {Focus.COMPOSER: _composer, Focus.TRANSCRIPT: _transcript, Focus.LIST: _list}

LAST: Final = ("F1", "help")
"""Shown at the end whatever else has room."""

HELP: Final = """\
# Keys

Everything works without a mouse. `^x` means Ctrl and x.

## Anywhere

| Key | What it does |
|---|---|
| `^y` | approve what waits: the first choice that approves |
| `^n` | deny it |
| `^o` | look closer before deciding; answer a form; sign in |
| `^g` | go to the next session that needs you |
| `^l` | the list of sessions, and back |
| `^t` | new session |
| `^p` | more: rename, archive, choose the model, … |
| `F1` | this help |
| `^q` | quit; sessions go on at the host |

## In a chat

| Key | What it does |
|---|---|
| `^x` | cancel the running turn |
| `^r` | resume a turn that failed halfway |
| PgUp PgDn | scroll |

## While you write

| Key | What it does |
|---|---|
| Enter | send; while a turn runs, queue |
| `^s` | steer: tell the agent while it works |
| `^j` | new line (Shift or Alt with Enter where your terminal can) |
| `/` `@` | completions: Tab or Enter takes one, Esc none |
| `^e` | go on with what somebody typed elsewhere |
| Esc, Tab | read the transcript |

## While you read

| Key | What it does |
|---|---|
| ↑ ↓, `k` `j` | block by block |
| Enter | unfold or fold; `f` all of them |
| `v` | the whole block on a screen of its own |
| `c` | copy the block |
| `y` `n` `2` … | decide what waits; `o` looks closer, `e` edits first |
| `g` `G` | the beginning, the end |
| `[` `]` | the chat before, the next |
| `u` | take back what was queued last |
| `i`, Esc | write |

## In the list

| Key | What it does |
|---|---|
| Enter | open |
| `n` `r` `a` `d` | new, rename, archive, delete |
| `/` | search |
| `A` | show the archived too |
"""
