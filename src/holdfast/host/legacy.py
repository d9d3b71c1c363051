"""Requests and choices that only older clients know: what they become in a host that knows 1.0 alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Raw, field

from holdfast.host import lookup, sessions
from holdfast.host.connection import Connection
from holdfast.host.units import Chat, Session
from holdfast.host.verdict import Allowed, Refused, Verdict
from holdfast.ports.journal import CopyTurns, ReadTurns, ShareContents
from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import Wire, decode, encode, to_json
from holdfast.protocol.common import URI, AgentSelection, ModelSelection
from holdfast.protocol.compat import v0_4
from holdfast.protocol.envelope import decode_action
from holdfast.protocol.errors import ErrorCode, InvalidValue, RpcError
from holdfast.protocol.params import Params
from holdfast.protocol.session.commands import CreateSessionParams

if TYPE_CHECKING:
    from holdfast.host.core import Host
    from holdfast.host.dispatch import Dispatched

__all__ = ["CreateParams", "ForkParams", "ReadTurnsParams", "create", "fork", "read_turns", "remembered"]


class _Choice(Wire, frozen=True, kw_only=True):
    model: ModelSelection | None = None
    agent: AgentSelection | None = None


class _Chosen(Wire, frozen=True, kw_only=True):
    legacy: _Choice


class _ModelChanged(Wire, frozen=True, kw_only=True):
    model: ModelSelection


class _AgentChanged(Wire, frozen=True, kw_only=True):
    agent: AgentSelection | None = None


_CHOICES: Final[dict[str, type[Wire]]] = {
    "session/modelChanged": _ModelChanged,
    "session/agentChanged": _AgentChanged,
}


class CreateParams(CreateSessionParams, frozen=True, kw_only=True):
    """A new session for which up to 0.4 a model and an agent could be chosen."""

    chosen: _Chosen | None = field(default=None, name="x-holdfast")


class _ForkSource(Wire, frozen=True, kw_only=True):
    session: URI
    turn_id: str


class ForkParams(CreateParams, frozen=True, kw_only=True):
    """A new session that begins with another's history, as up to 0.8."""

    source: _ForkSource


class ReadTurnsParams(Params, frozen=True, kw_only=True):
    """A page of history as an answer, as up to 0.5.0: the turns before one, the newest without it."""

    before: str | None = None
    limit: int | None = None


def create(host: Host, connection: Connection, request: jsonrpc.Request, params: CreateParams) -> None:
    sessions.create(host, connection, request, params, lambda unit: _choose(host, unit, params))


def _choose(host: Host, unit: Session, params: CreateParams) -> None:
    if params.chosen is not None:
        host.batch.assign(unit, "legacy", to_json(params.chosen.legacy))


def fork(host: Host, connection: Connection, request: jsonrpc.Request, params: ForkParams) -> None:
    """A session whose default chat is a copy of another's, through a completed turn (SEMANTICS 22)."""
    source = lookup.chat(host, params.source.session)
    position = lookup.find_turn(host, source, params.source.turn_id)
    if position is None:
        raise RpcError(ErrorCode.INVALID_PARAMS, "params.fork.turnId: not a completed turn of that session")
    origin = source.unit.session.state
    like = {
        "provider": params.provider or origin.provider,
        "working_directories": params.working_directories or origin.working_directories,
    }

    def furnish(unit: Session) -> None:
        _choose(host, unit, params)
        _copy(host, source, unit.chats[unit.default_chat], position + 1)
        sessions.suggest_title(host, unit, origin.title)

    asked = {name: getattr(params, name) for name in CreateSessionParams.__struct_fields__}
    sessions.create(host, connection, request, CreateSessionParams(**(asked | like)), furnish)


def _copy(host: Host, source: Chat, target: Chat, count: int) -> None:
    host.batch.write(CopyTurns(source.uri, target.uri, count), ShareContents(source.unit.uri, target.unit.uri))
    host.batch.rows.add(target.uri)
    host.batch.assign(target, "turns", count)


_PAGE: Final = 200
"""Turns in one answer where the client names no number."""


def read_turns(host: Host, connection: Connection, request: jsonrpc.Request, params: ReadTurnsParams) -> None:
    """Turns of a chat, oldest first, and whether there are more before them."""
    chat = lookup.chat(host, params.channel)
    before = None
    if params.before is not None:
        before = lookup.find_turn(host, chat, params.before)
        if before is None:
            raise RpcError(ErrorCode.INVALID_PARAMS, "params.before: not a completed turn of this chat")
    limit = max(1, params.limit or _PAGE)
    page = lookup.turns(host, chat, ReadTurns(chat.uri, before, limit, host.settings.frame_budget))
    first = page.turns[0].position if page.turns else 0
    result = {"turns": tuple(Raw(turn.data) for turn in page.turns), "hasMore": first > 0}
    host.reply(connection, request, result)


def remembered(host: Host, sent: Dispatched, unit: Session) -> Verdict:
    """An older client chose a model or an agent for the session: kept for its next messages."""
    action = decode(dict, sent.raw)
    try:
        decode(_CHOICES[action["action"]["type"]], encode(action["action"]))
    except InvalidValue as error:
        return Refused(f"malformed {action['action']['type']}: {error}")
    sent.action = decode_action(sent.raw)
    chosen = v0_4.remember(dict(unit.legacy), action)

    def keep() -> None:
        host.batch.assign(unit, "legacy", chosen)
        host.batch.dirty[unit.uri] = unit

    return Allowed(after=(keep,))
