"""Words: harmless, short, in human units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attach import made
from holdfast.attach.model import words
from holdfast.protocol.common import Markdown


@given(st.text())
def test_safe_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = words.safe(text)
    assert not [each for each in shown if (ord(each) < 0x20 and each not in "\n\t") or 0x7F <= ord(each) < 0xA0]
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert words.safe(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("bell\x07", "bell␇"),
        ("rm \u202efdp.txt", "rm \ufffdfdp.txt"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("tab\tstays", "tab\tstays"),
        ("ünïcode 🙂", "ünïcode 🙂"),
    ],
)
def test_safe(text: str, shown: str) -> None:
    assert words.safe(text) == shown


def test_plain_takes_the_marks_of_markdown_away_and_leaves_strings() -> None:
    assert words.plain(Markdown(markdown="Run `rm -r` **now**\n\n- a\n- b")) == "Run rm -r now\na\nb"
    assert words.plain("Run `rm -r`") == "Run `rm -r`"
    assert words.plain(None) == ""


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (3600, "1h"), (86400, "1d"), (86400 * 400, "1y")],
)
def test_span(seconds: float, shown: str) -> None:
    assert words.span(seconds) == shown


def test_age_is_empty_for_what_is_no_time() -> None:
    assert words.age("2026-10-02T08:58:00.000Z", made.NOW) == "2m"
    assert words.age("2026-10-02T09:00:01.000Z", made.NOW) == "now"
    assert words.age("long ago", made.NOW) == ""
    assert words.age(None, made.NOW) == ""


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [(400, "0.4 s"), (12_000, "12 s"), (185_000, "3 min 5 s"), (3_720_000, "1 h 2 min"), (None, "")],
)
def test_duration(milliseconds: float | None, shown: str) -> None:
    assert words.duration(milliseconds) == shown


@pytest.mark.parametrize(
    ("number", "shown"), [(None, ""), (12, "12 B"), (1500, "1.5 kB"), (15_000, "15 kB"), (2e9, "2.0 GB")]
)
def test_size(number: float | None, shown: str) -> None:
    assert words.size(number) == shown


@pytest.mark.parametrize(
    ("uri", "shown"),
    [("file:///home/me/my%20code/", "my code"), ("file:///", "file:///")],
)
def test_place(uri: str, shown: str) -> None:
    assert words.place(uri) == shown


def test_shorten() -> None:
    assert words.shorten("abcdef", 4) == "abc…"
    assert words.shorten("abcd", 4) == "abcd"
