"""Active clients: who takes part in a session, and what happens when they leave (03-session, section 6).

A client that unsubscribes leaves at once; one whose connection is lost has a grace period to come back in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from holdfast.host import client_tools, sessions
from holdfast.host.connection import Connection
from holdfast.host.units import Channel, Session
from holdfast.ports.journal import PutClient
from holdfast.protocol.common import URI
from holdfast.protocol.session import actions
from holdfast.protocol.session.customizations import PluginCustomization

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["entered", "left", "returned", "start_grace", "subscribed", "unsubscribed", "withdrawn"]

_COME_BACK: Final = 1012
"""WebSocket close code: the service restarts. The client comes back by `reconnect`."""


def _is_active(unit: Session, client_id: str) -> bool:
    return any(client.client_id == client_id for client in unit.session.state.active_clients)


def _sessions_of(host: Host, client_id: str) -> Iterator[Session]:
    """The sessions a client is active in. They never leave memory."""
    return (unit for unit in tuple(host.sessions.values()) if _is_active(unit, client_id))


def _grace(unit: Session, client_id: str) -> tuple[str, URI, str]:
    return ("grace", unit.uri, client_id)


def entered(host: Host, unit: Session, client_id: str) -> None:
    """A client entered itself, or its entry is new."""
    host.timers.cancel(_grace(unit, client_id))


def withdrawn(host: Host, unit: Session, client_id: str) -> None:
    """A client is no longer active: finish its tool calls, take its plugins away."""
    host.timers.cancel(_grace(unit, client_id))
    client_tools.fail(host, unit, client_id)
    for entry in unit.session.state.customizations or ():
        if isinstance(entry, PluginCustomization) and entry.client_id == client_id:
            host.emit(unit.session, actions.CustomizationRemoved(id=entry.id))


def _remove(host: Host, unit: Session, client_id: str) -> None:
    if host.sessions.get(unit.uri) is unit and _is_active(unit, client_id):
        host.emit(unit.session, actions.ActiveClientRemoved(client_id=client_id))
        withdrawn(host, unit, client_id)


def start_grace(host: Host, unit: Session, client_id: str) -> None:
    """The client is away; it may come back for a while."""
    at = host.clock.monotonic() + host.settings.grace
    host.timers.set(_grace(unit, client_id), at, lambda: _remove(host, unit, client_id))


def _follows(connection: Connection, unit: Session) -> bool:
    """Following one of a session's chats counts as presence."""
    return any(channel.uri in connection.subscriptions for channel in unit.channels())


def subscribed(host: Host, connection: Connection, channel: Channel) -> None:
    """A client follows a session again."""
    client = connection.client
    if client is not None and isinstance(channel.unit, Session):
        host.timers.cancel(_grace(channel.unit, client.id))


def unsubscribed(host: Host, connection: Connection, uri: URI) -> None:
    """A client that lets go of a session's channel is no longer active in it."""
    client, unit = connection.client, host.sessions.get(uri)
    if client is not None and unit is not None and connection.current:
        _remove(host, unit, client.id)


def returned(host: Host, connection: Connection) -> None:
    """A client is back. Where it does not follow the session any more, it is not active either.

    After `initialize` it may still subscribe to what it wants, so there the grace period decides.
    """
    client = connection.client
    assert client is not None, "only clients return"
    for unit in _sessions_of(host, client.id):
        if _follows(connection, unit):
            host.timers.cancel(_grace(unit, client.id))
        elif connection.resumed:
            _remove(host, unit, client.id)
        elif _grace(unit, client.id) not in host.timers:
            start_grace(host, unit, client.id)


def left(host: Host, connection: Connection) -> None:
    """A connection is gone."""
    client = connection.client
    if client is None:
        return
    if client.connection is not connection:
        client.superseded = [each for each in client.superseded if each is not connection]
        return
    client.connection = None
    for older in client.superseded:
        # What came last was not the newest: this one is what the client still has, and it hears nothing on it.
        host.close(older, _COME_BACK, "reconnect: a later connection of this client took its place and ended")
    host.forget_recipients()
    host.batch.write(PutClient(client.record(host.clock.wall())))
    for unit in tuple(host.sessions.values()):
        if _is_active(unit, client.id):
            start_grace(host, unit, client.id)
        if unit.provisional and unit.creator == client.id:
            sessions.expire_unless_used(host, unit)
    if not client.tokens:
        host.clients.pop(client.id, None)
