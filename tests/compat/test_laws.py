"""What holds for every step: what is lowered is understood below, and nothing is lost that both sides can say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strategies
from compat import values
from compat.bridging import SESSION, bridge
from corpus_cases import CORPUS, load_cases, strip_nulls
from holdfast.protocol.codec import convert, decode, encode, to_json
from holdfast.protocol.compat import facts
from holdfast.protocol.compat.bridge import Bridge
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.reducing import context_of, reduce_in
from holdfast.protocol.compat.step import Action, without
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.snapshot import STATES
from holdfast.protocol.status import ACTIVITY
from holdfast.protocol.versions import ACTIONS, BASELINES, CURRENT

VERSIONS: Final = [str(each) for each in BASELINES if each < CURRENT and each.minor != 10]

WORDS: Final = st.sampled_from(["a", "b", "x:/y", "2026-03-01T12:00:00.000Z"])

UNSEEN: Final = {
    "canvas": "1.0.0",
    "automation": "0.9.0",
    "automationRun": "0.9.0",
    "annotations": "0.4.0",
    "resourceWatch": "0.2.0",
    "changeset": "0.2.0",
}
"""Kinds of channels, and the first version that has them."""

NOT_TOLD: Final = {
    "chat/responsePart: An open question does not change the status when it is appended as a part.": (
        "no host appends a question: it asks it"
    ),
    "chat/toolCallContentChanged: Only a running call takes content.": (
        "a call that waits for a token is no client's, and the host would say nothing"
    ),
}
"""Cases of the corpus that no host can bring about, and that would read otherwise up to 0.5.2."""


class Case(NamedTuple):
    """A case of the corpus, without what nobody knows: states and actions in JSON, and what was recorded."""

    name: str
    kind: str
    states: tuple[Json, ...]
    """Before the first action, and after each."""
    actions: tuple[Json, ...]
    facts: tuple[Json, ...]


@cache
def cases() -> tuple[Case, ...]:
    return tuple(found for name, case in load_cases(CORPUS / "reducers") if (found := _case(name, case)) is not None)


def _case(name: str, case: Any) -> Case | None:
    kind = case["reducer"]
    state = values.known(convert(STATES[kind], case["initial"]))
    if state is None:
        return None
    states, actions, recorded = [to_json(state)], [], []
    for action in _actions(case):
        told: Json = to_json(action)
        after = REDUCERS[kind](state, action)
        if after is state and not ACTIONS[told["type"]].client:
            continue  # a host does not say what changes nothing
        recorded.append(facts.of(told["type"], state, action, after))
        actions.append(told)
        states.append(to_json(after))
        state = after
    return Case(name, kind, tuple(states), tuple(actions), tuple(recorded))


def _actions(case: Any) -> Iterator[Any]:
    for raw in case["actions"]:
        try:
            action = values.known(convert(StateAction, raw))  # type: ignore[arg-type]  # a union, not a class
        except InvalidValue:
            continue
        if action is not None:
            yield action


def _is_seen(version: str, kind: str) -> bool:
    return [*map(int, version.split("."))] >= [*map(int, UNSEEN.get(kind, "0.1.0").split("."))]


def _known_below(crossing: Bridge, case: Case) -> bool:
    """Whether the older version can be told all that happens in a case."""
    if not _is_seen(str(crossing.version), case.kind):
        return False
    if crossing.whole_history and any(each["type"] == "chat/turnsLoaded" for each in case.actions):
        return False
    told = zip(case.actions, case.facts, strict=True)
    return not any(crossing.resync(each["type"], each, _context(case, known)) for each, known in told)


def _context(case: Case, known: Json) -> Context:
    return replace(context_of(case.kind, case.states[0]), facts=known)


# What is told is understood


@pytest.mark.parametrize("version", VERSIONS)
def test_reducing_below_agrees_with_reducing_here(version: str) -> None:  # W-47
    crossing = bridge(version)
    checked, different = 0, []
    for case in cases():
        if not _known_below(crossing, case) or case.name in NOT_TOLD:
            continue
        checked += 1
        if _reduced_below(crossing, case) != _below(crossing, case, case.states[-1]):
            different.append(case.name)
    assert different == []
    assert checked > 400


def _reduced_below(crossing: Bridge, case: Case) -> Any:
    """What a client of that version makes of its snapshot and of what it is told."""
    told = [
        lowered.action
        for action, known in zip(case.actions, case.facts, strict=True)
        for lowered in _lowered(crossing, case, action, known)
    ]
    kind = "session" if crossing.one_conversation and case.kind == "chat" else case.kind
    found = reduce_in(str(crossing.version), kind, _shown(crossing, case, case.states[0]), told)
    return _comparable(case.kind, found)


def _lowered(crossing: Bridge, case: Case, action: Json, known: Json) -> list[Action]:
    context = _context(case, known)
    if crossing.one_conversation and case.kind == "chat":
        context = replace(context, session=SESSION, default_chat=context.channel)
    return crossing.lower_action(Action(context.channel, case.kind, action), context)


def _below(crossing: Bridge, case: Case, state: Json) -> Any:
    return _comparable(case.kind, _shown(crossing, case, state))


def _shown(crossing: Bridge, case: Case, state: Json) -> Json:
    """A state as that version's snapshot has it. Up to 0.3 a chat is what its session shows."""
    context = context_of(case.kind, case.states[0])
    if crossing.one_conversation and case.kind == "chat":
        return crossing.lower_state("session", _session_of(state, context.channel), replace(context, session=SESSION))
    return crossing.lower_state(case.kind, state, context)


def _session_of(chat: Json, uri: str) -> Json:
    listed = {key: chat[key] for key in ("title", "status", "modifiedAt")}
    base = {"provider": "p", "title": "T", "status": 1, "lifecycle": "ready", "activeClients": []}
    summary = {"resource": SESSION, "createdAt": "2026-03-01T12:00:00.000Z", "modifiedAt": "2026-03-01T12:00:00.000Z"}
    beside = {"chat": chat, "summary": summary}
    return {**base, "chats": [{"resource": uri, **listed}], "defaultChat": uri, "x-holdfast": beside}


def _comparable(kind: str, state: Json) -> Any:
    """A state without what no action tells: times, and how busy a session is that does not talk itself."""
    found = _untimed(strip_nulls(state))
    if kind == "session":
        metadata = found.get("summary", found)
        metadata["status"] &= ~ACTIVITY
    return found


def _untimed(value: Any) -> Any:
    if isinstance(value, list):
        return [_untimed(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _untimed(each) for key, each in value.items() if key != "modifiedAt"}


def test_no_exception_is_left_over() -> None:
    assert {case.name for case in cases()} >= NOT_TOLD.keys()
    crossing = bridge("0.5.2")
    for case in cases():
        if case.name in NOT_TOLD:
            assert _reduced_below(crossing, case) != _below(crossing, case, case.states[-1]), case.name


@pytest.mark.parametrize("version", VERSIONS)
def test_history_is_converted_wherever_it_has_to_be(version: str) -> None:
    """A look at the bytes of a completed turn never misses what reads otherwise below."""
    crossing = bridge(version)
    turns = [turn for case in cases() if case.kind == "chat" for state in case.states for turn in state["turns"]]
    for turn in turns:
        assert decode(dict, crossing.lower_turn(encode(turn))) == crossing.lower("turn", turn)
    assert len(turns) > 100


# What both sides can say is kept


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_lowered_comes_back_the_same(version: str) -> None:
    """Down, up and down again is down: what a version says once it says again."""
    crossing = bridge(version)
    for case in cases():
        if not _is_seen(version, case.kind):
            continue
        for state in (case.states[0], case.states[-1]):
            shown = _shown(crossing, case, state)
            assert _again(crossing, case, shown) == shown, case.name


def _again(crossing: Bridge, case: Case, shown: Json) -> Json:
    """A state of that version, read in 1.0 and written once more."""
    kind = "session" if crossing.one_conversation and case.kind == "chat" else case.kind
    context = context_of(kind, shown)
    lifted = crossing.lift_state(kind, shown, context)
    public = {key: each for key, each in lifted.items() if not key.startswith("x-")}
    private = {key: each for key, each in lifted.items() if key.startswith("x-")}
    return crossing.lower_state(kind, {**to_json(convert(STATES[kind], public)), **private}, context)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_understood_is_not_changed_by_going_there(version: str) -> None:
    """Up, down and up again is up: what 1.0 has understood of a version survives being told to it."""
    crossing = bridge(version)
    for case in cases():
        if not _is_seen(version, case.kind):
            continue
        kind = "session" if crossing.one_conversation and case.kind == "chat" else case.kind
        for state in (case.states[0], case.states[-1]):
            shown = _shown(crossing, case, state)
            context = context_of(kind, shown)
            lifted = crossing.lift_state(kind, shown, context)
            assert crossing.lift_state(kind, crossing.lower_state(kind, lifted, context), context) == lifted, (
                case.name
            )


@pytest.mark.parametrize("version", VERSIONS)
def test_actions_come_back_the_same(version: str) -> None:
    crossing = bridge(version)
    for case in cases():
        if not _is_seen(version, case.kind):
            continue
        before = case.states[0]
        for action, known in zip(case.actions, case.facts, strict=True):
            for told in _lowered(crossing, case, action, known):
                _comes_back(crossing, case, told, before)


def _comes_back(crossing: Bridge, case: Case, told: Action, state: Json) -> None:
    if told.type == "changeset/contentChanged" and "error" in told.action:
        return  # above, content and error are two actions, and stay two
    if crossing.one_conversation and "/toolCall" in told.type:
        # Up to 0.3 a tool call's metadata is that of its start: other actions have it for nothing.
        told = told._replace(action=without(told.action, "_meta"))
    alone = context_of(case.kind, state)
    context = replace(alone, channel=told.channel, kind=told.kind, session=SESSION, default_chat=alone.channel)
    if told.type == "session/activeClientChanged":
        context = replace(context, client_id="c")  # a client leaves itself, a host says who of several is left
    back = [
        lowered
        for lifted in crossing.lift_action(told, context)
        for lowered in crossing.lower_action(lifted, context)
    ]
    assert [each.action for each in back] == [told.action], case.name


@pytest.mark.parametrize("version", VERSIONS)
@given(kind=st.sampled_from([*sorted(STATES), *["session"] * 6, *["chat"] * 3]), data=st.data())
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_any_state_that_was_lowered_comes_back_the_same(version: str, kind: str, data: st.DataObject) -> None:
    state = values.known(data.draw(strategies.of(STATES[kind], WORDS)))
    if state is None or not _is_seen(version, kind):
        return
    crossing, told = bridge(version), to_json(state)
    context = context_of(kind, told)
    shown = crossing.lower_state(kind, told, context)
    lifted = crossing.lift_state(kind, shown, context)
    assert crossing.lower_state(kind, lifted, context) == shown
    public = {key: each for key, each in lifted.items() if not key.startswith("x-")}
    assert to_json(convert(STATES[kind], public)) == public, "what is lifted is of 1.0"
