"""Whether a tool may run: the session's permission mode, what people allowed before, and asking them.

What was allowed for a session is remembered under the tool's name in `Play.allowed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from holdfast.agents.scripted.options import PermissionMode
from holdfast.agents.scripted.play import Play
from holdfast.agents.scripted.words import plain, quoted
from holdfast.agents.turn import ToolCall
from holdfast.ports.agent import ToolDecided
from holdfast.protocol.chat.inputs import (
    ChatInputRequest,
    ChatInputResponseKind,
    ChatInputSubmittedAnswer,
    ChatInputTextAnswerValue,
    ChatInputTextQuestion,
)
from holdfast.protocol.chat.tools import (
    ConfirmationOption,
    ConfirmationOptionKind,
    ToolCallConfirmationReason,
    ToolCallError,
    ToolCallResult,
    ToolInput,
)
from holdfast.protocol.common import StringOrMarkdown

__all__ = ["OPTIONS", "Permission", "ask_first", "consider", "explain_refusal"]

OPTIONS: Final = (
    ConfirmationOption(id="once", label="Allow once", kind=ConfirmationOptionKind.APPROVE, group=1),
    ConfirmationOption(id="session", label="Allow for this session", kind=ConfirmationOptionKind.APPROVE, group=1),
    ConfirmationOption(id="deny", label="Deny", kind=ConfirmationOptionKind.DENY, group=2),
    ConfirmationOption(id="deny-reason", label="Deny, and say why", kind=ConfirmationOptionKind.DENY, group=2),
)
"""The buttons of a confirmation. The two groups are drawn with a divider between them."""


@dataclass(frozen=True, slots=True)
class Permission:
    """How it was decided. `decided` is what somebody said, absent if nobody was asked."""

    granted: bool
    tool_input: ToolInput | None
    decided: ToolDecided | None = None


async def ask_first(
    play: Play, call: ToolCall, tool: str, message: StringOrMarkdown, tool_input: ToolInput, **fields: Any
) -> Permission:
    """Let a call run if it may. Afterwards it runs, or it is over and was refused.

    `fields` are those of `chat/toolCallReady`; they only matter if somebody is asked.
    """
    settled = await _by_setting(play, call, tool, message, tool_input)
    if settled is not None:
        return settled
    decided = await call.confirm(message, tool_input=tool_input, options=OPTIONS, **fields)
    return consider(play, tool, tool_input, decided)


def consider(play: Play, tool: str, tool_input: ToolInput, decided: ToolDecided) -> Permission:
    """Read a decision, and remember it if it is for the whole session."""
    if decided.approved and decided.option is not None and decided.option.id == "session":
        play.allowed.add(tool)
    final = tool_input if decided.tool_input is None else decided.tool_input
    return Permission(decided.approved, final, decided)


async def _by_setting(
    play: Play, call: ToolCall, tool: str, message: StringOrMarkdown, tool_input: ToolInput
) -> Permission | None:
    mode = play.options.permission_mode
    if mode is PermissionMode.ASK and tool not in play.allowed:
        return None
    await call.run(message, tool_input=tool_input, confirmed=ToolCallConfirmationReason.SETTING)
    if mode is not PermissionMode.READ_ONLY:
        return Permission(True, tool_input)
    await call.complete(
        ToolCallResult(
            success=False,
            past_tense_message="Not run: this session is read-only",
            error=ToolCallError(message="The session's permission mode is read-only", code="readOnly"),
        )
    )
    return Permission(False, tool_input)


async def explain_refusal(play: Play, permission: Permission) -> None:
    """Say that a refusal was understood, and what came with it."""
    decided = permission.decided
    if decided is None:
        await play.say(
            "This session is read-only, so I leave everything as it is. Its **permission mode** decides.\n\n"
        )
        return
    await play.say("All right, I leave it.\n\n")
    if decided.reason_message is not None:
        await play.say("You told me why:\n\n" + quoted(plain(decided.reason_message)))
    if decided.suggestion is not None:
        await play.say("You suggested something else, and I would go on with that:\n\n")
        await play.say(quoted(decided.suggestion.text))
    elif decided.reason_message is None and decided.option is not None and decided.option.id == "deny-reason":
        await _ask_why(play)


async def _ask_why(play: Play) -> None:
    """Not every client lets people type a reason with the button."""
    question = ChatInputTextQuestion(id="reason", title="Reason", message="What should I know or do instead?")
    answered = await play.turn.ask(
        ChatInputRequest(id=play.turn.new_id(), message="Tell me why, if you like.", questions=(question,))
    )
    answer = answered.answers.get("reason")
    if (
        answered.response == ChatInputResponseKind.ACCEPT
        and isinstance(answer, ChatInputSubmittedAnswer)
        and isinstance(answer.value, ChatInputTextAnswerValue)
    ):
        await play.say("Thank you, that helps:\n\n" + quoted(answer.value.value))
    else:
        await play.say("No reason needed.\n\n")
