"""What waits for a person, answered without `await`. The same names as in `holdfast`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from holdfast.client import asks
from holdfast.protocol.chat.tools import ConfirmationOption
from holdfast.protocol.common import URI
from holdfast.sync.loop import LoopThread

__all__ = ["Approval", "Ask", "AuthenticationNeeded", "Question", "ResultApproval", "in_sync"]

T = TypeVar("T", bound=asks.Ask)
C = TypeVar("C", asks.Approval, asks.ResultApproval)


class _Ask(Generic[T]):
    def __init__(self, loop: LoopThread, ask: T) -> None:
        self._loop = loop
        self._ask = ask

    @property
    def chat(self) -> URI:
        return self._ask.chat

    @property
    def turn_id(self) -> str:
        return self._ask.turn_id

    @property
    def id(self) -> str:
        return self._ask.id


class _AboutCall(_Ask[C]):
    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title!r}>"

    @property
    def call(self) -> Any:
        """The tool call, as the protocol has it."""
        return self._ask.call

    @property
    def name(self) -> str:
        """The tool."""
        return self._ask.name

    @property
    def title(self) -> str:
        """What is asked, in words."""
        return self._ask.title


class Approval(_AboutCall[asks.Approval]):
    """A tool call that runs only if somebody says so."""

    @property
    def input(self) -> str | None:
        return self._ask.input

    @property
    def options(self) -> tuple[ConfirmationOption, ...]:
        return self._ask.options

    @property
    def editable(self) -> bool:
        return self._ask.editable

    def approve(self, option: str | None = None, *, edited_input: str | None = None) -> None:
        """Let it run; see `holdfast.Approval.approve`."""
        self._loop.run(self._ask.approve(option, edited_input=edited_input))

    def deny(self, reason: str | None = None, *, option: str | None = None, skip: bool = False) -> None:
        """Do not let it run; see `holdfast.Approval.deny`."""
        self._loop.run(self._ask.deny(reason, option=option, skip=skip))


class ResultApproval(_AboutCall[asks.ResultApproval]):
    """A result that goes to the agent only if somebody says so."""

    def approve(self) -> None:
        """Give it to the agent."""
        self._loop.run(self._ask.approve())

    def deny(self) -> None:
        """Keep it from the agent."""
        self._loop.run(self._ask.deny())


class Question(_Ask[asks.Question]):
    """A form to fill in, or a page to open."""

    def __repr__(self) -> str:
        return f"<Question {self.message!r}>"

    @property
    def message(self) -> str:
        return self._ask.message

    @property
    def url(self) -> URI | None:
        return self._ask.url

    @property
    def questions(self) -> tuple[Any, ...]:
        return self._ask.questions

    @property
    def answers(self) -> Mapping[str, Any]:
        return self._ask.answers

    def answer(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Accept, with values by question id; see `holdfast.Question.answer`."""
        self._loop.run(self._ask.answer(values, **more))

    def decline(self) -> None:
        """Say no."""
        self._loop.run(self._ask.decline())

    def cancel(self) -> None:
        """Say neither yes nor no."""
        self._loop.run(self._ask.cancel())


class AuthenticationNeeded(_Ask[asks.AuthenticationNeeded]):
    """A tool call that waits for a token: `host.authenticate(ask.resource, token)`."""

    def __repr__(self) -> str:
        return f"<AuthenticationNeeded {self.resource!r}>"

    @property
    def call(self) -> Any:
        return self._ask.call

    @property
    def resource(self) -> str:
        return self._ask.resource


Ask = Approval | ResultApproval | Question | AuthenticationNeeded

_KINDS: dict[type, Any] = {
    asks.Approval: Approval,
    asks.ResultApproval: ResultApproval,
    asks.Question: Question,
    asks.AuthenticationNeeded: AuthenticationNeeded,
}


def in_sync(loop: LoopThread, event: Any) -> Any:
    """An event as it is, or, if it waits for a person, with ways to answer it here."""
    kind = _KINDS.get(type(event))
    return event if kind is None else kind(loop, event)
