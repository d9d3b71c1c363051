"""The command that starts a watch, in either direction."""

from __future__ import annotations

from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI, GlobList
from holdfast.protocol.params import RootParams

__all__ = ["CreateResourceWatchParams", "CreateResourceWatchResult"]


class CreateResourceWatchParams(RootParams, frozen=True, kw_only=True):
    uri: URI
    recursive: bool | None = None
    excludes: GlobList | None = None
    includes: GlobList | None = None


class CreateResourceWatchResult(Wire, frozen=True, kw_only=True):
    """`channel` is minted by the receiver; subscribe to it for events."""

    channel: URI
