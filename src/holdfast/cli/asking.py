"""Asking a person at the terminal: may this tool run, what are the answers to this form.

The terminal is asked for by its name, so that it can be talked to while stdin and stdout are pipes. Questions are
shown on stderr.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from holdfast.cli.answers import hint, read, standing
from holdfast.cli.exits import Stopped
from holdfast.cli.output import clean, line, remark
from holdfast.cli.render.plain import indented
from holdfast.protocol.chat.tools import ConfirmationOption, ConfirmationOptionKind
from holdfast.protocol.codec import Unknown

if TYPE_CHECKING:
    from holdfast.client.asks import Approval, Question, ResultApproval

__all__ = ["Decision", "Terminal", "ask_approval", "ask_question", "ask_result", "read_decision", "terminal"]


class Terminal:
    """Somebody who reads what is asked and writes lines."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._rest = b""

    async def line(self, prompt: str) -> str | None:
        """What somebody writes after the prompt; None if they close the terminal's input (Ctrl-D)."""
        sys.stderr.write(prompt)
        sys.stderr.flush()
        while b"\n" not in self._rest:
            more = await self._read()
            if not more:
                sys.stderr.write("\n")
                return None
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\n")
        return text.decode(errors="replace").strip()

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._file, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._file)
        return os.read(self._file, 4096)


@contextmanager
def terminal() -> Iterator[Terminal | None]:
    """The terminal of this process, or None if nobody sees what is written to stderr."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    try:
        file = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        yield None
        return
    try:
        yield Terminal(file)
    finally:
        os.close(file)


class Decision(NamedTuple):
    """Yes or no, perhaps as one of the options, perhaps with a reason."""

    approved: bool
    option: str | None = None
    reason: str | None = None


Parse: TypeAlias = Callable[[str], "Decision | None"]


async def ask_approval(terminal: Terminal, ask: Approval) -> Decision | None:
    """Whether a tool may run; None to leave it waiting."""
    remark(f"? {line(ask.title)}")
    if ask.input:
        remark(indented(clean(ask.input)).rstrip())
    for number, option in enumerate(ask.options, 1):
        remark(f"  {number} {line(option.label)}")
    numbers = f", 1-{len(ask.options)}" if ask.options else ""
    return await _decide(terminal, f"[y, n, n REASON{numbers}] ", lambda text: read_decision(text, ask.options))


async def ask_result(terminal: Terminal, ask: ResultApproval) -> Decision | None:
    """Whether the agent is given a result; None to leave it waiting."""
    remark(f"? {line(ask.title)}: may the agent have the result?")
    return await _decide(terminal, "[y, n] ", lambda text: read_decision(text, ()))


async def _decide(terminal: Terminal, prompt: str, parse: Parse) -> Decision | None:
    while (text := await terminal.line(prompt)) is not None:
        decision = parse(text)
        if decision is not None:
            return decision
    return None


def read_decision(text: str, options: Sequence[ConfirmationOption]) -> Decision | None:
    """What a line means; None for one that is no answer. Pure."""
    word, _, rest = text.strip().partition(" ")
    if word.isdecimal() and 1 <= int(word) <= len(options):
        option = options[int(word) - 1]
        return Decision(option.kind == ConfirmationOptionKind.APPROVE, option.id, rest.strip() or None)
    if word.casefold() in ("y", "yes") and not rest:
        return Decision(True)
    if word.casefold() in ("n", "no"):
        return Decision(False, reason=rest.strip() or None)
    return None


async def ask_question(terminal: Terminal, ask: Question) -> dict[str, Any] | None:
    """The values for a form, by question; None if nobody wants to fill it in (Ctrl-D)."""
    remark(f"? {line(ask.message)}" if ask.message else "? A question")
    if ask.url:
        remark(f"  {line(ask.url)}")
    if not ask.questions:
        return None if await terminal.line("[Enter when you are done, Ctrl-D to decline] ") is None else {}
    values: dict[str, Any] = {}
    for question in ask.questions:
        if isinstance(question, Unknown):
            continue
        told, value = await _one(terminal, question, standing(ask.request, question))
        if not told:
            return None
        if value is not None:
            values[question.id] = value
    return values


async def _one(terminal: Terminal, question: Any, default: Any) -> tuple[bool, Any]:
    """Whether somebody answered a question, and what; nothing at all takes the default."""
    for option in getattr(question, "options", ()):
        remark(f"    {line(option.id)}: {line(option.label)}")
    shown = f" ({_shown(default)})" if default is not None else "" if question.required else " (optional)"
    while (text := await terminal.line(f"  {line(question.message)}{hint(question)}{shown} ")) is not None:
        if not text and (default is not None or not question.required):
            return True, default
        try:
            return True, read(question, text)
        except Stopped as stopped:
            remark(f"  {stopped}")
    return False, None


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return line(", ".join(map(str, value)) if isinstance(value, list) else str(value))
