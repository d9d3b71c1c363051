"""Which requests may be made again when the connection broke before their answer, and what that answer may be."""

from __future__ import annotations

from typing import Final

from holdfast.protocol.errors import ErrorCode

__all__ = ["REPEATABLE"]

REPEATABLE: Final[dict[str, frozenset[int]]] = {
    "ping": frozenset(),
    "subscribe": frozenset(),
    "authenticate": frozenset(),
    "listSessions": frozenset(),
    "resolveSessionConfig": frozenset(),
    "sessionConfigCompletions": frozenset(),
    "fetchTurns": frozenset(),
    "completions": frozenset(),
    "listAutomationTriggerDefinitions": frozenset(),
    "fetchAutomationRuns": frozenset(),
    "resourceRead": frozenset(),
    "resourceList": frozenset(),
    "resourceResolve": frozenset(),
    # These name what they make or end: the first attempt succeeded if the second finds it done.
    "createSession": frozenset({ErrorCode.SESSION_ALREADY_EXISTS}),
    "disposeSession": frozenset({ErrorCode.SESSION_NOT_FOUND}),
    "createChat": frozenset({ErrorCode.ALREADY_EXISTS}),
    "disposeChat": frozenset({ErrorCode.NOT_FOUND}),
    "createTerminal": frozenset({ErrorCode.ALREADY_EXISTS}),
    "disposeTerminal": frozenset({ErrorCode.NOT_FOUND}),
}
"""Method -> the errors that say, the second time, that the first had succeeded. Others are not made again."""
