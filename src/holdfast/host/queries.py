"""Commands that ask and change nothing in any session: lists, options, completions, tokens (01, 02, 04-chat 12.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw

from holdfast.host import lookup, outgoing, paging, sessions, turns
from holdfast.host.connection import Connection, Token
from holdfast.host.units import Chat
from holdfast.ports.agent import (
    CheckToken,
    CompleteConfig,
    CompleteInput,
    ResolveConfig,
    TokenGiven,
    UnknownProperty,
)
from holdfast.ports.journal import ListSessions, SessionPage
from holdfast.protocol import jsonrpc
from holdfast.protocol.chat import actions as chat_actions
from holdfast.protocol.chat.commands import CompletionsParams, CompletionsResult
from holdfast.protocol.chat.parts import ToolCallResponsePart
from holdfast.protocol.chat.tools import ToolCallAuthRequiredState
from holdfast.protocol.codec import encode
from holdfast.protocol.common import ProtectedResourceMetadata, SafeInt
from holdfast.protocol.connection.commands import (
    AuthenticateParams,
    AuthRequiredParams,
    AuthRequiredReason,
)
from holdfast.protocol.errors import ErrorCode, RpcError
from holdfast.protocol.root.commands import (
    ListSessionsParams,
    ResolveSessionConfigParams,
    ResolveSessionConfigResult,
    SessionConfigCompletionsParams,
    SessionConfigCompletionsResult,
)
from holdfast.protocol.uris import ROOT

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = [
    "authenticate",
    "completions",
    "list_sessions",
    "resolve_session_config",
    "session_config_completions",
]


# The catalogue


def list_sessions(host: Host, connection: Connection, request: jsonrpc.Request, params: ListSessionsParams) -> None:
    """A page of sessions, most recently modified first."""
    after = None if params.cursor is None else paging.key(params.cursor, tuple[str, SafeInt])
    limit = paging.limit(host, params.limit)
    page: SessionPage = host.ask(ListSessions(after, limit, host.settings.frame_budget))
    result: dict[str, Any] = {"items": tuple(Raw(summary) for summary in page.summaries)}
    if page.next is not None:
        result["nextCursor"] = paging.cursor(page.next)
    host.reply(connection, request, result)


# What agents answer


def resolve_session_config(
    host: Host, connection: Connection, request: jsonrpc.Request, params: ResolveSessionConfigParams
) -> None:
    agent = sessions.agent_for(host, params.provider)
    values = encode(params.config or {}).decode()
    resolved = host.ask(ResolveConfig(agent.provider, params.working_directory, values))
    host.reply(connection, request, ResolveSessionConfigResult(schema=resolved.schema, values=resolved.values))


def session_config_completions(
    host: Host, connection: Connection, request: jsonrpc.Request, params: SessionConfigCompletionsParams
) -> None:
    agent = sessions.agent_for(host, params.provider)
    values = encode(params.config or {}).decode()
    need = CompleteConfig(agent.provider, params.working_directory, values, params.property, params.query or "")
    items = host.ask(need)
    if isinstance(items, UnknownProperty):
        raise RpcError(ErrorCode.INVALID_PARAMS, f"params.property: there is no option {params.property[:100]!r}")
    host.reply(connection, request, SessionConfigCompletionsResult(items=items))


def completions(host: Host, connection: Connection, request: jsonrpc.Request, params: CompletionsParams) -> None:
    """What could be typed here. The offset counts UTF-16 code units."""
    chat = lookup.chat(host, params.channel)
    length = len(params.text.encode("utf-16-le")) // 2
    if not 0 <= params.offset <= length:
        raise RpcError(ErrorCode.INVALID_PARAMS, f"params.offset: outside the text, which has {length} units")
    if not params.kind.is_known:
        host.reply(connection, request, CompletionsResult(items=()))
        return
    provider = chat.unit.session.state.provider
    need = CompleteInput(provider, chat.unit.uri, chat.uri, params.text, params.offset)
    host.reply(connection, request, CompletionsResult(items=host.ask(need)))


# Tokens


def authenticate(host: Host, connection: Connection, request: jsonrpc.Request, params: AuthenticateParams) -> None:
    """Take a token for a resource this host announced; an empty one takes it back."""
    client = connection.client
    assert client is not None, "only clients authenticate"
    announced = _announced(host, params.resource)
    if announced is None:
        raise RpcError(ErrorCode.INVALID_PARAMS, "params.resource: this host announced no such resource")
    provider, resource = announced
    if not params.token:
        _revoke(host, connection, resource, AuthRequiredReason.REQUIRED)
        host.reply(connection, request, {})
        return
    if params.expires_in is not None and params.expires_in <= 0:
        raise RpcError(ErrorCode.INVALID_PARAMS, "params.expiresIn: seconds still to go")
    good = host.ask(CheckToken(provider, params.resource, params.token, params.scopes or ()))
    if not good:
        data = {"resources": (resource,)}
        raise RpcError(ErrorCode.AUTH_REQUIRED, "this token was not accepted", data)
    host.batch.put(client.tokens, params.resource, Token(params.token))
    _watch_expiry(host, connection, resource, params.expires_in)
    _release_calls(host, params.resource)
    host.reply(connection, request, {})


def _announced(host: Host, resource: str) -> tuple[str, ProtectedResourceMetadata] | None:
    """Who announced a resource: an agent, or a tool call that waits for it."""
    for agent in host.agents.values():
        for found in agent.protected_resources or ():
            if found.resource == resource:
                return agent.provider, found
    for chat, call in _waiting_calls(host):
        if call.auth.resource.resource == resource:
            return chat.unit.session.state.provider, call.auth.resource
    return None


def _waiting_calls(host: Host) -> Iterator[tuple[Chat, ToolCallAuthRequiredState]]:
    """Tool calls that wait for a token. Their turns are running, so they are in memory."""
    for unit in host.sessions.values():
        for chat in unit.chats.values():
            turn = chat.state.active_turn
            for part in turn.response_parts if turn else ():
                if isinstance(part, ToolCallResponsePart) and isinstance(part.tool_call, ToolCallAuthRequiredState):
                    yield chat, part.tool_call


def _release_calls(host: Host, resource: str) -> None:
    for chat, call in tuple(_waiting_calls(host)):
        turn = chat.state.active_turn
        if turn is not None and call.auth.resource.resource == resource:
            action = chat_actions.ToolCallAuthResolved(turn_id=turn.id, tool_call_id=call.tool_call_id)
            host.emit(chat, action)
            turns.deliver(host, chat, TokenGiven(call.tool_call_id))


_SECOND: Final = 1000


def _watch_expiry(
    host: Host, connection: Connection, resource: ProtectedResourceMetadata, expires_in: int | None
) -> None:
    client = connection.client
    assert client is not None, "only clients have tokens"
    name = ("token", client.id, resource.resource)
    host.timers.cancel(name)
    if expires_in is not None:
        at = host.clock.monotonic() + expires_in * _SECOND

        def expire() -> None:
            if client.connection is not None:
                _revoke(host, client.connection, resource, AuthRequiredReason.EXPIRED)
            else:
                client.tokens.pop(resource.resource, None)

        host.timers.set(name, at, expire)


def _revoke(
    host: Host, connection: Connection, resource: ProtectedResourceMetadata, reason: AuthRequiredReason
) -> None:
    """A token is good no longer: say what is needed again."""
    client = connection.client
    assert client is not None, "only clients have tokens"
    host.timers.cancel(("token", client.id, resource.resource))
    if resource.resource in client.tokens:
        host.batch.remove(client.tokens, resource.resource)
        params = AuthRequiredParams(channel=ROOT, resource=resource, reason=reason)
        host.note((connection,), outgoing.notification("auth/required", params))
