"""What waits for a person, and the keys that answer it."""

from __future__ import annotations

from attach import made
from holdfast.attach.model.asks import AskKind, AskView, Choice, asks
from holdfast.attach.model.tools import Section
from holdfast.protocol.chat import inputs, tools
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import McpAuthRequiredReason, McpAuthRequirement, ProtectedResourceMetadata
from holdfast.protocol.session import state as session

APPROVE, DENY = tools.ConfirmationOptionKind.APPROVE, tools.ConfirmationOptionKind.DENY


def waiting(*entries: session.SessionInputRequest, here: str = made.CHAT) -> tuple[AskView, ...]:
    return asks(made.session(input_needed=entries), here)


def confirmation(
    call: tools.ToolCallConfirmationState, id: str = "w", chat: str = made.CHAT
) -> session.SessionInputRequest:
    return session.SessionToolConfirmationRequest(id=id, chat=chat, turn_id="t", tool_call=call)


def test_nothing_waits() -> None:
    assert asks(made.session(), made.CHAT) == ()


def test_a_tool_that_asks_is_approved_with_y_and_denied_with_n() -> None:
    (ask,) = waiting(confirmation(made.pending(confirmation_title="Run this?", editable=True)))
    assert ask == AskView(
        id="w",
        kind=AskKind.APPROVAL,
        chat=made.CHAT,
        title="Run this?",
        says=made.SAYS,
        sections=(Section("input", "rm -r build"),),
        choices=(Choice("y", "approve", approves=True), Choice("n", "deny", approves=False)),
        is_editable=True,
        call_id="k",
    )


def test_options_keep_their_order_and_the_first_of_each_kind_has_the_letter() -> None:
    options = (
        tools.ConfirmationOption(id="once", label="Allow once", kind=APPROVE),
        tools.ConfirmationOption(id="session", label="Allow in this session", kind=APPROVE),
        tools.ConfirmationOption(id="no", label="Deny", kind=DENY),
        tools.ConfirmationOption(id="never", label="Never", kind=DENY),
    )
    (ask,) = waiting(confirmation(made.pending(options)))
    assert ask.choices == (
        Choice("y", "Allow once", True, "once"),
        Choice("2", "Allow in this session", True, "session"),
        Choice("n", "Deny", False, "no"),
        Choice("4", "Never", False, "never"),
    )
    assert ask.choice(approves=True) == ask.choices[0]
    assert ask.choice(approves=False) == ask.choices[2]


def test_an_option_of_an_unknown_kind_never_approves() -> None:
    odd = tools.ConfirmationOption(id="x", label="Maybe", kind=tools.ConfirmationOptionKind("maybe"))
    (ask,) = waiting(confirmation(made.pending((odd,))))
    assert ask.choice(approves=True) is None


def test_a_result_that_waits_is_used_or_withheld() -> None:
    (ask,) = waiting(confirmation(made.call(tools.ToolCallPendingResultConfirmationState)))
    assert ask.kind is AskKind.REVIEW
    assert [choice.label for choice in ask.choices] == ["use it", "withhold it"]


def test_a_form_says_how_many_questions_and_where_to_look() -> None:
    question = inputs.ChatInputTextQuestion(id="a", message="?")
    entry = session.SessionChatInputRequest(
        id="w", chat=made.CHAT, request=inputs.ChatInputRequest(id="q", url="https://x", questions=(question,))
    )
    (ask,) = waiting(entry)
    assert (ask.kind, ask.title, ask.says) == (AskKind.FORM, "A question", "1 question · https://x")


def test_a_tool_that_wants_a_token_says_for_what() -> None:
    call = made.call(
        tools.ToolCallAuthRequiredState,
        contributor=tools.ToolCallMcpContributor(customization_id="m"),
        auth=McpAuthRequirement(
            reason=McpAuthRequiredReason.REQUIRED,
            resource=ProtectedResourceMetadata(resource="https://x", resource_name="Issues"),
            required_scopes=("read", "write"),
            description="Any token.",
        ),
    )
    (ask,) = waiting(session.SessionToolAuthenticationRequest(id="w", chat=made.CHAT, turn_id="t", tool_call=call))
    assert (ask.kind, ask.title, ask.says) == (AskKind.SIGN_IN, "Run command wants a token", "Any token.")
    assert ask.sections == (Section("for", "Issues"), Section("at", "https://x"), Section("scopes", "read, write"))


def test_the_chat_on_the_screen_comes_first_and_the_order_else_stays() -> None:
    shown = waiting(
        confirmation(made.pending(), "1", "ahp-chat:/worker"),
        confirmation(made.pending(), "2"),
        confirmation(made.pending(), "3"),
    )
    assert [ask.id for ask in shown] == ["2", "3", "1"]


def test_what_a_client_executes_does_not_wait_for_a_person() -> None:
    call = made.call(tools.ToolCallRunningState)
    entry = session.SessionToolClientExecutionRequest(
        id="w", chat=made.CHAT, turn_id="t", client_id="c", tool_call=call
    )
    assert waiting(entry) == ()


def test_a_wait_of_an_unknown_kind_is_shown_and_cannot_be_answered_here() -> None:
    (ask,) = waiting(Unknown({"kind": "dance", "id": "w", "chat": made.CHAT}))
    assert (ask.kind, ask.choices) == (AskKind.UNKNOWN, ())
    assert "dance" in str(ask.says)
    odd = Unknown({"toolCallId": "k", "toolName": "x", "status": "odd"})
    sign_in = session.SessionToolAuthenticationRequest(id="w", chat=made.CHAT, turn_id="t", tool_call=odd)
    for entry in (confirmation(odd), sign_in):
        (ask,) = waiting(entry)
        assert (ask.kind, ask.choices) == (AskKind.UNKNOWN, ())
