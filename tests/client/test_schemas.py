"""Python functions as tools: what the agent is told of them, and what they are called with."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import pytest

from holdfast.client.schemas import tool_of
from holdfast.protocol.codec import to_json
from holdfast.protocol.errors import UsageError


class Mood(enum.Enum):
    GOOD = "good"
    BAD = "bad"


@dataclass
class Place:
    name: str
    height: float = 0


def visit(
    place: Place,
    mood: Mood,
    how: Literal["foot", "bike"] = "foot",
    people: list[str] | None = None,
    days: Annotated[int, msgspec.Meta(ge=1, description="How long")] = 1,
) -> None:
    """Visit a place.

    Takes a while.
    """


def test_the_signature_is_the_schema() -> None:
    place = {"type": "object", "title": "Place", "required": ["name"]}
    assert to_json(tool_of(visit).definition) == {
        "name": "visit",
        "description": "Visit a place.\n\nTakes a while.",
        "inputSchema": {
            "type": "object",
            "required": ["place", "mood"],
            "properties": {
                "place": {
                    **place,
                    "properties": {"name": {"type": "string"}, "height": {"type": "number", "default": 0}},
                },
                "mood": {"title": "Mood", "enum": ["bad", "good"]},
                "how": {"enum": ["bike", "foot"]},
                "people": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
                "days": {"type": "integer", "minimum": 1, "description": "How long"},
            },
        },
    }


def test_what_the_agent_sends_becomes_arguments() -> None:
    arguments = tool_of(visit).arguments('{"place": {"name": "Rigi"}, "mood": "good", "unheard": 1}')
    assert arguments == {
        "place": Place("Rigi"),
        "mood": Mood.GOOD,
        "how": "foot",
        "people": None,
        "days": 1,
    }


def test_a_default_is_not_shared_between_calls_by_us() -> None:
    def count(step: int = 2) -> int:
        return step

    assert tool_of(count).arguments("") == {"step": 2}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"place": {"name": 3}, "mood": "good"}', r"\$\.place\.name"),
        ('{"mood": "good"}', "missing required field `place`"),
        ("[", "does not fit visit"),
    ],
)
def test_what_does_not_fit_is_said_to_the_agent(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        tool_of(visit).arguments(text)


class Tree:
    def __init__(self, children: list[Tree]) -> None:
        self.children = children


def test_functions_nobody_could_call_are_refused() -> None:
    def bare(x):  # type: ignore[no-untyped-def]
        return x

    def starred(*x: int) -> None: ...

    def opaque(x: Tree) -> None: ...

    for function, why in ((bare, "needs an annotation"), (starred, "names of their own"), (opaque, "said in JSON")):
        with pytest.raises(UsageError, match=why):
            tool_of(function)
    with pytest.raises(UsageError, match="needs a name"):
        tool_of(lambda: None)


def test_a_name_and_a_description_may_be_given() -> None:
    definition = tool_of(lambda: None, "nothing", "Does nothing").definition
    expected: dict[str, Any] = {"name": "nothing", "description": "Does nothing", "inputSchema": {"type": "object"}}
    assert to_json(definition) == expected
