"""0.5.0 and 0.5.1. History came to be read page by page, into the state; sessions came to show what waits in chats.

Below, snapshots have the whole history, and `fetchTurns` answers with turns: a request of this host's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import Call, ConvertCall, Shape, Step, actions_new_in, dropping, without
from holdfast.protocol.versions import Version

__all__ = ["READ_TURNS", "STEP"]

NEWER: Final = Version(0, 5, 1)
READ_TURNS: Final = "x-holdfast/readTurns"
"""`{channel, before?, limit?}` to `{turns, hasMore}`, on a chat."""


def _turns_up(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    return (call._replace(method=READ_TURNS),)


def _turns_down(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    return (call._replace(method="fetchTurns"),)


def _refused(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
    """There is nothing to fetch: the snapshot had it all."""
    return ()


def _ignoring(*keys: str) -> ConvertCall:
    """What meant nothing, or something else, below."""

    def up(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
        return (call._replace(params=without(call.params, *keys)),)

    return up


def _customization_down(entry: Json, context: Context) -> Json:  # noqa: ARG001
    return without(entry, "model", "tools") if entry.get("type") == "agent" else entry


_INTENTION: Final = dropping("intention")
_NONCE: Final = dropping("nonce")

STEP: Final = Step(
    older=Version(0, 5, 0),
    introduced=actions_new_in(NEWER),
    shapes={
        "sessionState": dropping("inputNeeded"),
        "chatState": dropping("turnsNextCursor"),
        "toolCall": _INTENTION,
        "action:chat/toolCallStart": _INTENTION,
        "agent": dropping("capabilities"),
        "customization": Shape(down=_customization_down),
        "attachment": _NONCE,
        "part": _NONCE,
        "resultContent": _NONCE,
        "contentRef": _NONCE,
        "params:subscribe": dropping("delivery", "view"),
        "params:listSessions": dropping("limit", "cursor"),
        "result:listSessions": dropping("nextCursor"),
    },
    requests=(
        {READ_TURNS: _turns_down, "fetchTurns": _refused},
        {
            "fetchTurns": _turns_up,
            "listSessions": _ignoring("filter", "limit", "cursor"),
            "subscribe": _ignoring("delivery", "view"),
        },
    ),
    whole_history=True,
    raw_marks=(b'"intention"', b'"nonce"'),
)
