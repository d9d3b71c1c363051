"""Commands that create and dispose of terminals."""

from __future__ import annotations

from holdfast.protocol.common import URI
from holdfast.protocol.params import Params
from holdfast.protocol.terminal.state import TerminalClaim

__all__ = ["CreateTerminalParams", "DisposeTerminalParams"]


class CreateTerminalParams(Params, frozen=True, kw_only=True):
    """`channel` is the new terminal's URI, chosen by the caller."""

    claim: TerminalClaim
    name: str | None = None
    cwd: URI | None = None
    cols: int | None = None
    rows: int | None = None


class DisposeTerminalParams(Params, frozen=True, kw_only=True):
    pass
