"""Being connected: connecting, shaking hands, coming back after a break, for as long as somebody wants to.

Requests wait while the connection is away and are made again where that does no harm; actions are shown at once and
said again as `mirror` decides. What it all is to people is in `host`, `session` and `chat`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, TypeAlias

from holdfast.client.backoff import Retry
from holdfast.client.broadcast import Broadcast
from holdfast.client.errors import Gone, Interrupted, Unsupported
from holdfast.client.following import Following, Receipt, Wish
from holdfast.client.mirror import Mirror, Redo, Resumed
from holdfast.client.requests import REPEATABLE
from holdfast.client.status import (
    AuthRequired,
    HostEvent,
    Notified,
    Progress,
    SessionAdded,
    SessionRemoved,
    SessionSummaryChanged,
    Status,
    StatusChanged,
)
from holdfast.client.targets import Target
from holdfast.client.wire import Wire
from holdfast.protocol.codec import to_json
from holdfast.protocol.common import URI, Implementation
from holdfast.protocol.compat.context import Json
from holdfast.protocol.compat.older_host import OlderHost
from holdfast.protocol.connection.commands import (
    AuthenticateParams,
    AuthRequiredParams,
    InitializeParams,
    InitializeResult,
    PingParams,
    ReconnectParams,
    SubscribeParams,
    UnsubscribeParams,
)
from holdfast.protocol.envelope import ActionEnvelope, StateAction
from holdfast.protocol.errors import EnvironmentFailure, ErrorCode, HoldfastError, RpcError
from holdfast.protocol.root import actions as root
from holdfast.protocol.root.commands import (
    ListSessionsParams,
    ProgressParams,
    SessionAddedParams,
    SessionRemovedParams,
    SessionSummaryChangedParams,
)
from holdfast.protocol.uris import ROOT

__all__ = ["OFFERED", "Asked", "Authenticate", "Connection", "Options"]

_log: Final = logging.getLogger(__name__)

# A connection that lasted so long, in seconds, was a good one.
_STEADY: Final = 1.0

# How long what was said last may take to leave when we do, in seconds.
_LAST_WORDS: Final = 2.0

OFFERED: Final = ("1.0.0", "0.10.0", "0.9.0", "0.8.0", "0.7.0", "0.6.0")
"""What a client of ours can speak, the newest first. A host picks one."""

Asked: TypeAlias = Callable[[str, Any], Awaitable[Any]]
"""Answers what the host asks of a client; raises `RpcError` to refuse."""

Authenticate: TypeAlias = Callable[[Any], "Awaitable[str | None]"]
"""Given the metadata of a protected resource, finds a token for it, or None."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a connection is made with."""

    client_id: str
    info: Implementation
    versions: tuple[str, ...] = OFFERED
    locale: str | None = None
    retry: Retry = field(default_factory=Retry)
    asked: Asked | None = None
    authenticate: Authenticate | None = None


class Connection:
    """To one host. `open` it once, `close` it once; in between it keeps itself up."""

    def __init__(self, target: Target, options: Options) -> None:
        self.target = target
        self.options = options
        self.status = Status.CONNECTING
        self.reason = ""
        self.initialized: InitializeResult | None = None
        self.following = Following(options.client_id)
        self.events: Broadcast[HostEvent] = Broadcast()
        self._wire: Wire | None = None
        self._older: OlderHost | None = None
        self._is_live = asyncio.Event()
        self._first: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._unsent: list[Redo] = []
        self._tokens: dict[str, AuthenticateParams] = {}

    @property
    def mirror(self) -> Mirror:
        return self.following.mirror

    # The life of a connection

    async def open(self) -> None:
        """Connect for the first time. Raises `NoHost`, or `RpcError` if no version suits both."""
        self._task = asyncio.create_task(self._keep_up(), name=f"holdfast connection to {self.target.shown}")
        try:
            await asyncio.shield(self._first)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End it, once what was said has left; again is harmless."""
        if self._wire is not None:
            await self._wire.flush(_LAST_WORDS)
        self._over("the connection was closed")
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _over(self, why: str) -> None:
        if self.status is not Status.GONE:
            self._become(Status.GONE, why)
            self._is_live.set()  # whoever waits finds that it is over
            self.following.over(why)
            self.events.end()

    def _become(self, status: Status, reason: str = "") -> None:
        if (status, reason) != (self.status, self.reason):
            self.status, self.reason = status, reason
            self.events.put(StatusChanged(status, reason))

    async def _keep_up(self) -> None:
        try:
            await self._keep_connected()
        except Exception as error:  # noqa: BLE001 - the boundary of a task nobody awaits while it lasts
            _log.exception("the connection to %s failed", self.target.shown)
            self._gave_up(error)
            self._over(f"internal error: {error!r}")

    async def _keep_connected(self) -> None:
        failed = 0
        while True:
            began = time.monotonic()
            try:
                why = await self._connected()
                # A host that lets us in and drops us at once is no better than one that does not answer.
                failed = 0 if time.monotonic() - began >= _STEADY else failed + 1
            except (EnvironmentFailure, Interrupted) as error:
                failed += 1
                why = str(error)
                if self._gave_up(error):
                    return
            except HoldfastError as error:
                self._gave_up(error)
                self._over(str(error))
                return
            wait = self.options.retry.wait(failed)
            if wait is None:
                self._over(why)
                return
            self._become(Status.CONNECTING, why)
            await asyncio.sleep(wait)

    def _gave_up(self, error: Exception) -> bool:
        """The first attempt is reported to whoever made it; after that we are patient."""
        if self._first.done():
            return False
        self._first.set_exception(error)
        self._first.exception()
        return True

    async def _connected(self) -> str:
        """Connect once and stay for as long as it lasts; why it ended is returned."""
        transport = await self.target.dial()
        wire = Wire(transport, self)
        reader = asyncio.create_task(wire.run())
        try:
            await self._shake_hands(wire)
            if not self._first.done():
                self._first.set_result(None)
            return await reader
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
            await transport.close()  # also if the reader had no time to begin

    async def _shake_hands(self, wire: Wire) -> None:
        if self.initialized is not None:
            self._become(Status.CATCHING_UP)
            try:
                await self._come_back(wire)
                return
            except RpcError as error:
                if error.code != ErrorCode.NOT_FOUND:
                    raise Interrupted(f"the host does not let us continue: {error.message}") from error
        await self._begin(wire)

    async def _begin(self, wire: Wire) -> None:
        params = InitializeParams(
            channel=ROOT,
            protocol_versions=self.options.versions,
            client_id=self.options.client_id,
            client_info=self.options.info,
            initial_subscriptions=(ROOT, *(uri for uri in self.mirror.channels if uri != ROOT)),
            locale=self.options.locale,
        )
        if ROOT not in self.mirror.channels:
            self.mirror.follow(ROOT)
            self.following.wishes[ROOT] = Wish(None, None)
        await wire.request("initialize", params, lambda result: self._begun(wire, result))

    def _begun(self, wire: Wire, result: InitializeResult) -> None:
        self.initialized = result
        self._resume(wire, self.mirror.begin(result.server_seq, result.snapshots))

    async def _come_back(self, wire: Wire) -> None:
        assert self.initialized is not None, "we were here before"
        wire.speak(self._older)
        wanted = (*self.mirror.resumable(), *self.following.stateless)
        params = ReconnectParams(
            channel=ROOT,
            client_id=self.options.client_id,
            last_seen_server_seq=self.mirror.last_seen,
            subscriptions=wanted,
        )

        def take(result: Any) -> None:
            for uri in wanted:
                if uri not in self.mirror.channels:
                    wire.notify("unsubscribe", UnsubscribeParams(channel=uri))  # it was released meanwhile
            self._resume(wire, self.mirror.resume(result))

        await wire.request("reconnect", params, take)

    def _resume(self, wire: Wire, resumed: Resumed) -> None:
        """Take what the host says of the time before; what waited is said before anything new."""
        self._wire, self._older = wire, wire.older
        for params in tuple(self._tokens.values()):
            wire.request("authenticate", params).add_done_callback(_look_away)
        unsent, self._unsent = self._unsent, []
        for redo in sorted((*unsent, *resumed.again), key=attrgetter("before")):
            self._say(wire, redo.channel, redo.client_seq, redo.action)
        self.following.resumed(resumed)
        self._is_live.set()
        self._become(Status.LIVE)

    # Requests

    async def request(self, method: str, params: Any, take: Callable[[Any], None] | None = None) -> Any:
        """Make a request and return its result, waiting while the connection is away.

        `take` is given the result before anything that arrives after it. Raises `RpcError`, `Gone` once it is over,
        `Interrupted` where making it again might do it twice.
        """
        was_interrupted = False
        while True:
            wire = await self._whoever_is_there()
            try:
                return await wire.request(method, params, take)
            except Interrupted:
                if method not in REPEATABLE:
                    raise
                was_interrupted = True
            except RpcError as error:
                if was_interrupted and error.code in REPEATABLE[method]:
                    return None
                if not await self._found_token(error):
                    raise

    async def _whoever_is_there(self) -> Wire:
        while True:
            await self._is_live.wait()
            if self.status is Status.GONE:
                raise Gone(self.reason)
            if self._wire is not None:
                return self._wire

    def notify(self, method: str, params: Any) -> None:
        """Send a notification, if somebody is there."""
        if self._wire is not None:
            self._wire.notify(method, params)

    # Tokens

    async def authenticate(self, params: AuthenticateParams) -> None:
        """Give the host a token, now and after each break; an empty one takes it back. Kept in memory only."""
        await self.request("authenticate", params)
        if params.token:
            self._tokens[params.resource] = params
        else:
            self._tokens.pop(params.resource, None)

    async def _found_token(self, error: RpcError) -> bool:
        """Whether what a request failed for want of was given to the host just now."""
        ask = self.options.authenticate
        resources = (error.data or {}).get("resources") if error.code == ErrorCode.AUTH_REQUIRED else None
        if ask is None or not resources:
            return False
        for each in resources:
            token = await ask(each)
            known = self._tokens.get(each["resource"])
            if not token or (known is not None and known.token == token):
                return False
            await self.authenticate(AuthenticateParams(channel=ROOT, resource=each["resource"], token=token))
        return True

    # Following

    async def hold(self, uri: URI, turns: int | None = None, max_latency_ms: float | None = None) -> Wish:
        """Follow a channel, until it is released as often as it was held. Raises `RpcError` if it is not there."""
        wish = self.following.wishes.get(uri)
        if wish is None:
            wish = self.following.wishes[uri] = Wish(turns, max_latency_ms)
        wish.holders += 1
        channel = self.mirror.follow(uri)
        if channel.is_known:
            return wish
        params = SubscribeParams(channel=uri, view=wish.view, delivery=wish.delivery)

        def take(result: Any) -> None:
            if result.snapshot is None:
                self.following.stateless.add(uri)
            else:
                self.following.changed(self.mirror.snapshot(result.snapshot))

        try:
            await self.request("subscribe", params, take)
        except BaseException:
            self.release(uri, wish)
            raise
        return wish

    def release(self, uri: URI, wish: Wish) -> None:
        """Undo one `hold`. A channel that is gone was released with that, even if another came in its place."""
        if self.following.wishes.get(uri) is not wish:
            return
        wish.holders -= 1
        if wish.holders <= 0 and uri != ROOT:
            self.following.forget(uri)
            self.notify("unsubscribe", UnsubscribeParams(channel=uri))

    # Actions

    def dispatch(self, uri: URI, action: StateAction) -> Receipt:
        """Say an action, and show it at once where the channel is followed."""
        if self.status is Status.GONE:
            raise Gone(self.reason)
        wire = self._wire
        if wire is not None:
            return self.following.dispatch(uri, action, lambda number: self._say(wire, uri, number, action))
        receipt = self.following.dispatch(uri, action, None)
        if uri not in self.mirror.channels:
            self._unsent.append(Redo(uri, action, receipt.client_seq, receipt.client_seq))
        return receipt

    def _say(self, wire: Wire, uri: URI, client_seq: int, action: StateAction) -> None:
        if not wire.dispatch(uri, client_seq, action):
            self.following.unsaid(uri, client_seq, Unsupported("this host speaks a version that has no such action"))
        elif uri not in self.mirror.channels or isinstance(action, root.ConfigChanged):
            self._expect_no_echo(wire, uri, client_seq)

    def _expect_no_echo(self, wire: Wire, uri: URI, client_seq: int) -> None:
        """Whoever does not follow a channel hears only refusals: ask something else, and see which comes first."""
        answer = wire.request("listSessions", ListSessionsParams(channel=ROOT, limit=1))
        answer.add_done_callback(lambda done: self._heard_nothing(uri, client_seq, done))

    def _heard_nothing(self, uri: URI, client_seq: int, answer: asyncio.Future[Any]) -> None:
        error = None if answer.cancelled() else answer.exception()
        if isinstance(error, Interrupted):
            if uri not in self.mirror.channels:
                self.following.fail(client_seq, error)
            # Otherwise it is pending, and seen to when we come back.
        else:
            self.following.assume_accepted(uri, client_seq)  # an error is an answer, too

    # What the host says (`wire.Owner`)

    def ended(self) -> None:
        self._wire = None
        if self.status is not Status.GONE:
            self._is_live.clear()

    def envelopes(self, envelopes: Sequence[ActionEnvelope]) -> None:
        self.following.envelopes(envelopes)

    def notified(self, method: str, params: Any) -> None:
        match params:
            case SessionAddedParams():
                self.events.put(SessionAdded(params.summary))
            case SessionRemovedParams():
                self.following.removed(params.session)
                self.events.put(SessionRemoved(params.session))
            case SessionSummaryChangedParams():
                self.events.put(SessionSummaryChanged(params.session, params.changes))
            case ProgressParams():
                self.events.put(Progress(params))
            case AuthRequiredParams():
                self._tokens.pop(params.resource.resource, None)
                self.events.put(AuthRequired(params))
            case _:
                self.events.put(Notified(method, params))

    async def asked(self, method: str, params: Any) -> Any:
        if self.options.asked is None:
            raise RpcError(ErrorCode.METHOD_NOT_FOUND, "this client has no files")
        return await self.options.asked(method, params)

    def skipped(self, server_seq: int) -> None:
        self.mirror.saw(server_seq)

    def state(self, uri: URI) -> Json | None:
        channel = self.mirror.channels.get(uri)
        return None if channel is None or channel.confirmed is None else to_json(channel.confirmed)

    def kind(self, uri: URI) -> str:
        channel = self.mirror.channels.get(uri)
        return "" if channel is None else channel.kind

    async def ping(self) -> float:
        """How long the host takes to answer, in seconds."""
        before = time.monotonic()
        await self.request("ping", PingParams(channel=ROOT))
        return time.monotonic() - before


def _look_away(answer: asyncio.Future[Any]) -> None:
    """A token may have become bad meanwhile: `auth/required` says so where it matters."""
    if not answer.cancelled():
        answer.exception()
