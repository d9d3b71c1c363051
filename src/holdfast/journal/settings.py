"""How long a journal keeps what it could forget, and what a commit survives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["Durability", "JournalSettings"]

Durability: TypeAlias = Literal["process", "power"]
"""What an acknowledged commit survives: the end of the process (also by SIGKILL), or a power cut as well."""

_DAY: Final = 24 * 60 * 60 * 1000
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class JournalSettings:
    """Times are in milliseconds, sizes in bytes."""

    durability: Durability = "process"
    replay_age_ms: int = _DAY
    """Frames older than this are trimmed once no state needs them."""
    replay_bytes: int = 8 * _MIB
    """What the frames of one unit may take before its oldest are trimmed: a unit can only evict itself."""
    dispatch_age_ms: int = _DAY
    client_age_ms: int = 30 * _DAY
    client_count: int = 10_000
    """Beyond this the clients that were not seen for the longest time are forgotten."""
    block: int = 10_000
    """How many numbers are reserved at a time: one synchronous write per so many."""
    upkeep_ms: int = 4
    """How long one `maintain` goes on forgetting. The commits of one loop tick wait no longer than that."""
