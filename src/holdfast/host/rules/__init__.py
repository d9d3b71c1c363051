"""May a client do this? One rule per action, found through a table (02-04 and 08: the validation tables).

A rule reads and decides; it changes nothing. What it needs read it asks for, like any job.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from holdfast.host.rules import inputs, pending, remarks, root, session, tools, turns
from holdfast.host.verdict import Rules, Verdict
from holdfast.protocol.codec import encode

if TYPE_CHECKING:
    from holdfast.host.core import Host
    from holdfast.host.dispatch import Dispatched

__all__ = ["completed", "judge"]

_RULES: Final[Rules] = {
    **root.RULES,
    **session.RULES,
    **turns.RULES,
    **tools.RULES,
    **inputs.RULES,
    **pending.RULES,
    **remarks.RULES,
}


def judge(host: Host, sent: Dispatched) -> Verdict:
    """Judge a decoded action on its channel."""
    return _RULES[type(sent.action)](host, sent, sent.action)


# What a client may leave out and the host fills in before the echo (04-chat, section 6).
_COMPLETIONS: Final[dict[str, Callable[[Host, Dispatched], dict[str, Any]]]] = {
    "chat/turnStarted": turns.started_now,
    "chat/turnCancelled": turns.duration_so_far,
}


def completed(host: Host, sent: Dispatched, kind: str) -> bytes:
    """The action with what its sender left to the host."""
    complete = _COMPLETIONS.get(kind)
    if complete is None:
        return sent.raw
    action = msgspec.json.decode(sent.raw)
    missing = {key: value for key, value in complete(host, sent).items() if action.get(key) is None}
    return encode({**action, **missing}) if missing else sent.raw
