"""What each action does to the automation catalogue and to a run (09-automation, sections 4 and 7)."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from holdfast.protocol.automation import actions
from holdfast.protocol.automation.state import AutomationRunState, AutomationState
from holdfast.protocol.codec import Unknown, Wire
from holdfast.protocol.reducing import Handler, by_table, find, put, upsert, without

__all__ = ["reduce", "reduce_run"]

_resource = attrgetter("resource")


def set_(state: AutomationState, action: actions.Set) -> AutomationState:
    return replace(state, entries=upsert(state.entries, action.automation, _resource))


def removed(state: AutomationState, action: actions.Removed) -> AutomationState:
    index = find(state.entries, _resource, action.resource)
    return state if index < 0 else replace(state, entries=without(state.entries, index))


def lifecycle_changed(state: AutomationRunState, action: actions.LifecycleChanged) -> AutomationRunState:
    return put(state, lifecycle=action.lifecycle)


def session_set(state: AutomationRunState, action: actions.SessionSet) -> AutomationRunState:
    if action.session in state.sessions:
        return state
    return replace(state, sessions=(*state.sessions, action.session))


def session_removed(state: AutomationRunState, action: actions.SessionRemoved) -> AutomationRunState:
    if action.session not in state.sessions:
        return state
    primary = None if state.primary_session == action.session else state.primary_session
    sessions = without(state.sessions, state.sessions.index(action.session))
    return replace(state, sessions=sessions, primary_session=primary)


def primary_session_changed(state: AutomationRunState, action: actions.PrimarySessionChanged) -> AutomationRunState:
    return put(state, primary_session=action.primary_session)


# The requests (`createRequested`, `updateRequested`, `cancelRequested`) are not here: the host answers them.
_CATALOGUE: Final[dict[type, Handler]] = {
    actions.Set: set_,
    actions.Removed: removed,
}

_RUN: Final[dict[type, Handler]] = {
    actions.LifecycleChanged: lifecycle_changed,
    actions.SessionSet: session_set,
    actions.SessionRemoved: session_removed,
    actions.PrimarySessionChanged: primary_session_changed,
}


reduce: Final[Callable[[AutomationState, Wire | Unknown], AutomationState]] = by_table(_CATALOGUE)
"""The catalogue after an action; the same object if it changes nothing."""

reduce_run: Final[Callable[[AutomationRunState, Wire | Unknown], AutomationRunState]] = by_table(_RUN)
"""The run after an action; the same object if it changes nothing."""
