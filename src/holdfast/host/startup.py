"""The beginning of a life: what the journal has, what became of running turns, who may still come back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from holdfast.host import loading, lookup, presence, queue, retention, sessions, turns
from holdfast.host.mirror import Extra
from holdfast.host.permits import writable
from holdfast.host.sequence import Numbers
from holdfast.host.units import Chat, Session
from holdfast.ports.journal import DisposeSession, LoadUnit, Opening, ReadTurns, StoredUnit
from holdfast.protocol.chat import actions as chat_actions
from holdfast.protocol.chat.state import Turn, TurnState
from holdfast.protocol.codec import decode
from holdfast.protocol.common import URI, ConfigPropertySchema, ConfigSchema, ErrorInfo, JsonObject
from holdfast.protocol.envelope import decode_envelope
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.reducing import entry_id
from holdfast.protocol.root import actions
from holdfast.protocol.root.state import AgentInfo, RootConfigState, RootState
from holdfast.protocol.session.state import SessionLifecycle

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["root_config", "root_state", "start"]


def root_config(agents: Mapping[str, AgentInfo], version: str) -> RootConfigState:
    """The host's own options, as clients may see and change them."""
    providers = tuple(agents)
    properties = {
        "defaultAgent": ConfigPropertySchema(
            type="string",
            title="Default agent",
            description="The agent of sessions that name none.",
            enum=providers,
        ),
        "generateTitles": ConfigPropertySchema(
            type="boolean",
            title="Generate titles",
            description="Name a session after its first message.",
            default=True,
        ),
        "version": ConfigPropertySchema(
            type="string", title="Version", description="The version of this host.", read_only=True
        ),
    }
    values: JsonObject = {"generateTitles": True, "version": version}
    if providers:
        values["defaultAgent"] = providers[0]
    return RootConfigState(schema=ConfigSchema(type="object", properties=properties), values=values)


def root_state(agents: Mapping[str, AgentInfo], version: str) -> RootState:
    """The root of a host that starts for the first time."""
    return RootState(agents=tuple(agents.values()), active_sessions=0, config=root_config(agents, version))


def start(host: Host, opening: Opening) -> None:
    """Begin a life. What it finds to be done becomes the first transaction."""
    host.numbers = Numbers(opening.epochs[-1].first, opening.reserved)
    host.epochs = opening.epochs
    host.listed = opening.sessions
    host.in_background(lambda: _start_root(host, opening.root))
    retention.begin(host)
    for uri in opening.attention:
        host.in_background(lambda uri=uri: _look_after(host, uri))  # type: ignore[misc]  # a default argument


# The root


def _start_root(host: Host, stored: StoredUnit | None) -> None:
    """Clients that come back had the root as it was stored; what is new reaches them as actions."""
    root = host.root.root
    fresh = root.state
    if stored is not None and stored.channels:
        head = stored.channels[0]
        state: RootState = decode(RootState, head.state)
        for entry in stored.tail:
            if entry.seq > head.seq:
                state = REDUCERS["root"](state, decode_envelope(entry.data).action)
        host.batch.assign(root, "state", _with_options(fresh, state))
        host.batch.assign(root, "unsaved", False)
        host.batch.assign(root, "head_size", len(head.state))
        if _schema(state) != _schema(fresh):
            # No action changes a schema, so nobody can be replayed past this.
            host.batch.assign(root, "moved_at", host.numbers.last)
            host.batch.assign(root, "unsaved", True)
    host.batch.touched[root.uri] = root
    if root.state.agents != fresh.agents:
        host.emit(root, actions.AgentsChanged(agents=fresh.agents))
    version = {"version": (fresh.config.values if fresh.config else {}).get("version")}
    if root.state.config is not None and root.state.config.values.get("version") != version["version"]:
        host.emit(root, actions.ConfigChanged(config=version))


def _schema(state: RootState) -> ConfigSchema | None:
    return state.config.schema if state.config is not None else None


def _with_options(fresh: RootState, stored: RootState) -> RootState:
    """The stored root under the present schema. Values that have no option any more are dropped."""
    if fresh.config is None:
        return replace(stored, config=None)
    known = fresh.config.schema.properties
    values: dict[str, Any] = dict(fresh.config.values)
    values |= {key: value for key, value in (stored.config.values if stored.config else {}).items() if key in known}
    return replace(stored, config=RootConfigState(schema=fresh.config.schema, values=values))


# Sessions that were not at rest


RESTARTED: Final = "hostRestart"


def _look_after(host: Host, uri: URI) -> None:
    unit = host.sessions.get(uri)
    if unit is None:
        stored = host.ask(LoadUnit(uri))
        if stored is None:
            return
        if stored.row is not None and decode(Extra, stored.row.extra).importing:
            host.batch.write(DisposeSession(uri, 0))
            return
        unit = loading.adopt(host, stored)
    unblocked = [chat for chat in unit.chats.values() if _goes_on(host, chat)]
    _end_broken_turns(host, unit)
    _end_background_work(host, unit)
    if unit.session.state.lifecycle == SessionLifecycle.CREATING:
        turns.open_backend(host, unit)
    for client in unit.session.state.active_clients:
        presence.start_grace(host, unit, client.client_id)
    if unit.provisional:
        sessions.expire_unless_used(host, unit)
    for chat in unblocked:
        queue.start_next(host, chat)
    host.batch.dirty[uri] = unit


def _goes_on(host: Host, chat: Chat) -> bool:
    """Whether messages wait in a chat for nothing: its last turn ended well, just before the host stopped."""
    if not chat.state.queued_messages or chat.state.active_turn is not None:
        return False
    page = lookup.turns(host, chat, ReadTurns(chat.uri, None, 1, None))
    return not page.turns or decode(Turn, page.turns[0].data).state == TurnState.COMPLETE


def _end_broken_turns(host: Host, unit: Session) -> None:
    """A turn that ran when the host stopped is over; where people may write they may resume it."""
    error = ErrorInfo(error_type=RESTARTED, message="The host was restarted while this turn was running.")
    for chat in unit.chats.values():
        if chat.state.active_turn is not None:
            turns.end(host, chat, error, resumable=writable(chat) is None)


def _end_background_work(host: Host, unit: Session) -> None:
    """What agents did beside their turns ended with them."""
    for chat in unit.chats.values():
        for work in chat.state.background_work or ():
            host.emit(chat, chat_actions.BackgroundWorkRemoved(id=str(entry_id(work))))
