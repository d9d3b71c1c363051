"""State of one terminal, and its entry in the root list."""

from __future__ import annotations

from typing import TypeAlias

from holdfast.protocol.codec import OpenUnion, Wire
from holdfast.protocol.common import URI, Number
from holdfast.protocol.text import StreamedText

__all__ = [
    "TerminalClaim",
    "TerminalClientClaim",
    "TerminalCommandPart",
    "TerminalContentPart",
    "TerminalExited",
    "TerminalInfo",
    "TerminalLifecycle",
    "TerminalRunning",
    "TerminalSessionClaim",
    "TerminalState",
    "TerminalUnclassifiedPart",
]


class TerminalRunning(Wire, frozen=True, kw_only=True, tag_field="status", tag="running"):
    pass


class TerminalExited(Wire, frozen=True, kw_only=True, tag_field="status", tag="exited"):
    """`exit_code` is absent when the process ended without one: killed, or the host restarted."""

    exit_code: int | None = None


TerminalLifecycle: TypeAlias = OpenUnion[TerminalRunning | TerminalExited]


class TerminalClientClaim(Wire, frozen=True, kw_only=True, tag_field="kind", tag="client"):
    """A user works in the terminal directly."""

    client_id: str


class TerminalSessionClaim(Wire, frozen=True, kw_only=True, tag_field="kind", tag="session"):
    """With turn and tool call: in use by that call. Without: owned by the session, driven by nobody."""

    session: URI
    chat: URI
    turn_id: str | None = None
    tool_call_id: str | None = None


TerminalClaim: TypeAlias = OpenUnion[TerminalClientClaim | TerminalSessionClaim]


class TerminalUnclassifiedPart(Wire, frozen=True, kw_only=True, tag_field="type", tag="unclassified"):
    value: StreamedText


class TerminalCommandPart(Wire, frozen=True, kw_only=True, tag_field="type", tag="command"):
    """One command and its output; the last part with `is_complete` false is the running one."""

    command_id: str
    command_line: str
    output: StreamedText
    timestamp: Number
    is_complete: bool
    exit_code: int | None = None
    duration_ms: Number | None = None


TerminalContentPart: TypeAlias = OpenUnion[TerminalUnclassifiedPart | TerminalCommandPart]


class TerminalInfo(Wire, frozen=True, kw_only=True):
    """An entry of `RootState.terminals`."""

    resource: URI
    title: str
    claim: TerminalClaim
    lifecycle: TerminalLifecycle


class TerminalState(Wire, frozen=True, kw_only=True):
    title: str
    content: tuple[TerminalContentPart, ...]
    lifecycle: TerminalLifecycle
    claim: TerminalClaim
    cwd: URI | None = None
    cols: int | None = None
    rows: int | None = None
    supports_command_detection: bool | None = None
    is_pty: bool | None = None
