"""What clients may do to annotations: everything that leaves each remark an entry (08-annotations, section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from holdfast.host.verdict import Allowed, Refused, Rules, Verdict
from holdfast.protocol.annotations import actions

if TYPE_CHECKING:
    from holdfast.host.core import Host
    from holdfast.host.dispatch import Dispatched

__all__ = ["RULES"]


def set_(host: Host, sent: Dispatched, action: actions.Set) -> Verdict:  # noqa: ARG001
    annotation = action.annotation
    if not annotation.entries:
        return Refused("an annotation has at least one entry")
    if len({entry.id for entry in annotation.entries}) < len(annotation.entries):
        return Refused("entries of an annotation have ids of their own")
    if annotation.origin.session != sent.channel.unit.uri:
        return Refused("an annotation belongs to the session whose channel it is on")
    return Allowed()


def updated(host: Host, sent: Dispatched, action: actions.Updated) -> Verdict:  # noqa: ARG001
    if action.origin is not None and action.origin.session != sent.channel.unit.uri:
        return Refused("an annotation belongs to the session whose channel it is on")
    return Allowed()


def anything(host: Host, sent: Dispatched, action: Any) -> Verdict:  # noqa: ARG001
    return Allowed()


def entry_removed(host: Host, sent: Dispatched, action: actions.EntryRemoved) -> Verdict:  # noqa: ARG001
    for annotation in sent.channel.state.annotations:
        if annotation.id == action.annotation_id and [entry.id for entry in annotation.entries] == [action.entry_id]:
            return Refused("the last entry goes with its annotation: remove that")
    return Allowed()


RULES: Final[Rules] = {
    actions.Set: set_,
    actions.Updated: updated,
    actions.Removed: anything,
    actions.EntrySet: anything,
    actions.EntryRemoved: entry_removed,
}
