"""Sessions: created, opened, titled, reconfigured, disposed of (03-session)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from holdfast.host import chats, config, lookup, mirror, outgoing, sealing, turns
from holdfast.host.connection import Connection
from holdfast.host.mirror import announce, withdraw
from holdfast.host.units import Backend, Session
from holdfast.ports.agent import CloseSession, ConfigChanged, Progress, ResolveConfig, ResolvedConfig
from holdfast.ports.journal import DisposeSession
from holdfast.protocol import jsonrpc
from holdfast.protocol.annotations.state import AnnotationsSummary
from holdfast.protocol.codec import encode
from holdfast.protocol.common import URI, ErrorInfo, JsonObject, Timestamp
from holdfast.protocol.errors import ErrorCode, InvalidValue, RpcError
from holdfast.protocol.root.commands import ProgressParams
from holdfast.protocol.root.state import AgentInfo
from holdfast.protocol.session import actions
from holdfast.protocol.session.commands import CreateSessionParams, DisposeSessionParams
from holdfast.protocol.session.state import SessionConfigState, SessionLifecycle, SessionState
from holdfast.protocol.status import IDLE
from holdfast.protocol.timestamps import from_milliseconds
from holdfast.protocol.uris import ROOT, annotations_of, default_chat, is_root, parse

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = [
    "add",
    "agent_for",
    "check_uri",
    "create",
    "directories_for",
    "dispose",
    "expire_unless_used",
    "make",
    "opened",
    "progress",
    "reconfigure",
    "suggest_title",
    "title_chosen",
    "title_from",
]

# Clients that create a session for every agent their user looks at. Such a session is shown to others when it
# is first used. The one place where a client's name matters.
_EAGER: Final = "vscode"


def agent_for(host: Host, provider: str | None) -> AgentInfo:
    """The agent with this id, or the first one."""
    if provider is None:
        config = host.root.root.state.config
        provider = (config.values if config else {}).get("defaultAgent") or next(iter(host.agents), None)
    found = host.agents.get(provider or "")
    if found is None:
        raise RpcError(ErrorCode.PROVIDER_NOT_FOUND, f"there is no agent {(provider or '')[:100]!r}")
    return found


# Creating


def create(
    host: Host,
    connection: Connection,
    request: jsonrpc.Request,
    params: CreateSessionParams,
    furnish: Callable[[Session], None] = lambda unit: None,  # noqa: ARG005
) -> None:
    """Make a session. Cheap: the agent gets ready afterwards. `furnish` puts into it what it begins with."""
    agent = agent_for(host, params.provider)
    check_uri(host, params.channel)
    if params.fork is not None:
        raise RpcError(ErrorCode.INVALID_PARAMS, "params.fork: fork a chat with createChat, then move it")
    client = connection.client
    assert client is not None, "only clients create sessions"
    if params.active_client is not None and params.active_client.client_id != client.id:
        raise RpcError(ErrorCode.INVALID_PARAMS, "params.activeClient.clientId: a client may only enter itself")
    missing = turns.missing_tokens(host, agent.provider, client)
    if missing:
        raise RpcError(ErrorCode.AUTH_REQUIRED, f"{agent.display_name} needs a token", {"resources": missing})
    directories = directories_for(agent, params.working_directories)
    resolved = _resolved(host, agent, directories, params.config or {})
    unit = make(host, params.channel, agent, directories, resolved)
    if params.active_client is not None:
        state = replace(unit.session.state, active_clients=(params.active_client,))
        host.batch.assign(unit.session, "state", state)
    unit.creator = client.id
    furnish(unit)
    if params.progress_token is not None:
        unit.progress = (connection.id, params.progress_token)
    turns.open_backend(host, unit)
    if not (connection.name or "").startswith(_EAGER):
        announce(host, unit)
    host.reply(connection, request, None)


def check_uri(host: Host, uri: URI) -> None:
    """Raise `RpcError` unless this can be the URI of a new session."""
    try:
        parse(uri)
    except InvalidValue as error:
        raise RpcError(ErrorCode.INVALID_PARAMS, f"params.channel: {error}") from None
    if is_root(uri):
        raise RpcError(ErrorCode.INVALID_PARAMS, "params.channel: the root is no session")
    if any(
        lookup.channel(host, name) is not None or lookup.is_arriving(host, name) for name in (uri, default_chat(uri))
    ):
        raise RpcError(ErrorCode.SESSION_ALREADY_EXISTS, f"{uri[:200]!r} is in use")


def directories_for(agent: AgentInfo, wanted: tuple[URI, ...] | None) -> tuple[URI, ...] | None:
    """An agent that works in one directory gets the first."""
    several = agent.capabilities is not None and agent.capabilities.multiple_working_directories is not None
    if not wanted or several:
        return None if wanted is None else tuple(dict.fromkeys(wanted))
    return wanted[:1]


def _resolved(host: Host, agent: AgentInfo, directories: tuple[URI, ...] | None, given: JsonObject) -> ResolvedConfig:
    """The options of the new session. A given value that contradicts them is an error."""
    directory = directories[0] if directories else None
    resolved: ResolvedConfig = host.ask(ResolveConfig(agent.provider, directory, encode(given).decode()))
    why = config.complaint(resolved.schema.properties, resolved.schema.required, given, complete=False)
    if why is not None:
        raise RpcError(ErrorCode.INVALID_PARAMS, f"params.config: {why}")
    return ResolvedConfig(resolved.schema, {**given, **resolved.values})


def make(
    host: Host, uri: URI, agent: AgentInfo, directories: tuple[URI, ...] | None, resolved: ResolvedConfig
) -> Session:
    """A new session with its default chat, not yet shown to anybody."""
    now = from_milliseconds(host.clock.wall())
    has_options = bool(resolved.schema.properties or resolved.values)
    state = SessionState(
        provider=agent.provider,
        title="",
        status=IDLE,
        lifecycle=SessionLifecycle.CREATING,
        active_clients=(),
        chats=(),
        working_directories=directories,
        annotations=AnnotationsSummary(resource=annotations_of(uri), annotation_count=0, entry_count=0),
        config=SessionConfigState(schema=resolved.schema, values=resolved.values) if has_options else None,
        customizations=agent.customizations,
    )
    unit = add(host, uri, state, now)
    chats.add_default(host, unit, now)
    return unit


def add(host: Host, uri: URI, state: SessionState, now: Timestamp) -> Session:
    """A session begins to exist."""
    unit = Session(uri, state, now)
    unit.used_at = host.clock.monotonic()
    host.batch.put(host.sessions, uri, unit)
    host.add(unit.session)
    host.batch.dirty[uri] = unit
    return unit


# The agent's side of it


def opened(host: Host, unit: Session, error: ErrorInfo | None) -> None:
    """The agent is ready for the session, or cannot be."""
    _finish_progress(host, unit)
    creating = unit.session.state.lifecycle == SessionLifecycle.CREATING
    if error is None:
        host.batch.assign(unit, "backend", Backend.OPEN)
        if creating:
            host.emit(unit.session, actions.Ready())
        return
    host.batch.assign(unit, "backend", Backend.CLOSED)
    if creating:
        host.emit(unit.session, actions.CreationFailed(error=error))


def progress(host: Host, unit: Session, event: Progress) -> None:
    """Tell who asked how far the creation has come. It never goes back."""
    if unit.progress is None or event.progress < unit.progress_made:
        return
    if event.total is not None and event.progress >= event.total:
        return  # The last word is the host's, when the session is open.
    host.batch.assign(unit, "progress_made", event.progress)
    host.batch.assign(unit, "progress_total", event.total)
    _tell_progress(host, unit, event.progress, event.total, event.message)


def _finish_progress(host: Host, unit: Session) -> None:
    if unit.progress is not None:
        total = unit.progress_total or unit.progress_made or 1
        _tell_progress(host, unit, total, total, None)
        host.batch.assign(unit, "progress", None)


def _tell_progress(host: Host, unit: Session, made: float, total: float | None, message: str | None) -> None:
    assert unit.progress is not None, "somebody asked"
    connection_id, token = unit.progress
    connection = host.connections.get(connection_id)
    if connection is not None:
        params = ProgressParams(channel=ROOT, progress_token=token, progress=made, total=total, message=message)
        host.note((connection,), outgoing.notification("root/progress", params))


def reconfigure(host: Host, unit: Session) -> None:
    """Tell the agent what is different."""
    if unit.backend == Backend.CLOSED:
        return
    state = unit.session.state
    values = state.config.values if state.config else {}
    host.batch.tell(ConfigChanged(state.provider, unit.uri, values, state.working_directories or ()))


# Titles


def title_chosen(host: Host, unit: Session) -> None:
    """Somebody named the session; the host leaves it at that."""
    host.batch.assign(unit, "title_chosen", True)
    host.batch.dirty[unit.uri] = unit


def suggest_title(host: Host, unit: Session, title: str) -> None:
    """Name the session unless somebody has."""
    if title and not unit.title_chosen:
        host.emit(unit.session, actions.TitleChanged(title=title))


_TITLE: Final = 60


def title_from(host: Host, unit: Session, text: str) -> None:
    """A session without a title is named after what was first said in it."""
    config = host.root.root.state.config
    if unit.session.state.title or not (config and config.values.get("generateTitles")):
        return
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    shortened = line if len(line) <= _TITLE else line[:_TITLE].rsplit(" ", 1)[0].rstrip() + "…"
    suggest_title(host, unit, shortened)


# Disposing


def dispose(host: Host, connection: Connection, request: jsonrpc.Request, params: DisposeSessionParams) -> None:
    """End a session. For a while it can be restored."""
    put_away(host, lookup.session(host, params.channel))
    host.reply(connection, request, None)


def put_away(host: Host, unit: Session) -> None:
    """Take a session out of use; it can be restored for as long as the settings say."""
    window = host.settings.undo_window
    discard(host, unit, host.clock.wall() + window if window else 0)


def discard(host: Host, unit: Session, until: int) -> None:
    """Take a session out of use, kept until then; 0: not kept at all."""
    for chat in tuple(unit.chats.values()):
        turns.cancel(host, chat)
    host.batch.assign(unit, "disposed_at", from_milliseconds(host.clock.wall()))
    mirror.keep_row(host, unit)
    host.batch.write(sealing.last_words(host, unit), DisposeSession(unit.uri, until if unit.listed else 0))
    if unit.backend != Backend.CLOSED:
        host.batch.tell(CloseSession(unit.session.state.provider, unit.uri))
    for channel in tuple(unit.channels()):
        host.drop(channel)
    host.batch.remove(host.sessions, unit.uri)
    withdraw(host, unit)


def expire_unless_used(host: Host, unit: Session) -> None:
    """A session nobody ever used goes some time after its creator left."""

    def expire() -> None:
        creator = host.clients.get(unit.creator or "")
        if host.sessions.get(unit.uri) is unit and unit.provisional and not (creator and creator.connection):
            discard(host, unit, 0)

    at = host.clock.monotonic() + host.settings.provisional_age
    host.timers.set(("provisional", unit.uri), at, expire)
