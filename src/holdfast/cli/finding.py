"""Which session, chat, turn or question somebody means by the few letters they typed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, TypeVar

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.output import line
from holdfast.protocol import uris
from holdfast.protocol.common import URI
from holdfast.protocol.errors import InvalidValue

__all__ = ["Named", "by_prefix", "id_of", "pick", "short_ids"]

# As many as git shows of a hash at least; fewer letters would change their meaning with every new session.
_SHORTEST: Final = 8

# As many candidates as a person reads.
_MOST_SHOWN: Final = 5


class Named(Protocol):
    """A session or a chat in a list."""

    @property
    def resource(self) -> URI: ...
    @property
    def title(self) -> str: ...


N = TypeVar("N", bound=Named)
T = TypeVar("T")


def id_of(uri: URI) -> str:
    """The part of a URI that tells it from its siblings: `0197b1a2-…` of `ahp-session:/0197b1a2-…`."""
    try:
        parts = uris.parse(uri)
    except InvalidValue:
        return uri
    return parts.path.rpartition("/")[2] or parts.authority or uri


def pick(given: str, among: Sequence[N], *, kind: str = "session") -> N:
    """The one whose URI this is, or whose id or title begins so. Raises `Stopped` if it is none, or several.

    A whole id or title wins over what merely begins with it.
    """
    wanted = line(given).casefold()
    for fits in (
        lambda one: one.resource == given,
        lambda one: bool(wanted) and wanted in (id_of(one.resource).casefold(), _title(one)),
        lambda one: bool(wanted) and id_of(one.resource).casefold().startswith(wanted),
        lambda one: ":" in given and one.resource.startswith(given),
        lambda one: bool(wanted) and _title(one).startswith(wanted),
    ):
        found = [one for one in among if fits(one)]
        if len(found) == 1:
            return found[0]
        if found:
            raise _several(given, [f"{one.resource} {line(one.title)}".rstrip() for one in found], kind)
    raise _none(given, kind)


def _title(one: Named) -> str:
    # As lists show it, which is what people copy.
    return line(one.title).casefold()


def by_prefix(given: str, among: Iterable[T], key: Callable[[T], str], *, kind: str) -> T:
    """The one whose key this is, or begins so. Raises `Stopped` if it is none, or several."""
    candidates = list(among)
    exact = [one for one in candidates if key(one) == given]
    found = exact or [one for one in candidates if given and key(one).startswith(given)]
    if len(found) == 1:
        return found[0]
    raise _several(given, [key(one) for one in found], kind) if found else _none(given, kind)


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """Each id as the shortest beginning, of eight letters or more, that no other one shares."""
    ordered = sorted(set(ids))
    shortest = {}
    for index, id in enumerate(ordered):
        neighbours = ordered[max(index - 1, 0) : index] + ordered[index + 1 : index + 2]
        shared = max((_shared(id, other) for other in neighbours), default=0)
        shortest[id] = id[: max(_SHORTEST, shared + 1)]
    return shortest


def _shared(one: str, other: str) -> int:
    """How many letters two strings have in common at their beginning."""
    for index, (ours, theirs) in enumerate(zip(one, other, strict=False)):
        if ours != theirs:
            return index
    return min(len(one), len(other))


def _several(given: str, found: Sequence[str], kind: str) -> Stopped:
    shown = "".join(f"\n  {each}" for each in found[:_MOST_SHOWN])
    more = f"\n  and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    return Stopped(Exit.USAGE, f"{line(given)!r} could be {len(found)} {kind}s; write more of it:{shown}{more}")


def _none(given: str, kind: str) -> Stopped:
    where = "; `holdfast sessions` lists them" if kind == "session" else ""
    return Stopped(Exit.FAILED, f"there is no {kind} {line(given)!r}{where}")
