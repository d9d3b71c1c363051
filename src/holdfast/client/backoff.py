"""How long to wait before the next attempt to connect."""

from __future__ import annotations

import random
from dataclasses import dataclass

__all__ = ["Retry"]


@dataclass(frozen=True, slots=True)
class Retry:
    """Waits grow from `first` to `most` seconds, each shortened by chance, so that a crowd does not come at once.

    After `attempts` in a row that failed the connection is given up; None never does.
    """

    first: float = 0.1
    factor: float = 2.0
    most: float = 15.0
    attempts: int | None = None

    def wait(self, failed: int) -> float | None:
        """Seconds to wait after so many attempts that failed; None to give up."""
        if self.attempts is not None and failed >= self.attempts:
            return None
        # Beyond 60 doublings every wait is the longest, and no float overflows.
        whole = min(self.most, self.first * self.factor ** min(failed, 60))
        return whole * random.uniform(0.5, 1.0)  # noqa: S311 - spreads a crowd, keeps no secret
