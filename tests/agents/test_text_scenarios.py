"""Scenarios that only talk."""

from __future__ import annotations

import json

import pytest

from agents.stage import Stage, Turned, user_message
from holdfast.ports.agent import Transcript
from holdfast.protocol.chat.messages import MessageResourceAttachment, SimpleMessageAttachment
from holdfast.protocol.chat.parts import (
    MarkdownResponsePart,
    ReasoningResponsePart,
    ResourceResponsePart,
    SystemNotificationResponsePart,
)
from holdfast.protocol.chat.state import Turn, TurnState
from holdfast.protocol.chat.tools import ToolResultEmbeddedResourceContent, ToolResultResourceContent
from holdfast.protocol.codec import encode
from holdfast.protocol.common import AgentSelection, JsonPrimitive, ModelSelection


def kinds(turned: Turned) -> list[str]:
    return [type(part).__name__.removesuffix("ResponsePart") for part in turned.parts]


def past(*texts: str) -> tuple[Turn, ...]:
    return tuple(
        Turn(id=f"p{number}", message=user_message(text), response_parts=(), state=TurnState.COMPLETE)
        for number, text in enumerate(texts)
    )


def test_hello_greets_as_configured() -> None:
    assert Stage().play("hello", config={"speed": 0, "greeting": "Ahoy"}).text.startswith("Ahoy! I am the demo")


def test_markdown_comes_in_several_parts_of_every_kind() -> None:
    turned = Stage().play("markdown")
    assert kinds(turned) == ["Markdown", "Markdown", "Markdown"]
    for piece in ("## ", "- apples", "| Fruit |", "```python\n", "> "):
        assert piece in turned.text


def test_streamed_markdown_is_the_same_text_in_more_pieces() -> None:
    at_once, streamed = Stage(), Stage()
    assert at_once.play("markdown").text == streamed.play("markdown", config={"speed": 50}).text
    assert len(streamed.events) > 10 * len(at_once.events)


@pytest.mark.parametrize(("level", "thoughts"), [("low", 1), ("medium", 2), ("high", 3), (None, 3), (7, 3)])
def test_think_reasons_as_deeply_as_the_model_is_told(level: str | int | None, thoughts: int) -> None:
    config: dict[str, JsonPrimitive] = {} if level is None else {"thinking": level}
    turned = Stage().play("think", model=ModelSelection(id="demo-thoughtful", config=config))
    assert kinds(turned) == ["Reasoning", "Markdown"]
    assert turned.thoughts.count("\n") == 2 * thoughts - (thoughts == 3)
    assert "three minutes" in turned.text


def test_long_streams_so_many_tokens_at_that_speed() -> None:
    stage = Stage()
    turned = stage.play("long 500 200")
    assert len(turned.text.split()) == 500
    assert sum(stage.naps) == pytest.approx(500 / 200)
    assert len(stage.naps) == 500, "others run after every token"


def test_long_without_pauses_still_lets_others_run() -> None:
    stage = Stage()
    turned = stage.play("long 100 0", config={"speed": 80})
    assert stage.naps == [0] * 100
    assert turned.turn.usage is not None
    assert turned.turn.usage.output_tokens == 100


@pytest.mark.parametrize("arguments", ["", "x y", "nan nan", "-5 -5", "1e999 1e999", "3"])
def test_arguments_nobody_can_use_are_replaced(arguments: str) -> None:
    stage = Stage()
    wanted = {"": 200, "x y": 200, "nan nan": 200, "-5 -5": 1, "3": 3}.get(arguments)
    if wanted is not None:
        assert len(stage.play(f"long {arguments}").text.split()) == wanted
    else:
        assert len(stage.play(f"slow {arguments.split()[0]} 0").text) > 0
        assert all(0 <= nap <= 3600 for nap in stage.naps)


def test_burst_never_pauses() -> None:
    stage = Stage()
    assert len(stage.play("burst 300", config={}).text.split()) == 300
    assert stage.naps == []


def test_big_is_as_big_as_asked() -> None:
    turned = Stage().play("big 300")
    content = turned.completed().content
    assert content is not None
    assert len(getattr(content[0], "text", "")) == 300_000
    last = turned.parts[-1]
    assert isinstance(last, MarkdownResponsePart)
    assert len(last.text.split("\n\n", 1)[1]) == 300_000


@pytest.mark.parametrize("name", ["content", "image"])
def test_content_shows_every_kind_of_content(name: str) -> None:
    turned = Stage().play(name)
    kinds = {type(block) for block in turned.completed().content or ()}
    assert kinds >= {ToolResultEmbeddedResourceContent, ToolResultResourceContent}
    assert any(isinstance(part, ResourceResponsePart) for part in turned.parts)
    assert any(isinstance(part, SystemNotificationResponsePart) for part in turned.parts)


def test_usage_grows_and_is_kept() -> None:
    usage = Stage().play("usage").turn.usage
    assert usage is not None
    assert usage.cache_read_tokens == 1712
    assert usage.input_tokens == 2401
    assert usage.model == "demo-swift"


def test_every_scenario_reports_usage_last() -> None:
    turned = Stage().play("hello", model=ModelSelection(id="demo-pocket"))
    usage = turned.turn.usage
    assert usage is not None
    assert usage.model == "demo-pocket"
    assert usage.input_tokens == 1
    assert usage.output_tokens == len(turned.text.split())


def test_title_is_suggested() -> None:
    stage = Stage()
    stage.play("title Boats and kettles")
    assert stage.titles == ["Boats and kettles"]


def test_models_says_what_came_with_the_message() -> None:
    message = user_message("models", agent=AgentSelection(uri="agent:/reviewer"))
    turned = Stage().play(
        "models",
        message=message,
        model=ModelSelection(id="demo-thoughtful", config={"thinking": "high"}),
        config={"speed": 0, "isolation": "a|b"},
    )
    assert "`demo-thoughtful`" in turned.text
    assert 'thinking = `"high"`' in turned.text
    assert "`agent:/reviewer`" in turned.text
    assert "speed = `0`" in turned.text
    assert "a\\|b" in turned.text
    assert "`file:///work`" in turned.text


def test_models_without_a_choice_names_the_default() -> None:
    assert "none chosen, so `demo-swift`" in Stage().play("models").text


def test_recall_lists_what_is_remembered() -> None:
    text = Stage(history=past("one two three four five six seven eight nine", "hello")).play("recall").text
    assert "I remember 2 earlier turns of this chat" in text
    assert "1. one two three four five six seven eight …\n2. hello\n" in text


def test_recall_with_nothing_to_remember() -> None:
    assert "I remember 0 earlier turns" in Stage().play("recall").text


def test_recall_tells_what_was_attached() -> None:
    running = json.dumps({"id": "t9", "startedAt": "x", "message": {"text": "half", "origin": {"kind": "user"}}})
    attached = Transcript("ahp-chat:/other", tuple(encode(turn) for turn in past("red sky", "at night")))
    context = Transcript("ahp-chat:/main", (encode(past("main topic")[0]), running.encode()))
    attachments = (
        SimpleMessageAttachment(label="note"),
        MessageResourceAttachment(label="plan.md", uri="file:///plan.md"),
    )
    text = (
        Stage()
        .play(
            "recall",
            message=user_message("recall", attachments=attachments),
            transcripts=(attached, Transcript("ahp-chat:/empty", ())),
            context=context,
        )
        .text
    )
    assert (
        "This side chat is about the chat `ahp-chat:/main`: 2 turns with 0 parts:\n\n1. main topic\n2. half" in text
    )
    assert "You attached the chat `ahp-chat:/other`: 2 turns with 0 parts:\n\n1. red sky\n2. at night" in text
    assert "You attached the chat `ahp-chat:/empty`: 0 turns with 0 parts.\n" in text
    assert "2 attachments: note, plan.md" in text


def test_an_empty_message_with_attachments_is_recalled() -> None:
    message = user_message("", attachments=(SimpleMessageAttachment(label="note"),))
    assert "1 attachment: note" in Stage().play("", message=message).text


def test_reasoning_and_text_are_parts_of_their_own() -> None:
    parts = Stage().play("think").parts
    assert isinstance(parts[0], ReasoningResponsePart)
    assert isinstance(parts[1], MarkdownResponsePart)
