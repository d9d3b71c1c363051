"""One conversation: what was said, what is being said, and everything a person may do about it."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.client.broadcast import Feed
from holdfast.client.errors import Gone
from holdfast.client.events import Event, joined
from holdfast.client.follow import Follower
from holdfast.client.following import Listener, Receipt, Wish
from holdfast.client.mirror import Change, Channel
from holdfast.client.turn import Turn
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.commands import (
    CompletionItem,
    CompletionItemKind,
    CompletionsParams,
    CompletionsResult,
    DisposeChatParams,
    FetchTurnsParams,
)
from holdfast.protocol.chat.messages import Message, MessageAttachment, MessageKind, MessageOrigin, PendingMessage
from holdfast.protocol.chat.state import ActiveTurn, ChatState, TurnState
from holdfast.protocol.chat.state import Turn as TurnRecord
from holdfast.protocol.common import URI, AgentSelection, ModelSelection
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.errors import UsageError
from holdfast.protocol.session import actions as session_actions
from holdfast.protocol.timestamps import from_milliseconds

if TYPE_CHECKING:
    from holdfast.client.connection import Connection
    from holdfast.client.session import Session

__all__ = ["Chat", "message_of"]

ModelLike = str | ModelSelection | None


def message_of(
    text: str | Message,
    attachments: Sequence[MessageAttachment] = (),
    model: ModelLike = None,
    agent: str | AgentSelection | None = None,
) -> Message:
    """A message of this user. `model` may be a model's id, `agent` the URI of a custom agent."""
    if isinstance(text, Message):
        return text
    return Message(
        text=text,
        origin=MessageOrigin(kind=MessageKind.USER),
        attachments=tuple(attachments) or None,
        model=ModelSelection(id=model) if isinstance(model, str) else model,
        agent=AgentSelection(uri=agent) if isinstance(agent, str) else agent,
    )


class Chat:
    """Made by `Session`. While it is open it follows its channel; `state` is always the newest."""

    def __init__(self, connection: Connection, session: Session, uri: URI) -> None:
        self.uri = uri
        self.session = session
        self._connection = connection
        self._unwanted: set[str] = set()
        self._wish: Wish | None = None
        self._stops: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        return f"<Chat {self.uri}{f' {self.title!r}' if self.is_followed else ''}>"

    # What it is

    @property
    def is_followed(self) -> bool:
        """Whether there is a state to look at."""
        channel = self._connection.mirror.channels.get(self.uri)
        return channel is not None and channel.is_known

    @property
    def state(self) -> ChatState:
        """The state with our own actions in it, answered or not. Raises `Gone` if the chat is not followed."""
        state: ChatState | None = self._connection.mirror.state(self.uri)
        if state is None:
            raise Gone(f"the chat {self.uri} is not followed, or is no more")
        return state

    @property
    def confirmed(self) -> ChatState | None:
        """The state without what the host has not answered; None if the chat is not followed."""
        channel = self._connection.mirror.channels.get(self.uri)
        return None if channel is None else channel.confirmed

    @property
    def title(self) -> str:
        return self.state.title

    @property
    def turns(self) -> tuple[TurnRecord, ...]:
        """The turns that are over, oldest first; maybe only the newest of them: `load_older`."""
        return self.state.turns

    @property
    def active_turn(self) -> ActiveTurn | None:
        return self.state.active_turn

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs."""
        return self.is_followed and self.state.active_turn is not None

    @property
    def draft(self) -> Message | None:
        """What somebody is typing, seen by all clients."""
        return self.state.draft

    @property
    def queued(self) -> tuple[PendingMessage, ...]:
        return self.state.queued_messages or ()

    @property
    def steering(self) -> PendingMessage | None:
        return self.state.steering_message

    # Saying something

    def send(
        self,
        text: str | Message,
        *,
        attachments: Sequence[MessageAttachment] = (),
        model: ModelLike = None,
        agent: str | AgentSelection | None = None,
    ) -> Turn:
        """Begin a turn, or queue its message if one runs. Iterate over what is returned, or await it."""
        message = message_of(text, attachments, model, agent)
        if self.state.active_turn is not None:
            queued_id, receipt = self.put_in_queue(message)
            return Turn(self, queued_id=queued_id).begun_by(receipt, message)
        turn = Turn(self, _new_id())
        started = actions.TurnStarted(turn_id=turn.id, started_at=_now(), message=message)
        return turn.begun_by(self.dispatch(self.uri, started), message)

    def current(self) -> Turn | None:
        """The turn that runs, from its beginning; None if none does."""
        active = self.confirmed.active_turn if self.confirmed is not None else None
        return None if active is None else Turn(self, active.id).look()

    def resume(self) -> Turn:
        """Go on with the last turn, which failed. What is told begins there."""
        confirmed = self.confirmed
        last = confirmed.turns[-1] if confirmed is not None and confirmed.turns else None
        if last is None or last.state is not TurnState.ERROR:
            raise UsageError("only a last turn that failed can be resumed")
        turn = Turn(self, last.id).look(after=last)
        return turn.begun_by(self.dispatch(self.uri, actions.TurnResume(turn_id=last.id)), None)

    async def cancel(self) -> None:
        """Stop the turn that runs, if one does."""
        active = self.state.active_turn
        if active is not None:
            await self.end(active.id)

    def end(self, turn_id: str) -> Receipt:
        """Stop a turn that runs, or that we have begun and the host knows nothing of yet."""
        confirmed = self.confirmed
        if confirmed is None or confirmed.active_turn is None or confirmed.active_turn.id != turn_id:
            self._unwanted.add(turn_id)
        return self.dispatch(self.uri, actions.TurnCancelled(turn_id=turn_id, duration=0))

    def is_unwanted(self, turn_id: str) -> bool:
        """Whether somebody here stopped a turn before it was known to have begun."""
        return turn_id in self._unwanted

    async def truncate(self, turn_id: str | None = None) -> None:
        """Take back everything after a turn; without one, everything."""
        await self.dispatch(self.uri, actions.Truncated(turn_id=turn_id))

    # What waits

    async def queue(self, text: str | Message, **options: Any) -> str:
        """Say something once the turns before it are over; its id is returned."""
        queued_id, receipt = self.put_in_queue(message_of(text, **options))
        await receipt
        return queued_id

    def put_in_queue(self, message: Message) -> tuple[str, Receipt]:
        queued_id = _new_id()
        pending = actions.PendingMessageSet(kind=actions.PendingMessageKind.QUEUED, id=queued_id, message=message)
        return queued_id, self.dispatch(self.uri, pending)

    async def steer(self, text: str | Message, **options: Any) -> str:
        """Tell the agent something while it works; it replaces what was not heard yet. Its id is returned."""
        steering_id = _new_id()
        pending = actions.PendingMessageSet(
            kind=actions.PendingMessageKind.STEERING, id=steering_id, message=message_of(text, **options)
        )
        await self.dispatch(self.uri, pending)
        return steering_id

    async def unqueue(self, pending_id: str) -> None:
        """Take back a message that waits, queued or steering."""
        steering = self.state.steering_message
        is_steering = steering is not None and steering.id == pending_id
        kind = actions.PendingMessageKind.STEERING if is_steering else actions.PendingMessageKind.QUEUED
        await self.dispatch(self.uri, actions.PendingMessageRemoved(kind=kind, id=pending_id))

    async def reorder(self, ids: Sequence[str]) -> None:
        """Put the queue in another order."""
        await self.dispatch(self.uri, actions.QueuedMessagesReordered(order=tuple(ids)))

    async def set_draft(self, text: str | Message | None) -> None:
        """Show others what is being typed; None or nothing clears it."""
        draft = message_of(text) if text else None
        await self.dispatch(self.uri, actions.DraftChanged(draft=draft))

    # History

    async def load_older(self) -> bool:
        """Have the next older turns in `state.turns`; False if there are none."""
        cursor = self.state.turns_next_cursor
        if cursor is None:
            return False
        await self._connection.request("fetchTurns", FetchTurnsParams(channel=self.uri, cursor=cursor))
        return True

    async def history(self) -> AsyncIterator[TurnRecord]:
        """All turns that are over, newest first; older ones are loaded as they are asked for."""
        told: set[str] = set()
        while True:
            for turn in reversed(self.turns):
                if turn.id not in told:
                    told.add(turn.id)
                    yield turn
            if not await self.load_older():
                return

    # Watching

    def events(self, *, from_start: bool = False) -> Feed[Event]:
        """What happens in all turns from now on, or, with `from_start`, from the beginning of the running one.

        Close what is returned, or use it with `async with`.
        """
        return _Events(self, from_start=from_start).feed

    def changes(self) -> Feed[Change]:
        """Every change of the state, own actions included. Close what is returned."""
        return changes_of(self.listen)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have a function called with every change, at once; what is returned ends that."""
        return self._connection.following.listen(self.uri, listener)

    async def wait_idle(self) -> None:
        """Wait until no turn runs and none is about to: after one that failed or was cancelled the queue waits."""
        async with self.changes() as changes:
            while self.is_busy or (self.queued and not self._keeps_queue_waiting()):
                if await anext(changes, None) is None:
                    raise Gone(f"the chat {self.uri} is no more")

    def _keeps_queue_waiting(self) -> bool:
        return bool(self.turns) and self.turns[-1].state in (TurnState.ERROR, TurnState.CANCELLED)

    # The rest

    async def complete(self, text: str, offset: int | None = None) -> tuple[CompletionItem, ...]:
        """What may be inserted at `offset` (in Python's characters; the end if absent) of what is being typed."""
        before = text if offset is None else text[:offset]
        params = CompletionsParams(
            channel=self.uri,
            kind=CompletionItemKind.USER_MESSAGE,
            text=text,
            offset=len(before.encode("utf-16-le", "surrogatepass")) // 2,
        )
        result: CompletionsResult = await self._connection.request("completions", params)
        return result.items

    async def rename(self, title: str) -> None:
        await self.dispatch(self.uri, session_actions.TitleChanged(title=title))

    async def mark_read(self, read: bool = True) -> None:
        await self.dispatch(self.uri, actions.IsReadChanged(is_read=read))

    async def archive(self, archived: bool = True) -> None:
        await self.dispatch(self.uri, actions.IsArchivedChanged(is_archived=archived))

    async def dispose(self) -> None:
        """Delete the chat, with its history."""
        await self._connection.request("disposeChat", DisposeChatParams(channel=self.uri))

    def dispatch(self, uri: URI, action: StateAction) -> Receipt:
        """Say any action of the protocol."""
        return self._connection.dispatch(uri, action)

    async def open(self, turns: int, listener: Listener | None = None) -> None:
        """Follow it; `Session` does so. `listener` is told of every change from the first state on, until `close`."""
        if listener is not None:
            self._stops.append(self.listen(listener))
        if self._wish is None:
            self._wish = await self._connection.hold(self.uri, turns=turns)

    async def close(self) -> None:
        """Follow it no more; it goes on at the host. Again is harmless."""
        for stop in self._stops:
            stop()
        self._stops.clear()
        wish, self._wish = self._wish, None
        if wish is not None:
            self._connection.release(self.uri, wish)


class _Events:
    """The events of whichever turns a chat has."""

    def __init__(self, chat: Chat, *, from_start: bool) -> None:
        self.feed: Feed[Event] = Feed(lambda _: self._stop())
        self._chat = chat
        state = chat.confirmed
        self._known = {turn.id for turn in state.turns} if state is not None else set[str]()
        self._follower: Follower | None = None
        active = None if state is None else state.active_turn
        if active is not None:
            self._follower = Follower(active.id, chat.dispatch, after=None if from_start else active)
        self._stop = chat.listen(self._changed)
        if state is not None and from_start:
            self._look(state, ())

    def _changed(self, channel: Channel | None, changes: Sequence[Change]) -> None:
        if channel is None:
            self.feed.end()
        else:
            self._look(channel.confirmed, changes)

    def _look(self, state: ChatState, changes: Sequence[Change]) -> None:
        if self._follower is not None:
            self._tell(self._follower, state, changes)
        if any(isinstance(change.action, actions.TurnsLoaded) for change in changes):
            self._known.update(turn.id for turn in state.turns)
        resumed = {change.action.turn_id for change in changes if isinstance(change.action, actions.TurnResume)}
        for turn in self._new(state, resumed):
            self._known.add(turn.id)
            follower = Follower(turn.id, self._chat.dispatch, after=turn if turn.id in resumed else None)
            self._follower = follower
            self._tell(follower, state, ())

    def _new(self, state: ChatState, resumed: set[str]) -> list[ActiveTurn | TurnRecord]:
        """The turns after the newest one that is known, oldest first."""
        active = state.active_turn
        found: list[ActiveTurn | TurnRecord] = []
        if active is not None:
            if active.id in self._known and active.id not in resumed:
                return []
            found.append(active)
        for turn in reversed(state.turns):
            if turn.id in self._known:
                break
            found.append(turn)
        return found[::-1]

    def _tell(self, follower: Follower, state: ChatState, changes: Sequence[Change]) -> None:
        for event in follower.look(state, changes):
            self.feed.join(joined, event)
        self._known.add(follower.turn_id)
        if follower.is_over and self._follower is follower:
            self._follower = None


def changes_of(listen: Callable[[Listener], Callable[[], None]]) -> Feed[Change]:
    """A feed of every change that a `listen` tells."""
    feed: Feed[Change] = Feed(lambda _: stop())

    def changed(channel: Channel | None, changes: Sequence[Change]) -> None:
        if channel is None:
            feed.end()
        for change in changes:
            feed.put(change)

    stop = listen(changed)
    return feed


def _new_id() -> str:
    return str(uuid.uuid4())


def _now() -> str:
    return from_milliseconds(time.time() * 1000)
