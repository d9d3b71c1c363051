"""Everything the demo agent can play, in the order people are shown it.

This table drives the help, the completions and the documentation.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from holdfast.agents.scripted.help import as_markdown
from holdfast.agents.scripted.play import Play, Scenario
from holdfast.agents.scripted.scenarios import (
    about,
    media,
    questions,
    remote,
    review,
    text,
    tools,
    tour,
    trouble,
    workers,
)

__all__ = ["SCENARIOS", "Cue", "pick"]


async def _help(play: Play) -> None:
    await play.say("This is what I can play. Say a name, with or without a slash.\n\n" + as_markdown(SCENARIOS))


async def _at_a_loss(play: Play) -> None:
    await play.say("I only know my own part, and I did not find that in it. ")
    await _help(play)


SCENARIOS: Final[tuple[Scenario, ...]] = (
    Scenario("hello", "Say hello", "A greeting, and what to try first.", text.hello),
    Scenario("help", "Help", "This list.", _help),
    Scenario("tour", "Take a tour", "A selection of the others in one turn; asks you twice.", tour.tour),
    # Text
    Scenario("markdown", "Markdown", "Headings, lists, a table and code, in three parts.", text.markdown),
    Scenario("think", "Think first", "Reasoning, as deep as the thinking level, then an answer.", text.think),
    Scenario(
        "long",
        "A long answer",
        "So many tokens at so many per second (0: no pauses); goes on after an interruption.",
        text.long,
        arguments="[tokens] [per second]",
        resumes=True,
    ),
    Scenario("burst", "A burst", "So many deltas without any pause.", text.burst, arguments="[deltas]"),
    Scenario("big", "Something big", "A tool result and a text of so many kB each.", text.big, arguments="[kB]"),
    Scenario(
        "content", "Pictures and files", "An image, a file by reference, a notification.", media.show, alias="image"
    ),
    # Tools
    Scenario("approve", "Ask first", "A command that asks before it runs.", tools.approve, arguments="[command]"),
    Scenario("edit", "Edit a file", "A previewed edit you may change before it is made.", review.edit),
    Scenario("parallel", "Two at once", "Two tools that ask and run at the same time.", tools.parallel),
    Scenario("deny", "Say no", "A tool to refuse, with a reason or a better idea.", tools.deny),
    Scenario("review", "Review a result", "A result that you let through or withhold.", review.review),
    Scenario("risk", "Judge the risk", "A risk assessment that arrives while you decide.", review.risk, "[command]"),
    Scenario("reconfirm", "Ask again", "A tool that asks a second time while it runs.", review.reconfirm),
    Scenario(
        "slow", "Take time", "A tool that shows its progress.", tools.slow, arguments="[updates] [seconds each]"
    ),
    Scenario(
        "client", "Use your tool", "Calls a tool that a client brought.", remote.client, arguments="[tool] [input]"
    ),
    Scenario("mcp", "Sign in", "A tool of an MCP server that wants a token.", remote.mcp),
    Scenario(
        "subagent", "Ask a helper", "A worker with a chat and a question of its own.", workers.subagent, "[hidden]"
    ),
    # Questions and messages
    Scenario("form", "A form", "Questions of every kind.", questions.form),
    Scenario("link", "A link", "A question that opens a page.", questions.link),
    Scenario(
        "steer",
        "Be steered",
        "Works in steps and listens in between.",
        trouble.steer,
        arguments="[steps] [seconds each]",
    ),
    Scenario("wait", "Wait", "Waits until you cancel.", trouble.wait),
    # What the agent knows
    Scenario("recall", "Remember", "What I remember and was given: turns, chats, attachments.", about.recall),
    Scenario("models", "What you sent", "The model, agent and options of your message.", about.models),
    Scenario("usage", "Usage", "Token counts that grow, with cached ones.", about.usage),
    Scenario("title", "A title", "Suggests a title for the session.", about.title, arguments="[title]"),
    # Trouble
    Scenario("error", "Fail", "Fails for good.", trouble.error),
    Scenario("flaky", "Fail and go on", "Fails halfway; resume it to get the rest.", trouble.flaky, resumes=True),
)

_BY_NAME: Final = {
    name: scenario for scenario in SCENARIOS for name in (scenario.name, scenario.alias) if name is not None
}
_AT_A_LOSS: Final = Scenario("", "", "", _at_a_loss)

_GREETINGS: Final = frozenset({"hi", "hey", "hallo", "moin", "greetings", "howdy"})
_GOOD: Final = frozenset({"morning", "day", "afternoon", "evening"})


class Cue(NamedTuple):
    """What to play, and the words after its name."""

    scenario: Scenario
    rest: str


def pick(message: str, *, has_attachments: bool = False) -> Cue:
    """Find what a message asks for: `/name words`, `name words`, a greeting, or nothing we know."""
    if not message.strip() and has_attachments:
        return Cue(_BY_NAME["recall"], "")
    given, rest = [*message.split(maxsplit=1), "", ""][:2]
    rest = rest.strip()
    name = given.removeprefix("/").rstrip("!?.,:;").lower()
    if name in _BY_NAME:
        return Cue(_BY_NAME[name], rest)
    if name in _GREETINGS or (name == "good" and rest.partition(" ")[0].rstrip("!?.,").lower() in _GOOD):
        return Cue(_BY_NAME["hello"], rest)
    return Cue(_AT_A_LOSS, message.strip())
