"""The one action of a resource watch."""

from __future__ import annotations

from holdfast.protocol.codec import OpenEnum, Wire
from holdfast.protocol.common import URI

__all__ = ["Changed", "ResourceChange", "ResourceChangeList", "ResourceChangeType"]


class ResourceChangeType(OpenEnum):
    ADDED = "added"
    UPDATED = "updated"
    DELETED = "deleted"


class ResourceChange(Wire, frozen=True, kw_only=True):
    uri: URI
    type: ResourceChangeType


class ResourceChangeList(Wire, frozen=True, kw_only=True):
    items: tuple[ResourceChange, ...]


class Changed(Wire, frozen=True, kw_only=True, tag_field="type", tag="resourceWatch/changed"):
    """Something happened below the root. Producers never send an empty list."""

    changes: ResourceChangeList
