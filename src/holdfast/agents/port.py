"""What an agent has to be: how it introduces itself, answers questions, and runs turns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from holdfast.agents.turn import TurnContext
from holdfast.ports.agent import ConfigChanged, OpenSession, Progress, ResolvedConfig
from holdfast.protocol.chat.commands import CompletionItem
from holdfast.protocol.common import URI, ErrorInfo, JsonObject
from holdfast.protocol.root.commands import SessionConfigValueItem
from holdfast.protocol.root.state import AgentInfo
from holdfast.protocol.session.state import SessionConfigSchema

__all__ = ["Agent", "AgentFailed", "ReportProgress"]

ReportProgress = Callable[[Progress], Awaitable[None]]


class AgentFailed(Exception):
    """The agent cannot go on. `resumable`: the same turn may be continued later."""

    def __init__(self, error: ErrorInfo, *, resumable: bool = False) -> None:
        super().__init__(error.message)
        self.error = error
        self.resumable = resumable


class Agent(ABC):
    """One agent back end. Methods may be called for several sessions at once."""

    @property
    @abstractmethod
    def info(self) -> AgentInfo:
        """How clients see this agent. `info.provider` names it, uniquely on a host."""

    @abstractmethod
    async def run(self, turn: TurnContext) -> None:
        """Run one turn. Returning completes it, `AgentFailed` ends it in error, cancellation means stop."""

    async def open_session(self, session: OpenSession, report: ReportProgress) -> None:
        """Make ready for a session, also one from before a restart. `AgentFailed` if that is impossible."""

    async def close_session(self, session: URI) -> None:
        """Let a session go. Its turns have been cancelled."""

    async def config_changed(self, change: ConfigChanged) -> None:
        """The session's options are new."""

    async def chat_truncated(self, session: URI, chat: URI, turns: int) -> None:
        """Forget everything in a chat after so many turns."""

    async def chat_gone(self, session: URI, chat: URI) -> None:
        """Forget a chat."""

    async def resolve_config(self, directory: URI | None, config: JsonObject) -> ResolvedConfig:  # noqa: ARG002
        """The options of a session in this context, complete, with values filled in. No side effects."""
        return ResolvedConfig(schema=SessionConfigSchema(type="object", properties={}), values=config)

    async def complete_config(
        self,
        directory: URI | None,  # noqa: ARG002
        config: JsonObject,  # noqa: ARG002
        property: str,  # noqa: A002, ARG002 - the protocol's word
        query: str,  # noqa: ARG002
    ) -> tuple[SessionConfigValueItem, ...] | None:
        """Values for one option of many; None if there is no such option."""
        return None

    async def complete_input(
        self,
        session: URI,  # noqa: ARG002
        chat: URI,  # noqa: ARG002
        text: str,  # noqa: ARG002
        offset: int,  # noqa: ARG002
    ) -> tuple[CompletionItem, ...]:
        """Completions while a message is typed. `offset` counts UTF-16 code units."""
        return ()

    async def check_token(self, resource: str, token: str, scopes: tuple[str, ...]) -> bool:  # noqa: ARG002
        """Whether a token is good for one of the resources this agent announces."""
        return True
