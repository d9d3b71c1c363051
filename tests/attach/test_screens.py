"""The screens, character by character, at 80x24 and 120x40.

`UPDATE_SCREENS=1 scripts/test tests/attach` writes them anew; the difference is to be read before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from aio import aio
from attach import made
from attach.seat import Seat
from attach.still import Still, showing
from holdfast.agents.scripted.scenarios.questions import QUESTIONS
from holdfast.client.status import Status
from holdfast.protocol import status
from holdfast.protocol.chat import inputs, parts, tools
from holdfast.protocol.chat.messages import PendingMessage
from holdfast.protocol.chat.state import ChatInteractivity, ChatSummary, TurnState
from holdfast.protocol.common import (
    ContentRef,
    ErrorInfo,
    FileEdit,
    FileEditCollection,
    FileEditSide,
    Markdown,
    UsageInfo,
)
from holdfast.protocol.session import state as session

SCREENS: Final = Path(__file__).parent / "screens"
SIZES: Final = ((80, 24), (120, 40))

ANSWER: Final = """\
The test fails because `greet` adds strings:

```python
def greet(name):
    print("Hello " + name)
```

1. It has **no types**.
2. Nobody says what it does.

| What | Lines |
|---|---:|
| added | 3 |
| removed | 2 |
"""


def side(text: str) -> FileEditSide:
    return FileEditSide(uri="file:///code/greeting.py", content=ContentRef(uri=f"data:,{text}"))


EDIT: Final = FileEdit(
    before=side("def greet(name):%0A    print(%22Hello %22 + name)%0A"),
    after=side("def greet(name: str) -> None:%0A    print(f%22Hello {name}!%22)%0A"),
)
OPTIONS: Final = (
    tools.ConfirmationOption(id="once", label="Allow once", kind=tools.ConfirmationOptionKind.APPROVE),
    tools.ConfirmationOption(id="session", label="Allow for this session", kind=tools.ConfirmationOptionKind.APPROVE),
    tools.ConfirmationOption(id="no", label="Deny", kind=tools.ConfirmationOptionKind.DENY),
)
TURNS: Final = (
    made.turn(
        "1",
        "Fix the failing test",
        parts.ReasoningResponsePart(id="r", content="Where would a test fail? In the one function that there is."),
        made.prose(ANSWER),
        made.tool(made.call(content=(tools.ToolResultTextContent(text="$ pytest\n1 failed"),))),
        usage=UsageInfo(input_tokens=912, output_tokens=84, model="demo-swift"),
    ),
    made.turn(
        "2",
        "And the release?",
        made.prose("I cannot reach it."),
        parts.ErrorResponsePart(error=ErrorInfo(error_type="network", message="The line is busy."), resumable=True),
        state=TurnState.ERROR,
    ),
)
SESSION: Final = made.session(
    title="Fix the failing test",
    status=status.IDLE | status.IS_READ,
    working_directories=("file:///code",),
    chats=(made.chat(title=""),),
)
LIST: Final = (
    made.summary(
        "a", status.INPUT_NEEDED, hour=8, title="Fix the failing test", working_directories=("file:///code",)
    ),
    made.summary("b", status.IN_PROGRESS, hour=7, title="Write the release notes", activity="Reading the log"),
    made.summary("c", status.ERROR, hour=6, title="Clean up"),
    made.summary("d", hour=5, title="A title that is so long that it does not fit, not even on a wide terminal"),
    made.summary("e", status.IDLE | status.IS_READ | status.IS_ARCHIVED, hour=4, title="Old"),
)


def waiting(entry: Any, call: Any = None) -> Still:
    """A chat in which something waits."""
    part = made.tool(call) if call is not None else parts.InputRequestResponsePart(request=entry.request)
    running = made.active("3", "Go on", made.prose("I would like to."), part)
    chat = made.chat(*TURNS[:1], active_turn=running, status=status.INPUT_NEEDED)
    here = replace(SESSION, status=status.INPUT_NEEDED, input_needed=(entry,))
    return Still(here, chat, LIST)


def approval() -> Still:
    call = made.pending(OPTIONS, confirmation_title="Run this command?", intention="Make room for a clean build")
    entry = session.SessionToolConfirmationRequest(id="w", chat=made.CHAT, turn_id="3", tool_call=call)
    return waiting(entry, call)


def edit() -> Still:
    call = made.pending(
        OPTIONS,
        display_name="Edit file",
        invocation_message=Markdown(markdown="Rewrite `greeting.py`"),
        edits=FileEditCollection(items=(EDIT,)),
        editable=True,
    )
    entry = session.SessionToolConfirmationRequest(id="w", chat=made.CHAT, turn_id="3", tool_call=call)
    return waiting(entry, call)


def form() -> Still:
    request = inputs.ChatInputRequest(id="q", message="Please tell me about your boat.", questions=QUESTIONS)
    return waiting(session.SessionChatInputRequest(id="w", chat=made.CHAT, request=request))


def busy() -> Still:
    call = made.call(
        tools.ToolCallRunningState,
        content=(tools.ToolResultTextContent(text="\n".join(f"line {number}" for number in range(1, 9))),),
    )
    running = made.active("3", "Go on", parts.ReasoningResponsePart(id="r", content="Hm.\n" * 6), made.tool(call))
    running = replace(running, started_at="2026-10-02T08:59:48.000Z")
    chat = made.chat(
        *TURNS[:1],
        active_turn=running,
        status=status.IN_PROGRESS,
        activity="Running the tests",
        queued_messages=(PendingMessage(id="1", message=made.message("Then commit it")),),
        steering_message=PendingMessage(id="2", message=made.message("Only the fast ones")),
        turns_next_cursor="c",
    )
    return Still(replace(SESSION, status=status.IN_PROGRESS), chat, LIST)


def helper() -> Still:
    worker = ChatSummary(
        resource=made.CHAT, title="Count the tests", status=status.IDLE, modified_at="2026-10-02T08:00:00.000Z"
    )
    main = replace(worker, resource="ahp-chat:/main", title="")
    chat = made.chat(TURNS[0], interactivity=ChatInteractivity.READ_ONLY)
    return Still(replace(SESSION, chats=(main, worker), default_chat=main.resource), chat, LIST)


def away() -> Still:
    state = made.chat(*TURNS)
    return Still(SESSION, state, LIST, status=Status.CONNECTING, reason="the connection was lost")


async def nothing(seat: Seat) -> None:
    """What is there at first."""


def pressing(*keys: str) -> Callable[[Seat], Any]:
    async def press(seat: Seat) -> None:
        await seat.press(*keys)

    return press


CASES: Final[dict[str, tuple[Callable[[], Still], Callable[[Seat], Any]]]] = {
    "empty": (Still, nothing),
    "list": (lambda: Still(sessions=LIST), nothing),
    "list-archived": (lambda: Still(sessions=LIST), pressing("A")),
    "chat": (
        lambda: Still(replace(SESSION, status=status.ERROR), made.chat(*TURNS, status=status.ERROR), LIST),
        nothing,
    ),
    "unfolded": (lambda: Still(SESSION, made.chat(*TURNS), LIST), pressing("escape", "f", "g")),
    "busy": (busy, nothing),
    "approval": (approval, nothing),
    "approval-reading": (approval, pressing("escape")),
    "edit": (edit, nothing),
    "decide": (edit, pressing("ctrl+o")),
    "form": (form, nothing),
    "helper": (helper, nothing),
    "away": (away, nothing),
    "gone": (
        lambda: Still(SESSION, made.chat(), LIST, status=Status.GONE, reason="the host did not come back"),
        nothing,
    ),
    "help": (lambda: Still(sessions=LIST), pressing("f1")),
    "new": (lambda: Still(SESSION, made.chat(), LIST), pressing("ctrl+t")),
    "rename": (lambda: Still(sessions=LIST), pressing("r")),
    "delete": (lambda: Still(sessions=LIST), pressing("d")),
    "commands": (lambda: Still(SESSION, made.chat(), LIST), pressing("ctrl+p")),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", CASES)
def test_screen(name: str, size: tuple[int, int]) -> None:
    make, act = CASES[name]
    shown: list[str] = []

    @aio
    async def run() -> None:
        async with showing(make(), size) as seat:
            await seat.pilot.pause()
            await act(seat)
            await settled(seat)
            shown.append(seat.screen)

    run()
    file = SCREENS / f"{name}-{size[0]}x{size[1]}.txt"
    if os.environ.get("UPDATE_SCREENS"):
        SCREENS.mkdir(exist_ok=True)
        file.write_text(shown[0])
    assert shown[0].splitlines() == file.read_text().splitlines()


async def settled(seat: Seat) -> None:
    """Wait until the screen stays as it is: painting and layout are over."""
    calm, before = 0, ""
    while calm < 5:
        await seat.pilot.pause(0.02)
        calm = calm + 1 if seat.screen == before else 0
        before = seat.screen
