"""What each action does to the state of an annotations channel (08-annotations, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from holdfast.protocol.annotations import actions
from holdfast.protocol.annotations.state import Annotation, AnnotationsState
from holdfast.protocol.codec import Unknown, Wire
from holdfast.protocol.reducing import Handler, by_table, exchanged, find, put, upsert, without

__all__ = ["reduce"]

_id = attrgetter("id")


def set_(state: AnnotationsState, action: actions.Set) -> AnnotationsState:
    return replace(state, annotations=upsert(state.annotations, action.annotation, _id))


def updated(state: AnnotationsState, action: actions.Updated) -> AnnotationsState:
    """Write only what is given; entries and metadata are never touched."""
    given = {
        name: value
        for name in ("origin", "resource", "range", "resolved")
        if (value := getattr(action, name)) is not None
    }
    index = find(state.annotations, _id, action.annotation_id)
    return state if index < 0 else _with(state, index, put(state.annotations[index], **given))


def removed(state: AnnotationsState, action: actions.Removed) -> AnnotationsState:
    index = find(state.annotations, _id, action.annotation_id)
    return state if index < 0 else replace(state, annotations=without(state.annotations, index))


def entry_set(state: AnnotationsState, action: actions.EntrySet) -> AnnotationsState:
    index = find(state.annotations, _id, action.annotation_id)
    if index < 0:
        return state
    annotation = state.annotations[index]
    return _with(state, index, replace(annotation, entries=upsert(annotation.entries, action.entry, _id)))


def entry_removed(state: AnnotationsState, action: actions.EntryRemoved) -> AnnotationsState:
    """May leave no entries; producers remove the whole annotation instead."""
    index = find(state.annotations, _id, action.annotation_id)
    if index < 0:
        return state
    annotation = state.annotations[index]
    entry = find(annotation.entries, _id, action.entry_id)
    if entry < 0:
        return state
    return _with(state, index, replace(annotation, entries=without(annotation.entries, entry)))


def _with(state: AnnotationsState, index: int, annotation: Annotation) -> AnnotationsState:
    annotations = state.annotations
    if annotations[index] is annotation:
        return state
    return replace(state, annotations=exchanged(annotations, index, annotation))


_TABLE: Final[dict[type, Handler]] = {
    actions.Set: set_,
    actions.Updated: updated,
    actions.Removed: removed,
    actions.EntrySet: entry_set,
    actions.EntryRemoved: entry_removed,
}


reduce: Final[Callable[[AnnotationsState, Wire | Unknown], AnnotationsState]] = by_table(_TABLE)
"""The state after an action; the same object if it changes nothing."""
