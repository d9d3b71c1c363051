"""Laws of the reducers: total, pure, deterministic, and blind to how a stream was cut."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strategies
from holdfast.protocol.chat.actions import Delta
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.chat.parts import MarkdownResponsePart
from holdfast.protocol.chat.state import ActiveTurn, ChatState
from holdfast.protocol.codec import Unknown, decode, encode
from holdfast.protocol.envelope import ACTION_TYPES
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.snapshot import STATES

_thorough = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def _actions(kind: str) -> st.SearchStrategy[Any]:
    """Actions of one channel, with ids that meet those in its state, and now and then one from elsewhere."""
    own = [struct for tag, struct in ACTION_TYPES.items() if tag.partition("/")[0] == kind]
    known = st.one_of([strategies.of(struct, strategies.few_words) for struct in own])
    foreign = st.one_of([strategies.of(struct) for struct in ACTION_TYPES.values()])
    unknown = st.builds(lambda name: Unknown({"type": f"{kind}/{name}"}), strategies.text)
    return st.one_of(known, known, known, foreign, unknown)


@pytest.mark.parametrize("kind", sorted(REDUCERS))
@_thorough
@given(data=st.data())
def test_reducers_are_total_and_never_mutate(kind: str, data: st.DataObject) -> None:
    state = data.draw(strategies.of(STATES[kind], strategies.few_words))
    for action in data.draw(st.lists(_actions(kind), max_size=8)):
        before = copy.deepcopy(state)
        after = REDUCERS[kind](state, action)
        assert state == before
        assert encode(state) == encode(before)
        assert type(after) is type(state)
        state = after


@pytest.mark.parametrize("kind", sorted(REDUCERS))
@_thorough
@given(data=st.data())
def test_replay_in_any_chunking_equals_live(kind: str, data: st.DataObject) -> None:
    state = data.draw(strategies.of(STATES[kind], strategies.few_words))
    actions = data.draw(st.lists(_actions(kind), max_size=8))
    live = state
    for action in actions:
        live = REDUCERS[kind](live, action)
    cuts = data.draw(st.lists(st.booleans(), min_size=len(actions), max_size=len(actions)))
    replayed = state
    for action, cut in zip(actions, cuts, strict=True):
        replayed = REDUCERS[kind](replayed, action)
        if cut:  # a snapshot: what a client that came back would start from
            replayed = decode(STATES[kind], encode(replayed))
    assert replayed == live
    assert encode(replayed) == encode(live)


@_thorough
@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), strategies.text), max_size=60), st.data())
def test_interleaved_and_forked_streams_hold_their_own_text(
    deltas: list[tuple[str, str]], data: st.DataObject
) -> None:
    parts = (MarkdownResponsePart(id="a", content=""), MarkdownResponsePart(id="b", content=""))
    message = Message(text="go", origin=MessageOrigin(kind=MessageKind.USER))
    turn = ActiveTurn(id="t", started_at="2026-01-01T00:00:00.000Z", message=message, response_parts=parts)
    state = ChatState(resource="ahp-chat:/c", title="", status=8, modified_at="", turns=(), active_turn=turn)
    expected = {"a": "", "b": ""}
    history = [(state, dict(expected))]
    for part_id, piece in deltas:
        # Sometimes go on from an older state, as a client does that takes back what it had predicted.
        if data.draw(st.integers(0, 9)) == 0:
            state, expected = data.draw(st.sampled_from(history))
            expected = dict(expected)
        state = REDUCERS["chat"](state, Delta(turn_id="t", part_id=part_id, content=piece))
        expected[part_id] += piece
        history.append((state, dict(expected)))
    for remembered, texts in history:
        active = remembered.active_turn
        assert active is not None
        found = {part.id: part.text for part in active.response_parts if isinstance(part, MarkdownResponsePart)}
        assert found == texts
