"""Actions of a terminal channel."""

from __future__ import annotations

from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI, Number
from holdfast.protocol.terminal.state import TerminalClaim

__all__ = [
    "Claimed",
    "Cleared",
    "CommandDetectionAvailable",
    "CommandExecuted",
    "CommandFinished",
    "CwdChanged",
    "Data",
    "Exited",
    "Input",
    "Resized",
    "TitleChanged",
]


class Data(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/data"):
    data: str


class Input(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/input"):
    """Keys for the process. It changes no state: what they do comes back as `Data`."""

    data: str


class Resized(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/resized"):
    cols: int
    rows: int


class Claimed(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/claimed"):
    claim: TerminalClaim


class TitleChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/titleChanged"):
    title: str


class CwdChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/cwdChanged"):
    cwd: URI


class Exited(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/exited"):
    exit_code: int | None = None


class Cleared(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/cleared"):
    pass


class CommandDetectionAvailable(
    Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/commandDetectionAvailable"
):
    pass


class CommandExecuted(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/commandExecuted"):
    command_id: str
    command_line: str
    timestamp: Number


class CommandFinished(Wire, frozen=True, kw_only=True, tag_field="type", tag="terminal/commandFinished"):
    command_id: str
    exit_code: int | None = None
    duration_ms: Number | None = None
