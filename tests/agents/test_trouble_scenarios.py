"""Scenarios that fail, are interrupted, steered or cancelled."""

from __future__ import annotations

import pytest

from agents.stage import Stage, Turned
from holdfast.agents.scripted.table import SCENARIOS
from holdfast.ports.agent import AgentEvent, AgentSaid, ClientTool
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.parts import ErrorResponsePart
from holdfast.protocol.chat.state import TurnState
from holdfast.protocol.chat.tools import ToolCallCancelledState, ToolCallCompletedState, ToolCallResult
from holdfast.protocol.common import ToolDefinition

TOOLS = (ClientTool("c", ToolDefinition(name="plain")),)
FINE = ToolCallResult(success=True, past_tense_message="Did it")


def test_error_fails_for_good() -> None:
    turned = Stage().play("error")
    assert turned.error is not None
    assert turned.error.error_type == "demoFailure"
    assert not turned.resumable
    assert turned.turn.state is TurnState.ERROR


def test_flaky_goes_on_where_it_stopped() -> None:
    stage = Stage()
    failed = stage.play("flaky")
    assert failed.resumable
    assert failed.text == "1. pack the bags\n2. find the keys\n"
    resumed = stage.resume()
    assert resumed.turn.state is TurnState.COMPLETE
    assert resumed.text == (
        "1. pack the bags\n2. find the keys\n"
        "\nBack again. I go on with step 3.\n\n"
        "3. lock the door\n4. catch the train\n"
        "\nAll done, although not in one go.\n"
    )
    assert sum(isinstance(part, ErrorResponsePart) for part in resumed.parts) == 1


@pytest.mark.parametrize("events", [1, 2, 3, 5])
def test_flaky_survives_a_restart_too(events: int) -> None:
    stage = Stage(stop_at=events)
    if events < 3:
        stage.interrupt("flaky")
        stage.restart()
    else:
        stage.play("flaky")
    stage.stop_at = None
    text = stage.resume().text
    assert [text.count(f"{number}. ") for number in (1, 2, 3, 4)] == [1, 1, 1, 1]


@pytest.mark.parametrize("events", [0, 1, 2, 20])
def test_long_goes_on_after_a_restart(events: int) -> None:
    stage = Stage(stop_at=events)
    stage.interrupt("long 50 0")
    stage.restart()
    stage.stop_at = None
    assert stage.resume().text == Stage().play("long 50 0").text


def test_other_scenarios_start_again_after_a_restart() -> None:
    stage = Stage(decide=None)
    stage.interrupt("approve make")
    stage.restart()
    stage.decide = Stage().decide
    resumed = stage.resume()
    assert "I was interrupted, so I start again." in resumed.text
    assert [type(call) for call in resumed.calls] == [ToolCallCancelledState, ToolCallCompletedState]


def test_steer_takes_messages_between_steps() -> None:
    stage = Stage()

    def on_event(event: AgentEvent) -> None:
        match event:
            case AgentSaid(action=actions.Delta(content="Step 1 of 3.\n\n")):
                stage.steer("first", "faster")
            case AgentSaid(action=actions.Delta(content="Step 2 of 3.\n\n")):
                stage.steer("replaced", "and to the right")
                stage.steer("second", "and to the left")
            case AgentSaid(action=actions.Delta(content="Step 3 of 3.\n\n")):
                stage.steer("third", "stop")

    stage.on_event = on_event
    turned = stage.play("steer 3 0.5")
    assert stage.taken == ["first", "second", "third"]
    assert turned.text.index("> faster") < turned.text.index("> and to the left") < turned.text.index("Step 3")
    assert "to the right" not in turned.text
    assert "You steered me 3 times" in turned.text
    assert sum(stage.naps) == pytest.approx(1.5)


def test_what_was_taken_back_steers_nobody() -> None:
    stage = Stage()

    def on_event(event: AgentEvent) -> None:
        if isinstance(event, AgentSaid) and isinstance(event.action, actions.ResponsePart):
            stage.steer("one", "faster")
            stage.withdraw("one")
            stage.steer("two", "slower")
            stage.withdraw("one")

    stage.on_event = on_event
    assert "faster" not in stage.play("steer 2").text
    assert stage.taken == ["two"]


def test_steer_without_messages() -> None:
    stage = Stage()
    assert "Nobody told me anything" in stage.play("steer 2").text
    assert stage.taken == []


def test_what_came_too_late_to_steer_is_taken_at_the_end() -> None:
    stage = Stage()

    def on_event(event: AgentEvent) -> None:
        if isinstance(event, AgentSaid) and isinstance(event.action, actions.ResponsePart):
            stage.steer("late", "and a kettle")

    stage.on_event = on_event
    assert "> and a kettle" in stage.play("hello").text
    assert stage.taken == ["late"]


def test_an_error_leaves_steering_for_the_next_turn() -> None:
    stage = Stage()
    stage.on_event = lambda event: stage.steer("kept", "try again") if not stage.events else None
    stage.play("error")
    assert stage.taken == []


def test_wait_listens_until_it_is_cancelled() -> None:
    stage = Stage()
    stage.on_event = lambda event: stage.steer("one", "hurry") if not stage.events else None
    stage.interrupt("wait")
    chat = stage.cancel_turns()
    assert stage.taken == ["one"]
    assert "> hurry\n\nI keep waiting." in Turned(chat).text
    assert chat.turns[-1].state is TurnState.CANCELLED


RICH = [
    "approve",
    "edit",
    "parallel",
    "review",
    "risk",
    "form",
    "client",
    "mcp",
    "subagent",
    "flaky",
    "reconfirm",
    "tour",
]


@pytest.mark.parametrize("early", [False, True], ids=["late", "early"])
@pytest.mark.parametrize("text", RICH)
def test_cancelling_at_any_event_leaves_nothing_open(text: str, early: bool) -> None:
    whole = Stage(client_result=FINE, early=early)
    whole.play(text, client_tools=TOOLS)
    for event in range(len(whole.events)):
        stage = Stage(client_result=FINE, early=early, stop_at=event)
        stage.interrupt(text, client_tools=TOOLS)
        # A tool that runs beside the cancelled one may get one more word in.
        assert stage.events == whole.events[: len(stage.events)]
        assert event - 1 <= len(stage.events) <= event + 1
        assert stage.cancel_turns().turns[-1].state is TurnState.CANCELLED


@pytest.mark.parametrize(
    "text", ["approve", "edit", "parallel", "review", "risk", "form", "link", "client", "mcp", "subagent"]
)
def test_cancelling_while_it_waits_for_people_leaves_nothing_open(text: str) -> None:
    stage = Stage(decide=None, let_through=None, replies=None, sign_in=None)
    stage.interrupt(text, client_tools=TOOLS)
    assert stage.cancel_turns().turns[-1].state is TurnState.CANCELLED


ENDLESS = {"wait"}
FAILING = {"error", "flaky"}


@pytest.mark.parametrize("speed", [0, 40])
@pytest.mark.parametrize("early", [False, True], ids=["late", "early"])
@pytest.mark.parametrize(
    "name",
    [name for each in SCENARIOS for name in (each.name, each.alias) if name is not None and name not in ENDLESS],
)
def test_every_scenario_plays_to_its_end(name: str, speed: float, early: bool) -> None:
    stage = Stage(client_result=FINE, early=early)
    turned = stage.play(f"/{name}", client_tools=TOOLS, config={"speed": speed})
    assert turned.turn.state is (TurnState.ERROR if name in FAILING else TurnState.COMPLETE)
    assert turned.text
    assert turned.turn.usage is not None or name in FAILING
