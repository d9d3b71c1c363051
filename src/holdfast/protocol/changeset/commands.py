"""The command that runs an operation of a changeset."""

from __future__ import annotations

from typing import TypeAlias

from holdfast.protocol.codec import OpenEnum, OpenUnion, Wire
from holdfast.protocol.common import URI, ContentRef, StringOrMarkdown, TextRange
from holdfast.protocol.params import Params

__all__ = [
    "ChangesetOperationFollowUp",
    "ChangesetOperationTarget",
    "ChangesetSide",
    "InvokeChangesetOperationParams",
    "InvokeChangesetOperationResult",
    "RangeTarget",
    "ResourceTarget",
]


class ChangesetSide(OpenEnum):
    BEFORE = "before"
    AFTER = "after"


class ResourceTarget(Wire, frozen=True, kw_only=True, tag_field="kind", tag="resource"):
    resource: URI
    side: ChangesetSide | None = None


class RangeTarget(Wire, frozen=True, kw_only=True, tag_field="kind", tag="range"):
    resource: URI
    range: TextRange
    side: ChangesetSide | None = None


ChangesetOperationTarget: TypeAlias = OpenUnion[ResourceTarget | RangeTarget]


class InvokeChangesetOperationParams(Params, frozen=True, kw_only=True):
    """No target means the whole changeset."""

    operation_id: str
    target: ChangesetOperationTarget | None = None


class ChangesetOperationFollowUp(Wire, frozen=True, kw_only=True):
    content: ContentRef
    external: bool | None = None


class InvokeChangesetOperationResult(Wire, frozen=True, kw_only=True):
    message: StringOrMarkdown | None = None
    follow_up: ChangesetOperationFollowUp | None = None
