"""The list of sessions: what needs a person first, then what works, then the rest, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import IntEnum
from typing import Final, NamedTuple

from holdfast.attach.model import words
from holdfast.protocol import status
from holdfast.protocol.common import URI, ChangesSummary
from holdfast.protocol.session.state import SessionSummary

__all__ = ["Group", "Listing", "Row", "listing", "need_you", "next_that_needs_you"]


class Group(IntEnum):
    """In the order in which they are shown."""

    NEEDS_YOU = 0
    WORKING = 1
    RECENT = 2
    ARCHIVED = 3


TITLES: Final = {
    Group.NEEDS_YOU: "Needs you",
    Group.WORKING: "Working",
    Group.RECENT: "Recent",
    Group.ARCHIVED: "Archived",
}


class Row(NamedTuple):
    """One session. `detail` says what it does or where it is, `age` when something happened last."""

    uri: URI
    title: str
    group: Group
    agent: str
    detail: str
    age: str
    is_unread: bool
    has_failed: bool


class Listing(NamedTuple):
    """The rows in order, and how many archived sessions are not among them."""

    rows: tuple[Row, ...]
    hidden: int = 0


def listing(
    sessions: Sequence[SessionSummary], now: datetime, *, search: str = "", archived: bool = False
) -> Listing:
    """The sessions whose title, agent, activity or directory contains every word of `search`."""
    wanted = search.casefold().split()
    found = [(session, _row(session, now)) for session in sessions]
    found = [each for each in found if all(word in _haystack(each[1]) for word in wanted)]
    shown = [each for each in found if archived or wanted or each[1].group is not Group.ARCHIVED]
    # Two stable passes: newest first, and within that order by group.
    shown.sort(key=lambda each: each[0].modified_at, reverse=True)
    shown.sort(key=lambda each: each[1].group)
    return Listing(tuple(row for _, row in shown), len(found) - len(shown))


def _haystack(row: Row) -> str:
    return f"{row.title} {row.agent} {row.detail}".casefold()


def _row(session: SessionSummary, now: datetime) -> Row:
    doing = session.status & status.ACTIVITY
    group = _group(session.status)
    return Row(
        uri=session.resource,
        title=words.one_line(session.title) or "Untitled",
        group=group,
        agent=words.one_line(session.provider),
        detail=_detail(session, doing),
        age=words.age(session.modified_at, now),
        is_unread=not session.status & status.IS_READ,
        has_failed=doing == status.ERROR,
    )


def _group(bits: int) -> Group:
    doing = bits & status.ACTIVITY
    # What waits for a person waits for one in the archive too.
    if doing == status.INPUT_NEEDED:
        return Group.NEEDS_YOU
    if bits & status.IS_ARCHIVED:
        return Group.ARCHIVED
    return Group.WORKING if doing == status.IN_PROGRESS else Group.RECENT


def _detail(session: SessionSummary, doing: int) -> str:
    if session.activity:
        return words.one_line(session.activity)
    if doing == status.ERROR:
        return "failed"
    where = session.project.display_name if session.project else ""
    if not where and session.working_directories:
        where = words.place(session.working_directories[0])
    return " ".join(filter(None, (words.one_line(where), _changes(session.changes))))


def _changes(changes: ChangesSummary | None) -> str:
    if changes is None or not (changes.additions or changes.deletions):
        return ""
    return f"+{changes.additions or 0} −{changes.deletions or 0}"


def need_you(sessions: Iterable[SessionSummary]) -> int:
    """How many sessions wait for a person."""
    return sum(_group(session.status) is Group.NEEDS_YOU for session in sessions)


def next_that_needs_you(sessions: Sequence[SessionSummary], current: URI | None) -> URI | None:
    """The session to go to next: the one after the current in the order of the list, around its end."""
    waiting = [each for each in sessions if _group(each.status) is Group.NEEDS_YOU]
    waiting.sort(key=lambda each: each.modified_at, reverse=True)
    uris = [each.resource for each in waiting]
    if current in uris:
        here = uris.index(current)
        uris = [*uris[here + 1 :], *uris[:here]]
    return uris[0] if uris else None
