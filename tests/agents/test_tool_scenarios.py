"""Scenarios with tools: every decision people can make about them."""

from __future__ import annotations

import asyncio
import base64
import json
from itertools import pairwise

import pytest

from agents.stage import Approve, Decision, Deny, Reply, Stage, Turned, by_tool, in_order
from holdfast.ports.agent import AgentSaid, ClientTool
from holdfast.protocol.chat.inputs import (
    ChatInputResponseKind,
    ChatInputSubmittedAnswer,
    ChatInputTextAnswerValue,
)
from holdfast.protocol.chat.state import TurnState
from holdfast.protocol.chat.tools import (
    ToolCallCancellationReason,
    ToolCallClientContributor,
    ToolCallConfirmationReason,
    ToolCallError,
    ToolCallMcpContributor,
    ToolCallPendingConfirmationState,
    ToolCallResult,
    ToolCallRiskAssessmentCompleteState,
    ToolCallRiskAssessmentLoadingState,
    ToolResultFileEditContent,
    ToolResultSubagentContent,
    ToolResultTextContent,
)
from holdfast.protocol.common import ToolDefinition
from holdfast.protocol.envelope import action_type

ASKED = ToolCallConfirmationReason.USER_ACTION
SETTING = ToolCallConfirmationReason.SETTING

early_and_late = pytest.mark.parametrize("early", [False, True], ids=["late", "early"])


def said_types(stage: Stage) -> list[str]:
    return [action_type(event.action) for event in stage.events if isinstance(event, AgentSaid)]


@early_and_late
def test_approve_runs_what_was_allowed(early: bool) -> None:
    turned = Stage(early=early).play("approve make release")
    call = turned.completed()
    assert (call.confirmed, call.tool_input, call.success) == (ASKED, "make release", True)
    assert call.selected_option is not None
    assert call.selected_option.id == "once"
    assert call.meta == {"toolKind": "terminal"}
    assert "Next time I ask again" in turned.text


def test_approve_offers_two_groups_of_options() -> None:
    seen: list[ToolCallPendingConfirmationState] = []

    def decide(call: ToolCallPendingConfirmationState) -> Decision:
        seen.append(call)
        return Approve()

    Stage(decide=decide).play("approve")
    (call,) = seen
    assert call.options is not None
    assert [(option.id, option.kind, option.group) for option in call.options] == [
        ("once", "approve", 1),
        ("session", "approve", 1),
        ("deny", "deny", 2),
        ("deny-reason", "deny", 2),
    ]
    assert call.confirmation_title == "Run this command?"


def test_approve_for_the_session_is_remembered_until_it_closes() -> None:
    first = Stage(decide=in_order(Approve("session")))
    agent = first.agent
    assert "will not ask again" in first.play("approve").text
    assert Stage(agent=agent, decide=None).play("approve").completed().confirmed == SETTING

    asyncio.run(agent.close_session("ahp-session:/s"))
    assert Stage(agent=agent).play("approve").completed().confirmed == ASKED


def test_approve_without_an_option_asks_again() -> None:
    stage = Stage(decide=in_order(Approve(None), Approve(None)))
    assert stage.play("approve").completed().selected_option is None
    assert Stage(agent=stage.agent).play("approve").completed().confirmed == ASKED


def test_approve_runs_by_itself_in_automatic_mode() -> None:
    turned = Stage(decide=None).play("approve", config={"speed": 0, "permissionMode": "auto"})
    assert turned.completed().confirmed == SETTING
    assert "your settings allow it" in turned.text


def test_approve_does_nothing_in_read_only_mode() -> None:
    turned = Stage(decide=None).play("approve", config={"speed": 0, "permissionMode": "read-only"})
    call = turned.completed()
    assert not call.success
    assert call.error is not None
    assert call.error.code == "readOnly"
    assert "read-only" in turned.text


def test_read_only_mode_overrules_what_was_allowed() -> None:
    stage = Stage(decide=in_order(Approve("session")))
    stage.play("approve")
    again = Stage(agent=stage.agent, decide=None)
    assert not again.play("approve", config={"speed": 0, "permissionMode": "read-only"}).completed().success


@early_and_late
@pytest.mark.parametrize("name", ["approve", "deny", "edit", "risk", "reconfirm"])
def test_a_denied_tool_does_not_run(name: str, early: bool) -> None:
    turned = Stage(decide=in_order(Deny()), early=early).play(name)
    call = turned.cancelled()
    assert call.reason is ToolCallCancellationReason.DENIED
    assert call.selected_option is not None
    assert "All right, I leave it." in turned.text
    assert turned.questions == ()


def test_a_reason_is_repeated() -> None:
    turned = Stage(decide=in_order(Deny("deny-reason", reason="Not on\na Friday"))).play("deny")
    assert "You told me why:\n\n> Not on\n> a Friday\n" in turned.text
    assert "A tool that was refused never runs" in turned.text


def test_a_suggestion_is_taken_up() -> None:
    turned = Stage(decide=in_order(Deny(None, suggestion="Ask only the crew"))).play("deny")
    assert "> Ask only the crew" in turned.text
    assert turned.cancelled().user_suggestion is not None


@early_and_late
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            Reply(
                ChatInputResponseKind.ACCEPT,
                {"reason": ChatInputSubmittedAnswer(value=ChatInputTextAnswerValue(value="Too early"))},
            ),
            "> Too early",
        ),
        (Reply(ChatInputResponseKind.ACCEPT), "No reason needed"),
        (Reply(ChatInputResponseKind.DECLINE), "No reason needed"),
    ],
)
def test_who_denies_with_a_reason_but_gives_none_is_asked(reply: Reply, expected: str, early: bool) -> None:
    turned = Stage(decide=in_order(Deny("deny-reason")), replies=[reply], early=early).play("approve")
    assert expected in turned.text
    assert len(turned.questions) == 1


def test_deny_says_so_when_it_was_allowed() -> None:
    turned = Stage().play("deny")
    assert turned.completed().success
    assert "Try again and say no" in turned.text


@early_and_late
def test_edit_shows_before_and_after(early: bool) -> None:
    turned = Stage(early=early).play("edit")
    (block,) = turned.completed().content or ()
    assert isinstance(block, ToolResultFileEditContent)
    assert block.before is not None
    assert block.after is not None
    assert block.diff is not None
    assert (block.before.uri, block.after.uri) == ("file:///work/greeting.py", "file:///work/greeting.py")
    assert (block.diff.added, block.diff.removed) == (3, 2)
    assert "as I proposed it: 3 lines added, 2 removed" in turned.text
    assert read(block.before.content.uri).startswith("def greet(name):\n")


def read(uri: str) -> str:
    assert len(uri) < 8192
    return base64.b64decode(uri.partition(",")[2]).decode()


def test_edit_previews_what_it_would_do() -> None:
    def decide(call: ToolCallPendingConfirmationState) -> Decision:
        assert call.editable
        assert call.edits is not None
        (edit,) = call.edits.items
        assert edit.after is not None
        assert read(edit.after.content.uri) == call.tool_input
        return Approve()

    Stage(decide=decide).play("edit", directories=())


@pytest.mark.parametrize(("text", "added"), [("pass\n", 1), ("", 0), ("x = 1\n" * 5000, 5000)])
def test_edit_makes_the_edit_as_people_changed_it(text: str, added: int) -> None:
    turned = Stage(decide=in_order(Approve(edited=text))).play("edit")
    call = turned.completed()
    assert call.tool_input == text
    (block,) = call.content or ()
    assert isinstance(block, ToolResultFileEditContent)
    assert block.after is not None
    assert text.startswith(read(block.after.content.uri))
    assert f"with your changes: {added} lines added, 2 removed" in turned.text


@early_and_late
def test_parallel_tools_interleave_from_start_to_end(early: bool) -> None:
    stage = Stage(early=early)
    turned = stage.play("parallel")
    assert {turned.completed(0).tool_name, turned.completed(1).tool_name} == {"run_tests", "run_linter"}
    owners = [
        event.action.tool_call_id
        for event in stage.events
        if isinstance(event, AgentSaid) and hasattr(event.action, "tool_call_id")
    ]
    first = owners[0]
    switches = sum(one != other for one, other in pairwise(owners))
    assert owners.count(first) == len(owners) / 2
    assert switches > 6
    types = said_types(stage)
    assert types.index("chat/toolCallComplete") > len(types) - 1 - types[::-1].index("chat/toolCallReady")


@pytest.mark.parametrize("refused", ["run_tests", "run_linter"])
def test_parallel_goes_on_with_one_when_the_other_is_refused(refused: str) -> None:
    decisions: dict[str, Decision] = {"run_tests": Approve(), "run_linter": Approve(), refused: Deny()}
    turned = Stage(decide=by_tool(**decisions)).play("parallel")
    endings = {type(call).__name__ for call in turned.calls}
    assert endings == {"ToolCallCompletedState", "ToolCallCancelledState"}
    assert "not done, as you decided" in turned.text


@early_and_late
@pytest.mark.parametrize(("let_through", "expected"), [(True, "3 May"), (False, "will not guess")])
def test_review_uses_only_what_was_let_through(let_through: bool, expected: str, early: bool) -> None:
    turned = Stage(let_through=let_through, early=early).play("review")
    assert expected in turned.text
    if let_through:
        assert turned.completed().success
    else:
        assert turned.cancelled().reason is ToolCallCancellationReason.RESULT_DENIED


def test_risk_is_judged_while_people_think() -> None:
    seen = []

    def decide(call: ToolCallPendingConfirmationState) -> Decision | None:
        seen.append(type(call.risk_assessment))
        assert call.options, "the options stay when the assessment arrives"
        return Approve() if isinstance(call.risk_assessment, ToolCallRiskAssessmentCompleteState) else None

    turned = Stage(decide=decide).play("risk")
    assert seen == [ToolCallRiskAssessmentLoadingState, ToolCallRiskAssessmentCompleteState]
    assert turned.completed().confirmed == ASKED


@early_and_late
def test_risk_decided_before_it_was_judged_is_final(early: bool) -> None:
    stage = Stage(early=early)
    turned = stage.play("risk git push", config={"speed": 1_000})
    assert turned.completed().confirmed == ASKED
    assert said_types(stage).count("chat/toolCallReady") == 1


@pytest.mark.parametrize("mode", ["auto", "read-only"])
@pytest.mark.parametrize("name", ["risk", "edit", "parallel", "deny", "reconfirm", "subagent"])
def test_no_tool_asks_where_the_mode_has_decided(name: str, mode: str) -> None:
    turned = Stage(decide=None).play(name, config={"speed": 0, "permissionMode": mode})
    assert turned.turn.state is TurnState.COMPLETE


def test_risk_that_was_allowed_for_the_session_is_not_judged_again() -> None:
    stage = Stage(decide=lambda call: Approve("session"))
    stage.play("risk")
    assert Stage(agent=stage.agent, decide=None).play("risk").completed().confirmed == SETTING


@early_and_late
def test_reconfirm_asks_twice_for_one_call(early: bool) -> None:
    stage = Stage(decide=in_order(Approve(), Approve("session")), early=early)
    call = stage.play("reconfirm").completed()
    assert call.tool_input == "cache/ downloads/"
    assert call.meta == {"reason": "larger than expected"}
    assert said_types(stage).count("chat/toolCallReady") == 2


def test_reconfirm_may_be_refused_the_second_time() -> None:
    turned = Stage(decide=in_order(Approve(), Deny())).play("reconfirm")
    assert turned.cancelled().reason is ToolCallCancellationReason.DENIED


def test_reconfirm_asks_for_the_big_thing_although_the_small_one_was_allowed() -> None:
    stage = Stage(decide=in_order(Approve("session"), Approve()))
    stage.play("reconfirm")
    again = Stage(agent=stage.agent, decide=in_order(Deny()))
    assert again.play("reconfirm").cancelled().invocation_message == "Remove the cache and 3 GB of downloads"


def test_slow_shows_its_progress() -> None:
    stage = Stage()
    turned = stage.play("slow 4 0.25")
    assert said_types(stage).count("chat/toolCallContentChanged") == 4
    assert sum(stage.naps) == pytest.approx(1.0)
    (block,) = turned.completed().content or ()
    assert isinstance(block, ToolResultTextContent)
    assert block.text.startswith("[####################] 100 %")


def test_slow_is_instant_at_speed_zero() -> None:
    stage = Stage()
    stage.play("slow")
    assert sum(stage.naps) == 0


def client_tool(name: str, client: str = "editor", **schema: object) -> ClientTool:
    definition = ToolDefinition(name=name, input_schema={"type": "object", **schema})
    return ClientTool(client, definition)


SUM = client_tool(
    "sum", "window", properties={"a": {"type": "integer"}, "b": {"type": "number"}}, required=("a", "b")
)
OPEN = client_tool(
    "open",
    properties={"path": {"type": "string"}, "how": {"enum": ["peek", "tab"]}, "line": {"default": 7}},
    required=("path", "how", "line", "mystery"),
)
FINE = ToolCallResult(success=True, past_tense_message="Did it", content=(ToolResultTextContent(text="42"),))


@early_and_late
@pytest.mark.parametrize(
    ("words", "name", "tool_input"),
    [
        ("", "sum", {"a": 1, "b": 1.5}),
        ("open", "open", {"path": "demo", "how": "peek", "line": 7, "mystery": "demo"}),
        ("open my notes", "open", {"path": "my notes", "how": "peek", "line": 7, "mystery": "demo"}),
        ('open {"path": "ü"}', "open", {"path": "ü"}),
        ("open [1]", "open", {"path": "[1]", "how": "peek", "line": 7, "mystery": "demo"}),
        ("unheard of", "sum", {"a": 1, "b": 1.5}),
    ],
)
def test_client_calls_the_tool_of_a_client(words: str, name: str, tool_input: dict[str, object], early: bool) -> None:
    turned = Stage(client_result=FINE, early=early).play(f"client {words}", client_tools=(SUM, OPEN))
    call = turned.completed()
    assert call.tool_name == name
    assert isinstance(call.tool_input, str)
    assert json.loads(call.tool_input) == tool_input
    assert call.contributor == ToolCallClientContributor(client_id="window" if name == "sum" else "editor")
    assert call.confirmed == ToolCallConfirmationReason.NOT_NEEDED
    assert "The client answered:\n\n> 42" in turned.text


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ToolCallResult(success=True, past_tense_message="Opened it"), "The client did it: Opened it."),
        (
            ToolCallResult(success=False, past_tense_message="Failed", error=ToolCallError(message="No such file")),
            "> No such file",
        ),
        (ToolCallResult(success=False, past_tense_message="The client is gone"), "> The client is gone"),
    ],
)
def test_client_says_how_it_went(result: ToolCallResult, expected: str) -> None:
    tools = (ClientTool("c", ToolDefinition(name="plain", title="Plain tool")),)
    assert expected in Stage(client_result=result).play("client", client_tools=tools).text


def test_client_without_any_says_so() -> None:
    turned = Stage().play("client")
    assert turned.calls == ()
    assert "nothing to call" in turned.text


@early_and_late
def test_mcp_goes_on_once_somebody_signed_in(early: bool) -> None:
    stage = Stage(early=early)
    turned = stage.play("mcp")
    call = turned.completed()
    assert call.contributor == ToolCallMcpContributor(customization_id="demo-mcp")
    assert call.success
    assert "Thank you for signing in" in turned.text
    assert said_types(stage).count("chat/toolCallAuthRequired") == 1


@early_and_late
def test_mcp_goes_on_without_when_nobody_signs_in(early: bool) -> None:
    turned = Stage(sign_in=False, early=early).play("mcp")
    assert not turned.completed().success
    assert "Nobody signed in" in turned.text


@early_and_late
@pytest.mark.parametrize(
    ("decision", "finding"), [(Approve(), "there are 128 tests"), (Deny(), "counting was not allowed")]
)
def test_subagent_works_in_a_chat_of_its_own(decision: Decision, finding: str, early: bool) -> None:
    stage = Stage(decide=in_order(decision), early=early)
    turned = stage.play("subagent")
    (spawned,) = stage.spawned
    call = turned.completed()
    block = (call.content or ())[0]
    assert block == ToolResultSubagentContent(resource=spawned.chat, title="Count the tests")
    assert call.meta == {"toolKind": "subagent"}
    assert (spawned.tool_call_id, spawned.hidden) == (call.tool_call_id, False)
    worker = Turned(stage.chats[spawned.chat])
    assert worker.turn.message.origin.kind == "tool"
    assert [call.tool_name for call in worker.calls if hasattr(call, "tool_name")] == ["count_tests"]
    assert worker.turn.state is TurnState.COMPLETE
    assert worker.turn.usage is not None
    assert finding in turned.text


def test_subagent_can_be_hidden() -> None:
    stage = Stage()
    stage.play("subagent hidden")
    assert stage.spawned[0].hidden


def test_tour_asks_no_more_than_twice() -> None:
    asked: list[str] = []

    def decide(call: ToolCallPendingConfirmationState) -> Decision:
        asked.append(call.tool_name)
        return Approve()

    turned = Stage(decide=decide).play("tour 7 7")
    assert asked == ["run_command", "edit_file"]
    assert len(turned.calls) == 4
    assert turned.questions == ()


def test_tour_goes_on_when_everything_is_denied() -> None:
    turned = Stage(decide=lambda call: Deny()).play("tour")
    assert "That was the tour" in turned.text
