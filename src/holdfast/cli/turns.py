"""Following a turn to its end for somebody who may or may not be there to be asked. Used by `send`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from holdfast.cli.asking import Terminal, ask_approval, ask_question, ask_result
from holdfast.cli.exits import Exit, Stopped
from holdfast.client.asks import Approval, AuthenticationNeeded, Question, ResultApproval
from holdfast.client.errors import Refused
from holdfast.protocol.chat.state import ToolOrigin, TurnState
from holdfast.protocol.common import URI

if TYPE_CHECKING:
    from holdfast.cli.telling import Teller
    from holdfast.client.session import Session
    from holdfast.client.turn import Turn

__all__ = ["Approve", "follow"]

# Seconds to wait for a turn to end that was told to: agents may need a moment to put their tools away.
_TO_CANCEL: Final = 10.0


class Approve(StrEnum):
    """Who says whether a tool may run."""

    ASK = "ask"
    NEVER = "never"
    ALL = "all"


async def follow(turn: Turn, approve: Approve, teller: Teller, terminal: Terminal | None) -> bool:
    """Show a turn until it ends; False if it waits for a person and nobody is there.

    If this coroutine is cancelled, so is the turn.
    """
    try:
        await _begin(turn)
        async with aclosing(_happenings(turn)) as happenings:
            async for event in happenings:
                teller.tell(event)
                answer = _ANSWERS.get(type(event))
                if answer is not None and not await _settled(turn, event, approve, answer, terminal):
                    return False
    except asyncio.CancelledError:
        await _stop(turn)
        raise
    finally:
        teller.end()
    return True


async def _begin(turn: Turn) -> None:
    """Wait until a queued message becomes a turn. Raises `Stopped` if the queue is held.

    Hosts go on with a queue only after a turn that completed: whoever cancelled it wanted peace.
    """
    chat = turn.chat
    async with chat.changes() as changes:
        while not turn.id and not turn.is_over:
            is_queued = any(each.id == turn.queued_id for each in chat.queued)
            if is_queued and not chat.is_busy and chat.turns and chat.turns[-1].state is not TurnState.COMPLETE:
                start = f"`holdfast queue {chat.session.uri} --start`"
                raise Stopped(Exit.FAILED, f"the turn before did not complete, so the message stays queued; {start}")
            if await anext(changes, None) is None:
                return  # the chat is gone, as the turn will say


async def _stop(turn: Turn) -> None:
    async with asyncio.timeout(_TO_CANCEL):
        await turn.cancel()
        await turn


async def _happenings(turn: Turn) -> AsyncGenerator[Any, None]:
    """The events of a turn, and what its workers ask in chats of their own."""
    queue: asyncio.Queue[Any] = asyncio.Queue()
    session = turn.chat.session
    told: set[tuple[str, str]] = set()

    def look(*_: object) -> None:
        for ask in session.waiting if session.is_followed else ():
            if _key(ask) not in told and _is_worker(session, ask.chat, turn.chat.uri):
                told.add(_key(ask))
                queue.put_nowait(ask)

    async def tell() -> None:
        try:
            async for event in turn:
                queue.put_nowait(event)
        finally:
            queue.put_nowait(_END)

    stop = session.listen(look)
    look()
    telling = asyncio.create_task(tell())
    try:
        while (event := await queue.get()) is not _END:
            yield event
        await telling  # raises what went wrong
    finally:
        stop()
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


_END: Final = object()


def _is_worker(session: Session, chat: URI, of: URI) -> bool:
    """Whether a chat was begun by a tool of another one, or of one that was."""
    origins = {each.resource: each.origin for each in session.chats}
    seen: set[URI] = set()
    while isinstance(origin := origins.get(chat), ToolOrigin) and chat not in seen:
        seen.add(chat)
        chat = origin.chat
        if chat == of:
            return True
    return False


_Answer = Callable[[Any, Approve, "Terminal | None"], Coroutine[Any, Any, bool]]


async def _settled(turn: Turn, ask: Any, approve: Approve, answer: _Answer, terminal: Terminal | None) -> bool:
    """Have something decided, by us or by whoever else is first; False if nobody here can."""
    ours = asyncio.ensure_future(answer(ask, approve, terminal))
    theirs = asyncio.ensure_future(_decided_elsewhere(turn, ask))
    try:
        await asyncio.wait((ours, theirs), return_when=asyncio.FIRST_COMPLETED)
        return not ours.done() or await ours
    except Refused:
        return True  # somebody else was first
    finally:
        for task in (ours, theirs):
            task.cancel()
        await asyncio.gather(ours, theirs, return_exceptions=True)


async def _decided_elsewhere(turn: Turn, ask: Any) -> None:
    """Wait until the session does not wait for this any more, or is gone."""
    session = turn.chat.session
    async with session.changes() as changes:
        seen = False
        while session.is_followed:
            waits = any(_key(each) == _key(ask) for each in session.waiting)
            if seen and not waits:
                return
            seen = seen or waits
            await anext(changes, None)


def _key(ask: Any) -> tuple[str, str]:
    """What an ask is about; its id is known in the session only."""
    return (ask.chat, ask.request.id if isinstance(ask, Question) else ask.call.tool_call_id)


async def _approval(ask: Approval, approve: Approve, terminal: Terminal | None) -> bool:
    if approve is Approve.ALL:
        await ask.approve()
    elif approve is Approve.NEVER:
        await ask.deny("Nobody is there to be asked.")
    elif terminal is None or (decision := await ask_approval(terminal, ask)) is None:
        return False
    elif decision.approved:
        await ask.approve(decision.option)
    else:
        await ask.deny(decision.reason, option=decision.option)
    return True


async def _result(ask: ResultApproval, approve: Approve, terminal: Terminal | None) -> bool:
    if approve is Approve.ASK:
        decision = None if terminal is None else await ask_result(terminal, ask)
        if decision is None:
            return False
        approved = decision.approved
    else:
        approved = approve is Approve.ALL
    await (ask.approve() if approved else ask.deny())
    return True


async def _question(ask: Question, approve: Approve, terminal: Terminal | None) -> bool:
    if approve is Approve.NEVER:
        await ask.decline()
        return True
    if terminal is None:
        return False
    values = await ask_question(terminal, ask)
    await (ask.decline() if values is None else ask.answer(values))
    return True


async def _authentication(_ask: AuthenticationNeeded, _approve: Approve, _terminal: Terminal | None) -> bool:
    return False  # a token is nothing to type into a terminal


_ANSWERS: Final[dict[type, _Answer]] = {
    Approval: _approval,
    ResultApproval: _result,
    Question: _question,
    AuthenticationNeeded: _authentication,
}
