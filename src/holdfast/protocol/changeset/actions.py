"""Actions of a changeset channel. Clients may only toggle review marks."""

from __future__ import annotations

from holdfast.protocol.changeset.state import (
    ChangesetFile,
    ChangesetOperation,
    ChangesetOperationStatus,
    ChangesetStatus,
)
from holdfast.protocol.codec import Wire
from holdfast.protocol.common import ErrorInfo

__all__ = [
    "Cleared",
    "ContentChanged",
    "FileRemoved",
    "FileSet",
    "FilesReviewChanged",
    "OperationStatusChanged",
    "OperationsChanged",
    "StatusChanged",
]


class StatusChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="changeset/statusChanged"):
    status: ChangesetStatus
    error: ErrorInfo | None = None


class FileSet(Wire, frozen=True, kw_only=True, tag_field="type", tag="changeset/fileSet"):
    file: ChangesetFile


class FileRemoved(Wire, frozen=True, kw_only=True, tag_field="type", tag="changeset/fileRemoved"):
    file_id: str


class FilesReviewChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="changeset/filesReviewChanged"):
    """`files` are file ids."""

    files: tuple[str, ...]
    reviewed: bool


class ContentChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="changeset/contentChanged"):
    files: tuple[ChangesetFile, ...]
    operations: tuple[ChangesetOperation, ...] | None = None


class OperationsChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="changeset/operationsChanged"):
    operations: tuple[ChangesetOperation, ...] | None = None


class OperationStatusChanged(
    Wire, frozen=True, kw_only=True, tag_field="type", tag="changeset/operationStatusChanged"
):
    operation_id: str
    status: ChangesetOperationStatus
    error: ErrorInfo | None = None


class Cleared(Wire, frozen=True, kw_only=True, tag_field="type", tag="changeset/cleared"):
    pass
