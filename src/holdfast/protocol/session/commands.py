"""Commands that create, dispose of and rearrange sessions."""

from __future__ import annotations

from typing import TypeAlias

from holdfast.protocol.codec import OpenUnion, Wire
from holdfast.protocol.common import URI, JsonObject
from holdfast.protocol.params import Params
from holdfast.protocol.session.state import SessionActiveClient

__all__ = [
    "ChatMoveDestination",
    "CreateSessionParams",
    "DisposeSessionParams",
    "MoveChatParams",
    "MoveChatResult",
    "MoveToNewSession",
    "MoveToSession",
]


class CreateSessionParams(Params, frozen=True, kw_only=True):
    """`channel` is the new session's URI, chosen by the caller.

    `fork` left the protocol in 0.9. It is declared so that a host can refuse it instead of ignoring it.
    """

    provider: str | None = None
    working_directories: tuple[URI, ...] | None = None
    config: JsonObject | None = None
    active_client: SessionActiveClient | None = None
    progress_token: str | None = None
    fork: JsonObject | None = None


class DisposeSessionParams(Params, frozen=True, kw_only=True):
    pass


class MoveToSession(Wire, frozen=True, kw_only=True, tag_field="kind", tag="session"):
    """Directly after the chat `after`, or first when that is absent."""

    session: URI
    after: URI | None = None


class MoveToNewSession(Wire, frozen=True, kw_only=True, tag_field="kind", tag="newSession"):
    pass


ChatMoveDestination: TypeAlias = OpenUnion[MoveToSession | MoveToNewSession]


class MoveChatParams(Params, frozen=True, kw_only=True):
    """`channel` is the chat."""

    destination: ChatMoveDestination


class MoveChatResult(Wire, frozen=True, kw_only=True):
    """The session that now owns the chat."""

    session: URI
