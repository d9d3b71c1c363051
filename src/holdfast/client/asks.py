"""What waits for a person, with the ways to answer it.

An ask is answered by dispatching an action; awaiting an answer waits until the host accepted it, and raises
`Refused` if somebody else was first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from holdfast.client.answers import answers_to
from holdfast.client.following import Receipt
from holdfast.protocol.chat import actions as chat
from holdfast.protocol.chat.inputs import ChatInputAnswer, ChatInputRequest, ChatInputResponseKind
from holdfast.protocol.chat.tools import (
    ConfirmationOption,
    ConfirmationOptionKind,
    ToolCallAuthRequiredState,
    ToolCallCancellationReason,
    ToolCallConfirmationReason,
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
)
from holdfast.protocol.common import URI, Markdown, StringOrMarkdown
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.errors import UsageError
from holdfast.protocol.session.state import (
    SessionChatInputRequest,
    SessionInputRequest,
    SessionToolAuthenticationRequest,
    SessionToolConfirmationRequest,
)

__all__ = [
    "Approval",
    "Ask",
    "AuthenticationNeeded",
    "Question",
    "ResultApproval",
    "Say",
    "ask_of",
    "ask_of_call",
    "plain",
]

Say: TypeAlias = Callable[[URI, StateAction], Receipt]
"""Dispatches an action to a channel."""


def plain(text: StringOrMarkdown | None) -> str:
    """A string, whichever way it was sent."""
    return text.markdown if isinstance(text, Markdown) else text or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    chat: URI
    turn_id: str
    id: str = ""
    """Names it among everything that waits in its session."""
    say: Say = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(_Ask):
    """A tool call that runs only if somebody says so."""

    call: ToolCallPendingConfirmationState

    @property
    def name(self) -> str:
        """The tool."""
        return self.call.tool_name

    @property
    def title(self) -> str:
        """What is asked, in words."""
        return plain(self.call.confirmation_title) or plain(self.call.invocation_message) or self.call.display_name

    @property
    def input(self) -> str | None:
        """The tool's input; None if there is none, or if it is kept elsewhere (`call.tool_input`)."""
        return self.call.tool_input if isinstance(self.call.tool_input, str) else None

    @property
    def options(self) -> tuple[ConfirmationOption, ...]:
        """The answers on offer, in order; none means yes or no."""
        return self.call.options or ()

    @property
    def editable(self) -> bool:
        """Whether the input may be changed while approving."""
        return self.call.editable is True

    async def approve(self, option: str | None = None, *, edited_input: str | None = None) -> None:
        """Let it run. `option` is the id or label of an offered answer, `edited_input` replaces the input."""
        if edited_input is not None and not self.editable:
            raise UsageError(f"the input of {self.name} may not be edited")
        await self.say(
            self.chat,
            chat.ToolCallConfirmed(
                turn_id=self.turn_id,
                tool_call_id=self.call.tool_call_id,
                approved=True,
                confirmed=ToolCallConfirmationReason.USER_ACTION,
                edited_tool_input=edited_input,
                selected_option_id=self._option(option, ConfirmationOptionKind.APPROVE),
            ),
        )

    async def deny(self, reason: str | None = None, *, option: str | None = None, skip: bool = False) -> None:
        """Do not let it run. `reason` is told to the agent; `skip` says that it is merely not wanted now."""
        await self.say(
            self.chat,
            chat.ToolCallConfirmed(
                turn_id=self.turn_id,
                tool_call_id=self.call.tool_call_id,
                approved=False,
                reason=ToolCallCancellationReason.SKIPPED if skip else ToolCallCancellationReason.DENIED,
                reason_message=reason,
                selected_option_id=self._option(option, ConfirmationOptionKind.DENY),
            ),
        )

    def _option(self, named: str | None, kind: ConfirmationOptionKind) -> str | None:
        if named is None:
            return None
        for option in self.options:
            if named in (option.id, option.label) and option.kind == kind:
                return option.id
        offered = ", ".join(repr(option.id) for option in self.options if option.kind == kind) or "none"
        raise UsageError(f"{self.name} offers no answer {named!r} of kind {kind}; it offers {offered}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultApproval(_Ask):
    """A tool has run, and its result goes to the agent only if somebody says so."""

    call: ToolCallPendingResultConfirmationState

    @property
    def name(self) -> str:
        return self.call.tool_name

    @property
    def title(self) -> str:
        return plain(self.call.past_tense_message) or self.call.display_name

    async def approve(self) -> None:
        """Give it to the agent."""
        await self._confirm(approved=True)

    async def deny(self) -> None:
        """Keep it from the agent."""
        await self._confirm(approved=False)

    async def _confirm(self, *, approved: bool) -> None:
        action = chat.ToolCallResultConfirmed(
            turn_id=self.turn_id, tool_call_id=self.call.tool_call_id, approved=approved
        )
        await self.say(self.chat, action)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(_Ask):
    """A form to fill in, or a page to open."""

    request: ChatInputRequest

    @property
    def message(self) -> str:
        return self.request.message or ""

    @property
    def url(self) -> URI | None:
        return self.request.url

    @property
    def questions(self) -> tuple[Any, ...]:
        return self.request.questions or ()

    @property
    def answers(self) -> Mapping[str, ChatInputAnswer]:
        """What has been filled in so far, by whomever."""
        return self.request.answers or {}

    async def answer(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Accept, with values by question id. Raises `UsageError` if one does not fit its question."""
        answers = answers_to(self.request, {**(values or {}), **more})
        await self._complete(ChatInputResponseKind.ACCEPT, answers or None)

    async def decline(self) -> None:
        """Say no."""
        await self._complete(ChatInputResponseKind.DECLINE, None)

    async def cancel(self) -> None:
        """Say neither yes nor no."""
        await self._complete(ChatInputResponseKind.CANCEL, None)

    async def _complete(self, response: ChatInputResponseKind, answers: dict[str, ChatInputAnswer] | None) -> None:
        await self.say(self.chat, chat.InputCompleted(request_id=self.request.id, response=response, answers=answers))


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationNeeded(_Ask):
    """A tool call waits for a token: `await host.authenticate(ask.resource, token)`."""

    call: ToolCallAuthRequiredState

    @property
    def resource(self) -> str:
        return self.call.auth.resource.resource


Ask: TypeAlias = Approval | ResultApproval | Question | AuthenticationNeeded


def ask_of_call(call: Any, *, chat: URI, turn_id: str, say: Say, id: str = "") -> Ask | None:
    """What a tool call asks of a person; None if nothing."""
    match call:
        case ToolCallPendingConfirmationState():
            return Approval(chat=chat, turn_id=turn_id, call=call, say=say, id=id)
        case ToolCallPendingResultConfirmationState():
            return ResultApproval(chat=chat, turn_id=turn_id, call=call, say=say, id=id)
        case ToolCallAuthRequiredState():
            return AuthenticationNeeded(chat=chat, turn_id=turn_id, call=call, say=say, id=id)
        case _:
            return None


def ask_of(entry: SessionInputRequest, say: Say) -> Ask | None:
    """What an entry of a session's `input_needed` asks of a person; None if it is for a program."""
    match entry:
        case SessionChatInputRequest():
            return Question(chat=entry.chat, turn_id="", request=entry.request, say=say, id=entry.id)
        case SessionToolConfirmationRequest() | SessionToolAuthenticationRequest():
            return ask_of_call(entry.tool_call, chat=entry.chat, turn_id=entry.turn_id, say=say, id=entry.id)
        case _:
            return None
