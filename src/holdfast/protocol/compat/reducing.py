"""What an older version's reducers and codecs would have made of a value, told by those of 1.0.

A state is lifted, what happens to it happens in 1.0, and the outcome is lowered again. `holdfast debug` shows it;
tests hold it against the cases published with each version.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec.structs import replace

from holdfast.protocol import uris
from holdfast.protocol.chat.actions import InputCompleted
from holdfast.protocol.chat.parts import InputRequestResponsePart
from holdfast.protocol.chat.state import ChatState
from holdfast.protocol.codec import convert, to_json
from holdfast.protocol.compat.bridge import PRIVATE, Bridge, form_of
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import Action
from holdfast.protocol.compat.v0_4 import LEGACY, remember
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.snapshot import STATES

__all__ = ["MALFORMED", "context_of", "reading", "reduce_in"]

MALFORMED: Final = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""What a conversion trips over when it is given something of another shape than its version has."""

_CHOICES: Final = ("session/modelChanged", "session/agentChanged")
"""What was dated by older reducers, of all that only older versions say."""


def reduce_in(version: str, kind: str, initial: Json, actions: Sequence[Any], now: str | None = None) -> Json:
    """The state after the actions, all as `version` writes them.

    An action that is malformed or unknown changes nothing; a malformed state is an `InvalidValue`. With `now`, a
    timestamp, `modifiedAt` is set to it where that version's own reducers looked at their clock.
    """
    bridge = form_of(version, initial, actions)
    running = _Running(bridge, kind, initial, now)
    for action in actions:
        running.apply(action)
    return running.shown()


class _Running:
    """One state, and where a session is its only conversation its default chat's, while actions come in."""

    def __init__(self, bridge: Bridge | None, kind: str, initial: Json, now: str | None) -> None:
        self._bridge = bridge
        self._kind = kind
        self._now = now
        self._states: dict[str, Any] = {}
        with reading():
            alone = context_of(kind, initial, now or "")
            self._context = dataclasses.replace(
                alone, state=self._json, session_state=self._session, lookup=self._about
            )
            lifted = initial if bridge is None else bridge.lift_state(kind, initial, self._context)
            self._companions: Json = dict(lifted.get(PRIVATE) or {})
            public = {key: value for key, value in lifted.items() if not key.startswith(PRIVATE)}
            self._states[kind] = convert(STATES[kind], public)
            if "chat" in self._companions:
                self._states["chat"] = convert(STATES["chat"], self._companions["chat"])

    def apply(self, action: Any) -> None:
        try:
            lifted = self._lifted(action)
        except MALFORMED:
            return
        for each in lifted:
            if each.type == LEGACY:
                self._choose(each.action["action"])
                continue
            try:
                known: Any = convert(StateAction, each.action)  # type: ignore[arg-type]  # a union, not a class
            except InvalidValue:
                continue
            self._reduce(each.kind, each.type, known)

    def _lifted(self, action: Json) -> Sequence[Action]:
        sent = Action(self._context.channel, self._kind, action)
        return (sent,) if self._bridge is None else self._bridge.lift_action(sent, self._context)

    def _reduce(self, kind: str, type: str, action: Any) -> None:  # noqa: A002 - the protocol's word
        before = self._states.get(kind)
        if before is None:
            return
        after = REDUCERS[kind](before, action)
        if after is not before and isinstance(action, InputCompleted):
            after = self._answered(after, action)
        if after is not before:
            self._states[kind] = self._stamped(kind, type, after)

    def _answered(self, chat: ChatState, action: InputCompleted) -> ChatState:
        """With the answered question where the version's own reducers put it."""
        turn = chat.active_turn
        if self._bridge is None or not self._bridge.answers_last or turn is None:
            return chat
        parts = turn.response_parts
        answered = [
            each for each in parts if isinstance(each, InputRequestResponsePart) and each.response is not None
        ]
        last = next(each for each in reversed(answered) if each.request.id == action.request_id)
        rest = [each for each in parts if each is not last]
        return replace(chat, active_turn=replace(turn, response_parts=(*rest, last)))

    def _stamped(self, kind: str, type: str, state: Any) -> Any:  # noqa: A002 - the protocol's word
        """With the time of a version whose reducers had a clock, also in a session's summary."""
        if self._bridge is not None and self._now is not None and type in self._bridge.clocked:
            if "modified_at" in state.__struct_fields__:
                state = replace(state, modified_at=self._now)
            self._modified(self._now)
        elif kind == "chat" and self._kind == "session":
            self._modified(state.modified_at)
        return state

    def _modified(self, when: str) -> None:
        if "summary" in self._companions:
            self._companions["summary"] = {**self._companions["summary"], "modifiedAt": when}

    def _choose(self, action: Json) -> None:
        """What older versions say of the whole session, and 1.0 of each message, or elsewhere."""
        self._companions["legacy"] = remember(self._companions.get("legacy") or {}, {"action": action})
        if self._now is not None and action["type"] in _CHOICES:
            self._modified(self._now)

    def shown(self) -> Json:
        state: Json = to_json(self._states[self._kind])
        if self._bridge is None:
            return state
        companions = dict(self._companions)
        if self._kind != "chat" and "chat" in self._states:
            companions["chat"] = to_json(self._states["chat"])
        if companions:
            state = {**state, PRIVATE: companions}
        return self._bridge.lower_state(self._kind, state, self._context)

    def _json(self) -> Json | None:
        state = self._states.get(self._kind)
        return None if state is None else to_json(state)

    def _about(self, channel: str) -> Context:
        """Of another channel: there is no other than a session's only conversation."""
        if channel != self._context.default_chat or "chat" not in self._states:
            return Context()
        chat = self._states["chat"]
        return dataclasses.replace(self._context, channel=channel, kind="chat", state=lambda: to_json(chat))

    def _session(self) -> Json | None:
        return self._json() if self._kind == "session" else None


def context_of(kind: str, state: Json, now: str = "") -> Context:
    """The context of a state that stands alone: it says what it is called, at most."""
    named = state.get("resource") or (state.get("summary") or {}).get("resource")
    session = str(named) if kind == "session" and named else "ahp-session:/session"
    chat = str(named) if kind == "chat" and named else uris.default_chat(session)
    return Context(
        channel={"session": session, "chat": chat, "root": "ahp-root://"}.get(kind, f"{kind}:/alone"),
        kind=kind,
        session=session,
        default_chat=chat,
        now=now,
    )


@contextmanager
def reading() -> Iterator[None]:
    """What conversions trip over in a malformed value, as the error that says so."""
    try:
        yield
    except InvalidValue:
        raise
    except MALFORMED as error:
        raise InvalidValue("$", "a value of that version", f"one that is not ({type(error).__name__})") from None
