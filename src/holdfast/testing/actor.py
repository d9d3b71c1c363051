"""An agent that does what a test tells it to."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.agents.port import Agent
from holdfast.agents.turn import TurnContext
from holdfast.protocol.root.state import (
    AgentCapabilities,
    AgentInfo,
    MultipleChatsCapability,
    MultipleWorkingDirectoriesCapability,
    SessionModelInfo,
)
from holdfast.testing.steps import Step, step_of

__all__ = ["Actor"]

_EVERYTHING = AgentCapabilities(
    multiple_chats=MultipleChatsCapability(fork=True, side_chat=True),
    multiple_working_directories=MultipleWorkingDirectoriesCapability(primary_replacement=True),
)


class Actor(Agent):
    """Plays the same steps in every turn: text to say, what `holdfast.testing.steps` makes, or a function.

        Actor("Let me look.", calls("ls", ask=True), "There.")
        Actor(play)    # async def play(turn): await turn.text(f"You said {turn.message.text}")

    `turns` are the turns it was given, the newest last. Derive from it to be told about sessions, too.
    """

    def __init__(
        self,
        *steps: str | Step,
        provider: str = "actor",
        models: Sequence[str] = ("actor-1",),
        capabilities: AgentCapabilities | None = _EVERYTHING,
    ) -> None:
        self.steps: tuple[Step, ...] = ()
        self.turns: list[TurnContext] = []
        self.plays(*steps)
        self._info = AgentInfo(
            provider=provider,
            display_name=provider.title(),
            description="Does what a test tells it to.",
            models=tuple(SessionModelInfo(id=model, provider=provider, name=model) for model in models),
            capabilities=capabilities,
        )

    def plays(self, *steps: str | Step) -> None:
        """Play other steps from the next turn on."""
        self.steps = tuple(map(step_of, steps))

    @property
    def info(self) -> AgentInfo:
        return self._info

    @property
    def heard(self) -> list[str]:
        """What people have said to it."""
        return [turn.message.text for turn in self.turns]

    async def run(self, turn: TurnContext) -> None:
        self.turns.append(turn)
        for step in self.steps:
            await step(turn)
