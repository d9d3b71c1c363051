"""Scenarios that hand work to a chat of its own."""

from __future__ import annotations

from holdfast.agents.scripted.permission import ask_first
from holdfast.agents.scripted.play import Play
from holdfast.agents.scripted.scenarios.tools import TERMINAL
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin
from holdfast.protocol.chat.tools import ToolCallResult, ToolResultSubagentContent, ToolResultTextContent
from holdfast.protocol.common import Markdown

__all__ = ["subagent"]

_TASK = "Count the tests of this project, and say whether there are enough."


async def subagent(play: Play) -> None:
    """Give a worker a task, let it ask for permission in its own chat, and report what it found."""
    turn = play.turn
    await play.say("I give this to a helper. You can watch it in its own chat.\n\n")
    call = await turn.tool("delegate", "Ask a helper", intention="Count the tests", meta={"toolKind": "subagent"})
    await play.write_input(call, _TASK)
    await call.run("A helper counts the tests", tool_input=_TASK)
    worker = await turn.spawn(call, "Count the tests", hidden=play.rest == "hidden")
    message = Message(text=_TASK, origin=MessageOrigin(kind=MessageKind.TOOL))
    async with worker.turn(message) as helper:
        found = await _work(play.within(helper))
    block = ToolResultSubagentContent(resource=worker.chat, title=worker.title)
    await call.complete(
        ToolCallResult(
            success=True,
            past_tense_message="A helper counted the tests",
            content=(block, ToolResultTextContent(text=found)),
        )
    )
    await play.say(f"My helper reports: {found}\n")


async def _work(play: Play) -> str:
    """The helper's own turn: text, a tool that asks, and its finding."""
    await play.say("I look at the test folder and count.\n\n")
    call = await play.turn.tool("count_tests", "Count tests", meta=TERMINAL)
    await play.write_input(call, "pytest --collect-only -q")
    permission = await ask_first(
        play, call, "count_tests", Markdown(markdown="Run `pytest --collect-only -q`"), "pytest --collect-only -q"
    )
    if not permission.granted:
        found = "counting was not allowed, so the number is unknown."
        await play.say("I may not count, so I say so.\n")
    else:
        await call.complete(
            ToolCallResult(
                success=True,
                past_tense_message="Counted 128 tests",
                content=(ToolResultTextContent(text="128 tests collected"),),
            )
        )
        found = "there are 128 tests, and one more never hurts."
        await play.say("There are **128 tests**.\n")
    await play.meter.report()
    return found
