"""`holdfast serve`, from the data directory to the last closed connection.

    lock → token → journal → house → doors → "ready" → … → signal → drain → close

Everything is opened in this order and closed in the opposite one, also when something on the way fails.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import ssl
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

from holdfast import __version__
from holdfast.agents.port import Agent
from holdfast.agents.scripted import demo, demo_auth
from holdfast.journal.sqlite import SqliteJournal
from holdfast.places import journal_file, token_file
from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server import dirs, logs
from holdfast.server.environment import SystemClock, Uuid7Ids
from holdfast.server.gate import Gate
from holdfast.server.gauges import watch_host, watch_listener
from holdfast.server.house import House, journal_settings
from holdfast.server.limits import Limits
from holdfast.server.listener import Listener
from holdfast.server.lock import AlreadyRunning, Lock
from holdfast.server.pipe import pipe
from holdfast.server.settings import Settings
from holdfast.server.stdio import StdioLink, claim_stdio
from holdfast.server.tls import server_context
from holdfast.server.token import TokenFile

__all__ = ["serve", "serve_stdio"]

_log: Final = logs.logger("holdfast.serve")

_GOING_AWAY: Final = 1001
"""WebSocket close code: the host stops. Clients come back by `reconnect`."""

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_WILDCARDS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - an address to compare with
"""Who listens everywhere can be reached here."""


async def serve(settings: Settings, ready: Callable[[str], None]) -> None:
    """Run a host until a signal ends it. `ready` is told the URL, with the token in it, once clients may come.

    Raises `EnvironmentFailure` if it cannot run, `AlreadyRunning` if another one owns the data directory.
    """
    dirs.prepare_data_dir(settings.data_dir)
    async with AsyncExitStack() as stack:
        lock = stack.enter_context(Lock(settings.data_dir, started=_now(), log=settings.log_file))
        token = None if settings.no_token else TokenFile(token_file(settings.data_dir))
        secret = token.load_or_create() if token else None
        context = (
            server_context(settings.tls_cert, settings.tls_key) if settings.tls_cert and settings.tls_key else None
        )
        house = _house(settings, stack)
        gate = Gate(
            is_token=token.is_token if token else None,
            allowed_hosts=settings.hosts,
            allowed_origins=settings.allowed_origins,
            metrics=house.metrics.text,
        )
        stopping = stack.enter_context(_until_signal())
        await stack.enter_async_context(house.running())
        _collect_from_here()
        listener = await stack.enter_async_context(
            Listener(gate, house.hub, _limits(settings), compression=settings.compression)
        )
        watch_listener(house.metrics, listener)
        port = await listener.tcp(settings.listen, settings.port, context)
        address = _address(settings, port, context)
        lock.publish(address, settings.unix_socket if _open_socket(settings, listener) else None)
        _log.info("listening", version=__version__, address=address, data_dir=str(settings.data_dir), pid=os.getpid())
        ready(address + (f"?tkn={quote(secret)}" if secret else ""))
        await _wait(house, stopping)
        await listener.stop_accepting()
        await house.drain(settings.drain_timeout)
        await listener.close(_GOING_AWAY, "the host stops")


async def serve_stdio(settings: Settings) -> None:
    """Run a host for the client at stdin and stdout, and for those who find its socket, as long as one is there.

    If a host owns the data directory already, the client is connected to that one.
    """
    dirs.prepare_data_dir(settings.data_dir)
    limits = _limits(settings)
    async with AsyncExitStack() as stack:
        try:
            lock = stack.enter_context(Lock(settings.data_dir, started=_now(), log=settings.log_file))
        except AlreadyRunning as running:
            if running.host is None or running.host.socket is None:
                raise
            why = await pipe(Path(running.host.socket), *claim_stdio(), limits)
            if why is not None:
                raise EnvironmentFailure(f"the host that this was connected to is gone: {why}") from None
            return
        house = _house(settings, stack)
        stopping = stack.enter_context(_until_signal())
        await stack.enter_async_context(house.running())
        _collect_from_here()
        gate = Gate(is_token=None, metrics=house.metrics.text)
        listener = await stack.enter_async_context(Listener(gate, house.hub, limits))
        watch_listener(house.metrics, listener)
        lock.publish(None, settings.unix_socket if _open_socket(settings, listener) else None)
        link = StdioLink(house.hub, limits, *claim_stdio())
        link.start()
        leaving = asyncio.create_task(_until_empty(link, listener))
        try:
            await _wait(house, stopping, leaving)
        finally:
            leaving.cancel()
        await listener.stop_accepting()
        await house.drain(settings.drain_timeout)
        link.close(_GOING_AWAY, "the host stops")
        await link.wait_closed()
        await listener.close(_GOING_AWAY, "the host stops")


# The parts


def _house(settings: Settings, stack: AsyncExitStack) -> House:
    """The host on its journal. The journal is closed with the stack."""
    clock = SystemClock()
    journal = SqliteJournal(journal_file(settings.data_dir), journal_settings(settings))
    stack.callback(journal.close)
    opening = journal.open(clock.wall())
    agents: list[Agent] = [demo()]
    if settings.demo_auth:
        agents.append(demo_auth())
    house = House(journal, opening, agents, settings, clock, Uuid7Ids())
    watch_host(house.metrics, house)
    return house


def _limits(settings: Settings) -> Limits:
    return Limits(max_message=settings.max_message)


def _open_socket(settings: Settings, listener: Listener) -> bool:
    """Listen on the unix socket. Where it is nobody's wish, a host runs without it if it has to."""
    if settings.unix_socket is None:
        return False
    try:
        listener.unix(settings.unix_socket)
    except EnvironmentFailure as error:
        if settings.origins.get("unix_socket", "default") != "default":
            raise
        _log.warning("there is no unix socket", why=str(error))
        return False
    return True


def _address(settings: Settings, port: int, context: ssl.SSLContext | None) -> str:
    host = _WILDCARDS.get(settings.listen, settings.listen)
    return f"{'wss' if context else 'ws'}://{f'[{host}]' if ':' in host else host}:{port}/"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _collect_from_here() -> None:
    """What was loaded so far stays for good: the collector begins with what comes now."""
    gc.freeze()
    gc.enable()


# The end


@contextmanager
def _until_signal() -> Iterator[asyncio.Event]:
    """An event that a signal sets. Signals are the system's again afterwards: a second one ends us at once."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()

    def stop(number: signal.Signals) -> None:
        _log.info("stopping", signal=number.name)
        stopping.set()
        restore()

    def restore() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        yield stopping
    finally:
        restore()


async def _until_empty(link: StdioLink, listener: Listener) -> None:
    """Wait until the client at stdin has left, and everybody who came by the socket."""
    await link.wait_closed()
    await listener.empty()


async def _wait(house: House, stopping: asyncio.Event, *others: asyncio.Task[None]) -> None:
    """Wait for a reason to stop. A host that broke raises what broke it."""
    stopped = asyncio.create_task(_set(stopping))
    reasons: list[asyncio.Future[None]] = [stopped, house.hub.broken, *others]
    try:
        await asyncio.wait(reasons, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
    if house.hub.broken.done():
        house.hub.broken.result()


async def _set(event: asyncio.Event) -> None:
    await event.wait()
