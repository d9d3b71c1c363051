"""What became of a client's action: refused with a reason, or allowed with what goes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct

from holdfast.protocol.codec import Wire

__all__ = ["Allowed", "Refused", "Rules", "Verdict"]


class Refused(Struct, frozen=True):
    reason: str


class Allowed(Struct, frozen=True):
    """`raw` and `action` replace what was sent, `state` makes the state that the reducer cannot make of it.

    `before` runs ahead of the echo and of `state`, `after` behind it. `swallowed`: nothing happens or is echoed.
    """

    before: tuple[Callable[[], None], ...] = ()
    after: tuple[Callable[[], None], ...] = ()
    raw: bytes | None = None
    action: Wire | None = None
    state: Callable[[], Any] | None = None
    swallowed: bool = False


Verdict: TypeAlias = Allowed | Refused

Rules: TypeAlias = dict[type, Callable[..., Verdict]]
"""Action -> its rule, which is called with the host, what was sent, and the decoded action."""
