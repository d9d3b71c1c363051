"""Scenarios in which something goes wrong, or does not end by itself."""

from __future__ import annotations

from typing import Final

from holdfast.agents.port import AgentFailed
from holdfast.agents.scripted.play import Play
from holdfast.agents.scripted.words import quoted
from holdfast.protocol.chat.parts import MarkdownResponsePart
from holdfast.protocol.common import ErrorInfo

__all__ = ["error", "flaky", "steer", "wait"]


async def error(play: Play) -> None:
    """Fail for good."""
    await play.say("I try something that cannot work.\n")
    raise AgentFailed(
        ErrorInfo(error_type="demoFailure", message="It did not work, as announced. Nothing is broken.")
    )


_STEPS: Final = ("pack the bags", "find the keys", "lock the door", "catch the train")
_FAILS_AFTER: Final = 2


async def flaky(play: Play) -> None:
    """Fail halfway in a way that can be mended; when resumed, go on from there."""
    said = "".join(str(part.content) for part in play.turn.said if isinstance(part, MarkdownResponsePart))
    done = sum(f"{number}. " in said for number in range(1, len(_STEPS) + 1))
    if play.turn.resumed and done < len(_STEPS):
        await play.say(f"\nBack again. I go on with step {done + 1}.\n\n")
    for number, step in enumerate(_STEPS[done:], done + 1):
        if number > _FAILS_AFTER and not play.turn.resumed:
            raise AgentFailed(
                ErrorInfo(error_type="demoInterruption", message="The line is busy. Resume to go on from here."),
                resumable=True,
            )
        await play.say(f"{number}. {step}\n")
        await play.pause(0.4)
    await play.say("\nAll done, although not in one go.\n")


async def steer(play: Play) -> None:
    """Work in steps, and listen between them."""
    steps = play.whole(0, 5, most=10_000)
    seconds = play.seconds(1, 1.0)
    await play.say(f"I take {steps} steps. Send me a message while I work, and I take it along.\n\n")
    heard = 0
    for step in range(1, steps + 1):
        await play.turn.activity(f"Step {step} of {steps}")
        await play.say(f"Step {step} of {steps}.\n\n")
        await play.pace(seconds)
        heard += await _listen(play)
    await play.turn.activity(None)
    await play.say("There. " + (f"You steered me {heard} times.\n" if heard else "Nobody told me anything.\n"))


async def _listen(play: Play) -> int:
    """Take the messages that came for this turn; how many there were."""
    waiting = play.turn.steering()
    for steered in waiting:
        await play.turn.take(steered)
        await play.say("You told me:\n\n" + quoted(steered.message.text))
    return len(waiting)


async def wait(play: Play) -> None:
    """Wait until somebody cancels, and answer those who talk meanwhile."""
    await play.say("I wait until you stop me.\n\n")
    await play.turn.activity("Waiting for you to cancel")
    while True:
        steered = await play.turn.steered()
        await play.turn.take(steered)
        await play.say("You told me:\n\n" + quoted(steered.message.text) + "I keep waiting.\n\n")
