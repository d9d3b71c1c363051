"""One turn of a chat, as somebody follows it: iterate over its events, or await its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from holdfast.client.broadcast import Feed
from holdfast.client.errors import Gone, Interrupted, Refused
from holdfast.client.events import Ended, Event, joined
from holdfast.client.follow import Follower, turn_in
from holdfast.client.following import Receipt
from holdfast.client.mirror import Change, Channel
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.messages import Message
from holdfast.protocol.chat.parts import ErrorResponsePart, MarkdownResponsePart
from holdfast.protocol.chat.state import ActiveTurn, ChatState, TurnState
from holdfast.protocol.chat.state import Turn as TurnRecord
from holdfast.protocol.common import ErrorInfo, UsageInfo

if TYPE_CHECKING:
    from holdfast.client.chat import Chat

__all__ = ["Outcome", "Turn"]

_RECENT: Final = 8
"""How many turns a message that waited may be behind when we come back."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended. `state` is None if it was taken back before it could."""

    turn: TurnRecord | None
    state: TurnState | None

    @property
    def text(self) -> str:
        """What the agent said, without what it thought and did."""
        parts = self.turn.response_parts if self.turn else ()
        return "".join(part.text for part in parts if isinstance(part, MarkdownResponsePart))

    @property
    def error(self) -> ErrorInfo | None:
        parts = self.turn.response_parts if self.turn and self.state is TurnState.ERROR else ()
        return next((part.error for part in reversed(parts) if isinstance(part, ErrorResponsePart)), None)

    @property
    def usage(self) -> UsageInfo | None:
        return self.turn.usage if self.turn else None


class Turn:
    """Iterating gives every event once, from the beginning of the turn on; a second iteration goes on where the
    first stopped. Awaiting waits for the end. Both raise `Refused` if the host did not want the turn.

    A turn whose message was queued has an empty `id` until it begins.
    """

    def __init__(self, chat: Chat, turn_id: str = "", queued_id: str = "") -> None:
        self.chat = chat
        self.id = turn_id
        self.queued_id = queued_id
        self._feed: Feed[Event] = Feed()
        self._outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._follower = Follower(turn_id, chat.dispatch)
        self._message: Message | None = None
        self._receipt: Receipt | None = None
        self._has_begun = False
        """The host has accepted it, or begun it: from now on it is in the chat's state, or was taken back."""
        self._stop: Callable[[], None] = chat.listen(self._changed)

    def __repr__(self) -> str:
        return f"<Turn {self.id or 'that waits'} of {self.chat.uri}>"

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._feed

    def __await__(self) -> Generator[Any, None, Outcome]:
        # Somebody who stops waiting must not end it for others.
        return asyncio.shield(self._outcome).__await__()

    @property
    def is_over(self) -> bool:
        return self._outcome.done()

    async def accepted(self) -> Turn:
        """Wait until the host has taken the message, as a turn or into the queue; see `id` and `queued_id`.

        Raises `Refused` if it did not want it.
        """
        while self._receipt is not None and not self._receipt.is_settled:
            receipt = self._receipt
            try:
                await receipt
            except Refused:
                if self._receipt is receipt:
                    raise
        if self._outcome.done() and (error := self._outcome.exception()) is not None:
            raise error
        return self

    async def cancel(self) -> None:
        """Stop it, or take it out of the queue. A turn that is over stays as it is."""
        if self.is_over:
            return
        if self.id:
            await self.chat.end(self.id)
        else:
            await self.chat.unqueue(self.queued_id)

    def close(self) -> None:
        """Follow it no more; it goes on at the host."""
        self._finish(Gone("the turn is not followed any more"))

    # Made by `Chat`

    def look(self, after: ActiveTurn | TurnRecord | None = None) -> Turn:
        """Begin with what the chat has of it already; with `after`, with what has come since."""
        if after is not None:
            self._follower = Follower(self.id, self.chat.dispatch, after=after)
        state = self.chat.confirmed
        if state is not None:
            self._tell(self._follower.look(state, ()))
        return self

    def begun_by(self, receipt: Receipt, message: Message | None) -> Turn:
        """It begins when the host accepts what this receipt is for. A message may wait if it has to."""
        self._message, self._receipt = message, receipt
        receipt.when_settled(self._settled)
        return self

    def _settled(self, error: Exception | None) -> None:
        state = self.chat.confirmed
        if error is None:
            self._has_begun = bool(self.id)
        elif self.is_over or (state is not None and self._was_heard(state)):
            return
        elif state is None or not self._wait_instead(error, state):
            self._finish(error)

    def _wait_instead(self, error: Exception, confirmed: ChatState) -> bool:
        """Another turn began a moment before: a message waits for its end. False if it is not like that."""
        was_not_wanted = isinstance(error, Refused) or (isinstance(error, Interrupted) and error.is_unheard)
        is_busy = confirmed.active_turn is not None or self.chat.is_busy
        if self.queued_id or self._message is None or not (was_not_wanted and is_busy):
            return False
        if self.chat.is_unwanted(self.id):
            self._tell([Ended(None)])
            return True
        self.id, message = "", self._message
        self.queued_id, receipt = self.chat.put_in_queue(message)
        self.begun_by(receipt, message)
        return True

    def _was_heard(self, state: ChatState) -> bool:
        """Whether the host had heard of it all the same, before the connection broke or from the broken one."""
        if not self.id:
            return _is_queued(state, self.queued_id) or bool(self._find_after_snapshot(state))
        return turn_in(state, self.id) is not None

    # Following

    def _changed(self, channel: Channel | None, changes: Sequence[Change]) -> None:
        if channel is None:
            self._finish(Gone("the chat is no more, or the connection was closed"))
        elif self.id or self._found_beginning(channel, changes):
            self._tell(self._follower.look(channel.confirmed, changes, has_begun=self._has_begun))

    def _found_beginning(self, channel: Channel, changes: Sequence[Change]) -> bool:
        """A queued message becomes a turn whose id the host makes."""
        for change in changes:
            action = change.action
            if isinstance(action, actions.TurnStarted) and action.queued_message_id == self.queued_id:
                self.id = action.turn_id
            elif isinstance(action, actions.PendingMessageRemoved) and action.id == self.queued_id and change.by:
                # The host takes it out of the queue to begin it, a client to have it never begin.
                self._tell([Ended(None)])
                return False
        if any(change.is_renewed for change in changes) and not _is_queued(channel.optimistic, self.queued_id):
            self.id = self._find_after_snapshot(channel.confirmed)
            if not self.id:
                self._finish(Interrupted("the message left the queue while the connection was away"))
        if self.id:
            self._has_begun = True
            self._follower = Follower(self.id, self.chat.dispatch)
        return bool(self.id)

    def _find_after_snapshot(self, state: ChatState) -> str:
        """Its beginning was missed if the message waits no more: it is the newest turn that says the same."""
        turns = (*state.turns[-_RECENT:], *((state.active_turn,) if state.active_turn else ()))
        said = (
            turn.id for turn in reversed(turns) if self._message is not None and _same(turn.message, self._message)
        )
        return next(said, "")

    def _tell(self, events: Sequence[Event]) -> None:
        for event in events:
            self._feed.join(joined, event)
            if isinstance(event, Ended):
                self._finish(None, event)

    def _finish(self, error: Exception | None, ended: Ended | None = None) -> None:
        self._stop()
        self._feed.end(error)
        if self._outcome.done():
            return
        if error is not None:
            self._outcome.set_exception(error)
            self._outcome.exception()  # nobody has to wait for it
        else:
            assert ended is not None, "it ended one way or the other"
            record = turn_in(self.chat.confirmed, self.id) if self.chat.confirmed is not None and self.id else None
            turn = record if isinstance(record, TurnRecord) else None
            self._outcome.set_result(Outcome(turn, ended.state))


def _is_queued(state: ChatState, queued_id: str) -> bool:
    return any(each.id == queued_id for each in state.queued_messages or ())


def _same(one: Message, other: Message) -> bool:
    return replace(one, meta=None) == replace(other, meta=None)
