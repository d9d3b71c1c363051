"""To be filled."""

from __future__ import annotations

from typing import Final

from holdfast.protocol.compat.step import Step
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

STEP: Final = Step(older=Version(0, 7, 0))
