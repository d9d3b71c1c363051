"""`Host`: the core's front door, and the few operations everything in it is made of.

The shell tells it what happened (`connected`, `received`, `disconnected`, `said`, `answered`, `wake`), takes the
transaction that came of it (`flush`), has it committed, and learns what may be told to whom (`committed`) or what
is to be refused (`failed`). Reads the core cannot do itself stand in `needs`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from holdfast.host import importing, messages, mirror, presence, resyncing, sealing, turns
from holdfast.host.batch import AsSent, Batch, Close, Emission, Mark, Note, Refusal, Reply
from holdfast.host.connection import Client, Connection
from holdfast.host.environment import Clock, Ids
from holdfast.host.imports import Import
from holdfast.host.jobs import Job, Need, Waiting
from holdfast.host.outgoing import LongAnswer, Message
from holdfast.host.sealing import Release, Sealed
from holdfast.host.sequence import Numbers
from holdfast.host.settings import HostSettings
from holdfast.host.timers import Timers
from holdfast.host.units import Channel, Chat, Root, Session
from holdfast.ports.agent import AgentEvent
from holdfast.ports.journal import Epoch
from holdfast.protocol import jsonrpc
from holdfast.protocol.codec import Unknown, Wire, encode
from holdfast.protocol.common import URI
from holdfast.protocol.compat import facts
from holdfast.protocol.envelope import ActionOrigin, action_type
from holdfast.protocol.errors import HoldfastError
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.root.state import AgentInfo

__all__ = ["Host"]

logger: Final = logging.getLogger(__name__)

T = TypeVar("T")


class Counters:
    """What the metrics page counts."""

    def __init__(self) -> None:
        self.actions = 0
        self.refusals = 0
        self.turns = 0
        self.replays = 0
        self.snapshots = 0
        self.failed_commits = 0


class Host:
    """One host. Made once, then started with what the journal found."""

    def __init__(
        self, clock: Clock, ids: Ids, settings: HostSettings, agents: Iterable[AgentInfo], root: Root
    ) -> None:
        self.clock = clock
        self.ids = ids
        self.settings = settings
        self.agents = {agent.provider: agent for agent in agents}
        self.root = root
        self.numbers = Numbers(0, 0)
        self.epochs: tuple[Epoch, ...] = ()
        self.sessions: dict[URI, Session] = {}
        self.channels: dict[URI, Channel] = {channel.uri: channel for channel in root.channels()}
        self.imports: dict[URI, Import] = {}
        """Sessions on their way in, which nobody sees."""
        self.listed = 0
        """How many sessions are announced."""
        self.connections: dict[int, Connection] = {}
        self.clients: dict[str, Client] = {}
        self.timers = Timers()
        self.counters = Counters()
        self.batch = Batch()
        self.in_flight: Sealed | None = None
        self.needs: deque[tuple[Job, tuple[Need, ...]]] = deque()
        self.pieces: deque[tuple[Job, tuple[Need, ...]]] = deque()
        """The same of jobs that need much, a piece of which is read when there is nothing else to do."""
        self.bridged: set[int] = set()
        """The connections that speak an older version."""
        self.resyncing: dict[int, Connection] = {}
        """Those of them that have to fetch snapshots, and are told so at a quiet moment."""
        self.draining = False
        self.released = 0
        """The highest number whose envelope was let out."""
        self._subscribers: dict[URI, dict[int, Connection]] = {}
        self._recipients: dict[URI, tuple[Connection, ...]] = {}
        self._job: Job | None = None
        self._later: deque[Callable[[], None]] = deque()
        self._stalled: deque[Callable[[], None]] = deque()
        """Work that waits for the journal to work again."""

    # What happens

    def connected(self, id: int) -> Connection:
        connection = Connection(id)
        self.connections[id] = connection
        return connection

    def received(self, connection: Connection, data: bytes) -> None:
        """A message arrived. Messages of one connection take effect in the order in which they came."""
        if not connection.open:
            return
        if connection.job is not None or connection.inbox:
            connection.inbox.append(data)
        else:
            self._handle(connection, data)

    def disconnected(self, connection: Connection) -> None:
        """The connection is gone, whoever ended it."""
        connection.open = False
        connection.inbox.clear()
        self.connections.pop(connection.id, None)
        self.bridged.discard(connection.id)
        self.resyncing.pop(connection.id, None)
        for channel in tuple(connection.subscriptions):
            self.drop_subscriber(connection, channel)
        self.in_background(lambda: presence.left(self, connection))
        self.in_background(lambda: importing.abandoned(self, connection))

    def said(self, event: AgentEvent) -> None:
        """An agent said something."""
        self.in_background(lambda: turns.heard(self, event))

    def answered(self, job: Job, need: Need, answer: Any) -> None:
        """What a job needed. An exception as the answer is raised where the question was asked."""
        job.answers[need] = answer
        self.resume(job)

    def resume(self, job: Job) -> None:
        """Run a job that has all the answers it waited for."""
        connection = job.connection
        if connection is None:
            if self._stalled:
                self._stalled.append(job.work)  # what happened before it waits there too
            else:
                self.run(job)
            return
        connection.job = None
        if not connection.open:
            return
        self.run(job)
        while connection.open and connection.inbox and connection.job is None:
            self._handle(connection, connection.inbox.popleft())

    def wake(self) -> None:
        """Do what is due by now."""
        for action in self.timers.pop_due(self.clock.monotonic()):
            if action == self._resume_stalled:
                action()  # as a job it would wait behind what it is to resume
            else:
                self.in_background(action)

    # Jobs

    def _handle(self, connection: Connection, data: bytes) -> None:
        self.run(Job(lambda: messages.handle(self, connection, data), connection))

    def in_background(self, work: Callable[[], None]) -> None:
        """Do work that belongs to no connection; it is done again if its transaction is lost."""
        if self._stalled:
            self._stalled.append(work)
            return
        self.run(Job(work))

    def run(self, job: Job) -> None:
        """Run a job as far as it goes."""
        outer, self._job = self._job, job
        mark = self.batch.mark()
        try:
            job.work()
        except Waiting as waiting:
            self._park(job, waiting, mark)
        except Exception:
            # The boundary of a job: one that fails takes back what it did, and the rest goes on.
            logger.exception("a job failed")
            self.batch.back_to(mark)
            if job.on_crash is not None:
                job.on_crash()
        else:
            if job.connection is None:
                self.batch.redo.append(job.work)
        finally:
            self._job = outer
        while outer is None and self._later:
            self.in_background(self._later.popleft())

    def _park(self, job: Job, waiting: Waiting, mark: Mark) -> None:
        assert self.batch.unchanged_since(mark), f"something changed before {waiting.needs} was asked for"
        if job.connection is not None:
            job.connection.job = job
        (self.pieces if waiting.is_piece else self.needs).append((job, waiting.needs))

    def later(self, work: Callable[[], None]) -> None:
        """Do work of nobody's connection right after the running job, which may have to read first."""
        self._later.append(work)

    def ask(self, need: Need, *, once: bool = False) -> Any:
        """What was read; unless it was, the job waits. Ask before changing anything.

        `once`: an answer that is out of date as soon as it was used, and is read again should it be asked for again.
        """
        assert self._job is not None, "only jobs may ask"
        answers = self._job.answers
        if need not in answers:
            raise Waiting(need)
        answer = answers.pop(need) if once else answers[need]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ask_ahead(self, needs: Iterable[Need]) -> None:
        """Have several things read that will be asked for, at once; others have their turn before."""
        assert self._job is not None, "only jobs may ask"
        missing = tuple(need for need in needs if need not in self._job.answers)
        if missing:
            raise Waiting(*missing, is_piece=True)

    def ask_piece(self, need: Need, take: Callable[[Any], None]) -> None:
        """Have one piece of much read, and `take` it once; others have their turn between two pieces."""
        assert self._job is not None, "only jobs may ask"
        if need not in self._job.answers:
            raise Waiting(need, is_piece=True)
        answer = self._job.answers.pop(need)
        if isinstance(answer, Exception):
            raise answer
        take(answer)

    @property
    def memory(self) -> dict[Any, Any]:
        """What the running job keeps for when it runs again."""
        assert self._job is not None, "only jobs remember"
        return self._job.memory

    def on_crash(self, action: Callable[[], None]) -> None:
        """What to do should the running job fail in a way nobody expected."""
        assert self._job is not None, "only jobs crash"
        self._job.on_crash = action

    # Outputs

    def emit(
        self,
        channel: Channel,
        action: Wire | Unknown,
        *,
        raw: bytes | None = None,
        origin: ActionOrigin | None = None,
        dispatcher: Connection | None = None,
        after: Any = None,
        as_sent: AsSent | None = None,
    ) -> bool:
        """Make an action happen: new state, an envelope to everybody who looks, and what follows elsewhere.

        One of the host's own that changes nothing is dropped; a client's is echoed even so. `after` is the new
        state where the reducer cannot make it from what is in memory.
        """
        before = channel.state
        if after is None:
            after = REDUCERS[channel.kind](before, action)
        if after is before and origin is None:
            return False
        if isinstance(channel, Chat) and after.turns:
            after = sealing.turns_to_rows(self.batch, channel, after)
        kind = action_type(action)
        recorded = facts.of(kind, before, action, after) if kind in facts.FACTS else None
        self.batch.assign(channel, "state", after)
        self.batch.touched[channel.uri] = channel
        emission = Emission(
            channel=channel.uri,
            unit=channel.unit.uri,
            action=encode(action) if raw is None else raw,
            origin=None if origin is None else encode(origin),
            recipients=self.recipients(channel.uri),
            dispatcher=dispatcher,
            about=channel.about(kind, recorded),
            as_sent=as_sent,
        )
        self.batch.outputs.append(emission)
        if self.bridged:
            resyncing.after(self, emission)
        self.counters.actions += 1
        mirror.after(self, channel, before, action)
        return True

    def refuse(self, connection: Connection, channel: URI, action: bytes, origin: ActionOrigin, reason: str) -> None:
        """Tell a dispatcher that its action was not accepted."""
        self.counters.refusals += 1
        self.batch.outputs.append(Refusal(channel, action, encode(origin), reason, connection))

    def reply(
        self, connection: Connection, request: jsonrpc.Request, result: Any, *, independent: bool = False
    ) -> None:
        """Answer a request. A callable is called once everything before the answer has its number."""
        self.batch.outputs.append(Reply(connection, request.id, request.method, result, independent))

    def fail(self, connection: Connection, id: jsonrpc.Id | None, method: str, error: HoldfastError) -> None:
        """Answer a request that failed."""
        self.batch.outputs.append(Reply(connection, id, method, error, independent=True))

    def note(self, recipients: Iterable[Connection], message: Message | LongAnswer) -> None:
        """Send a notification that is no action."""
        present = tuple(recipients)
        if present:
            self.batch.outputs.append(Note(present, message))

    def close(self, connection: Connection, code: int, reason: str) -> None:
        """Close a connection after everything before."""
        self.batch.outputs.append(Close(connection, code, reason))

    # Subscribers

    def add_subscriber(self, connection: Connection, channel: URI) -> None:
        self._subscribers.setdefault(channel, {})[connection.id] = connection
        self._recipients.pop(channel, None)

    def drop_subscriber(self, connection: Connection, channel: URI) -> None:
        subscribers = self._subscribers.get(channel)
        if subscribers is not None:
            subscribers.pop(connection.id, None)
            if not subscribers:
                del self._subscribers[channel]
        self._recipients.pop(channel, None)

    def recipients(self, channel: URI) -> tuple[Connection, ...]:
        """The connections that get what happens on a channel."""
        found = self._recipients.get(channel)
        if found is None:
            subscribers = self._subscribers.get(channel, {})
            found = tuple(connection for connection in subscribers.values() if connection.current)
            self._recipients[channel] = found
        return found

    def forget_recipients(self) -> None:
        """A connection became, or ceased to be, the one its client is reached by."""
        self._recipients.clear()

    # Units

    def hold(self, session: Session) -> None:
        """Have a stored session in memory. Changes nothing about it."""
        self.sessions[session.uri] = session
        self.channels.update((channel.uri, channel) for channel in session.channels())

    def let_go(self, session: Session) -> None:
        """Let a session leave memory; the journal has all of it."""
        for channel in session.channels():
            self.channels.pop(channel.uri, None)
        self.sessions.pop(session.uri, None)

    def add(self, channel: Channel) -> None:
        """A channel begins to exist. Whoever saw nothing after this saw another one under its name."""
        self.batch.assign(channel, "moved_at", self.numbers.last + 1)
        self.batch.put(self.channels, channel.uri, channel)
        self.batch.touched[channel.uri] = channel

    def drop(self, channel: Channel) -> None:
        """A channel ceases to exist: nobody follows it any more."""
        for connection in self.connections.values():
            if channel.uri in connection.subscriptions:
                self.batch.remove(connection.subscriptions, channel.uri)
                self.drop_subscriber(connection, channel.uri)
                self.batch.on_undo(lambda each=connection: self.add_subscriber(each, channel.uri))  # type: ignore[misc]
        self.batch.remove(self.channels, channel.uri)

    # Transactions

    @property
    def unsettled(self) -> bool:
        """Whether something is decided but not committed."""
        return bool(self.batch) or self.in_flight is not None

    @property
    def stalled(self) -> bool:
        """Whether work waits for the journal to work again."""
        return bool(self._stalled)

    def flush(self, reserve: Callable[[], int]) -> Sealed | None:
        """Close the present transaction and hand it over; None if there is nothing.

        The caller commits `sealed.commit` unless it is empty, then calls `committed` or `failed`. There is one
        transaction in flight at a time. What `reserve` raises comes through; the caller calls `lost` then.
        """
        assert self.in_flight is None, "one commit at a time"
        if self.batch.empty:
            self.batch.redo.clear()
            return None
        mirror.publish(self)
        resyncing.close_quiet(self)
        while not self.numbers.suffice_for(self.batch.envelopes):
            self.numbers.extend(reserve())
        sealed = sealing.seal(self, self.batch)
        self.batch = Batch()
        self.in_flight = sealed
        return sealed

    def committed(self, sealed: Sealed) -> Release:
        """The transaction is durable: what may be told now."""
        assert self.in_flight is sealed, "only what is in flight can be committed"
        self.in_flight = None
        self.released = sealed.last
        return sealing.release(sealed)

    def failed(self, sealed: Sealed, reason: str) -> Release:
        """The transaction is lost, and with it everything decided since: take it all back and say so."""
        assert self.in_flight is sealed, "only what is in flight can fail"
        self.in_flight = None
        later, self.batch = self.batch, Batch()
        return self._give_back((sealed.batch, later), reason)

    def lost(self, reason: str) -> Release:
        """No transaction could be made of what was decided: the same."""
        lost, self.batch = self.batch, Batch()
        return self._give_back((lost,), reason)

    def _give_back(self, batches: tuple[Batch, ...], reason: str) -> Release:
        self.counters.failed_commits += 1
        for batch in reversed(batches):
            batch.undo()
        self._stalled.extend(work for batch in batches for work in batch.redo)
        if self._stalled:
            self.timers.set("stalled", self.clock.monotonic() + _RETRY, self._resume_stalled)
        return sealing.refused(self, batches, reason)

    def _resume_stalled(self) -> None:
        work, self._stalled = self._stalled, deque()
        for each in work:
            self.in_background(each)


_RETRY: Final = 1000
"""Milliseconds after which work that met a full disk is tried again."""
