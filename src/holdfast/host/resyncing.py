"""Clients whose version has no words for what happened: at a quiet moment they are made to fetch snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from holdfast.host import dialects
from holdfast.host.batch import Emission
from holdfast.host.connection import Connection
from holdfast.host.units import Session
from holdfast.ports.journal import PutClient

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["after", "close_quiet"]

_COME_BACK: Final = 1012
"""WebSocket close code: the service restarts. The client's `reconnect` is answered with snapshots."""


def after(host: Host, emission: Emission) -> None:
    """Remember who cannot be told of what just happened, also across a restart of the host."""
    assert emission.about is not None, "what happens on a channel is known"
    recipients = emission.recipients
    if emission.about.type == dialects.LEGACY:
        emission.recipients = tuple(each for each in recipients if each.bridge is not None)
        return
    for connection in dialects.left_behind(recipients, emission.action, emission.about, emission.channel):
        client = connection.client
        assert client is not None, "only clients follow channels"
        host.batch.assign(client, "resync", True)
        host.batch.write(PutClient(client.record(host.clock.wall())))
        host.batch.put(host.resyncing, connection.id, connection)


def close_quiet(host: Host) -> None:
    """Close those who wait for it and watch nothing that is running."""
    for connection in tuple(host.resyncing.values()):
        if not _watches_a_turn(host, connection):
            host.batch.remove(host.resyncing, connection.id)
            host.close(connection, _COME_BACK, "reconnect: something changed that this version cannot be told")


def _watches_a_turn(host: Host, connection: Connection) -> bool:
    units = (host.channels[uri].unit for uri in connection.subscriptions if uri in host.channels)
    return any(isinstance(unit, Session) and unit.busy for unit in units)
