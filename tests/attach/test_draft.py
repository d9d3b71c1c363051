"""The composer and the shared draft: nobody's text changes under their hands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.attach.model.draft import Drafting


def test_a_chat_opens_with_what_was_left_there() -> None:
    draft = Drafting.opened("Fix")
    assert (draft.text, draft.elsewhere, draft.is_unpublished) == ("Fix", "", False)


def test_what_was_left_there_is_followed_until_a_key_is_pressed() -> None:
    draft = Drafting.opened("Fix").heard("Fix the")
    assert draft.text == "Fix the"
    draft = draft.typed("Fix the t").heard("Fix the door")
    assert (draft.text, draft.elsewhere) == ("Fix the t", "Fix the door")


def test_a_followed_draft_that_was_sent_elsewhere_leaves_the_composer_empty() -> None:
    assert Drafting.opened("Fix").heard("") == Drafting()


def test_what_others_type_is_beside_an_empty_composer() -> None:
    draft = Drafting.opened("").heard("Hel").heard("Hello")
    assert (draft.text, draft.elsewhere) == ("", "Hello")
    assert draft.typed("Mine").text == "Mine"


def test_our_own_words_are_not_those_of_others() -> None:
    draft = Drafting.opened("").typed("Hello")
    assert draft.is_unpublished
    draft = draft.published()
    assert not draft.is_unpublished
    assert draft.heard("Hello").elsewhere == ""
    # The echo of what was published before arrives while the next letter is typed already.
    assert draft.typed("Hello!").heard("Hello").elsewhere == ""


def test_taking_over_goes_on_with_what_others_typed() -> None:
    draft = Drafting.opened("").heard("Hello").taken()
    assert (draft.text, draft.elsewhere) == ("Hello", "")
    assert draft.heard("Hello you").text == "Hello you"
    assert Drafting("Mine").taken().text == "Mine"


def test_sending_empties_the_composer_and_leaves_the_words_of_others() -> None:
    assert Drafting.opened("").typed("Mine").published().emptied() == Drafting()
    draft = Drafting.opened("").typed("Mine").published().heard("Theirs").emptied()
    assert (draft.text, draft.elsewhere) == ("", "Theirs")


steps = st.lists(st.tuples(st.sampled_from(("typed", "heard", "published")), st.text("ab", max_size=3)), max_size=12)


@given(st.text("ab", max_size=3), steps)
def test_once_somebody_types_only_they_change_the_composer(start: str, program: list[tuple[str, str]]) -> None:
    draft = Drafting.opened(start).typed(start + "!")
    expected = draft.text
    for step, text in program:
        if step == "typed":
            draft, expected = draft.typed(text), text
        else:
            draft = draft.heard(text) if step == "heard" else draft.published()
        assert draft.text == expected
        assert draft.elsewhere != draft.text or not draft.text
