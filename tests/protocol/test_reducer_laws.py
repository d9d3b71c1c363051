"""Laws of the reducers: total, pure, deterministic, and blind to how a stream was cut."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import strategies
from holdfast.protocol.chat import actions, places
from holdfast.protocol.chat.actions import Delta
from holdfast.protocol.chat.inputs import ChatInputRequest, ChatInputResponseKind
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.chat.parts import InputRequestResponsePart, MarkdownResponsePart
from holdfast.protocol.chat.state import ActiveTurn, ChatState
from holdfast.protocol.chat.tools import ToolCallResult
from holdfast.protocol.codec import Unknown, Wire, decode, encode, to_json
from holdfast.protocol.envelope import ACTION_TYPES, action_type, decode_action
from holdfast.protocol.errors import InvalidValue
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


def _texts(state: ChatState) -> tuple[tuple[str, str], ...]:
    parts = state.active_turn.response_parts if state.active_turn else ()
    return tuple((part.id, part.text) for part in parts if isinstance(part, MarkdownResponsePart))


def _spoiled(draw: st.DrawFn, raw: Any) -> Any:
    """The same JSON with one value exchanged for another, somewhere inside."""
    if isinstance(raw, dict) and raw and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(raw)))
        return {**raw, key: _spoiled(draw, raw[key])}
    if isinstance(raw, list) and raw and draw(st.integers(0, 3)):
        index = draw(st.integers(0, len(raw) - 1))
        return [*raw[:index], _spoiled(draw, raw[index]), *raw[index + 1 :]]
    return draw(strategies.free_json)


@st.composite
def _spoiled_actions(draw: st.DrawFn, kind: str) -> bytes:
    action = draw(_actions(kind))
    fields = {key: value for key, value in to_json(action).items() if key != "type"}
    spoiled = {key: _spoiled(draw, value) for key, value in fields.items() if draw(st.booleans())}
    return json.dumps({**fields, **spoiled, "type": action_type(action)}).encode()


@pytest.mark.parametrize("kind", sorted(REDUCERS))
@settings(_thorough, max_examples=40)
@given(data=st.data())
def test_malformed_actions_are_refused_or_reduced_and_nothing_else(kind: str, data: st.DataObject) -> None:
    state = data.draw(strategies.of(STATES[kind], strategies.few_words))
    with suppress(InvalidValue):
        state = REDUCERS[kind](state, decode_action(data.draw(_spoiled_actions(kind))))
    assert decode(STATES[kind], encode(state)) == state


_RESULT = ToolCallResult(success=True, past_tense_message="done")
_ids = st.sampled_from(["a", "b"])


def _about(struct: type[Wire], **fields: Any) -> st.SearchStrategy[Any]:
    """An action about turn `t`, with fields that may be strategies."""
    given_ids = {"tool_call_id": _ids} if issubclass(struct, actions.ToolCallAction) else {}
    choices = {
        name: field if isinstance(field, st.SearchStrategy) else st.just(field)
        for name, field in {"turn_id": "t", **given_ids, **fields}.items()
    }
    return st.builds(struct, **choices)


_steps = st.one_of(
    _about(actions.ResponsePart, part=st.builds(MarkdownResponsePart, id=_ids, content=st.just(""))),
    _about(actions.ResponsePart, part=Unknown({"kind": "future", "id": ["a"]})),
    _about(actions.ResponsePart, part=InputRequestResponsePart(request=ChatInputRequest(id="a"))),
    _about(actions.Delta, part_id=_ids, content="x"),
    _about(actions.ToolCallStart, tool_name="", display_name=""),
    _about(actions.ToolCallDelta, content="x"),
    _about(actions.ToolCallReady, invocation_message="", confirmed=st.none() | st.just("not-needed")),
    _about(actions.ToolCallConfirmed, approved=st.booleans()),
    _about(actions.ToolCallComplete, result=_RESULT, requires_result_confirmation=st.booleans()),
    _about(actions.ToolCallResultConfirmed, approved=st.booleans()),
    st.builds(actions.InputRequested, request=st.builds(ChatInputRequest, id=_ids)),
    st.builds(actions.InputCompleted, request_id=_ids, response=st.just(ChatInputResponseKind.ACCEPT)),
)


@_thorough
@given(st.lists(st.tuples(_steps, st.booleans(), st.integers(0, 8)), min_size=10, max_size=40))
def test_what_is_remembered_of_a_turn_never_changes_a_result(steps: list[tuple[Any, bool, int]]) -> None:
    message = Message(text="go", origin=MessageOrigin(kind=MessageKind.USER))
    turn = ActiveTurn(id="t", started_at="", message=message, response_parts=())
    state = ChatState(resource="ahp-chat:/c", title="", status=8, modified_at="", turns=(), active_turn=turn)
    history = [state]
    for action, forks, back in steps:
        # Sometimes not from the newest state but from one before it, of which less is remembered.
        state = history[max(-len(history), -1 - back * forks)]
        unknown = decode(ChatState, encode(state))
        history.append(REDUCERS["chat"](state, action))
        assert history[-1] == REDUCERS["chat"](unknown, action)


def test_no_more_is_remembered_than_of_a_few_turns() -> None:
    state = ChatState(resource="ahp-chat:/c", title="", status=8, modified_at="", turns=())
    message = Message(text="go", origin=MessageOrigin(kind=MessageKind.USER))
    parts = tuple(MarkdownResponsePart(id=id, content="") for id in "abca")
    turns = [ActiveTurn(id="t", started_at="", message=message, response_parts=(*parts,)) for _ in range(1000)]
    states = [replace(state, active_turn=turn) for turn in turns]
    for piece in "xyz":
        states = [REDUCERS["chat"](each, Delta(turn_id="t", part_id="a", content=piece)) for each in states]
        assert len(places._held) <= 256
    assert {_texts(each) for each in states} == {(("a", "xyz"), ("b", ""), ("c", ""), ("a", ""))}


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
        assert dict(_texts(remembered)) == texts
