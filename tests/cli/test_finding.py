"""What people mean by the few letters they type."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.finding import by_prefix, id_of, pick, short_ids


class Named(NamedTuple):
    resource: str
    title: str


BOAT = Named("ahp-session:/0197b1a2-1111", "Paint the boat")
BOATS = Named("ahp-session:/0197b1a2-2222", "Paint the boathouse")
TESTS = Named("copilot:/77aa-3333", "Fix tests")
ODD = Named("demo:/88bb", "Two\n\tlines")
ALL = (BOAT, BOATS, TESTS, ODD)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("ahp-session:/0197b1a2-1111", BOAT),
        ("0197b1a2-1111", BOAT),
        ("0197b1a2-2", BOATS),
        ("0197B1A2-2", BOATS),
        ("77", TESTS),
        ("copilot:", TESTS),
        ("fix", TESTS),
        ("Paint the boat", BOAT),  # a whole title wins over one that goes on
        ("paint the boath", BOATS),
        ("two lines", ODD),  # as lists show it
    ],
)
def test_a_session_is_found_by_what_it_begins_with(given: str, meant: Named) -> None:
    assert pick(given, ALL) is meant


def test_what_could_be_several_is_asked_back_with_the_candidates() -> None:
    with pytest.raises(Stopped) as stopped:
        pick("paint", ALL)
    assert stopped.value.code == Exit.USAGE
    assert str(stopped.value) == (
        "'paint' could be 2 sessions; write more of it:\n"
        "  ahp-session:/0197b1a2-1111 Paint the boat\n"
        "  ahp-session:/0197b1a2-2222 Paint the boathouse"
    )


def test_many_candidates_are_counted_not_listed() -> None:
    with pytest.raises(Stopped, match=r"could be 12 sessions[^$]*and 7 more"):
        pick("x", [Named(f"a:/{number}", "x") for number in range(12)])


@pytest.mark.parametrize("given", ["nothing", "", " "])
def test_what_is_none_says_where_to_look(given: str) -> None:
    with pytest.raises(Stopped) as stopped:
        pick(given, ALL)
    assert stopped.value.code == Exit.FAILED
    assert str(stopped.value) == f"there is no session {given.strip()!r}; `holdfast sessions` lists them"


def test_other_things_are_found_by_their_key() -> None:
    assert by_prefix("ab", ["abc", "ab", "xyz"], str, kind="question") == "ab"
    assert by_prefix("x", ["abc", "ab", "xyz"], str, kind="question") == "xyz"
    with pytest.raises(Stopped, match="could be 2 questions"):
        by_prefix("a", ["abc", "ab", "xyz"], str, kind="question")
    with pytest.raises(Stopped, match="there is no question 'q'"):
        by_prefix("q", ["abc", "ab", "xyz"], str, kind="question")


@pytest.mark.parametrize(
    ("uri", "id"),
    [
        ("ahp-session:/0197", "0197"),
        ("copilot:/a/b", "b"),
        ("demo://alone", "alone"),
        ("no uri", "no uri"),
        ("x:", "x:"),
    ],
)
def test_the_id_of_a_uri_is_its_last_part(uri: str, id: str) -> None:
    assert id_of(uri) == id


@given(st.lists(st.text("ab", min_size=6, max_size=14), max_size=8))
def test_short_ids_are_beginnings_that_nobody_shares(ids: list[str]) -> None:
    short = short_ids(ids)
    assert short.keys() == set(ids)
    for id, beginning in short.items():
        assert id.startswith(beginning)
        longer = [other for other in short if other != id and other.startswith(beginning)]
        assert not longer or beginning == id
