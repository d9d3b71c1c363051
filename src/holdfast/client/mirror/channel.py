"""One followed channel: what the host confirmed, what was dispatched and not answered, and the two together.

Pure (01-wire, section 16). `optimistic` is what people are shown: the confirmed state with the pending actions on
top. Without pending actions the two are one object, so streamed text is reduced once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from holdfast.protocol.chat import actions as chat
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import URI
from holdfast.protocol.envelope import ActionEnvelope, StateAction
from holdfast.protocol.errors import ProtocolError
from holdfast.protocol.reducers import REDUCERS, Reducer
from holdfast.protocol.snapshot import STATES, Snapshot

__all__ = ["Channel", "Pending", "kind_of_state"]

# Envelopes that may arrive before the snapshot they follow. A host that sends more will not send the snapshot.
_MOST_EARLY: Final = 100_000

_KINDS: Final = {struct: kind for kind, struct in STATES.items()}

_ENDINGS: Final = (chat.TurnComplete, chat.TurnCancelled, chat.Error)


def kind_of_state(state: object) -> str:
    """The kind of channel a state belongs to; empty for one this version does not know."""
    return _KINDS.get(type(state), "")  # type: ignore[arg-type]  # whatever else it is, it is not in the table


class Pending(NamedTuple):
    """An action that was dispatched and not answered. One that was dispatched during a break was not `sent`.

    `before` is the number under which it was sent once already, if that may still arrive.
    """

    client_seq: int
    action: StateAction
    sent: bool = True
    before: int | None = None


class Channel:
    """Begins without a state; `snapshot` gives it one, and again whenever replay is impossible."""

    def __init__(self, uri: URI) -> None:
        self.uri = uri
        self.kind = ""
        self.seq = -1
        """The highest number whose envelope the confirmed state contains."""
        self.confirmed: Any = None
        self.optimistic: Any = None
        self.pending: list[Pending] = []
        self._reduce: Reducer = _unchanged
        self._early: list[Sequence[ActionEnvelope]] = []
        self._ended_early: set[str] = set()

    def __repr__(self) -> str:
        state = f"{self.kind} at {self.seq}" if self.is_known else "waiting for its state"
        return f"<Channel {self.uri} {state}, {len(self.pending)} pending>"

    @property
    def is_known(self) -> bool:
        """Whether there is a state. Until then envelopes are kept for later."""
        return self.confirmed is not None

    def dispatch(self, pending: Pending) -> None:
        """Show an action before the host has answered it."""
        self.pending.append(pending)
        if self.is_known:
            self.optimistic = self._reduce(self.optimistic, pending.action)

    def snapshot(self, snapshot: Snapshot) -> list[ActionEnvelope]:
        """Begin again from what the host shows. The envelopes that had come too early are applied and returned."""
        self.confirmed = snapshot.state
        self.kind = kind_of_state(snapshot.state)
        self.seq = snapshot.from_seq
        self._reduce = REDUCERS.get(self.kind, _unchanged)
        self._ended_early.clear()
        early, self._early = self._early, []
        applied: list[ActionEnvelope] = []
        for envelopes in early:
            if envelopes[0].server_seq > self.seq:
                self._apply(envelopes)
                applied += envelopes
        self.derive()
        return applied

    def envelopes(self, envelopes: Sequence[ActionEnvelope]) -> bool:
        """Apply accepted envelopes that share a number. False if they are early, or contained already."""
        if not self.is_known:
            if len(self._early) >= _MOST_EARLY:
                raise ProtocolError(f"the host sends actions of {self.uri} and no snapshot")
            self._early.append(tuple(envelopes))
            return False
        if envelopes[0].server_seq <= self.seq:
            return False
        self._apply(envelopes)
        return True

    def _apply(self, envelopes: Sequence[ActionEnvelope]) -> None:
        for envelope in envelopes:
            action = envelope.action
            if envelope.origin is None and isinstance(action, _ENDINGS):
                self._confirm_start(action.turn_id)
            elif isinstance(action, chat.TurnStarted) and action.turn_id in self._ended_early:
                self._ended_early.discard(action.turn_id)
                continue
            self.confirmed = self._reduce(self.confirmed, action)
        self.seq = envelopes[0].server_seq

    def _confirm_start(self, turn_id: str) -> None:
        """The host ends a turn that we only know as pending: it has accepted the start, so that comes first."""
        active = getattr(self.confirmed, "active_turn", None)
        if active is not None and active.id == turn_id:
            return
        for entry in self.pending:
            if isinstance(entry.action, chat.TurnStarted) and entry.action.turn_id == turn_id:
                self.confirmed = self._reduce(self.confirmed, entry.action)
                self.pending.remove(entry)
                self._ended_early.add(turn_id)
                return

    def forget_early(self) -> None:
        """What came before a snapshot that never came was of another connection."""
        self._early.clear()

    def number_now(self, client_seq: int) -> int:
        """The number of an action by now, given one that it was ever sent under."""
        return next((entry.client_seq for entry in self.pending if entry.before == client_seq), client_seq)

    def settle(self, client_seq: int) -> bool:
        """The host has answered an action, one way or the other; whether it was pending."""
        for index, entry in enumerate(self.pending):
            if entry.client_seq == client_seq:
                del self.pending[index]
                return True
        return False

    def derive(self) -> None:
        """Put the pending actions on top of the confirmed state."""
        state = self.confirmed
        if state is not None:
            for entry in self.pending:
                state = self._reduce(state, entry.action)
        self.optimistic = state


def _unchanged(state: Any, action: StateAction | Unknown) -> Any:  # noqa: ARG001 - the shape of a reducer
    """The reducer of states nobody here knows."""
    return state
