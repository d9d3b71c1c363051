"""Scenarios about looking closely: edits before they are made, risk, results, and being asked twice."""

from __future__ import annotations

import asyncio
from typing import Final

from holdfast.agents.scripted import content
from holdfast.agents.scripted.options import PermissionMode
from holdfast.agents.scripted.permission import OPTIONS, ask_first, consider, explain_refusal
from holdfast.agents.scripted.play import Play
from holdfast.agents.scripted.scenarios.tools import TERMINAL
from holdfast.agents.turn import ToolCall
from holdfast.protocol.chat.tools import (
    ToolCallResult,
    ToolCallRiskAssessmentCompleteState,
    ToolCallRiskAssessmentKind,
    ToolCallRiskAssessmentLoadingState,
    ToolResultFileEditContent,
    ToolResultTextContent,
)
from holdfast.protocol.common import URI, FileEditCollection, Markdown

__all__ = ["edit", "reconfirm", "review", "risk"]

_BEFORE: Final = """\
def greet(name):
    print("Hello " + name)
"""
_AFTER: Final = """\
def greet(name: str) -> None:
    \"\"\"Say hello to somebody.\"\"\"
    print(f"Hello {name}!")
"""
_PYTHON: Final = "text/x-python"


def _file(play: Play) -> URI:
    directory = play.turn.directories[0] if play.turn.directories else "file:///demo"
    return directory.rstrip("/") + "/greeting.py"


async def edit(play: Play) -> None:
    """Propose an edit, let people change it, and make it as they left it. No file is touched."""
    uri = _file(play)
    await play.say("`greeting.py` could be a little better. I show you the change first; you may edit it.\n\n")
    call = await play.turn.tool("edit_file", "Edit file", intention="Add types and a docstring")
    await play.write_input(call, _AFTER)
    permission = await ask_first(
        play,
        call,
        "edit_file",
        Markdown(markdown="Rewrite `greeting.py`"),
        _AFTER,
        confirmation_title="Make this edit?",
        edits=FileEditCollection(items=(content.edit(uri, _BEFORE, _AFTER, _PYTHON),)),
        editable=True,
    )
    if not permission.granted:
        await explain_refusal(play, permission)
        return
    # What was offered inline comes back inline; a reference would be the host's own and cannot be read here.
    final = permission.tool_input if isinstance(permission.tool_input, str) else _AFTER
    made = content.edit(uri, _BEFORE, final, _PYTHON)
    await play.pause(0.4)
    await call.complete(
        ToolCallResult(
            success=True,
            past_tense_message=Markdown(markdown="Edited `greeting.py`"),
            content=(ToolResultFileEditContent(before=made.before, after=made.after, diff=made.diff),),
        )
    )
    whose = "as I proposed it" if final == _AFTER else "with your changes"
    assert made.diff is not None, "an edit with both sides has a diff"
    await play.say(f"Edited, {whose}: {made.diff.added} lines added, {made.diff.removed} removed.\n")


async def review(play: Play) -> None:
    """Have the result of a tool looked at before it is used."""
    await play.say("I look something up. You decide whether I may use what comes back.\n\n")
    call = await play.turn.tool("read_notes", "Read notes", intention="Find the date of the launch")
    await play.write_input(call, "notes/launch.md")
    await call.run(Markdown(markdown="Reading `notes/launch.md`"), tool_input="notes/launch.md")
    await play.pause(0.4)
    used = await call.complete_if_confirmed(
        ToolCallResult(
            success=True,
            past_tense_message=Markdown(markdown="Read `notes/launch.md`"),
            content=(ToolResultTextContent(text="Launch: 3 May. Budget: confidential."),),
        )
    )
    if used:
        await play.say("Thank you. The launch is on **3 May**.\n")
    else:
        await play.say("You kept the result to yourself, so I do not know the date and will not guess it.\n")


async def risk(play: Play) -> None:
    """Ask for confirmation at once, and add how risky it is when that is known."""
    command = play.rest or "git push --force"
    message = Markdown(markdown=f"Run `{command}`")
    await play.say("I ask right away. A judge looks at the risk while you think.\n\n")
    call = await play.turn.tool("push", "Push commits", meta=TERMINAL)
    await play.write_input(call, command)
    if play.options.permission_mode is PermissionMode.ASK and "push" not in play.allowed:
        kind = ToolCallRiskAssessmentKind.JUDGE
        await call.update(
            message,
            tool_input=command,
            options=OPTIONS,
            confirmation_title="Run this command?",
            risk_assessment=ToolCallRiskAssessmentLoadingState(kind=kind),
        )
        async with asyncio.TaskGroup() as group:
            # A decision that comes first is final: what the judge says later is not wanted any more.
            judging = group.create_task(_judge(play, call, message, command))
            decided = await call.decided()
            judging.cancel()
        permission = consider(play, "push", command, decided)
    else:
        permission = await ask_first(play, call, "push", message, command)
    if not permission.granted:
        await explain_refusal(play, permission)
        return
    await call.complete(ToolCallResult(success=True, past_tense_message=Markdown(markdown=f"Ran `{command}`")))
    await play.say("Done. Nobody lost any work, because nothing really happened.\n")


async def _judge(play: Play, call: ToolCall, message: Markdown, command: str) -> None:
    await play.pause(1.2)
    await call.update(
        message,
        tool_input=command,
        risk_assessment=ToolCallRiskAssessmentCompleteState(
            kind=ToolCallRiskAssessmentKind.JUDGE,
            reason=Markdown(markdown="It can **overwrite the work of others** on the same branch."),
            safety=0.2,
        ),
    )


async def reconfirm(play: Play) -> None:
    """Get permission, find out more while running, and ask again."""
    await play.say("Some things turn out bigger than they looked.\n\n")
    call = await play.turn.tool("clean_up", "Clean up", intention="Free some disk space")
    await play.write_input(call, "cache/")
    first = await ask_first(play, call, "clean_up", "Remove the cache, about 10 MB", "cache/")
    if not first.granted:
        await explain_refusal(play, first)
        return
    found = ToolResultTextContent(text="cache/ also holds 3 GB of old downloads")
    await call.show((found,))
    await play.pause(0.6)
    # Under a name of its own: whoever allowed the small thing for the session did not allow the big one.
    second = await ask_first(
        play,
        call,
        "clean_up_all",
        "Remove the cache and 3 GB of downloads",
        "cache/ downloads/",
        confirmation_title="There is more than expected. Remove it all?",
        meta={"reason": "larger than expected"},
    )
    if not second.granted:
        await explain_refusal(play, second)
        return
    await call.complete(ToolCallResult(success=True, past_tense_message="Removed 3 GB", content=(found,)))
    await play.say("Cleaned up. I asked a second time because what you had allowed was not all of it.\n")
