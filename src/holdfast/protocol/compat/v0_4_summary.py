"""Up to 0.4 a session's metadata stood in its summary, times were numbers, and one active client was shown.

What a 0.4 summary has and a 1.0 session state has not, the host puts beside the state, under a private key:
`summary`, as listed, and `legacy`, the model and the agent that older clients chose.
"""

from __future__ import annotations

from typing import Any, Final

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import without
from holdfast.protocol.timestamps import from_milliseconds, to_milliseconds

__all__ = ["BESIDE", "CHOSEN", "session_down", "session_up", "summary_down", "summary_up"]

BESIDE: Final = "x-holdfast"
"""The private key of a session's state."""

CHOSEN: Final = ("model", "agent")
"""What was chosen for a session, and since 0.5.0 is for each message."""

SAID: Final = (*CHOSEN, "diffs")
"""What only older versions say of a session; its files were only told so in 0.1."""

METADATA: Final = ("provider", "title", "status", "activity", "project", "workingDirectory", "annotations")
"""What the state of a session has of its summary since 0.5.0."""

LISTED: Final = ("resource", "createdAt", "modifiedAt", "changes")
"""What only the summary has."""

TIMES: Final = ("createdAt", "modifiedAt")


def summary_down(summary: Json, context: Context) -> Json:  # noqa: ARG001
    """A summary or some of its keys."""
    times = {key: to_milliseconds(summary[key]) for key in TIMES if isinstance(summary.get(key), str)}
    lowered = without(summary, "_meta")
    return {**lowered, **times} if times else lowered


def summary_up(summary: Json, context: Context) -> Json:  # noqa: ARG001
    times = {key: from_milliseconds(summary[key]) for key in TIMES if isinstance(summary.get(key), int | float)}
    lifted = without(summary, *SAID)
    return {**lifted, **times} if times else lifted


def session_down(state: Json, context: Context) -> Json:
    beside = state.get(BESIDE) or {}
    listed = {"resource": context.session or context.channel, "createdAt": 0, "modifiedAt": 0}
    listed |= _only(beside.get("summary") or {}, LISTED)
    said = _only(beside.get("legacy") or {}, SAID)
    lowered = {
        "summary": {**listed, **_only(state, METADATA), **said},
        **without(state, *METADATA, "activeClients"),
    }
    clients = state.get("activeClients")
    return {**lowered, "activeClient": clients[-1]} if clients else lowered


def session_up(state: Json, context: Context) -> Json:  # noqa: ARG001
    summary = state.get("summary")
    if not isinstance(summary, dict):
        return state
    client = state.get("activeClient")
    legacy = {key: summary[key] for key in SAID if summary.get(key) is not None}
    return {
        **without(state, "summary", "activeClient"),
        **_only(summary, METADATA),
        "activeClients": [] if client is None else [client],
        BESIDE: {**(state.get(BESIDE) or {}), "summary": without(summary, *SAID), "legacy": legacy},
    }


def _only(value: Json, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value[key] for key in keys if key in value}
