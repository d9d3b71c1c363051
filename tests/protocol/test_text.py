"""`Text` is a string that grows without being copied."""

from __future__ import annotations

import pickle
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from holdfast.protocol.text import Text, append

pieces = st.lists(st.text(max_size=5), max_size=30)


@given(pieces)
def test_appending_is_concatenation(parts: list[str]) -> None:
    text = Text()
    for part in parts:
        text = text.append(part)
    assert str(text) == "".join(parts)


@given(pieces, pieces, pieces)
def test_two_continuations_of_one_text_do_not_meet(stem: list[str], left: list[str], right: list[str]) -> None:
    start = Text()
    for part in stem:
        start = start.append(part)
    one, two = start, start
    for part in left:
        one = one.append(part)
    for part in right:
        two = two.append(part)
    assert str(start) == "".join(stem)
    assert str(one) == "".join(stem + left)
    assert str(two) == "".join(stem + right)


def test_it_compares_hashes_and_pickles_as_its_string() -> None:
    text = Text("ab").append("c")
    assert text == "abc"
    assert "abc" == text  # noqa: SIM300 - the reflected comparison is the point
    assert text == Text("abc")
    assert text != "abd"
    assert hash(text) == hash("abc")
    assert len(text) == 3
    assert not Text()
    assert pickle.loads(pickle.dumps(text)) == text
    assert repr(text) == "Text('abc')"


def test_every_older_value_survives_the_joining_of_pieces() -> None:
    history = [Text()]
    for index in range(10_000):
        history.append(history[-1].append(str(index % 10)))
    lengths = [len(text) for text in history[::999]]
    assert lengths == list(range(0, 10_001, 999))
    assert all(str(after).startswith(str(before)) for before, after in pairwise(history[::999]))


def test_append_takes_plain_and_absent_text() -> None:
    assert append(None, "x") == "x"
    assert append("a", "x") == "ax"
    assert append(Text("a"), "x") == "ax"
