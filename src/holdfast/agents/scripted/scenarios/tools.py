"""Scenarios about running a tool: asking first, being refused, two at once, and one that takes its time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from holdfast.agents.scripted.permission import Permission, ask_first, explain_refusal
from holdfast.agents.scripted.play import Play
from holdfast.protocol.chat.tools import ToolCallResult, ToolResultTextContent
from holdfast.protocol.common import Markdown

__all__ = ["TERMINAL", "approve", "deny", "parallel", "slow"]

TERMINAL: Final = {"toolKind": "terminal"}


async def approve(play: Play) -> None:
    """Ask before a command runs. Nothing is really run."""
    command = play.rest or "rm -r build"
    await play.say("I would like to run a command.\n\n")
    call = await play.turn.tool("run_command", "Run command", intention="Make room for a clean build", meta=TERMINAL)
    await play.write_input(call, command)
    permission = await ask_first(
        play,
        call,
        "run_command",
        Markdown(markdown=f"Run `{command}`"),
        command,
        confirmation_title="Run this command?",
    )
    if not permission.granted:
        await explain_refusal(play, permission)
        return
    await call.show((ToolResultTextContent(text=f"$ {command}\n"),))
    await play.pause(0.5)
    await call.complete(
        ToolCallResult(
            success=True,
            past_tense_message=Markdown(markdown=f"Ran `{command}`"),
            content=(ToolResultTextContent(text=f"$ {command}\ndone in 0.1 s\n"),),
            structured_content={"exitCode": 0},
        )
    )
    await play.say(f"Done. {_because(permission)}\n")


def _because(permission: Permission) -> str:
    decided = permission.decided
    if decided is None:
        return "I did not ask, because your settings allow it."
    if decided.option is not None and decided.option.id == "session":
        return "I will not ask again in this session: try `approve` once more."
    return "You allowed it this once. Next time I ask again."


async def deny(play: Play) -> None:
    """Ask for something that is best refused, and show what a refusal does."""
    await play.say("I am about to ask for too much. Please say no, and say why if you like.\n\n")
    call = await play.turn.tool("send_mail", "Send mail", intention="Tell everybody at once")
    await play.write_input(call, "To: everybody\nSubject: Lunch?")
    permission = await ask_first(
        play,
        call,
        "send_mail",
        "Send a mail to everybody",
        "To: everybody\nSubject: Lunch?",
        confirmation_title="Send this mail to 4,000 people?",
    )
    if not permission.granted:
        await explain_refusal(play, permission)
        await play.say("A tool that was refused never runs. I was told so, and I can go on without it.\n")
        return
    await call.complete(ToolCallResult(success=True, past_tense_message="Sent a mail to everybody"))
    await play.say("You let me, so I did; luckily the mail is made up. Try again and say no.\n")


@dataclass(frozen=True, slots=True)
class Job:
    """A tool of `parallel`: what it is, and what it prints line by line."""

    tool: str
    display_name: str
    command: str
    doing: str
    done: str
    lines: tuple[str, ...]


_TESTS: Final = Job(
    "run_tests",
    "Run tests",
    "pytest -q tests",
    "Running the tests",
    "Ran 128 tests",
    ("tests/test_boat.py .....\n", "tests/test_anchor.py ....\n", "128 passed in 3.2s\n"),
)
_LINT: Final = Job(
    "run_linter",
    "Run linter",
    "ruff check src",
    "Checking the style",
    "Checked 42 files",
    ("src/boat.py\n", "src/anchor.py\n", "All checks passed!\n"),
)


async def parallel(play: Play) -> None:
    """Two tools at once: both write their input, ask, and report at the same time."""
    await play.say("Tests and style do not wait for each other, so I start both.\n\n")
    async with asyncio.TaskGroup() as group:
        jobs = [(job, group.create_task(_job(play, job))) for job in (_TESTS, _LINT)]
    for job, task in jobs:
        ending = f"{job.done.lower()}, no complaints" if task.result().granted else "not done, as you decided"
        await play.say(f"- {job.display_name}: {ending}\n")


async def _job(play: Play, job: Job) -> Permission:
    call = await play.turn.tool(job.tool, job.display_name, meta=TERMINAL)
    for piece in job.command.partition(" "):
        await call.stream_input(piece)
        await play.pause(0.1)
    permission = await ask_first(play, call, job.tool, job.doing, job.command)
    if not permission.granted:
        return permission
    for shown in range(1, len(job.lines)):
        await call.show((ToolResultTextContent(text="".join(job.lines[:shown])),))
        await play.pause(0.3)
    content = (ToolResultTextContent(text="".join(job.lines)),)
    await call.complete(ToolCallResult(success=True, past_tense_message=job.done, content=content))
    return permission


async def slow(play: Play) -> None:
    """A tool that shows how far it is, several times."""
    updates = play.whole(0, 5, most=10_000)
    seconds = play.seconds(1, 0.6)
    call = await play.turn.tool("fetch_data", "Fetch data", intention="Get the numbers of last year")
    await play.write_input(call, "year = 2025")
    await call.run("Fetching the data", tool_input="year = 2025")
    await play.turn.activity("Fetching the data")
    for update in range(1, updates + 1):
        await play.pace(seconds)
        await call.show((ToolResultTextContent(text=_progress(update, updates)),))
    await play.turn.activity(None)
    await call.complete(
        ToolCallResult(
            success=True,
            past_tense_message="Fetched the data",
            content=(ToolResultTextContent(text=f"{_progress(updates, updates)}\n12 rows"),),
        )
    )
    await play.say("Twelve rows, one for each month. Good things take a moment.\n")


# Characters of the bar.
_WIDTH: Final = 20


def _progress(update: int, updates: int) -> str:
    filled = _WIDTH * update // updates
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {100 * update // updates} %"
