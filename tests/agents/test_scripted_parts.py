"""What scenarios are made of: words, pauses, self-contained content, and early answers."""

from __future__ import annotations

import asyncio
import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.stage import Stage
from holdfast.agents.scripted import content, words
from holdfast.agents.scripted.play import Pacer
from holdfast.protocol.uris import parse


@given(st.text())
def test_tokens_are_the_whole_text(text: str) -> None:
    assert "".join(words.tokens(text)) == text


@given(st.lists(st.floats(0, 0.1), max_size=50))
def test_short_pauses_are_saved_up_and_spent(pauses: list[float]) -> None:
    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    async def pace() -> None:
        pacer = Pacer(nap)
        for seconds in pauses:
            await pacer.pace(seconds)

    asyncio.run(pace())
    assert len(naps) == len(pauses)
    assert all(seconds == 0 or seconds >= 0.02 for seconds in naps)
    assert sum(pauses) - 0.02 - 1e-9 <= sum(naps) <= sum(pauses) + 1e-9


def test_speed_decides_how_long_an_answer_takes() -> None:
    stage = Stage()
    spoken = len(stage.play("hello", config={"speed": 10}).text.split())
    assert sum(stage.naps) == pytest.approx(spoken / 10)


@given(st.binary(max_size=8000))
def test_a_reference_carries_its_content_and_stays_a_uri(data: bytes) -> None:
    reference = content.reference(data, "application/octet-stream")
    assert parse(reference.uri).scheme == "data"
    shown = base64.b64decode(reference.uri.partition(",")[2])
    assert data.startswith(shown)
    assert reference.size_hint == len(shown)
    assert len(shown) == min(len(data), 4096)


@pytest.mark.parametrize(
    ("before", "after", "added", "removed"),
    [("", "", 0, 0), ("", "a\nb\n", 2, 0), ("a\nb\n", "", 0, 2), ("a\nb\nc\n", "a\nx\ny\nc\n", 2, 1)],
)
def test_an_edit_counts_its_lines(before: str, after: str, added: int, removed: int) -> None:
    diff = content.edit("file:///f", before, after, "text/plain").diff
    assert diff is not None
    assert (diff.added, diff.removed) == (added, removed)


def test_the_picture_is_a_png_of_its_size() -> None:
    data = content.picture(16)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    start = data.index(b"IDAT") + 4
    pixels = zlib.decompress(data[start : data.index(b"IEND") - 8])
    assert len(pixels) == 16 * (1 + 3 * 16)
