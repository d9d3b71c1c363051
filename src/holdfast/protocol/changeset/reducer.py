"""What each action does to a changeset's state (07-changeset, section 6)."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from holdfast.protocol.changeset import actions
from holdfast.protocol.changeset.state import (
    ChangesetOperationStatus,
    ChangesetState,
    ChangesetStatus,
)
from holdfast.protocol.codec import Unknown, Wire
from holdfast.protocol.reducing import Handler, by_table, exchanged, find, put, upsert, without

__all__ = ["reduce"]

_id = attrgetter("id")


def status_changed(state: ChangesetState, action: actions.StatusChanged) -> ChangesetState:
    """`error` is there exactly while the status is error."""
    error = action.error if action.status == ChangesetStatus.ERROR else None
    return put(state, status=action.status, error=error)


def file_set(state: ChangesetState, action: actions.FileSet) -> ChangesetState:
    return replace(state, files=upsert(state.files, action.file, _id))


def file_removed(state: ChangesetState, action: actions.FileRemoved) -> ChangesetState:
    index = find(state.files, _id, action.file_id)
    return state if index < 0 else replace(state, files=without(state.files, index))


def files_review_changed(state: ChangesetState, action: actions.FilesReviewChanged) -> ChangesetState:
    """Set the mark where it differs; absent and false differ."""
    ids = set(action.files)
    if not any(file.id in ids and file.reviewed is not action.reviewed for file in state.files):
        return state
    files = tuple(replace(file, reviewed=action.reviewed) if file.id in ids else file for file in state.files)
    return replace(state, files=files)


def content_changed(state: ChangesetState, action: actions.ContentChanged) -> ChangesetState:
    """Replace the files, and the operations if given; status and error are not touched."""
    operations = state.operations if action.operations is None else action.operations
    return replace(state, files=action.files, operations=operations)


def operations_changed(state: ChangesetState, action: actions.OperationsChanged) -> ChangesetState:
    return put(state, operations=action.operations)


def operation_status_changed(state: ChangesetState, action: actions.OperationStatusChanged) -> ChangesetState:
    operations = state.operations
    index = find(operations, _id, action.operation_id)
    if not operations or index < 0:
        return state
    error = action.error if action.status == ChangesetOperationStatus.ERROR else None
    operation = put(operations[index], status=action.status, error=error)
    if operation is operations[index]:
        return state
    return replace(state, operations=exchanged(operations, index, operation))


def cleared(state: ChangesetState, _: actions.Cleared) -> ChangesetState:
    return replace(state, files=()) if state.files else state


_TABLE: Final[dict[type, Handler]] = {
    actions.StatusChanged: status_changed,
    actions.FileSet: file_set,
    actions.FileRemoved: file_removed,
    actions.FilesReviewChanged: files_review_changed,
    actions.ContentChanged: content_changed,
    actions.OperationsChanged: operations_changed,
    actions.OperationStatusChanged: operation_status_changed,
    actions.Cleared: cleared,
}


reduce: Final[Callable[[ChangesetState, Wire | Unknown], ChangesetState]] = by_table(_TABLE)
"""The state after an action; the same object if it changes nothing."""
