"""The life of a turn: begun, worked on by an agent, ended exactly once (04-chat, section 6).

What agents say arrives in `heard`. A turn whose run is not the present one has ended already, and what comes for
it is dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from holdfast.host import chats, client_tools, mirror, queue, sessions, shaping
from holdfast.host.connection import Client
from holdfast.host.units import Backend, Chat, Session
from holdfast.host.verdict import Refused
from holdfast.ports.agent import (
    AgentEvent,
    AgentSaid,
    CancelTurn,
    ChatTruncated,
    ClientTool,
    Deliver,
    Delivery,
    InputAnswered,
    OpenSession,
    Progress,
    ResultDecided,
    SessionOpened,
    SpawnChat,
    StartTurn,
    SteeringTaken,
    TitleSuggested,
    ToolDecided,
    Transcript,
    TurnEnded,
    TurnKey,
    WorkerTurn,
)
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.inputs import ChatInputAnswer, ChatInputResponseKind
from holdfast.protocol.chat.messages import Message
from holdfast.protocol.chat.parts import (
    ErrorResponsePart,
    InputRequestResponsePart,
    ResponsePart,
)
from holdfast.protocol.chat.tools import (
    ConfirmationOption,
    ToolCallClientContributor,
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
)
from holdfast.protocol.codec import Wire, encode
from holdfast.protocol.common import ErrorInfo, ProtectedResourceMetadata, Timestamp
from holdfast.protocol.session import actions as session_actions
from holdfast.protocol.templates import template_variables
from holdfast.protocol.timestamps import from_milliseconds, to_milliseconds

if TYPE_CHECKING:
    from holdfast.host.core import Host

__all__ = [
    "begin",
    "deliver",
    "elapsed",
    "end",
    "forget_after",
    "heard",
    "input_answered",
    "missing_tokens",
    "result_decided",
    "resume",
    "stop",
    "tool_decided",
    "unauthenticated",
]

logger: Final = logging.getLogger(__name__)


def elapsed(host: Host, started_at: Timestamp) -> int:
    """Milliseconds since a turn began; the one who ends a turn measures."""
    try:
        return max(0, host.clock.wall() - to_milliseconds(started_at))
    except ValueError:
        return 0


# Rights


def missing_tokens(host: Host, provider: str, client: Client | None) -> tuple[ProtectedResourceMetadata, ...]:
    """The resources an agent cannot do without and for which there is no token."""
    agent = host.agents.get(provider)
    holders = [client] if client is not None else list(host.clients.values())
    return tuple(
        resource
        for resource in (agent.protected_resources or () if agent else ())
        if resource.required is not False and not any(resource.resource in holder.tokens for holder in holders)
    )


def unauthenticated(host: Host, unit: Session, client: Client | None) -> Refused | None:
    missing = missing_tokens(host, unit.session.state.provider, client)
    return Refused(f"authenticate for {missing[0].resource} first") if missing else None


# Beginning


def begin(
    host: Host,
    chat: Chat,
    action: actions.TurnStarted,
    transcripts: tuple[Transcript, ...],
    context: Transcript | None,
) -> None:
    """A turn was started: have the agent work on it."""
    mirror.announce(host, chat.unit)
    sessions.title_from(host, chat.unit, action.message.text)
    host.counters.turns += 1
    _launch(host, chat, action.message, transcripts, context)


def resume(host: Host, chat: Chat, message: Message, context: Transcript | None) -> None:
    """A turn that failed goes on. Nobody waits any more for what it asked before: the agent asks anew."""
    for part in _running_parts(chat):
        if isinstance(part, InputRequestResponsePart) and part.response is None:
            cancelled = ChatInputResponseKind.CANCEL
            host.emit(chat, actions.InputCompleted(request_id=part.request.id, response=cancelled))
    turn = chat.state.active_turn
    assert turn is not None, "a resumed turn is active"
    _launch(host, chat, message, (), context, said=encode(turn.response_parts))


def _launch(
    host: Host,
    chat: Chat,
    message: Message,
    transcripts: tuple[Transcript, ...],
    context: Transcript | None,
    said: bytes | None = None,
) -> None:
    turn = chat.state.active_turn
    assert turn is not None, "a turn is launched when it is active"
    unit, state = chat.unit, chat.unit.session.state
    host.batch.assign(chat, "generation", chat.generation + 1)
    key = TurnKey(unit.uri, chat.uri, turn.id, chat.generation)
    host.batch.assign(chat, "run", key)
    host.batch.assign(chat, "parent", None)
    directories = chat.state.working_directories
    start = StartTurn(
        provider=state.provider,
        key=key,
        message=message,
        history=chat.turns,
        config=state.config.values if state.config else {},
        directories=(state.working_directories or ()) if directories is None else directories,
        client_tools=tuple(
            ClientTool(client.client_id, tool) for client in state.active_clients for tool in client.tools
        ),
        model=message.model,
        transcripts=transcripts,
        context=context,
        resumed=said is not None,
        said=said,
    )
    if unit.backend == Backend.OPEN:
        _hand_over(host, chat, start)
    else:
        host.batch.assign(unit, "waiting", (*unit.waiting, start))
        open_backend(host, unit)


def open_backend(host: Host, unit: Session) -> None:
    """Have the agent make ready for a session, in this life of the host for the first time."""
    if unit.backend != Backend.CLOSED:
        return
    state = unit.session.state
    host.batch.assign(unit, "backend", Backend.OPENING)
    host.batch.tell(
        OpenSession(
            provider=state.provider,
            session=unit.uri,
            directories=state.working_directories or (),
            config=state.config.values if state.config else {},
            progress=unit.progress is not None,
        )
    )


def _running_parts(chat: Chat) -> tuple[ResponsePart, ...]:
    turn = chat.state.active_turn
    return turn.response_parts if turn else ()


def _hand_over(host: Host, chat: Chat, start: StartTurn) -> None:
    host.batch.tell(start)
    queue.offer_steering(host, chat)


# What agents say


def heard(host: Host, event: AgentEvent) -> None:
    """Take what an agent said."""
    _HEARD[type(event)](host, event)


def _running(host: Host, key: TurnKey) -> Chat | None:
    """The chat a key's turn runs in; None once it is over."""
    chat = host.channels.get(key.chat)
    return chat if isinstance(chat, Chat) and chat.run == key else None


# What a host may originate for a turn. Beginning and ending it are events of their own.
_SPEECH: Final = frozenset(
    {
        actions.ResponsePart,
        actions.Delta,
        actions.Reasoning,
        actions.Usage,
        actions.ActivityChanged,
        actions.ToolCallStart,
        actions.ToolCallDelta,
        actions.ToolCallReady,
        actions.ToolCallComplete,
        actions.ToolCallContentChanged,
        actions.ToolCallAuthRequired,
        actions.ToolCallAuthResolved,
        actions.InputRequested,
    }
)

# What else an agent may say, of its chat or of the session: nothing of it ends with the turn, or has to come in one.
_BESIDE: Final[dict[type, str]] = {
    actions.BackgroundWorkSet: "chat",
    actions.BackgroundWorkRemoved: "chat",
    actions.ChangesetsChanged: "chat",
    session_actions.ChangesetsChanged: "session",
}


def _said(host: Host, event: AgentSaid) -> None:
    kind = type(event.action)
    chat = host.channels.get(event.key.chat) if kind in _BESIDE else _running(host, event.key)
    if not isinstance(chat, Chat):
        return
    if kind in _BESIDE:
        _said_beside(host, chat, event.action)
    elif kind in _SPEECH:
        for action in shaping.shaped(host, chat, event.action):
            host.emit(chat, action)
        if isinstance(event.action, actions.ToolCallReady):
            client_tools.watch(host, chat, event.action.tool_call_id)
    else:
        _forbidden(chat, event.action)


def _said_beside(host: Host, chat: Chat, action: Wire) -> None:
    listed = getattr(action, "changesets", None) or ()
    if all(set(template_variables(each.uri_template)) in _TEMPLATES for each in listed):
        host.emit(chat if _BESIDE[type(action)] == "chat" else chat.unit.session, action)
    else:
        _forbidden(chat, action)


# The variables that clients know how to fill in (03-session, section 11).
_TEMPLATES: Final[tuple[set[str], ...]] = (set(), {"turnId"}, {"originalTurnId", "modifiedTurnId"})


def _forbidden(chat: Chat, action: Wire) -> None:
    logger.warning("the agent of %s may not say %s", chat.uri, encode(action)[:200].decode(errors="replace"))


def _ended(host: Host, event: TurnEnded) -> None:
    chat = _running(host, event.key)
    if chat is not None:
        end(host, chat, event.error, resumable=event.resumable)


def end(host: Host, chat: Chat, error: ErrorInfo | None = None, *, resumable: bool = False) -> None:
    """End the running turn, normally or with an error."""
    turn = chat.state.active_turn
    if turn is None:
        return
    _settle(host, chat)
    duration = elapsed(host, turn.started_at)
    if error is None:
        host.emit(chat, actions.TurnComplete(turn_id=turn.id, duration=duration))
        queue.start_next(host, chat)
    else:
        part = ErrorResponsePart(error=error, resumable=True if resumable else None)
        host.emit(chat, actions.Error(turn_id=turn.id, duration=duration, part=part))


def _settle(host: Host, chat: Chat) -> None:
    """What every end of a turn has in common, ahead of it: no activity, no workers, no run."""
    host.emit(chat, actions.ActivityChanged())
    key = chat.run
    host.batch.assign(chat, "run", None)
    shaping.forget(host, chat)
    for other in tuple(chat.unit.chats.values()):
        if key is not None and other.parent == key and other.state.active_turn is not None:
            worker = other.state.active_turn
            host.batch.assign(other, "run", None)
            duration = elapsed(host, worker.started_at)
            host.emit(other, actions.TurnCancelled(turn_id=worker.id, duration=duration))


def stop(host: Host, chat: Chat) -> None:
    """Somebody else ends the running turn: the agent is to stop."""
    if chat.state.active_turn is None:
        return
    key = chat.run
    _settle(host, chat)
    waiting = tuple(start for start in chat.unit.waiting if start.key != key)
    host.batch.assign(chat.unit, "waiting", waiting)
    if key is not None:
        host.batch.tell(CancelTurn(key))


def cancel(host: Host, chat: Chat) -> None:
    """The host itself ends the running turn as cancelled."""
    turn = chat.state.active_turn
    if turn is not None:
        stop(host, chat)
        host.emit(chat, actions.TurnCancelled(turn_id=turn.id, duration=elapsed(host, turn.started_at)))


def forget_after(host: Host, chat: Chat, turns: int) -> None:
    """The agent's memory of a chat ends there."""
    host.batch.tell(ChatTruncated(chat.unit.session.state.provider, chat.unit.uri, chat.uri, turns))


def _opened(host: Host, event: SessionOpened) -> None:
    unit = host.sessions.get(event.session)
    if unit is None or unit.backend != Backend.OPENING:
        return
    sessions.opened(host, unit, event.error)
    waiting = unit.waiting
    host.batch.assign(unit, "waiting", ())
    for start in waiting:
        chat = _running(host, start.key)
        if chat is None:
            continue
        if event.error is None:
            _hand_over(host, chat, start)
        else:
            end(host, chat, event.error, resumable=True)


def _progress(host: Host, event: Progress) -> None:
    unit = host.sessions.get(event.session)
    if unit is not None:
        sessions.progress(host, unit, event)


def _steering_taken(host: Host, event: SteeringTaken) -> None:
    chat = _running(host, event.key)
    steering = chat.state.steering_message if chat else None
    if chat is not None and steering is not None and steering.id == event.id:
        kind = actions.PendingMessageKind.STEERING
        host.emit(chat, actions.PendingMessageRemoved(kind=kind, id=event.id))


def _title_suggested(host: Host, event: TitleSuggested) -> None:
    unit = host.sessions.get(event.session)
    if unit is not None:
        sessions.suggest_title(host, unit, event.title)


def _spawned(host: Host, event: SpawnChat) -> None:
    chat = _running(host, event.key)
    if chat is not None:
        chats.spawn(host, chat, event)


def _worker_turn(host: Host, event: WorkerTurn) -> None:
    parent = _running(host, event.parent)
    chat = host.channels.get(event.worker.chat)
    if parent is None or not isinstance(chat, Chat) or chat.unit is not parent.unit:
        return
    if chat.state.active_turn is not None:
        return
    now = from_milliseconds(host.clock.wall())
    host.emit(chat, actions.TurnStarted(turn_id=event.worker.turn_id, started_at=now, message=event.message))
    host.batch.assign(chat, "run", event.worker)
    host.batch.assign(chat, "parent", event.parent)


_HEARD: Final[dict[type, Callable[[Host, Any], None]]] = {
    AgentSaid: _said,
    TurnEnded: _ended,
    SessionOpened: _opened,
    Progress: _progress,
    SteeringTaken: _steering_taken,
    TitleSuggested: _title_suggested,
    SpawnChat: _spawned,
    WorkerTurn: _worker_turn,
}


# What people decide


def deliver(host: Host, chat: Chat, delivery: Delivery) -> None:
    """Hand something to the agent that works on a chat."""
    if chat.run is not None:
        host.batch.tell(Deliver(chat.run, delivery))


def tool_decided(
    host: Host,
    chat: Chat,
    call: ToolCallPendingConfirmationState,
    action: actions.ToolCallConfirmed,
    option: ConfirmationOption | None,
) -> None:
    """A tool call was confirmed or denied."""
    deliver(
        host,
        chat,
        ToolDecided(
            tool_call_id=call.tool_call_id,
            approved=action.approved,
            tool_input=call.tool_input if action.edited_tool_input is None else action.edited_tool_input,
            option=option,
            reason=action.reason,
            reason_message=action.reason_message,
            suggestion=action.user_suggestion,
        ),
    )
    client_tools.watch(host, chat, call.tool_call_id)


def result_decided(
    host: Host, chat: Chat, call: ToolCallPendingResultConfirmationState, action: actions.ToolCallResultConfirmed
) -> None:
    """A result is let through or withheld. That of a client's tool is not known to the agent before."""
    if isinstance(call.contributor, ToolCallClientContributor):
        client_tools.looked_at(host, chat, call, approved=action.approved)
    else:
        deliver(host, chat, ResultDecided(action.tool_call_id, action.approved))


def input_answered(
    host: Host, chat: Chat, action: actions.InputCompleted, answers: dict[str, ChatInputAnswer]
) -> None:
    deliver(host, chat, InputAnswered(action.request_id, action.response, answers))
