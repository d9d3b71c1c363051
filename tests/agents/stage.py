"""A host of one turn, in memory: reduces what an agent says, and answers it as the test wants.

Every action must be decodable as it is encoded, must change the state, and must leave it consistent. At the end
of a turn nothing may be open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from holdfast.agents.port import Agent, AgentFailed
from holdfast.agents.scripted import demo
from holdfast.agents.turn import TurnContext
from holdfast.ports.agent import (
    AgentEvent,
    AgentSaid,
    ClientTool,
    ClientToolDone,
    InputAnswered,
    ResultDecided,
    SpawnChat,
    StartTurn,
    Steered,
    SteeringTaken,
    SteeringWithdrawn,
    TitleSuggested,
    TokenGiven,
    ToolDecided,
    Transcript,
    TurnEnded,
    TurnKey,
    WorkerTurn,
)
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.activity import is_blocking
from holdfast.protocol.chat.inputs import ChatInputAnswer, ChatInputRequest, ChatInputResponseKind
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.chat.parts import (
    ErrorResponsePart,
    InputRequestResponsePart,
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResponsePart,
    ToolCallResponsePart,
)
from holdfast.protocol.chat.places import part_id
from holdfast.protocol.chat.state import ChatState, Turn
from holdfast.protocol.chat.tools import (
    ToolCallAuthRequiredState,
    ToolCallCancelledState,
    ToolCallClientContributor,
    ToolCallCompletedState,
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
    ToolCallResult,
    ToolCallRunningState,
    ToolCallState,
)
from holdfast.protocol.codec import Unknown, Wire, decode, encode
from holdfast.protocol.common import URI, ErrorInfo, ModelSelection
from holdfast.protocol.envelope import decode_action
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.status import ACTIVITY, ERROR, IDLE, IN_PROGRESS, INPUT_NEEDED

SESSION = "ahp-session:/s"
CHAT = "ahp-chat:/c"
TURN = "t"
NOON = "2026-05-03T12:00:00.000Z"


@dataclass(frozen=True)
class Approve:
    option: str | None = "once"
    edited: str | None = None


@dataclass(frozen=True)
class Deny:
    option: str | None = "deny"
    reason: str | None = None
    suggestion: str | None = None


Decision: TypeAlias = Approve | Deny
Decide: TypeAlias = Callable[[ToolCallPendingConfirmationState], Decision | None]


@dataclass(frozen=True)
class Reply:
    response: ChatInputResponseKind = ChatInputResponseKind.DECLINE
    answers: dict[str, ChatInputAnswer] = field(default_factory=dict)


@dataclass(frozen=True)
class Turned:
    """What became of a turn."""

    chat: ChatState
    error: ErrorInfo | None = None
    resumable: bool = False

    @property
    def turn(self) -> Turn:
        return self.chat.turns[-1]

    @property
    def parts(self) -> tuple[ResponsePart, ...]:
        return self.turn.response_parts

    @property
    def text(self) -> str:
        return "".join(str(part.content) for part in self.parts if isinstance(part, MarkdownResponsePart))

    @property
    def thoughts(self) -> str:
        return "".join(str(part.content) for part in self.parts if isinstance(part, ReasoningResponsePart))

    @property
    def calls(self) -> tuple[ToolCallState, ...]:
        return tuple(part.tool_call for part in self.parts if isinstance(part, ToolCallResponsePart))

    def completed(self, index: int = 0) -> ToolCallCompletedState:
        call = self.calls[index]
        assert isinstance(call, ToolCallCompletedState), call
        return call

    def cancelled(self, index: int = 0) -> ToolCallCancelledState:
        call = self.calls[index]
        assert isinstance(call, ToolCallCancelledState), call
        return call

    @property
    def questions(self) -> tuple[InputRequestResponsePart, ...]:
        return tuple(part for part in self.parts if isinstance(part, InputRequestResponsePart))


def in_order(*decisions: Decision) -> Decide:
    """These decisions one after the other, whatever is asked."""
    remaining = list(decisions)
    return lambda call: remaining.pop(0)


def by_tool(**decisions: Decision) -> Decide:
    return lambda call: decisions[call.tool_name]


def user_message(text: str, **fields: Any) -> Message:
    return Message(text=text, origin=MessageOrigin(kind=MessageKind.USER), **fields)


class Stage:
    """The link of one chat's turns. `early` answers before the agent even waits."""

    def __init__(
        self,
        *,
        agent: Agent | None = None,
        decide: Decide | None = lambda call: Approve(),
        let_through: bool | None = True,
        replies: Iterable[Reply] | None = (),
        client_result: ToolCallResult | None = None,
        sign_in: bool | None = True,
        history: tuple[Turn, ...] = (),
        early: bool = False,
        on_event: Callable[[AgentEvent], None] = lambda event: None,
        stop_at: int | None = None,
    ) -> None:
        self.naps: list[float] = []
        self.agent = agent or demo(self.nap)
        self.decide = decide
        self.let_through = let_through
        self.replies = None if replies is None else list(replies)
        self.client_result = client_result
        self.sign_in = sign_in
        self.past = history
        self.early = early
        self.on_event = on_event
        self.stop_at = stop_at
        self.events: list[AgentEvent] = []
        self.titles: list[str] = []
        self.taken: list[str] = []
        self.spawned: list[SpawnChat] = []
        self.chats: dict[URI, ChatState] = {CHAT: new_chat(CHAT)}
        self._ids = 0
        self._said_so_far = 0
        self._context: TurnContext | None = None
        self._task: asyncio.Future[None] | None = None

    # What the agent's side sees

    async def nap(self, seconds: float) -> None:
        """In place of `asyncio.sleep`: notes the time and only lets others run."""
        self.naps.append(seconds)
        await asyncio.sleep(0)

    def new_id(self) -> str:
        self._ids += 1
        return f"id-{self._ids}"

    async def history(self, chat: URI, newest: int | None) -> tuple[Turn, ...]:
        assert chat == CHAT
        return self.past if newest is None else self.past[-newest:]

    async def say(self, event: AgentEvent) -> None:
        self.on_event(event)
        if self._said_so_far == self.stop_at and self._task is not None:
            self._task.cancel()
        self._said_so_far += 1
        await asyncio.sleep(0)
        self.events.append(event)
        match event:
            case AgentSaid(key, action):
                self._said(key, action)
            case WorkerTurn(parent, worker, message):
                assert parent.chat == CHAT
                assert worker.chat in [spawned.chat for spawned in self.spawned]
                self._reduce(
                    worker.chat, actions.TurnStarted(turn_id=worker.turn_id, started_at=NOON, message=message)
                )
            case TurnEnded(key, None):
                self._end(key.chat, actions.TurnComplete(turn_id=key.turn_id, duration=5))
            case SpawnChat(key, tool_call_id, chat):
                assert isinstance(self._call(key.chat, tool_call_id), ToolCallRunningState)
                self.spawned.append(event)
                self.chats[chat] = new_chat(chat)
            case TitleSuggested(session, title):
                assert session == SESSION
                self.titles.append(title)
            case SteeringTaken(_, id):
                self.taken.append(id)
            case _:
                raise AssertionError(f"not for a scripted agent: {event}")

    # Playing

    def play(self, text: str, **start: Any) -> Turned:
        """Play a message from start to end."""
        return asyncio.run(self.run(text, **start))

    async def run(self, text: str, *, message: Message | None = None, **start: Any) -> Turned:
        return await self._ended(self._running(self.begin(text, message=message, **start)))

    def begin(self, text: str, *, message: Message | None = None, **start: Any) -> TurnContext:
        message = message or user_message(text)
        self._reduce(CHAT, actions.TurnStarted(turn_id=TURN, started_at=NOON, message=message))
        return self._started(message, **start)

    def resume(self) -> Turned:
        """Resume the turn that failed."""
        turn = self.chats[CHAT].turns[-1]
        self._reduce(CHAT, actions.TurnResume(turn_id=TURN))
        context = self._started(turn.message, resumed=True, said=encode(turn.response_parts))

        async def run() -> Turned:
            return await self._ended(self._running(context))

        return asyncio.run(run())

    def interrupt(self, text: str, **start: Any) -> None:
        """Play until `stop_at`, or until nothing moves any more, and cancel the agent there."""

        async def run() -> None:
            task = self._running(self.begin(text, **start))
            if self.stop_at is None:
                for _ in range(500):
                    await asyncio.sleep(0)
                assert not task.done(), "it did not wait for anybody"
                task.cancel()
            await asyncio.wait([task])
            assert task.cancelled(), task
            assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left behind"

        asyncio.run(run())

    def restart(self) -> Turned:
        """What a host does to a turn that ran when it was killed."""
        error = ErrorInfo(error_type="hostRestart", message="The host was restarted.")
        part = ErrorResponsePart(error=error, resumable=True)
        self._end(CHAT, actions.Error(turn_id=TURN, duration=5, part=part))
        return Turned(self.chats[CHAT], error, True)

    def cancel_turns(self) -> ChatState:
        """What a host does when a turn is cancelled, workers first."""
        for chat, state in sorted(self.chats.items(), key=lambda item: item[0] == CHAT):
            if state.active_turn is not None:
                self._end(chat, actions.TurnCancelled(turn_id=state.active_turn.id, duration=5))
        return self.chats[CHAT]

    def steer(self, id: str, text: str) -> None:
        assert self._context is not None
        self._context.deliver(Steered(id, user_message(text)))

    def withdraw(self, id: str) -> None:
        assert self._context is not None
        self._context.deliver(SteeringWithdrawn(id))

    def _running(self, context: TurnContext) -> asyncio.Future[None]:
        self._task = asyncio.ensure_future(self.agent.run(context))
        return self._task

    def _started(
        self,
        message: Message,
        *,
        config: dict[str, Any] | None = None,
        directories: tuple[URI, ...] = ("file:///work",),
        client_tools: tuple[ClientTool, ...] = (),
        model: ModelSelection | None = None,
        transcripts: tuple[Transcript, ...] = (),
        context: Transcript | None = None,
        resumed: bool = False,
        said: bytes | None = None,
    ) -> TurnContext:
        start = StartTurn(
            provider=self.agent.info.provider,
            key=TurnKey(SESSION, CHAT, TURN, 1),
            message=message,
            history=len(self.past),
            config={"speed": 0} if config is None else config,
            directories=directories,
            client_tools=client_tools,
            model=model,
            transcripts=transcripts,
            context=context,
            resumed=resumed,
            said=said,
        )
        self._context = TurnContext(self, start)
        return self._context

    async def _ended(self, task: asyncio.Future[None]) -> Turned:
        try:
            async with asyncio.timeout(60):
                await task
        except AgentFailed as failed:
            part = ErrorResponsePart(error=failed.error, resumable=failed.resumable or None)
            self._end(CHAT, actions.Error(turn_id=TURN, duration=5, part=part))
            return Turned(self.chats[CHAT], failed.error, failed.resumable)
        self._nothing_open()
        self._end(CHAT, actions.TurnComplete(turn_id=TURN, duration=5))
        assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left behind"
        return Turned(self.chats[CHAT])

    def _nothing_open(self) -> None:
        for chat, state in self.chats.items():
            for part in state.active_turn.response_parts if state.active_turn else ():
                if isinstance(part, ToolCallResponsePart):
                    assert isinstance(part.tool_call, ToolCallCompletedState | ToolCallCancelledState), part
                if isinstance(part, InputRequestResponsePart):
                    assert part.response is not None, part
            assert chat == CHAT or state.active_turn is None, f"{chat} still runs"
            assert state.activity is None

    # Reducing

    def _said(self, key: TurnKey, action: Wire | Unknown) -> None:
        assert isinstance(action, Wire)
        assert decode_action(encode(action)) == action
        assert getattr(action, "turn_id", key.turn_id) == key.turn_id
        state = self.chats[key.chat]
        assert state.active_turn is not None, "nothing may be said outside a turn"
        assert state.active_turn.id == key.turn_id
        self._rules(key.chat, action)
        self._reduce(key.chat, action)
        self._answer(key, action)

    def _rules(self, chat: URI, action: Wire) -> None:
        """What the protocol and its clients expect beyond the reducer."""
        match action:
            case actions.ResponsePart(part=part) if isinstance(part, MarkdownResponsePart | ReasoningResponsePart):
                ids = [getattr(each, "id", None) for each in self._parts(chat)]
                assert part.id not in ids
            case actions.ToolCallStart():
                assert action.display_name
                assert action.tool_name
            case actions.ToolCallReady():
                assert action.invocation_message
                assert action.tool_input, "Ready restates the input"
                assert not action.confirmed or action.options is None
            case actions.ToolCallContentChanged():
                assert isinstance(self._call(chat, action.tool_call_id), ToolCallRunningState)
            case actions.ToolCallComplete():
                assert isinstance(self._call(chat, action.tool_call_id), ToolCallRunningState)
                assert action.result.past_tense_message

    def _reduce(self, chat: URI, action: Wire) -> None:
        before = self.chats[chat]
        after: ChatState = REDUCERS["chat"](before, action)
        assert after is not before, f"without effect: {action}"
        self.chats[chat] = after
        turn = after.active_turn
        if turn is not None:
            blocked = any(is_blocking(part) for part in turn.response_parts)
            assert after.status & ACTIVITY == (INPUT_NEEDED if blocked else IN_PROGRESS)

    def _end(self, chat: URI, action: actions.TurnComplete | actions.TurnCancelled | actions.Error) -> None:
        if isinstance(action, actions.TurnComplete):
            assert not any(is_blocking(part) for part in self._parts(chat))
        self._reduce(chat, action)
        state = self.chats[chat]
        assert state.status & ACTIVITY == (ERROR if isinstance(action, actions.Error) else IDLE)
        for part in state.turns[-1].response_parts:
            if isinstance(part, ToolCallResponsePart):
                assert isinstance(part.tool_call, ToolCallCompletedState | ToolCallCancelledState)
        assert decode(ChatState, encode(state)) == state

    def _parts(self, chat: URI) -> tuple[ResponsePart, ...]:
        turn = self.chats[chat].active_turn
        return turn.response_parts if turn else ()

    def _call(self, chat: URI, id: str) -> ToolCallState:
        for part in self._parts(chat):
            if isinstance(part, ToolCallResponsePart) and part_id(part) == id:
                return part.tool_call
        raise AssertionError(f"no tool call {id}")

    # Answering

    def _answer(self, key: TurnKey, action: Wire) -> None:
        if isinstance(action, actions.InputRequested):
            if self.replies is not None:
                reply = self.replies.pop(0) if self.replies else Reply()
                self._soon(self._reply, key, action.request, reply)
            return
        if not isinstance(action, actions.ToolCallAction):
            return
        call = self._call(key.chat, action.tool_call_id)
        match call:
            case ToolCallPendingConfirmationState() if self.decide is not None:
                decision = self.decide(call)
                if decision is not None:
                    self._soon(self._confirm, key, call, decision)
            case ToolCallPendingResultConfirmationState() if self.let_through is not None:
                self._soon(self._confirm_result, key, call.tool_call_id, self.let_through)
            case ToolCallAuthRequiredState() if self.sign_in is not None:
                self._soon(self._sign_in, key, call, self.sign_in)
            case ToolCallRunningState(contributor=ToolCallClientContributor()):
                if isinstance(action, actions.ToolCallReady) and self.client_result is not None:
                    self._soon(self._client_done, key, call.tool_call_id, self.client_result)

    def _soon(self, answer: Callable[..., None], *arguments: Any) -> None:
        if self.early:
            answer(*arguments)
        else:
            asyncio.get_running_loop().call_soon(partial(self._unless_over, answer, *arguments))

    def _unless_over(self, answer: Callable[..., None], key: TurnKey, *arguments: Any) -> None:
        if self.chats[key.chat].active_turn is not None:
            answer(key, *arguments)

    def _deliver(self, delivery: Any) -> None:
        assert self._context is not None
        self._context.deliver(delivery)

    def _confirm(self, key: TurnKey, call: ToolCallPendingConfirmationState, decision: Decision) -> None:
        option = next((each for each in call.options or () if each.id == decision.option), None)
        common: dict[str, Any] = {
            "turn_id": key.turn_id,
            "tool_call_id": call.tool_call_id,
            "selected_option_id": decision.option,
        }
        if isinstance(decision, Approve):
            assert decision.edited is None or call.editable
            self._reduce(
                key.chat, actions.ToolCallConfirmed(approved=True, edited_tool_input=decision.edited, **common)
            )
            running = self._call(key.chat, call.tool_call_id)
            assert isinstance(running, ToolCallRunningState)
            self._deliver(ToolDecided(call.tool_call_id, True, running.tool_input, option))
            return
        suggestion = None if decision.suggestion is None else user_message(decision.suggestion)
        self._reduce(
            key.chat,
            actions.ToolCallConfirmed(
                approved=False, reason_message=decision.reason, user_suggestion=suggestion, **common
            ),
        )
        self._deliver(
            ToolDecided(
                call.tool_call_id, False, option=option, reason_message=decision.reason, suggestion=suggestion
            )
        )

    def _confirm_result(self, key: TurnKey, id: str, approved: bool) -> None:
        self._reduce(
            key.chat, actions.ToolCallResultConfirmed(turn_id=key.turn_id, tool_call_id=id, approved=approved)
        )
        self._deliver(ResultDecided(id, approved))

    def _client_done(self, key: TurnKey, id: str, result: ToolCallResult) -> None:
        self._reduce(key.chat, actions.ToolCallComplete(turn_id=key.turn_id, tool_call_id=id, result=result))
        self._deliver(ClientToolDone(id, result))

    def _sign_in(self, key: TurnKey, call: ToolCallAuthRequiredState, signed_in: bool) -> None:
        if signed_in:
            self._reduce(key.chat, actions.ToolCallAuthResolved(turn_id=key.turn_id, tool_call_id=call.tool_call_id))
            self._deliver(TokenGiven(call.tool_call_id))
        else:
            self._client_done(
                key, call.tool_call_id, ToolCallResult(success=False, past_tense_message="Not signed in")
            )

    def _reply(self, key: TurnKey, request: ChatInputRequest, reply: Reply) -> None:
        self._reduce(
            key.chat,
            actions.InputCompleted(request_id=request.id, response=reply.response, answers=reply.answers or None),
        )
        self._deliver(InputAnswered(request.id, reply.response, reply.answers))


def new_chat(resource: URI) -> ChatState:
    return ChatState(resource=resource, title="", status=IDLE, modified_at=NOON, turns=())
