"""How the demo agent introduces itself, what it accepts, and how it finds what to play."""

from __future__ import annotations

import asyncio

import pytest

from agents.stage import Stage
from holdfast.agents.scripted import ScriptedAgent, demo, demo_auth
from holdfast.agents.scripted.help import as_markdown
from holdfast.agents.scripted.table import SCENARIOS, pick
from holdfast.ports.agent import OpenSession, Progress
from holdfast.protocol.codec import decode, encode, to_json
from holdfast.protocol.root.state import AgentInfo

AGENTS = [pytest.param(demo(), id="demo"), pytest.param(demo_auth(), id="demo-auth")]


@pytest.mark.parametrize("agent", AGENTS)
def test_it_introduces_itself_as_clients_expect(agent: ScriptedAgent) -> None:
    info = agent.info
    assert decode(AgentInfo, encode(info)) == info
    assert len(info.models) >= 2
    for model in info.models:
        assert model.provider == info.provider
        assert model.max_context_window
        assert model.supports_vision is not None
    assert [model.id for model in info.models if model.config_schema] == ["demo-thoughtful"]
    assert to_json(info.capabilities) == {
        "multipleChats": {"fork": True, "sideChat": True},
        "multipleWorkingDirectories": {"primaryReplacement": True},
    }


def test_only_the_second_provider_wants_a_token() -> None:
    assert demo().info.provider == "demo"
    assert demo().info.protected_resources is None
    assert demo_auth().info.provider == "demo-auth"
    (resource,) = demo_auth().info.protected_resources or ()
    assert (resource.resource, resource.required) == ("https://demo.holdfast.example/", True)


@pytest.mark.parametrize(("token", "good"), [("bad", False), ("good", True), ("Bad", True)])
def test_one_token_is_refused(token: str, good: bool) -> None:
    check = demo_auth().check_token("https://demo.holdfast.example/", token, ())
    assert asyncio.run(check) is good


@pytest.mark.parametrize("wanted", [True, False])
def test_opening_a_session_shows_progress_to_who_wants_it(wanted: bool) -> None:
    heard: list[Progress] = []

    async def report(progress: Progress) -> None:
        heard.append(progress)

    asyncio.run(demo().open_session(OpenSession("demo", "s:/1", (), {}, progress=wanted), report))
    assert [each.progress for each in heard] == ([1, 2, 3] if wanted else [])
    assert all(each.total == 3 and each.session == "s:/1" for each in heard)


def test_closing_an_unknown_session_is_harmless() -> None:
    asyncio.run(demo().close_session("s:/never"))


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("approve", "approve", ""),
        ("/approve", "approve", ""),
        ("/approve  rm -r  build ", "approve", "rm -r  build"),
        ("  Long 3 4", "long", "3 4"),
        ("long\n3", "long", "3"),
        ("help?", "help", ""),
        ("HELLO!", "hello", ""),
        ("Hi there", "hello", "there"),
        ("good morning!", "hello", "morning!"),
        ("Good Evening everybody", "hello", "Evening everybody"),
        ("image", "content", ""),
        ("good grief", "", "good grief"),
        ("/nonsense", "", "/nonsense"),
        ("what can you do?", "", "what can you do?"),
        ("/", "", "/"),
        ("", "", ""),
        (" \n", "", ""),
        ("//hello", "", "//hello"),
    ],
)
def test_the_message_says_what_to_play(text: str, name: str, rest: str) -> None:
    cue = pick(text)
    assert (cue.scenario.name, cue.rest) == (name, rest)


@pytest.mark.parametrize("text", ["help", "what can you do?", "/nonsense", ""])
def test_help_names_every_scenario(text: str) -> None:
    said = Stage().play(text).text
    assert as_markdown(SCENARIOS) in said
    for scenario in SCENARIOS:
        assert f"| `{scenario.usage}`" in said
        assert scenario.description in said


def test_the_table_is_in_order() -> None:
    names = [name for each in SCENARIOS for name in (each.name, each.alias) if name]
    assert len(names) == len(set(names))
    for scenario in SCENARIOS:
        assert scenario.name == scenario.name.lower().strip()
        assert scenario.title
        assert scenario.description.endswith((".", ")."))
        assert len(scenario.description) < 90
        assert "|" not in scenario.usage + scenario.description
