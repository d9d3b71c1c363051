"""What an `Actor` does in a turn, step by step.

A step is a function of the turn; any `async def` that takes a `TurnContext` is one. Those that are made here give
what became of them, so that a function can use them, too: `answers = await asks("Which?", colour=str)(turn)`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from holdfast.agents.port import AgentFailed
from holdfast.agents.turn import TurnContext
from holdfast.ports.agent import InputAnswered
from holdfast.protocol.chat.inputs import (
    ChatInputBooleanQuestion,
    ChatInputIntegerQuestion,
    ChatInputNumberQuestion,
    ChatInputOption,
    ChatInputQuestion,
    ChatInputRequest,
    ChatInputResponseKind,
    ChatInputSingleSelectQuestion,
    ChatInputSubmittedAnswer,
    ChatInputTextQuestion,
)
from holdfast.protocol.chat.tools import (
    ToolCallClientContributor,
    ToolCallError,
    ToolCallResult,
    ToolResultTextContent,
)
from holdfast.protocol.common import ErrorInfo, UsageInfo
from holdfast.protocol.errors import UsageError

__all__ = ["Step", "asks", "calls", "calls_client", "fails", "failure", "says", "step_of", "thinks", "uses", "waits"]

Step: TypeAlias = Callable[[TurnContext], Awaitable[Any]]

QuestionLike: TypeAlias = "type[str] | type[int] | type[float] | type[bool] | Sequence[str] | ChatInputQuestion"


def step_of(written: str | Step) -> Step:
    """A step as it is; text is something to say."""
    return says(written) if isinstance(written, str) else written


def says(*pieces: str) -> Step:
    """Streams text, piece by piece."""

    async def step(turn: TurnContext) -> None:
        for piece in pieces:
            await turn.text(piece)

    return step


def thinks(*pieces: str) -> Step:
    """Streams reasoning, piece by piece."""

    async def step(turn: TurnContext) -> None:
        for piece in pieces:
            await turn.think(piece)

    return step


def uses(**counts: Any) -> Step:
    """Reports what the turn has used: `uses(input_tokens=12, output_tokens=3)`."""
    usage = UsageInfo(**counts)
    return lambda turn: turn.usage(usage)


def fails(message: str, *, resumable: bool = False) -> Step:
    """Ends the turn with an error. A resumable one plays its steps again when it is resumed."""

    async def step(turn: TurnContext) -> None:  # noqa: ARG001 - the shape of a step
        raise AgentFailed(ErrorInfo(error_type="failed", message=message), resumable=resumable)

    return step


def waits(until: asyncio.Event | None = None) -> Step:
    """Waits until an event is set; without one, until somebody cancels the turn."""

    async def step(turn: TurnContext) -> None:  # noqa: ARG001 - the shape of a step
        await (until or asyncio.Event()).wait()

    return step


def calls(
    name: str,
    input: Mapping[str, Any] | None = None,  # noqa: A002 - what a tool takes
    *,
    result: str | ToolCallResult = "done",
    ask: bool = False,
    review: bool = False,
    **ready: Any,
) -> Step:
    """Calls a tool that gives a result. Gives whether the agent got it.

    `ask`: only if somebody approves. `review`: the result, too. `ready` are fields of `chat/toolCallReady`, such as
    `options` and `editable`.
    """
    given = _result(name, result)

    async def step(turn: TurnContext) -> bool:
        call = await turn.tool(name, name)
        text = json.dumps(dict(input or {}), ensure_ascii=False)
        if not ask:
            await call.run(f"Running {name}", tool_input=text, **ready)
        elif not (await call.confirm(f"Run {name}?", tool_input=text, **ready)).approved:
            return False
        if review:
            return await call.complete_if_confirmed(given)
        await call.complete(given)
        return True

    return step


def calls_client(name: str, input: Mapping[str, Any] | None = None) -> Step:  # noqa: A002 - what a tool takes
    """Calls a tool that a client offers, and gives its result. Ends the turn with an error if nobody offers it."""

    async def step(turn: TurnContext) -> ToolCallResult:
        offered = next((each for each in turn.client_tools if each.tool.name == name), None)
        if offered is None:
            raise AgentFailed(ErrorInfo(error_type="noTool", message=f"no client offers {name}"))
        call = await turn.tool(name, name, contributor=ToolCallClientContributor(client_id=offered.client_id))
        await call.run(f"Running {name}", tool_input=json.dumps(dict(input or {}), ensure_ascii=False))
        return await call.client_result()

    return step


def asks(message: str, **questions: QuestionLike) -> Step:
    """Asks a form: `asks("Which?", colour=("red", "blue"), count=int)`. Gives the values by name, or None.

    A question is a type (`str`, `int`, `float`, `bool`), choices, or one of the protocol's.
    """
    asked = tuple(_question(name, given) for name, given in questions.items())

    async def step(turn: TurnContext) -> dict[str, Any] | None:
        request = ChatInputRequest(id=turn.new_id(), message=message, questions=asked or None)
        return _values(await turn.ask(request))

    return step


_KINDS: dict[Any, type[Any]] = {
    str: ChatInputTextQuestion,
    int: ChatInputIntegerQuestion,
    float: ChatInputNumberQuestion,
    bool: ChatInputBooleanQuestion,
}


def _question(name: str, given: Any) -> ChatInputQuestion:
    if isinstance(given, type):
        if given not in _KINDS:
            raise UsageError(f"question {name!r} may be of str, int, float or bool, not of {given.__name__}")
        question: ChatInputQuestion = _KINDS[given](id=name, message=name)
        return question
    if isinstance(given, Sequence) and not isinstance(given, str):
        options = tuple(ChatInputOption(id=choice, label=choice) for choice in given)
        return ChatInputSingleSelectQuestion(id=name, message=name, options=options)
    return cast("ChatInputQuestion", given)


def _values(answered: InputAnswered) -> dict[str, Any] | None:
    if answered.response is not ChatInputResponseKind.ACCEPT:
        return None
    given = answered.answers.items()
    return {
        name: getattr(answer.value, "value", None)
        for name, answer in given
        if isinstance(answer, ChatInputSubmittedAnswer)
    }


def _result(name: str, result: str | ToolCallResult) -> ToolCallResult:
    if isinstance(result, ToolCallResult):
        return result
    return ToolCallResult(
        success=True, past_tense_message=f"Ran {name}", content=(ToolResultTextContent(text=result),)
    )


def failure(name: str, message: str) -> ToolCallResult:
    """The result of a tool that went wrong, for `calls(name, result=failure(name, "…"))`."""
    return ToolCallResult(
        success=False,
        past_tense_message=f"{name} failed",
        content=(ToolResultTextContent(text=message),),
        error=ToolCallError(message=message),
    )
