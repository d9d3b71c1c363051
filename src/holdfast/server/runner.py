"""Runs agents: a task for every turn, one after the other for everything about a session.

Whatever an agent does, its turn ends: by returning, by failing, or because somebody cancelled it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from holdfast.agents.port import Agent, AgentFailed
from holdfast.agents.turn import TurnContext, TurnLink
from holdfast.host.environment import Ids
from holdfast.host.jobs import Job
from holdfast.ports.agent import (
    AgentEffect,
    AgentEvent,
    AgentQuery,
    CancelTurn,
    ChatGone,
    ChatTruncated,
    CheckToken,
    CloseSession,
    CompleteConfig,
    CompleteInput,
    ConfigChanged,
    Deliver,
    OpenSession,
    Progress,
    ResolveConfig,
    SessionOpened,
    StartTurn,
    TurnEnded,
    TurnKey,
    UnknownProperty,
    WorkerTurn,
)
from holdfast.ports.journal import Journal, ReadTurns, TurnPage
from holdfast.protocol.chat.state import Turn
from holdfast.protocol.codec import decode
from holdfast.protocol.common import URI, ErrorInfo
from holdfast.protocol.errors import ErrorCode, RpcError

if TYPE_CHECKING:
    from holdfast.server.hub import Hub

__all__ = ["Runner"]

logger: Final = logging.getLogger(__name__)

# Events of one turn that may be undecided before its agent has to wait.
_AHEAD: Final = 64

# Turns of a history that are read and decoded at once.
_PIECE: Final = 50

_Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

# How long an agent may think about a question that a client waits for, in seconds.
_ANSWER: Final = 30.0


class Runner:
    """Every agent of a host. `run` must be running while effects are performed."""

    def __init__(self, agents: Iterable[Agent], ids: Ids, journal: Journal) -> None:
        self.agents = {agent.info.provider: agent for agent in agents}
        self.hub: Hub | None = None
        self._ids = ids
        self._journal = journal
        self._tasks: asyncio.TaskGroup | None = None
        self._stop = asyncio.Event()
        self._turns: dict[TurnKey, asyncio.Task[None]] = {}
        self._contexts: dict[TurnKey, TurnContext] = {}
        self._chains: dict[URI, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Own the tasks until `stop`."""
        async with asyncio.TaskGroup() as self._tasks:
            await self._stop.wait()
            for task in (*self._turns.values(), *self._chains.values()):
                task.cancel()

    def stop(self) -> None:
        self._stop.set()

    async def idle(self) -> None:
        """Wait until no turn is being worked on."""
        while self._turns:
            await asyncio.wait(tuple(self._turns.values()))

    @property
    def running(self) -> int:
        """How many turns are being worked on."""
        return len(self._turns)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        assert self._tasks is not None, "the runner runs before agents do"
        task = self._tasks.create_task(work, name=name)
        if self._stop.is_set():
            task.cancel()  # decided before the end and performed after it: nobody waits for agents any more
        return task

    def _said(self, event: AgentEvent) -> None:
        assert self.hub is not None, "the runner is wired before it runs"
        self.hub.said(event)

    # Effects

    def perform(self, effect: AgentEffect) -> None:
        """Do what the core decided."""
        match effect:
            case StartTurn():
                self._start(effect)
            case Deliver():
                context = self._contexts.get(effect.key)
                if context is not None:
                    context.deliver(effect.delivery)
            case CancelTurn():
                task = self._turns.get(effect.key)
                if task is not None:
                    task.cancel()
            case OpenSession():
                self._in_order(effect.session, partial(self._open, effect))
            case CloseSession():
                self._in_order(effect.session, partial(self._close, effect))
            case ConfigChanged() | ChatTruncated() | ChatGone():
                agent = self.agents.get(effect.provider)
                if agent is not None:
                    self._in_order(effect.session, partial(_told, agent, effect))

    def _in_order(self, session: URI, work: _Work) -> None:
        """What concerns one session happens one after the other."""
        before = self._chains.get(session)
        task = self._spawn(self._after(before, work), f"session {session}")
        self._chains[session] = task
        task.add_done_callback(lambda done: self._forget_chain(session, done))

    def _forget_chain(self, session: URI, task: asyncio.Task[None]) -> None:
        if self._chains.get(session) is task:
            del self._chains[session]

    async def _after(self, before: asyncio.Task[None] | None, work: _Work) -> None:
        try:
            if before is not None:
                await asyncio.wait((before,))
            await work()
        except Exception:
            # An agent's hook; whatever it does, the host goes on.
            logger.exception("an agent failed")

    # Sessions

    async def _open(self, effect: OpenSession) -> None:
        async def report(progress: Progress) -> None:
            self._said(progress)

        error: ErrorInfo | None = None
        try:
            agent = self.agents.get(effect.provider)
            if agent is None:
                error = ErrorInfo(error_type="agentMissing", message=f"this host has no agent {effect.provider!r}")
            else:
                await agent.open_session(effect, report)
        except AgentFailed as failure:
            error = failure.error
        except Exception:
            # The boundary to an agent: the session fails, the host goes on.
            logger.exception("the agent %s could not open a session", effect.provider)
            error = _broken()
        self._said(SessionOpened(effect.session, error))

    async def _close(self, effect: CloseSession) -> None:
        agent = self.agents.get(effect.provider)
        if agent is not None:
            await agent.close_session(effect.session)

    # Turns

    def _start(self, start: StartTurn) -> None:
        context = TurnContext(_Link(self, start.key), start)
        self._contexts[start.key] = context
        task = self._spawn(self._run(start, context), f"turn {start.key.turn_id}")
        self._turns[start.key] = task

    async def _run(self, start: StartTurn, context: TurnContext) -> None:
        key = start.key
        try:
            await self.agents[start.provider].run(context)
        except asyncio.CancelledError:
            if self._stop.is_set():
                raise
        except AgentFailed as failure:
            self._said(TurnEnded(key, failure.error, failure.resumable))
        except Exception:
            # The boundary to an agent: the turn fails, the host goes on.
            logger.exception("the agent %s failed in a turn", start.provider)
            self._said(TurnEnded(key, _broken(), resumable=False))
        else:
            self._said(TurnEnded(key))
        finally:
            self._turns.pop(key, None)
            for known in [known for known, owner in self._contexts.items() if owner is context]:
                del self._contexts[known]

    def worker_began(self, event: WorkerTurn) -> None:
        """What is decided in a worker's chat goes to the turn that spawned it."""
        context = self._contexts.get(event.parent)
        if context is not None:
            self._contexts[event.worker] = context

    # Questions

    def ask(self, job: Job, query: AgentQuery) -> None:
        """Have an agent answer, and the job go on with the answer."""
        self._spawn(self._answer(job, query), "a question to an agent")

    async def _answer(self, job: Job, query: AgentQuery) -> None:
        assert self.hub is not None, "the runner is wired before it runs"
        answer: Any
        try:
            async with asyncio.timeout(_ANSWER):
                answer = await self._answered(query)
        except TimeoutError:
            answer = RpcError(ErrorCode.INTERNAL_ERROR, "the agent did not answer in time")
        except AgentFailed as failure:
            answer = RpcError(ErrorCode.INTERNAL_ERROR, failure.error.message)
        except Exception:
            # The boundary to an agent: the question fails, the host goes on.
            logger.exception("the agent %s could not answer", query.provider)
            answer = RpcError(ErrorCode.INTERNAL_ERROR, "the agent could not answer")
        self.hub.answered(job, query, answer)

    async def _answered(self, query: AgentQuery) -> Any:
        agent = self.agents[query.provider]
        match query:
            case ResolveConfig():
                return await agent.resolve_config(query.directory, json.loads(query.config))
            case CompleteConfig():
                values = json.loads(query.config)
                items = await agent.complete_config(query.directory, values, query.property, query.query)
                return UnknownProperty() if items is None else items
            case CompleteInput():
                return await agent.complete_input(query.session, query.chat, query.text, query.offset)
            case CheckToken():
                return await agent.check_token(query.resource, query.token, query.scopes)

    # What turns need

    async def say(self, event: AgentEvent, ahead: int) -> bool:
        """Hand over an event. True if the agent had to wait for what it said before."""
        assert self.hub is not None, "the runner is wired before it runs"
        if isinstance(event, WorkerTurn):
            self.worker_began(event)
        self.hub.said(event)
        if ahead < _AHEAD:
            return False
        await self.hub.settled()
        return True

    async def history(self, chat: URI, newest: int | None) -> tuple[Turn, ...]:
        """The newest turns of a chat, oldest first. Read in pieces, so that nobody has to wait for long ones."""
        found: list[Turn] = []
        before: int | None = None
        while newest is None or len(found) < newest:
            left = _PIECE if newest is None else min(_PIECE, newest - len(found))
            page: TurnPage = self._journal.read(ReadTurns(chat, before, left, None))
            found += [decode(Turn, turn.data) for turn in reversed(page.turns)]
            before = page.turns[0].position if page.turns else 0
            if not before:
                break
            await asyncio.sleep(0)
        return tuple(reversed(found))

    def new_id(self) -> str:
        return self._ids.new()


class _Link(TurnLink):
    """Carries one turn's words."""

    def __init__(self, runner: Runner, key: TurnKey) -> None:
        self._runner = runner
        self._key = key
        self._ahead = 0

    async def say(self, event: AgentEvent) -> None:
        self._ahead += 1
        if await self._runner.say(event, self._ahead):
            self._ahead = 0

    async def history(self, chat: URI, newest: int | None) -> tuple[Turn, ...]:
        return await self._runner.history(chat, newest)

    def new_id(self) -> str:
        return self._runner.new_id()


def _told(agent: Agent, effect: ConfigChanged | ChatTruncated | ChatGone) -> Coroutine[Any, Any, None]:
    match effect:
        case ConfigChanged():
            return agent.config_changed(effect)
        case ChatTruncated():
            return agent.chat_truncated(effect.session, effect.chat, effect.turns)
        case ChatGone():
            return agent.chat_gone(effect.session, effect.chat)


def _broken() -> ErrorInfo:
    return ErrorInfo(
        error_type="agentError", message="The agent failed unexpectedly; the host's log has the details."
    )
