"""A host as its users see it: its agents, its sessions, and the way in: `connect`."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from holdfast import __version__
from holdfast.client.backoff import Retry
from holdfast.client.broadcast import Feed
from holdfast.client.catalogue import Catalogue
from holdfast.client.connection import OFFERED, Asked, Authenticate, Connection, Options
from holdfast.client.errors import Gone, Unsupported
from holdfast.client.following import Listener, Receipt
from holdfast.client.session import Session
from holdfast.client.status import HostEvent, Progress, Status
from holdfast.client.subscription import Subscription
from holdfast.client.targets import TargetLike, local_environment, target_of
from holdfast.protocol import uris
from holdfast.protocol.codec import convert
from holdfast.protocol.common import URI, Implementation, JsonObject
from holdfast.protocol.connection.commands import AuthenticateParams, InitializeResult
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.errors import HoldfastError, UsageError
from holdfast.protocol.resources.commands import ResourceReadParams, ResourceReadResult
from holdfast.protocol.root.commands import (
    ListSessionsParams,
    ListSessionsResult,
    ProgressParams,
    ResolveSessionConfigParams,
    ResolveSessionConfigResult,
    SessionConfigCompletionsParams,
    SessionConfigCompletionsResult,
)
from holdfast.protocol.root.state import AgentInfo, RootState, SessionModelInfo
from holdfast.protocol.session.commands import CreateSessionParams, DisposeSessionParams
from holdfast.protocol.session.state import SessionLifecycle, SessionState, SessionSummary

__all__ = ["Connecting", "CreationFailed", "Host", "connect"]

T = TypeVar("T")

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")

_PAGE: Final = 500
"""How many sessions are fetched at a time."""


class CreationFailed(HoldfastError):
    """The agent could not open a session; the message says why."""


class Host:
    """Made by `connect`. Everything waits while the connection is away, and goes on when it is back."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sessions: dict[URI, Session] = {}

    def __repr__(self) -> str:
        return f"<Host at {self.address}, {self.status.value}>"

    def _repr_html_(self) -> str:
        from html import escape

        agents = ", ".join(escape(agent.display_name) for agent in self.agents)
        return f"<b>{escape(self.address)}</b> ({self.status.value}): {agents}"

    async def __aenter__(self) -> Host:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # What it is

    @property
    def status(self) -> Status:
        """How we stand with it; `events` tells changes."""
        return self._connection.status

    @property
    def reason(self) -> str:
        """Why the status is what it is, where there is something to say."""
        return self._connection.reason

    @property
    def address(self) -> str:
        """Where it is, without a token."""
        return self._connection.target.shown

    @property
    def client_id(self) -> str:
        return self._connection.options.client_id

    @property
    def initialized(self) -> InitializeResult:
        """What it said of itself in the handshake."""
        assert self._connection.initialized is not None, "a host is made once it is connected"
        return self._connection.initialized

    @property
    def protocol_version(self) -> str:
        return self.initialized.protocol_version

    @property
    def server_info(self) -> Implementation | None:
        return self.initialized.server_info

    @property
    def extensions(self) -> frozenset[str]:
        """The methods beyond the protocol that it announced."""
        announced = (self.initialized.meta or {}).get("holdfast")
        methods = announced.get("extensions", ()) if isinstance(announced, dict) else ()
        return frozenset(method for method in methods if isinstance(method, str))

    @property
    def root(self) -> RootState:
        """Its agents, terminals and configuration. Raises `Gone` once it is over."""
        state: RootState | None = self._connection.mirror.state(uris.ROOT)
        if state is None:
            raise Gone("the host showed nothing of itself")
        return state

    @property
    def agents(self) -> tuple[AgentInfo, ...]:
        return self.root.agents

    def models(self, agent: str | None = None) -> tuple[SessionModelInfo, ...]:
        """The models of an agent, or of all."""
        found = (each for each in self.agents if agent is None or each.provider == agent)
        return tuple(model for each in found for model in each.models)

    # Sessions

    async def create_session(
        self,
        agent: str | None = None,
        *,
        directory: str | Path | None = None,
        directories: Sequence[str | Path] = (),
        config: Mapping[str, Any] | None = None,
        title: str | None = None,
        uri: URI | None = None,
        tools: Sequence[Callable[..., Any]] = (),
        progress: Callable[[ProgressParams], None] | None = None,
    ) -> Session:
        """A new session, ready to talk to. Without `agent` the host takes its default.

        `directory` (and more `directories`) is where the agent works: a path on the host's machine, or a URI.
        `progress` is called while the agent's runtime is made ready. Raises `CreationFailed` if that goes wrong.
        """
        uri = uri or uris.session(str(uuid.uuid4()))
        folders = tuple(_directory(each) for each in ([] if directory is None else [directory]) + list(directories))
        token = str(uuid.uuid4()) if progress is not None else None
        params = CreateSessionParams(
            channel=uri,
            provider=agent,
            working_directories=folders or None,
            config=None if config is None else dict(config),
            progress_token=token,
        )
        async with self.events() as events:
            watching = asyncio.create_task(_report(events, token, progress)) if progress is not None else None
            try:
                await self._connection.request("createSession", params)
                session = await self.session(uri)
                await self._until_ready(session)
            finally:
                if watching is not None:
                    watching.cancel()
                    await asyncio.gather(watching, return_exceptions=True)
        for function in tools:
            session.tool(function)
        if tools:
            await session.tools.offered()
        if title is not None:
            await session.rename(title)
        return session

    async def _until_ready(self, session: Session) -> None:
        async with session.changes() as changes:
            while session.state.lifecycle == SessionLifecycle.CREATING:
                if await anext(changes, None) is None:
                    raise Gone(f"the session {session.uri} is no more")
        state: SessionState = session.state
        if state.lifecycle == SessionLifecycle.FAILED:
            reason = state.creation_error.message if state.creation_error else "the agent could not open the session"
            await session.close()
            raise CreationFailed(reason)
        await session.open_default()

    async def session(self, uri: URI) -> Session:
        """Follow a session; one that is open already is returned as it is. Raises `RpcError` if there is none."""
        session = self._sessions.get(uri)
        if session is None or not session.is_followed:
            session = Session(self._connection, uri)
            await session.open()
            self._sessions[uri] = session
        return session

    async def list_sessions(self, *, limit: int | None = None, cursor: str | None = None) -> ListSessionsResult:
        """One page of the sessions, newest first."""
        params = ListSessionsParams(channel=uris.ROOT, limit=limit, cursor=cursor)
        result: ListSessionsResult = await self._connection.request("listSessions", params)
        return result

    async def sessions(self, *, limit: int | None = None) -> AsyncIterator[SessionSummary]:
        """The sessions, newest first, fetched as they are asked for; `limit` ends it after so many."""
        cursor: str | None = None
        told = 0
        while limit is None or told < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - told)
            page = await self.list_sessions(limit=size, cursor=cursor)
            for summary in page.items:
                yield summary
                told += 1
                if told == limit:
                    return
            cursor = page.next_cursor
            if cursor is None:
                return

    def catalogue(self, *, limit: int | None = None) -> Catalogue:
        """The sessions, kept current: `async with host.catalogue() as catalogue`."""
        return Catalogue(self, limit)

    async def dispose_session(self, uri: URI) -> None:
        """Delete a session with everything in it."""
        await self._connection.request("disposeSession", DisposeSessionParams(channel=uri))
        session = self._sessions.pop(uri, None)
        if session is not None:
            await session.close()

    async def restore_session(self, uri: URI) -> None:
        """Undo `dispose_session`, as long as the host remembers. Raises `Unsupported` if it never does."""
        await self.extension("x-holdfast/restoreSession", {"channel": uri})

    # Settings

    async def resolve_config(
        self,
        agent: str | None = None,
        *,
        directory: str | Path | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> ResolveSessionConfigResult:
        """Which options a new session would have, given those that were chosen."""
        params = ResolveSessionConfigParams(
            channel=uris.ROOT,
            provider=agent,
            working_directory=None if directory is None else _directory(directory),
            config=None if config is None else dict(config),
        )
        result: ResolveSessionConfigResult = await self._connection.request("resolveSessionConfig", params)
        return result

    async def config_completions(
        self,
        property: str,  # noqa: A002 - the protocol's word
        query: str | None = None,
        *,
        agent: str | None = None,
        directory: str | Path | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> SessionConfigCompletionsResult:
        """Values an option may have."""
        params = SessionConfigCompletionsParams(
            channel=uris.ROOT,
            property=property,
            query=query,
            provider=agent,
            working_directory=None if directory is None else _directory(directory),
            config=None if config is None else dict(config),
        )
        result: SessionConfigCompletionsResult = await self._connection.request("sessionConfigCompletions", params)
        return result

    async def authenticate(
        self, resource: str, token: str, *, scopes: Sequence[str] | None = None, expires_in: int | None = None
    ) -> None:
        """Give the host a token for a protected resource, again after each break. An empty one takes it back."""
        params = AuthenticateParams(
            channel=uris.ROOT,
            resource=resource,
            token=token,
            scopes=None if scopes is None else tuple(scopes),
            expires_in=expires_in,
        )
        await self._connection.authenticate(params)

    # Anything

    async def read(self, uri: URI) -> ResourceReadResult:
        """Content that the host has under a URI."""
        result: ResourceReadResult = await self._connection.request(
            "resourceRead", ResourceReadParams(channel=uris.ROOT, uri=uri)
        )
        return result

    async def request(self, method: str, params: Any, result: type[T] | None = None) -> Any:
        """Make any request. The result is of the method's type, or `result`, or JSON as it came."""
        answer = await self._connection.request(method, params)
        return answer if result is None else convert(result, answer)

    async def extension(self, method: str, params: JsonObject) -> Any:
        """Make a request beyond the protocol. Raises `Unsupported` if the host has not announced it."""
        if method not in self.extensions:
            raise Unsupported(f"the host at {self.address} cannot do that: it has no {method}")
        return await self._connection.request(method, params)

    async def subscribe(
        self,
        uri: URI,
        *,
        turns: int | None = None,
        max_latency_ms: float | None = None,
        listener: Listener | None = None,
    ) -> Subscription:
        """Follow any channel. `turns` limits how much of a chat's history comes at once.

        `listener` is told of every change from the first state on, until the subscription is closed.
        """
        subscription = Subscription(self._connection, uri, listener)
        try:
            await subscription.open(turns, max_latency_ms)
        except BaseException:
            await subscription.close()
            raise
        return subscription

    def dispatch(self, uri: URI, action: StateAction) -> Receipt:
        """Say any action on any channel, followed or not. Await what is returned to know that it was accepted."""
        return self._connection.dispatch(uri, action)

    async def ping(self) -> float:
        """How long the host takes to answer, in seconds."""
        return await self._connection.ping()

    def events(self) -> Feed[HostEvent]:
        """What the host says, and how we stand with it, from now on. Close what is returned."""
        return self._connection.events.feed()

    async def close(self) -> None:
        """Leave. Sessions go on at the host."""
        for session in tuple(self._sessions.values()):
            if self.status is Status.LIVE:
                await session.close()
        await self._connection.close()


class Connecting:
    """What `connect` returns: `async with` it, or await it and close the host later."""

    def __init__(self, make: Callable[[], Connection]) -> None:
        self._make = make
        self._host: Host | None = None

    def __await__(self) -> Generator[Any, None, Host]:
        return self._open().__await__()

    async def __aenter__(self) -> Host:
        self._host = await self._open()
        return self._host

    async def __aexit__(self, *_: object) -> None:
        assert self._host is not None, "entered"
        await self._host.close()

    async def _open(self) -> Host:
        connection = self._make()
        await connection.open()
        return Host(connection)


def connect(
    target: TargetLike = None,
    *,
    token: str | None = None,
    client_id: str | None = None,
    name: str = "holdfast",
    title: str | None = None,
    data_dir: str | Path | None = None,
    locale: str | None = None,
    versions: Sequence[str] = OFFERED,
    files: Asked | None = None,
    authenticate: Authenticate | None = None,
    retry: Retry | None = None,
    timeout: float = 10.0,
) -> Connecting:
    """Connect to a host, and stay connected.

    `target` is a URL (`ws://…/?tkn=…`), `unix:/path`, `HOST:PORT`, or a command to start and talk to over its stdin
    and stdout; without one, `HOLDFAST_HOST`, and else the host that runs on this machine. `client_id` lets a client
    that comes back as the same one continue. `authenticate` finds tokens the host asks for, `files` answers when it
    asks for files. Raises `NoHost` if nobody answers within `timeout` seconds.
    """
    if timeout <= 0:
        raise UsageError(f"a timeout is a number of seconds above 0, not {timeout!r}")
    found = target_of(
        target,
        token=token,
        data_dir=None if data_dir is None else Path(data_dir),
        environ=local_environment(),
        patience=timeout,
    )
    options = Options(
        client_id=client_id or str(uuid.uuid4()),
        info=Implementation(name=name, version=__version__, title=title),
        versions=tuple(versions),
        locale=locale,
        retry=retry or Retry(),
        asked=files,
        authenticate=authenticate,
    )
    return Connecting(lambda: Connection(found, options))


def _directory(written: str | Path) -> URI:
    """A path of this machine, or a URI as it is."""
    if isinstance(written, str) and _SCHEME.match(written):
        return written
    return uris.file_uri(str(Path(written).expanduser().absolute()))


async def _report(events: Feed[HostEvent], token: str | None, told: Callable[[ProgressParams], None]) -> None:
    async for event in events:
        if isinstance(event, Progress) and event.params.progress_token == token:
            told(event.params)
