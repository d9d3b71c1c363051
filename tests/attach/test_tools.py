"""Tool calls: how they stand and what there is to unfold."""

from __future__ import annotations

import pytest

from attach import made
from holdfast.attach.model import tools as shown
from holdfast.attach.model.folding import Fold, can_fold, fold_of, toggled
from holdfast.attach.model.tools import Section, Standing, input_text, tool_view
from holdfast.attach.model.transcript import Prose, Thinking, Tool
from holdfast.protocol.chat import tools
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import (
    ContentRef,
    FileEdit,
    FileEditCollection,
    FileEditSide,
    Markdown,
    McpAuthRequiredReason,
    McpAuthRequirement,
    ProtectedResourceMetadata,
)

MCP = {
    "contributor": tools.ToolCallMcpContributor(customization_id="m"),
    "auth": McpAuthRequirement(
        reason=McpAuthRequiredReason.REQUIRED, resource=ProtectedResourceMetadata(resource="https://x")
    ),
}
SIDE = FileEditSide(uri="file:///a.py", content=ContentRef(uri="data:text/plain,a"))
EDIT = FileEdit(before=SIDE, after=SIDE)


@pytest.mark.parametrize(
    ("call", "standing", "fold"),
    [
        (made.call(tools.ToolCallStreamingState, partial_input="{"), Standing.PREPARING, Fold.PEEK),
        (made.pending(), Standing.ASKS, Fold.FOLDED),
        (made.call(tools.ToolCallRunningState), Standing.RUNNING, Fold.PEEK),
        (made.call(tools.ToolCallAuthRequiredState, **MCP), Standing.SIGN_IN, Fold.FOLDED),
        (made.call(tools.ToolCallPendingResultConfirmationState), Standing.REVIEW, Fold.FOLDED),
        (made.call(), Standing.DONE, Fold.FOLDED),
        (made.call(success=False), Standing.FAILED, Fold.PEEK),
        (made.call(tools.ToolCallCancelledState), Standing.DENIED, Fold.FOLDED),
        (
            made.call(tools.ToolCallCancelledState, reason=tools.ToolCallCancellationReason.SKIPPED),
            Standing.SKIPPED,
            Fold.FOLDED,
        ),
        (
            made.call(tools.ToolCallCancelledState, reason=tools.ToolCallCancellationReason.RESULT_DENIED),
            Standing.WITHHELD,
            Fold.FOLDED,
        ),
    ],
)
def test_every_state_has_a_standing_and_a_fold(call: tools.ToolCallState, standing: Standing, fold: Fold) -> None:
    view = tool_view(call)
    assert view.standing is standing
    assert fold_of(Tool("k", call, view), {}) is fold


def test_a_call_in_a_state_of_the_future_is_shown_with_what_is_known() -> None:
    view = tool_view(Unknown({"toolCallId": "k", "displayName": "Dream", "status": "dreaming"}))
    assert (view.id, view.name, view.standing) == ("k", "Dream", Standing.UNKNOWN)
    assert "dreaming" in str(view.says)


def test_it_says_what_it_did_once_it_has() -> None:
    assert tool_view(made.call()).says == Markdown(markdown="Ran `rm -r build`")
    assert tool_view(made.pending()).says == made.SAYS
    assert tool_view(made.call(tools.ToolCallStreamingState, intention="Clean up")).says == "Clean up"


def test_sections_come_in_the_order_in_which_they_came_to_be() -> None:
    call = made.call(
        intention="Make room",
        content=(
            tools.ToolResultTextContent(text="done"),
            tools.ToolResultTerminalContent(
                resource="ahp-terminal:/1",
                title="sh",
                result=tools.TerminalCommandResult(exit_code=1, preview="no\n", truncated=True),
            ),
            tools.ToolResultSubagentContent(resource="ahp-chat:/w", title="Count", agent_name="counter"),
            tools.ToolResultEmbeddedResourceContent(data="AAAA" * 500, content_type="image/png"),
            Unknown({"type": "smell"}),
        ),
        error=tools.ToolCallError(message="bad"),
        selected_option=tools.ConfirmationOption(id="a", label="Always", kind=tools.ConfirmationOptionKind.APPROVE),
    )
    assert tool_view(call).sections == (
        Section("why", "Make room"),
        Section("input", "rm -r build"),
        Section("", "done"),
        Section("terminal · sh · exit code 1", "no\n…"),
        Section("helper", "counter: Count (a chat of its own)"),
        Section("", "[image/png, 1.5 kB]"),
        Section("", "[content this version does not know: smell]"),
        Section("error", "bad"),
        Section("decided", "Always"),
    )


def test_a_waiting_edit_shows_the_edit_and_not_its_input() -> None:
    view = tool_view(made.pending(edits=FileEditCollection(items=(EDIT,))))
    assert view.sections == (Section("", EDIT),)
    assert view.has_edits
    assert list(shown.references(view.sections)) == [SIDE.content, SIDE.content]


def test_a_made_edit_stays_open() -> None:
    call = made.call(content=(tools.ToolResultFileEditContent(before=SIDE, after=SIDE),))
    assert fold_of(Tool("k", call, tool_view(call)), {}) is Fold.OPEN


def test_the_risk_is_shown_while_it_is_judged_and_after() -> None:
    judge = tools.ToolCallRiskAssessmentKind.JUDGE
    loading = made.pending(risk_assessment=tools.ToolCallRiskAssessmentLoadingState(kind=judge))
    assert tool_view(loading).sections[0] == Section("risk", "being judged …")
    reason = Markdown(markdown="**bad**")
    judged = made.pending(
        risk_assessment=tools.ToolCallRiskAssessmentCompleteState(kind=judge, reason=reason, safety=0.2)
    )
    assert tool_view(judged).sections[0] == Section("risk · 80 %", reason)


def test_a_denial_keeps_its_reason_and_what_to_do_instead() -> None:
    call = made.call(
        tools.ToolCallCancelledState, reason_message="too risky", user_suggestion=made.message("list it")
    )
    assert tool_view(call).sections[-2:] == (Section("reason", "too risky"), Section("instead", "list it"))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("rm -r build", "rm -r build"),
        ('{"cmd": "rm -r build"}', "cmd: rm -r build"),
        ('{"a": 1, "b": [2]}', '{\n  "a": 1,\n  "b": [\n    2\n  ]\n}'),
        ("17", "17"),
        ("{broken", "{broken"),
    ],
)
def test_an_input_is_laid_out_for_reading(text: str, read: str) -> None:
    assert input_text(text) == read


def test_what_a_person_chose_stays() -> None:
    call = made.call()
    block = Tool("k", call, tool_view(call))
    assert fold_of(block, {"k": Fold.OPEN}) is Fold.OPEN
    assert fold_of(block, {"other": Fold.OPEN}) is Fold.FOLDED


def test_thoughts_fold_away_when_they_end() -> None:
    assert fold_of(Thinking("k", None, "hm", grows=True), {}) is Fold.PEEK
    assert fold_of(Thinking("k", None, "hm"), {}) is Fold.FOLDED


def test_prose_does_not_fold() -> None:
    block = Prose("k", None, "text")
    assert not can_fold(block)
    assert fold_of(block, {"k": Fold.FOLDED}) is Fold.OPEN


def test_toggling_shows_more_first() -> None:
    assert [toggled(fold) for fold in Fold] == [Fold.OPEN, Fold.OPEN, Fold.FOLDED]
