"""State of a resource watch: what was asked for, fixed for life."""

from __future__ import annotations

from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI, GlobList

__all__ = ["ResourceWatchState"]


class ResourceWatchState(Wire, frozen=True, kw_only=True):
    root: URI
    recursive: bool
    excludes: GlobList | None = None
    includes: GlobList | None = None
