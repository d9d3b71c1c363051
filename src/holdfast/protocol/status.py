"""The status bitset of sessions and chats (03-session, section 4).

Bits 0-4 say what is going on, one of four values; higher bits are independent flags. Test with masks, never
with equality: bits this version does not know are kept.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from msgspec import Meta

__all__ = [
    "ACTIVITY",
    "ERROR",
    "IDLE",
    "INPUT_NEEDED",
    "IN_PROGRESS",
    "IS_ARCHIVED",
    "IS_READ",
    "Status",
    "with_activity",
    "with_flag",
]

Status: TypeAlias = Annotated[int, Meta(ge=0, le=0xFFFF_FFFF)]
"""An unsigned 32-bit set."""

IDLE: Final = 1
ERROR: Final = 2
IN_PROGRESS: Final = 8
INPUT_NEEDED: Final = 24
IS_READ: Final = 32
IS_ARCHIVED: Final = 64

ACTIVITY: Final = 31
"""The bits that hold one of `IDLE`, `ERROR`, `IN_PROGRESS`, `INPUT_NEEDED`."""


def with_activity(status: int, activity: int) -> int:
    """Replace what is going on, keep the flags."""
    return (status & ~ACTIVITY) | activity


def with_flag(status: int, flag: int, on: bool) -> int:
    """Set or clear one flag."""
    return status | flag if on else status & ~flag
