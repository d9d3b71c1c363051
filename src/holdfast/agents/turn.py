"""A running turn as its agent sees it: say something, use a tool, ask a question, wait for the answer.

Everything said becomes protocol actions through the turn's link; whatever people decide comes back through
`deliver` and wakes the one who waits for it. Waiting is safe to cancel at any point.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from holdfast.ports.agent import (
    AgentEvent,
    AgentSaid,
    ClientTool,
    ClientToolDone,
    Delivery,
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
from holdfast.protocol.changeset.state import Changeset
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.inputs import ChatInputRequest
from holdfast.protocol.chat.messages import Message
from holdfast.protocol.chat.parts import MarkdownResponsePart, ReasoningResponsePart, ResponsePart
from holdfast.protocol.chat.state import Turn
from holdfast.protocol.chat.tools import (
    ToolCallConfirmationReason,
    ToolCallContributor,
    ToolCallResult,
    ToolResultContent,
    ToolResultSubagentContent,
)
from holdfast.protocol.codec import Wire, decode
from holdfast.protocol.common import (
    URI,
    JsonObject,
    McpAuthRequirement,
    ModelSelection,
    StringOrMarkdown,
    UsageInfo,
)
from holdfast.protocol.session import actions as session_actions

__all__ = ["ToolCall", "TurnContext", "TurnLink", "Worker"]

T = TypeVar("T", bound=Delivery)
U = TypeVar("U", bound=Delivery)


class TurnLink(Protocol):
    """What carries a turn's words to the host. Provided by whoever runs the agent."""

    async def say(self, event: AgentEvent) -> None:
        """Hand over an event; waits while the host has enough of them."""

    async def history(self, chat: URI, newest: int | None) -> tuple[Turn, ...]:
        """The completed turns of a chat, oldest first; the newest so many, or all."""

    def new_id(self) -> str:
        """An id nobody has."""


class TurnContext:
    """One run of one turn."""

    def __init__(self, link: TurnLink, start: StartTurn) -> None:
        self._link = link
        self._start = start
        self._waiting: dict[tuple[type[Any], str], asyncio.Future[Any]] = {}
        self._early: dict[tuple[type[Any], str], Any] = {}
        self._steering: list[Steered] = []
        self._steered = asyncio.Event()
        self._text_part: tuple[type[MarkdownResponsePart | ReasoningResponsePart], str] | None = None

    # What the turn is about

    @property
    def key(self) -> TurnKey:
        return self._start.key

    @property
    def message(self) -> Message:
        return self._start.message

    @property
    def config(self) -> JsonObject:
        return self._start.config

    @property
    def directories(self) -> tuple[URI, ...]:
        return self._start.directories

    @property
    def model(self) -> ModelSelection | None:
        return self._start.model

    @property
    def client_tools(self) -> tuple[ClientTool, ...]:
        return self._start.client_tools

    @property
    def transcripts(self) -> tuple[Transcript, ...]:
        """Other chats that came with the message."""
        return self._start.transcripts

    @property
    def context(self) -> Transcript | None:
        """What a side chat was opened about."""
        return self._start.context

    @property
    def resumed(self) -> bool:
        """The turn failed before and goes on now."""
        return self._start.resumed

    @property
    def said(self) -> tuple[ResponsePart, ...]:
        """What a resumed turn said before it failed; the error that ended it comes last."""
        return () if self._start.said is None else decode(tuple[ResponsePart, ...], self._start.said)

    def new_id(self) -> str:
        """An id nobody has, for a question or a part."""
        return self._link.new_id()

    async def history(self, newest: int | None = None) -> tuple[Turn, ...]:
        """The turns before this one, oldest first."""
        return await self._link.history(self.key.chat, newest)

    # Saying

    async def act(self, action: Wire) -> None:
        """Say any action a host may originate for this turn; it must carry the turn's id."""
        await self._link.say(AgentSaid(self.key, action))

    async def text(self, content: str) -> None:
        """Append to the answer. Text after a tool call or a thought begins a part of its own."""
        await self._stream(MarkdownResponsePart, content)

    async def think(self, content: str) -> None:
        """Append to the reasoning."""
        await self._stream(ReasoningResponsePart, content)

    async def _stream(self, kind: type[MarkdownResponsePart | ReasoningResponsePart], content: str) -> None:
        if self._text_part is None or self._text_part[0] is not kind:
            part_id = self._link.new_id()
            await self.part(kind(id=part_id, content=""))
            self._text_part = (kind, part_id)
        _, part_id = self._text_part
        delta = actions.Delta if kind is MarkdownResponsePart else actions.Reasoning
        await self.act(delta(turn_id=self.key.turn_id, part_id=part_id, content=content))

    async def part(self, part: ResponsePart) -> None:
        """Append a part of any kind."""
        self._text_part = None
        await self.act(actions.ResponsePart(turn_id=self.key.turn_id, part=part))

    async def usage(self, usage: UsageInfo) -> None:
        """What the turn has used so far, in all."""
        await self.act(actions.Usage(turn_id=self.key.turn_id, usage=usage))

    async def activity(self, activity: str | None) -> None:
        """What is being done, in a few words."""
        await self.act(actions.ActivityChanged(activity=activity))

    async def changesets(self, listed: Sequence[Changeset] | None, *, of_session: bool = False) -> None:
        """What there is to review in this chat, or in its session: the complete list. None: there is no list."""
        kind = session_actions.ChangesetsChanged if of_session else actions.ChangesetsChanged
        await self.act(kind(changesets=None if listed is None else tuple(listed)))

    async def suggest_title(self, title: str) -> None:
        """Name the session, unless somebody has."""
        await self._link.say(TitleSuggested(self.key.session, title))

    # Asking

    async def ask(self, request: ChatInputRequest) -> InputAnswered:
        """Ask the user and wait for the answer, whatever it is."""
        self._text_part = None
        await self.act(actions.InputRequested(request=request))
        return await self._wait_for(InputAnswered, request.id)

    async def tool(
        self,
        name: str,
        display_name: str,
        *,
        intention: str | None = None,
        contributor: ToolCallContributor | None = None,
        meta: JsonObject | None = None,
    ) -> ToolCall:
        """Begin a tool call."""
        self._text_part = None
        call = ToolCall(self, self._link.new_id())
        await self.act(
            actions.ToolCallStart(
                turn_id=self.key.turn_id,
                tool_call_id=call.id,
                tool_name=name,
                display_name=display_name,
                intention=intention,
                contributor=contributor,
                meta=meta,
            )
        )
        return call

    # Steering

    def steering(self) -> tuple[Steered, ...]:
        """Messages meant for this turn that were not taken yet."""
        return tuple(self._steering)

    async def steered(self) -> Steered:
        """Wait for a message meant for this turn."""
        while not self._steering:
            self._steered.clear()
            await self._steered.wait()
        return self._steering[0]

    async def take(self, steered: Steered) -> None:
        """Use such a message: it leaves the chat's slot."""
        self._steering.remove(steered)
        await self._link.say(SteeringTaken(self.key, steered.id))

    # Hearing

    def deliver(self, delivery: Delivery) -> None:
        """Take what the host delivers; called by whoever runs the agent."""
        if isinstance(delivery, Steered):
            self._steering = [delivery]
            self._steered.set()
            return
        if isinstance(delivery, SteeringWithdrawn):
            self._steering = [waiting for waiting in self._steering if waiting.id != delivery.id]
            return
        id = delivery.request_id if isinstance(delivery, InputAnswered) else delivery.tool_call_id
        waiter = self._waiting.pop((type(delivery), id), None)
        if waiter is None:
            self._early[type(delivery), id] = delivery
        elif not waiter.done():
            waiter.set_result(delivery)

    async def _wait_for(self, kind: type[T], id: str) -> T:
        """What arrived before anybody waited counts too."""
        if (kind, id) in self._early:
            early: T = self._early.pop((kind, id))
            return early
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting[kind, id] = waiter
        return await waiter

    async def _wait_for_either(self, one: type[T], other: type[U], id: str) -> T | U:
        """Whichever arrives first; the other is not expected any more."""
        for kind in (one, other):
            if (kind, id) in self._early:
                early: T | U = self._early.pop((kind, id))
                return early
        waiter: asyncio.Future[T | U] = asyncio.get_running_loop().create_future()
        self._waiting[one, id] = self._waiting[other, id] = waiter
        try:
            return await waiter
        finally:
            self._waiting.pop((one, id), None)
            self._waiting.pop((other, id), None)

    # Delegating

    async def spawn(self, call: ToolCall, title: str, *, hidden: bool = False) -> Worker:
        """Give a running tool call a chat of its own to work in."""
        chat = f"ahp-chat:/{self._link.new_id()}"
        await self._link.say(SpawnChat(self.key, call.id, chat, title, hidden))
        await call.show([ToolResultSubagentContent(resource=chat, title=title)])
        return Worker(self, chat, title)


class ToolCall:
    """A tool call of the turn, from its start to its end."""

    def __init__(self, turn: TurnContext, id: str) -> None:
        self._turn = turn
        self.id = id

    def _named(self) -> dict[str, Any]:
        return {"turn_id": self._turn.key.turn_id, "tool_call_id": self.id}

    async def stream_input(self, content: str) -> None:
        """Show input as the model writes it."""
        await self._turn.act(actions.ToolCallDelta(**self._named(), content=content))

    async def run(self, message: StringOrMarkdown, **fields: Any) -> None:
        """Run without asking anybody. `fields` are those of `chat/toolCallReady`, such as `tool_input`."""
        fields.setdefault("confirmed", ToolCallConfirmationReason.NOT_NEEDED)
        await self._turn.act(actions.ToolCallReady(**self._named(), invocation_message=message, **fields))

    async def confirm(self, message: StringOrMarkdown, **fields: Any) -> ToolDecided:
        """Ask whether to run, and wait. `fields` are those of `chat/toolCallReady`, such as `options`."""
        await self.update(message, **fields)
        return await self.decided()

    async def decided(self) -> ToolDecided:
        """Wait for the decision about a call that was put up for confirmation by `update`."""
        return await self._turn._wait_for(ToolDecided, self.id)

    async def update(self, message: StringOrMarkdown, **fields: Any) -> None:
        """Refine a call that waits for confirmation, or make a running one wait again."""
        await self._turn.act(actions.ToolCallReady(**self._named(), invocation_message=message, **fields))

    async def show(self, content: Sequence[ToolResultContent]) -> None:
        """Show what there is so far: the complete list."""
        await self._turn.act(actions.ToolCallContentChanged(**self._named(), content=tuple(content)))

    async def complete(self, result: ToolCallResult) -> None:
        """Finish with a result."""
        await self._turn.act(actions.ToolCallComplete(**self._named(), result=result))

    async def complete_if_confirmed(self, result: ToolCallResult) -> bool:
        """Finish with a result that somebody has to let through first; False if it was withheld."""
        await self._turn.act(
            actions.ToolCallComplete(**self._named(), result=result, requires_result_confirmation=True)
        )
        return (await self._turn._wait_for(ResultDecided, self.id)).approved

    async def client_result(self) -> ToolCallResult:
        """Wait for the client that runs this call. The host gives up in its place if it stays away."""
        return (await self._turn._wait_for(ClientToolDone, self.id)).result

    async def need_token(self, auth: McpAuthRequirement) -> None:
        """Hold a running call of an MCP server until somebody authenticates."""
        await self._turn.act(actions.ToolCallAuthRequired(**self._named(), auth=auth))

    async def token_given(self) -> ToolCallResult | None:
        """Wait until a held call runs again: None. A result instead: somebody gave the call up, it is over."""
        outcome = await self._turn._wait_for_either(TokenGiven, ClientToolDone, self.id)
        return outcome.result if isinstance(outcome, ClientToolDone) else None


class Worker:
    """A chat that a tool call spawned."""

    def __init__(self, parent: TurnContext, chat: URI, title: str) -> None:
        self._parent = parent
        self.chat = chat
        self.title = title

    @asynccontextmanager
    async def turn(self, message: Message) -> AsyncIterator[TurnContext]:
        """Run a turn there. Leaving the block completes it."""
        parent = self._parent
        key = TurnKey(parent.key.session, self.chat, parent._link.new_id(), parent.key.generation)
        await parent._link.say(WorkerTurn(parent.key, key, message))
        start = StartTurn(
            provider=parent._start.provider,
            key=key,
            message=message,
            history=0,
            config=parent.config,
            directories=parent.directories,
            client_tools=(),
        )
        context = TurnContext(parent._link, start)
        context._waiting = parent._waiting
        context._early = parent._early
        yield context
        await parent._link.say(TurnEnded(key))
