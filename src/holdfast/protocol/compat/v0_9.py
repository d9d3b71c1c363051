"""0.9 and 1.0: what 1.0 added. Everything old is as it was."""

from __future__ import annotations

from typing import Final

from holdfast.protocol.compat.step import Step
from holdfast.protocol.versions import Version

__all__ = ["STEP"]

STEP: Final = Step(older=Version(0, 9, 0))
