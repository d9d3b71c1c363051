"""What a scenario works with: the turn, the words after its name, and how fast people want to read.

`Play.pace` is the one place where anything waits for time to pass; it always lets others run.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec.structs import replace

from holdfast.agents.scripted import words
from holdfast.agents.scripted.options import Options
from holdfast.agents.turn import ToolCall, TurnContext
from holdfast.protocol.common import UsageInfo

__all__ = ["Play", "Scenario", "Sleep"]

Sleep: TypeAlias = Callable[[float], Awaitable[object]]
"""`asyncio.sleep`, or what a test puts in its place."""

# Seconds. Shorter pauses are saved up: an event loop oversleeps each one by about a millisecond.
_SHORTEST_NAP: Final = 0.02

# What a person may ask for; more is cut to this, so that no typing error keeps a host busy for a year.
_LONGEST_PAUSE: Final = 3600.0


class Pacer:
    """Spends the pauses of one turn."""

    def __init__(self, sleep: Sleep) -> None:
        self._sleep = sleep
        self._owed = 0.0

    async def pace(self, seconds: float) -> None:
        """Let others run, and wait so long on average."""
        self._owed += min(seconds, _LONGEST_PAUSE)
        nap = self._owed if self._owed >= _SHORTEST_NAP else 0.0
        self._owed -= nap
        await self._sleep(nap)


class Meter:
    """Counts the tokens of one turn, a word each, and reports them."""

    def __init__(self, turn: TurnContext, model: str) -> None:
        self._turn = turn
        self._reported: UsageInfo | None = None
        self.usage = UsageInfo(input_tokens=len(words.tokens(turn.message.text)), output_tokens=0, model=model)

    def wrote(self, tokens: int) -> None:
        """More was written."""
        self.usage = replace(self.usage, output_tokens=(self.usage.output_tokens or 0) + tokens)

    def read(self, tokens: int, *, cached: int = 0) -> None:
        """More was read, some of it from the cache."""
        usage = self.usage
        self.usage = replace(
            usage,
            input_tokens=(usage.input_tokens or 0) + tokens,
            cache_read_tokens=((usage.cache_read_tokens or 0) + cached) or None,
        )

    async def report(self) -> None:
        """Say what the turn has used so far, unless that was said already."""
        if self.usage != self._reported:
            self._reported = self.usage
            await self._turn.usage(self.usage)


@dataclass(frozen=True, slots=True)
class Play:
    """One performance of a scenario."""

    turn: TurnContext
    rest: str
    """The words after the scenario's name."""
    options: Options
    allowed: set[str]
    """Tools that may run without asking for the rest of the session; shared by all its turns."""
    model: str
    pacer: Pacer
    meter: Meter

    @classmethod
    def of(
        cls,
        turn: TurnContext,
        rest: str,
        options: Options,
        allowed: set[str],
        model: str,
        sleep: Sleep = asyncio.sleep,
    ) -> Play:
        """A performance that begins now."""
        return cls(turn, rest, options, allowed, model, Pacer(sleep), Meter(turn, model))

    def within(self, turn: TurnContext) -> Play:
        """The same in a worker's turn, which counts its own tokens."""
        return Play(turn, "", self.options, self.allowed, self.model, self.pacer, Meter(turn, self.model))

    def without_arguments(self) -> Play:
        """The same turn for a scenario that is played as part of another."""
        return Play(self.turn, "", self.options, self.allowed, self.model, self.pacer, self.meter)

    # Time

    async def pace(self, seconds: float) -> None:
        """Wait so long, as somebody asked for."""
        await self.pacer.pace(seconds)

    async def pause(self, seconds: float) -> None:
        """Wait so long, for effect: not at all when the session's speed is 0."""
        await self.pacer.pace(seconds if self.options.speed else 0.0)

    # Words

    async def say(self, text: str) -> None:
        """Stream text at the session's speed; with speed 0 in one piece."""
        for piece in self._pieces(text):
            await self.turn.text(piece)
            await self._after(piece)

    async def think(self, text: str) -> None:
        """As `say`, to the reasoning."""
        for piece in self._pieces(text):
            await self.turn.think(piece)
            await self._after(piece)

    async def write_input(self, call: ToolCall, text: str) -> None:
        """Stream the input of a tool call."""
        for piece in self._pieces(text):
            await call.stream_input(piece)
            await self._after(piece)

    def _pieces(self, text: str) -> list[str]:
        return words.tokens(text) if self.options.speed or not text else [text]

    async def _after(self, piece: str) -> None:
        tokens = len(words.tokens(piece))
        self.meter.wrote(tokens)
        await self.pace(tokens / self.options.speed if self.options.speed else 0.0)

    # Arguments

    def whole(self, place: int, default: int, *, most: int) -> int:
        """The word at a place after the scenario's name, as a whole number from 1 to `most`."""
        return int(min(max(1.0, self._number(place, default)), most))

    def seconds(self, place: int, default: float) -> float:
        """The word at a place as a duration; without one the default, or nothing when the speed is 0."""
        return max(0.0, self._number(place, default if self.options.speed else 0.0))

    def rate(self, place: int) -> float:
        """The word at a place as tokens per second; without one the session's speed."""
        return max(0.0, self._number(place, self.options.speed))

    def _number(self, place: int, default: float) -> float:
        given = self.rest.split()
        if place >= len(given):
            return default
        try:
            number = float(given[place])
        except ValueError:
            return default
        return default if math.isnan(number) else number


@dataclass(frozen=True, slots=True)
class Scenario:
    """An entry of the table: what people may ask for, and the function that plays it."""

    name: str
    title: str
    description: str
    play: Callable[[Play], Awaitable[None]]
    arguments: str = ""
    alias: str | None = None
    resumes: bool = False
    """Goes on where it failed by itself. Others start again after an interruption."""

    @property
    def usage(self) -> str:
        """How it is asked for, with its arguments."""
        return f"{self.name} {self.arguments}".rstrip()
