"""The demo agent behind the port: how it introduces itself, and how it finds the scenario for a message.

It keeps nothing but the tools that people allowed for a session, until that session is closed.
"""

from __future__ import annotations

import asyncio
from typing import Final

from holdfast.agents.port import Agent, ReportProgress
from holdfast.agents.scripted import completions, options
from holdfast.agents.scripted.play import Play, Scenario, Sleep
from holdfast.agents.scripted.table import pick
from holdfast.agents.scripted.words import quoted
from holdfast.agents.turn import TurnContext
from holdfast.ports.agent import OpenSession, Progress, ResolvedConfig
from holdfast.protocol.chat.commands import CompletionItem
from holdfast.protocol.common import (
    URI,
    ConfigPropertySchema,
    ConfigSchema,
    JsonObject,
    ProtectedResourceMetadata,
)
from holdfast.protocol.root.commands import SessionConfigValueItem
from holdfast.protocol.root.state import (
    AgentCapabilities,
    AgentInfo,
    MultipleChatsCapability,
    MultipleWorkingDirectoriesCapability,
    SessionModelInfo,
)

__all__ = ["ScriptedAgent", "demo", "demo_auth"]

_THINKING: Final = ConfigSchema(
    type="object",
    properties={
        "thinking": ConfigPropertySchema(
            type="string",
            title="Thinking",
            description="How long the model thinks before it answers.",
            default="medium",
            enum=("low", "medium", "high"),
            enum_labels=("Low", "Medium", "High"),
            enum_descriptions=("One thought.", "Two thoughts.", "Three thoughts."),
        )
    },
)

_DEFAULT_MODEL: Final = "demo-swift"


def _models(provider: str) -> tuple[SessionModelInfo, ...]:
    return (
        SessionModelInfo(
            id=_DEFAULT_MODEL,
            provider=provider,
            name="Demo Swift",
            max_context_window=128_000,
            max_output_tokens=16_000,
            max_prompt_tokens=112_000,
            supports_vision=True,
        ),
        SessionModelInfo(
            id="demo-thoughtful",
            provider=provider,
            name="Demo Thoughtful",
            max_context_window=200_000,
            max_output_tokens=32_000,
            max_prompt_tokens=168_000,
            supports_vision=True,
            config_schema=_THINKING,
        ),
        SessionModelInfo(
            id="demo-pocket",
            provider=provider,
            name="Demo Pocket",
            max_context_window=8_000,
            max_output_tokens=2_000,
            max_prompt_tokens=6_000,
            supports_vision=False,
        ),
    )


_CAPABILITIES: Final = AgentCapabilities(
    multiple_chats=MultipleChatsCapability(fork=True, side_chat=True),
    multiple_working_directories=MultipleWorkingDirectoriesCapability(primary_replacement=True),
)

_PROTECTED: Final = ProtectedResourceMetadata(
    resource="https://demo.holdfast.example/",
    resource_name="Holdfast demo",
    authorization_servers=("https://login.holdfast.example/",),
    scopes_supported=("demo",),
    bearer_methods_supported=("header",),
    required=True,
)

# The one token that is good for nothing.
_BAD_TOKEN: Final = "bad"  # noqa: S105 - not a secret


class ScriptedAgent(Agent):
    """Plays scenarios from the table. `sleep` spends its pauses."""

    def __init__(self, info: AgentInfo, sleep: Sleep = asyncio.sleep) -> None:
        self._info = info
        self._sleep = sleep
        self._allowed: dict[URI, set[str]] = {}

    @property
    def info(self) -> AgentInfo:
        return self._info

    async def run(self, turn: TurnContext) -> None:
        """Play what the message asks for."""
        scenario, rest = pick(turn.message.text, has_attachments=bool(turn.message.attachments))
        play = Play.of(
            turn,
            rest,
            options.read(turn.config),
            self._allowed.setdefault(turn.key.session, set()),
            turn.model.id if turn.model else _DEFAULT_MODEL,
            self._sleep,
        )
        await _play(scenario, play)

    async def open_session(self, session: OpenSession, report: ReportProgress) -> None:
        """Nothing takes time here; whoever asked for progress sees what it looks like."""
        steps = ("Setting the stage", "Rehearsing", "Ready") if session.progress else ()
        for number, step in enumerate(steps, 1):
            await report(Progress(session.session, number, len(steps), step))

    async def close_session(self, session: URI) -> None:
        self._allowed.pop(session, None)

    async def resolve_config(self, directory: URI | None, config: JsonObject) -> ResolvedConfig:  # noqa: ARG002
        return ResolvedConfig(schema=options.SCHEMA, values=options.resolve(config))

    async def complete_config(
        self,
        directory: URI | None,  # noqa: ARG002
        config: JsonObject,  # noqa: ARG002
        property: str,  # noqa: A002 - the protocol's word
        query: str,
    ) -> tuple[SessionConfigValueItem, ...] | None:
        return options.complete(property, query)

    async def complete_input(
        self,
        session: URI,  # noqa: ARG002
        chat: URI,  # noqa: ARG002
        text: str,
        offset: int,
    ) -> tuple[CompletionItem, ...]:
        return completions.complete(text, offset)

    async def check_token(self, resource: str, token: str, scopes: tuple[str, ...]) -> bool:  # noqa: ARG002
        return token != _BAD_TOKEN


async def _play(scenario: Scenario, play: Play) -> None:
    turn = play.turn
    if turn.resumed and not scenario.resumes:
        await play.say("I was interrupted, so I start again.\n\n")
    await scenario.play(play)
    for steered in turn.steering():
        await turn.take(steered)
        await play.say("\n\nYou told me, just as I finished:\n\n" + quoted(steered.message.text))
    await play.meter.report()


def demo(sleep: Sleep = asyncio.sleep) -> ScriptedAgent:
    """The demo agent that every host has."""
    return ScriptedAgent(
        AgentInfo(
            provider="demo",
            display_name="Demo",
            description="Plays everything an agent can do, offline. Say help to see how.",
            models=_models("demo"),
            capabilities=_CAPABILITIES,
        ),
        sleep,
    )


def demo_auth(sleep: Sleep = asyncio.sleep) -> ScriptedAgent:
    """The same behind a token: any but `bad` will do."""
    return ScriptedAgent(
        AgentInfo(
            provider="demo-auth",
            display_name="Demo with sign-in",
            description="The demo agent behind a token. Any token will do, except the word bad.",
            models=_models("demo-auth"),
            protected_resources=(_PROTECTED,),
            capabilities=_CAPABILITIES,
        ),
        sleep,
    )
