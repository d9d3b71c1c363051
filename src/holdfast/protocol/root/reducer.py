"""What each action does to the root's state (02-root, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from holdfast.protocol.codec import Unknown, Wire
from holdfast.protocol.reducing import Handler, by_table, merged_values, put
from holdfast.protocol.root import actions
from holdfast.protocol.root.state import RootState

__all__ = ["reduce"]


def agents_changed(state: RootState, action: actions.AgentsChanged) -> RootState:
    return put(state, agents=action.agents)


def active_sessions_changed(state: RootState, action: actions.ActiveSessionsChanged) -> RootState:
    return put(state, active_sessions=action.active_sessions)


def terminals_changed(state: RootState, action: actions.TerminalsChanged) -> RootState:
    return put(state, terminals=action.terminals)


def config_changed(state: RootState, action: actions.ConfigChanged) -> RootState:
    """Merge or replace the values; a host without configuration ignores it."""
    if state.config is None:
        return state
    values = merged_values(state.config.values, action.config, action.replace)
    return replace(state, config=replace(state.config, values=values))


_TABLE: Final[dict[type, Handler]] = {
    actions.AgentsChanged: agents_changed,
    actions.ActiveSessionsChanged: active_sessions_changed,
    actions.TerminalsChanged: terminals_changed,
    actions.ConfigChanged: config_changed,
}


reduce: Final[Callable[[RootState, Wire | Unknown], RootState]] = by_table(_TABLE)
"""The state after an action; the same object if it changes nothing."""
