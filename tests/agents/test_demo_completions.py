"""Completions while a message is typed. Offsets and ranges count UTF-16 code units."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.stage import Stage
from holdfast.agents.scripted import demo
from holdfast.agents.scripted.table import SCENARIOS
from holdfast.protocol.chat.commands import CompletionItem
from holdfast.protocol.chat.messages import MessageResourceAttachment, SimpleMessageAttachment


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def completed(typed: str) -> tuple[CompletionItem, ...]:
    """Complete at the `^` in the text."""
    before, _, after = typed.partition("^")
    return asyncio.run(demo().complete_input("s", "c", before + after, units(before)))


def accepted(typed: str, item: CompletionItem) -> str:
    """The text after a client took an item, as it does it: in UTF-16."""
    assert item.range_start is not None
    assert item.range_end is not None
    encoded = typed.replace("^", "").encode("utf-16-le")
    after = encoded[: 2 * item.range_start] + item.insert_text.encode("utf-16-le") + encoded[2 * item.range_end :]
    return after.decode("utf-16-le")


def test_a_slash_offers_every_scenario() -> None:
    items = completed("/^")
    assert [item.attachment.label for item in items if isinstance(item.attachment, SimpleMessageAttachment)] == [
        f"/{scenario.name}" for scenario in SCENARIOS
    ]
    for item, scenario in zip(items, SCENARIOS, strict=True):
        assert isinstance(item.attachment, SimpleMessageAttachment)
        assert item.attachment.meta is not None
        assert item.attachment.meta["command"] == scenario.name
        assert item.attachment.meta["description"] == scenario.description
        assert (item.range_start, item.range_end) == (0, 1)


@pytest.mark.parametrize(
    ("typed", "after"),
    [
        ("/app^", ["/approve "]),
        ("/APP^", ["/approve "]),
        ("/a^pprove", ["/approve "]),
        ("/re^", ["/review ", "/reconfirm ", "/recall "]),
        ("/tit^ a boat", ["/title  a boat"]),
        ("/ima^", ["/content "]),
        ("^/approve", []),
        ("/nothing^", []),
        ("/approve ^", []),
        ("say /app^", []),
        ("/🚀^", []),
        ("^", []),
        ("hello^", []),
    ],
)
def test_what_was_typed_after_the_slash_is_replaced(typed: str, after: list[str]) -> None:
    assert [accepted(typed, item) for item in completed(typed)] == after


@pytest.mark.parametrize(
    ("typed", "after"),
    [
        ("@read^", ["@README.md "]),
        ("look at @gre^ please", ["look at @greeting.py  please"]),
        ("🚀🚀 @boa^ 🚀", ["🚀🚀 @boats.csv  🚀"]),
        ("🚀 @bo^🚀s", ["🚀 @boats.csv "]),
        ("one\n@notes/^", ["one\n@notes/launch.md "]),
        ("mail@boats^", []),
        ("@🚀^", []),
        ("@a @gre^", ["@a @greeting.py "]),
    ],
)
def test_an_at_sign_offers_files(typed: str, after: list[str]) -> None:
    assert [accepted(typed, item) for item in completed(typed)] == after


def test_files_can_be_read_and_are_recalled() -> None:
    (item,) = completed("recall @launch^".replace("@launch", "@notes"))
    attachment = item.attachment
    assert isinstance(attachment, MessageResourceAttachment)
    assert attachment.uri.startswith("data:text/markdown;base64,")
    assert attachment.meta is not None
    assert attachment.meta["uri"] == attachment.uri


def test_what_a_completion_inserts_plays_that_scenario() -> None:
    (item,) = completed("/mod^")
    assert "This is what your message came with" in Stage().play(item.insert_text).text


def test_an_offset_inside_a_character_is_taken_as_before_it() -> None:
    items = asyncio.run(demo().complete_input("s", "c", "/🚀", 2))
    assert len(items) == len(SCENARIOS)
    assert {item.range_end for item in items} == {3}


@given(st.text(st.sampled_from("/@a🚀 \n"), max_size=8), st.integers(0, 20))
def test_ranges_are_always_inside_the_text(text: str, offset: int) -> None:
    for item in asyncio.run(demo().complete_input("s", "c", text, offset)):
        assert item.range_start is not None
        assert item.range_end is not None
        assert 0 <= item.range_start <= item.range_end <= units(text)
