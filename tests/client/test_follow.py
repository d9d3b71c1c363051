"""Telling a turn from its states, whichever of them are seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.client.events import Event
from holdfast.client.follow import Follower
from holdfast.client.following import Receipt
from holdfast.client.mirror import Change
from holdfast.protocol.chat import actions as chat
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.chat.parts import ErrorResponsePart, MarkdownResponsePart, ReasoningResponsePart
from holdfast.protocol.chat.state import ChatState, TurnState
from holdfast.protocol.common import ErrorInfo
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.reducers import REDUCERS

NOON: Final = "2026-05-03T12:00:00.000Z"
EMPTY: Final = ChatState(resource="ahp-chat:/c", title="", status=1, modified_at=NOON, turns=())
HELLO: Final = Message(text="hello", origin=MessageOrigin(kind=MessageKind.USER))


def nobody(uri: str, action: StateAction) -> Receipt:
    raise AssertionError("nothing is answered here")


def follower(**more: Any) -> Follower:
    return Follower("t", nobody, **more)


def reduced(state: ChatState, *actions: StateAction) -> ChatState:
    for action in actions:
        state = REDUCERS["chat"](state, action)
    return state


def changes(*actions: StateAction) -> list[Change]:
    return [Change(None, action) for action in actions]


def started(id: str = "t") -> chat.TurnStarted:
    return chat.TurnStarted(turn_id=id, started_at=NOON, message=HELLO)


def text(part: str, content: str = "") -> chat.ResponsePart:
    return chat.ResponsePart(turn_id="t", part=MarkdownResponsePart(id=part, content=content))


def thought(part: str) -> chat.ResponsePart:
    return chat.ResponsePart(turn_id="t", part=ReasoningResponsePart(id=part, content=""))


def delta(part: str, content: str, turn: str = "t") -> chat.Delta:
    return chat.Delta(turn_id=turn, part_id=part, content=content)


END: Final = chat.TurnComplete(turn_id="t", duration=1)


def told(events: Sequence[Event]) -> str:
    """The text of events, after the last time it had to be told again."""
    said = ""
    for event in events:
        match event:
            case holdfast.Rewritten():
                said = ""
            case holdfast.Text(more, part) | holdfast.Reasoning(more, part):
                said += f"[{part}]{more}"
    return said


def reasoning(part: str, content: str) -> chat.Reasoning:
    return chat.Reasoning(turn_id="t", part_id=part, content=content)


PIECES = st.one_of(
    st.builds(text, st.sampled_from("ab"), st.sampled_from(["", "x"])),
    st.builds(thought, st.sampled_from("cd")),
    st.builds(delta, st.sampled_from("abz"), st.sampled_from(["", "1", "22"])),
    st.builds(reasoning, st.sampled_from("cd"), st.sampled_from("34")),
    st.builds(lambda: delta("a", "other", "another turn")),
)


@given(st.lists(st.tuples(PIECES, st.booleans()), max_size=30))
def test_text_adds_up_however_much_is_looked_at_at_once(pieces: list[tuple[StateAction, bool]]) -> None:
    state = reduced(EMPTY, started())
    follow = follower()
    events = follow.look(state, ())
    unseen: list[StateAction] = []
    begun: set[str] = set()
    for piece, looks in [*pieces, (END, True)]:
        if isinstance(piece, chat.ResponsePart):
            id = getattr(piece.part, "id", "")
            if id in begun:
                continue  # events name a part by its id
            begun.add(id)
        state = reduced(state, piece)
        unseen.append(piece)
        if looks:
            events += follow.look(state, changes(*unseen))
            unseen.clear()
    said: dict[str, str] = {}
    for event in events:
        if isinstance(event, holdfast.Text | holdfast.Reasoning):
            said[event.part_id] = said.get(event.part_id, "") + event.text
    parts = [p for p in state.turns[0].response_parts if isinstance(p, MarkdownResponsePart | ReasoningResponsePart)]
    assert said == {part.id: part.text for part in parts if part.text}
    assert isinstance(events[-1], holdfast.Ended)
    assert not any(isinstance(event, holdfast.Rewritten) for event in events)


def test_a_delta_is_told_as_it_came() -> None:
    follow = follower()
    state = reduced(EMPTY, started(), text("a", "So"))
    assert told(follow.look(state, ())) == "[a]So"
    for more in (" it", " is"):
        state = reduced(state, delta("a", more))
        assert follow.look(state, changes(delta("a", more))) == [holdfast.Text(more, part_id="a", turn_id="t")]


def test_deltas_of_several_parts_that_came_as_one_are_all_told() -> None:
    follow = follower()
    state = reduced(EMPTY, started(), text("a"), text("b"))
    follow.look(state, ())
    both = (delta("a", "1"), delta("b", "2"))
    assert told(follow.look(reduced(state, *both), changes(*both))) == "[a]1[b]2"


def test_a_delta_is_not_all_that_is_new_if_a_part_was_missed() -> None:
    follow = follower()
    state = reduced(EMPTY, started(), text("a"))
    follow.look(state, ())
    state = reduced(state, text("b", "missed "), delta("b", "seen"))
    assert told(follow.look(state, changes(delta("b", "seen")))) == "[b]missed seen"


def test_what_does_not_hold_any_more_is_told_again() -> None:
    follow = follower()
    follow.look(reduced(EMPTY, started(), text("a", "First")), ())
    for other, again in ((text("a", "Second"), "[a]Second"), (text("b", "Second"), "[b]Second"), (thought("a"), "")):
        events = follow.look(reduced(EMPTY, started(), other), ())
        assert [type(event) for event in events[:2]] == [holdfast.Rewritten, holdfast.Started]
        assert told(events) == again
    shorter = follow.look(reduced(EMPTY, started()), ())
    assert [type(event) for event in shorter] == [holdfast.Rewritten, holdfast.Started]


def test_a_turn_that_is_not_there_has_yet_to_begin_or_was_taken_back() -> None:
    follow = follower()
    assert follow.look(EMPTY, ()) == []
    assert follow.look(EMPTY, (), has_begun=True) == [holdfast.Ended(None, turn_id="t")]
    assert follow.is_over
    assert follow.look(reduced(EMPTY, started()), ()) == []
    follow = follower()
    follow.look(reduced(EMPTY, started()), ())
    assert follow.look(EMPTY, ()) == [holdfast.Ended(None, turn_id="t")]


def test_a_turn_that_goes_on_is_told_from_where_it_failed() -> None:
    failed = ErrorResponsePart(error=ErrorInfo(error_type="busy", message="Busy."), resumable=True)
    state = reduced(EMPTY, started(), text("a", "One."), chat.Error(turn_id="t", duration=1, part=failed))
    first = follower()
    events = first.look(state, ())
    assert events[-2:] == [
        holdfast.Failed(failed.error, resumable=True, turn_id="t"),
        holdfast.Ended(TurnState.ERROR, 1.0, turn_id="t"),
    ]
    again = follower(after=state.turns[0])
    state = reduced(state, chat.TurnResume(turn_id="t"))
    events = again.look(state, changes(chat.TurnResume(turn_id="t")))
    state = reduced(state, text("b", "Two."), END)
    events += again.look(state, changes(END))
    assert told(events) == "[b]Two."
    (ended,) = (event for event in events if isinstance(event, holdfast.Ended))
    assert ended.state is TurnState.COMPLETE
