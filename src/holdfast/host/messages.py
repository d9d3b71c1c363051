"""A message from a client: told apart, decoded, and given to whoever answers it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from holdfast.host import (
    chats,
    content,
    dialects,
    dispatch,
    extending,
    handshake,
    legacy,
    moving,
    queries,
    sealing,
    sessions,
    subscriptions,
)
from holdfast.host.connection import Connection
from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import decode
from holdfast.protocol.errors import ErrorCode, HoldfastError, InvalidMessage, InvalidValue, RpcError
from holdfast.protocol.extensions import EXTENSIONS
from holdfast.protocol.methods import NOTIFICATIONS, REQUESTS
from holdfast.protocol.uris import is_root

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = ["METHODS", "handle"]

logger: Final = logging.getLogger(__name__)

Answer = Callable[["Host", Connection, jsonrpc.Request, Any], None]
"""Answers a request, now or later. May raise, before it changes anything."""

METHODS: Final[dict[str, Answer]] = {
    "initialize": handshake.initialize,
    "reconnect": handshake.reconnect,
    "ping": handshake.ping,
    "subscribe": subscriptions.subscribe,
    "authenticate": queries.authenticate,
    "listSessions": queries.list_sessions,
    "resolveSessionConfig": queries.resolve_session_config,
    "sessionConfigCompletions": queries.session_config_completions,
    "completions": queries.completions,
    "createSession": sessions.create,
    "disposeSession": sessions.dispose,
    "createChat": chats.create,
    "disposeChat": chats.dispose,
    "moveChat": moving.move,
    "fetchTurns": subscriptions.fetch_turns,
    "resourceRead": content.read,
    "resourceResolve": content.resolve,
}
"""Every request this host answers. Others of the protocol get `METHOD_NOT_FOUND`."""

_FOR_OLDER: Final[dict[str, tuple[Any, Answer]]] = {
    "createSession": (legacy.CreateParams, legacy.create),
    "x-holdfast/forkSession": (legacy.ForkParams, legacy.fork),
    "x-holdfast/readTurns": (legacy.ReadTurnsParams, legacy.read_turns),
}
"""What requests of older versions become where 1.0 has nothing that does the same."""

# May come before the handshake.
_ALWAYS: Final = frozenset({"initialize", "reconnect", "ping"})


def handle(host: Host, connection: Connection, data: bytes) -> None:
    """Do what a message says. Whatever is wrong with it gets an error, and the connection lives on."""
    try:
        message = jsonrpc.parse(data)
    except InvalidMessage as error:
        host.fail(connection, error.id, "", error)
        return
    match message:
        case jsonrpc.Request():
            _request(host, connection, message)
        case jsonrpc.Notification():
            _notification(host, connection, message)
        case jsonrpc.Success() | jsonrpc.Failure():
            logger.debug("%s answered a request this host did not make", connection)


def _request(host: Host, connection: Connection, request: jsonrpc.Request) -> None:
    host.on_crash(lambda: host.fail(connection, request.id, request.method, sealing.unexpected()))
    try:
        known = dialects.lifted_request(host, connection, request)
        answer, params = _prepare(connection, known)
        answer(host, connection, known, params)
    except HoldfastError as error:
        host.fail(connection, request.id, request.method, error)


def _prepare(connection: Connection, request: jsonrpc.Request) -> tuple[Answer, Any]:
    """Find who answers, and decode the params."""
    method = request.method
    if connection.bridge is not None and method in _FOR_OLDER:
        params_type, answer = _FOR_OLDER[method]
        at_root = False
    elif method in extending.offered(connection):
        answer = extending.METHODS[method]
        params_type, at_root = EXTENSIONS[method].params, EXTENSIONS[method].root
    elif method in METHODS:
        answer = METHODS[method]
        params_type, at_root = REQUESTS[method].params, REQUESTS[method].root
    else:
        raise RpcError(ErrorCode.METHOD_NOT_FOUND, f"this host has no method {method[:100]!r}")
    if not connection.ready and method not in _ALWAYS:
        raise RpcError(ErrorCode.INVALID_REQUEST, f"{method} before initialize or reconnect")
    params = _decoded(params_type, request.params)
    if at_root and params.channel is not None and not is_root(params.channel):
        raise RpcError(ErrorCode.INVALID_PARAMS, f"{method} goes to ahp-root://, not to {params.channel[:200]!r}")
    return answer, params


def _decoded(params_type: Any, raw: Any) -> Any:
    try:
        return decode(params_type, bytes(raw))
    except InvalidValue as error:
        raise InvalidValue("params" + error.path.removeprefix("$"), error.expected, error.got) from None


def _notification(host: Host, connection: Connection, notification: jsonrpc.Notification) -> None:
    """Nothing that is wrong with a notification is answered."""
    if not connection.ready or notification.method not in NOTIFICATIONS:
        logger.debug("%s sent %r, which means nothing here", connection, notification.method[:100])
        return
    try:
        raw = bytes(notification.params)
        if connection.bridge is not None:
            raw = dialects.lifted_params(connection.bridge, notification.method, raw)
        if notification.method == "dispatchAction":
            dispatch.dispatch(host, connection, raw)
        elif notification.method == "unsubscribe":
            params = _decoded(NOTIFICATIONS["unsubscribe"].params, raw)
            subscriptions.unsubscribe(host, connection, params)
    except (InvalidValue, RpcError) as error:
        logger.debug("%s: %s: %s", connection, notification.method, error)
