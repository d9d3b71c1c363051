"""The beginning of a connection: a new client, or one that comes back (01-wire, sections 9, 12, 17)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from holdfast import __version__
from holdfast.host import dialects, extending, presence, replay, subscriptions
from holdfast.host.connection import Client, Connection
from holdfast.ports.journal import ClearDispatches, FindClient, PutClient
from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import decode
from holdfast.protocol.common import Implementation
from holdfast.protocol.compat.bridge import Bridge, bridge_for
from holdfast.protocol.connection.commands import (
    InitializeParams,
    InitializeResult,
    PingParams,
    ReconnectParams,
)
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.extensions import announcement
from holdfast.protocol.uris import is_root
from holdfast.protocol.versions import negotiate

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["initialize", "ping", "reconnect"]

SERVER_INFO: Final = Implementation(name="holdfast", version=__version__, title="Holdfast")

TRIGGERS: Final = ("/", "@")
"""Typing one of these should ask for completions."""

_UNSUPPORTED: Final = 1002
"""WebSocket close code after a version nobody here speaks: protocol error."""


def ping(host: Host, connection: Connection, request: jsonrpc.Request, params: PingParams) -> None:  # noqa: ARG001
    """Answered at any time."""
    host.reply(connection, request, None, independent=True)


def _check_new(connection: Connection, client_id: str) -> None:
    if connection.ready:
        raise RpcError(ErrorCode.INVALID_REQUEST, "this connection is initialized already")
    if not client_id:
        raise RpcError(ErrorCode.INVALID_PARAMS, "params.clientId: an empty id is no identity")


def initialize(host: Host, connection: Connection, request: jsonrpc.Request, params: InitializeParams) -> None:
    """A client begins. One that was known starts over: nothing of its former life is replayed."""
    _check_new(connection, params.client_id)
    try:
        version = negotiate(params.protocol_versions)
    except RpcError as error:
        host.fail(connection, request.id, request.method, error)
        if error.code == ErrorCode.UNSUPPORTED_PROTOCOL_VERSION:
            host.close(connection, _UNSUPPORTED, "no common protocol version")
        return
    bridge = bridge_for(version)
    if bridge is not None:
        params = decode(InitializeParams, dialects.lifted_handshake(bridge, "initialize", request.params))
    wanted = tuple(dict.fromkeys(params.initial_subscriptions or ()))
    found = subscriptions.prepare(host, wanted, bridge)
    connection.name = params.client_info.name if params.client_info else None
    client = host.clients.get(params.client_id)
    if client is None:
        client = Client(params.client_id, version)
        host.clients[params.client_id] = client
    client.version = version
    client.resync = False
    client.dispatched = set()
    host.batch.write(ClearDispatches(client.id))
    _begin(host, connection, client, bridge)
    for prepared in found:
        subscriptions.arm(host, connection, prepared)
    presence.returned(host, connection)

    def result(seq: int, snapshots: tuple[Any, ...]) -> InitializeResult:
        return InitializeResult(
            protocol_version=version,
            server_seq=seq,
            snapshots=snapshots,
            server_info=SERVER_INFO,
            default_directory=host.settings.default_directory,
            completion_trigger_characters=TRIGGERS,
            meta=announcement(__version__, extending.offered(connection)),
        )

    host.reply(connection, request, lambda seq: subscriptions.told(found, seq, result))


def _begin(host: Host, connection: Connection, client: Client, bridge: Bridge | None) -> None:
    """From now on this connection is the one its client is reached by."""
    connection.client = client
    connection.bridge = bridge
    if bridge is not None:
        host.bridged.add(connection.id)
    if client.connection is not None:
        client.superseded.append(client.connection)
    client.connection = connection
    host.forget_recipients()
    host.batch.write(PutClient(client.record(host.clock.wall())))


def reconnect(host: Host, connection: Connection, request: jsonrpc.Request, params: ReconnectParams) -> None:
    """A client comes back: everything it missed, or fresh snapshots if that is not to be had."""
    _check_new(connection, params.client_id)
    client = host.clients.get(params.client_id)
    if client is None:
        record = host.ask(FindClient(params.client_id))
        if record is None:
            raise RpcError(ErrorCode.NOT_FOUND, "this client is not known here; initialize instead")
        client = Client(record.client_id, record.version, record.resync)
    bridge = bridge_for(client.version)
    if bridge is not None:
        params = decode(ReconnectParams, dialects.lifted_handshake(bridge, "reconnect", request.params))
    answer = replay.prepare(host, params, bridge, from_snapshots=client.resync)
    host.clients[client.id] = client
    client.resync = False
    _begin(host, connection, client, bridge)
    for uri in params.subscriptions:
        if is_root(uri):
            subscriptions.spell_root(connection, uri)
    answer.arm(host, connection)
    connection.resumed = True
    presence.returned(host, connection)
    host.reply(connection, request, answer.result)
