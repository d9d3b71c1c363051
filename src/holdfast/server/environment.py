"""Real time and real ids."""

from __future__ import annotations

import os
import time

from holdfast.host.environment import Clock, Ids

__all__ = ["SystemClock", "Uuid7Ids"]


class SystemClock(Clock):
    def wall(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> int:
        return time.monotonic_ns() // 1_000_000


class Uuid7Ids(Ids):
    """UUIDv7 (RFC 9562): 48 bits of time, then randomness, so that ids sort by age."""

    def new(self) -> str:
        moment = (time.time_ns() // 1_000_000) & 0xFFFF_FFFF_FFFF
        random = int.from_bytes(os.urandom(10), "big")
        version_and_a = 0x7000 | (random >> 68) & 0x0FFF
        variant_and_b = 0x8000_0000_0000_0000 | (random & 0x3FFF_FFFF_FFFF_FFFF)
        digits = f"{(moment << 80) | (version_and_a << 64) | variant_and_b:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
