"""Completions: UTF-16 on the wire, characters here."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.attach.model.completing import Completed, accept, from_utf16, kept, to_utf16, wants
from holdfast.protocol.chat.commands import CompletionItem
from holdfast.protocol.chat.messages import SimpleMessageAttachment
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import TextPosition, TextRange

HELP = SimpleMessageAttachment(label="/help", meta={"command": "help"})


def span(line: int, start: int, end: int) -> TextRange:
    return TextRange(start=TextPosition(line=line, character=start), end=TextPosition(line=line, character=end))


@given(st.text(), st.integers(0, 20))
def test_offsets_go_there_and_back(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    assert from_utf16(text, to_utf16(text, offset)) == offset


def test_completions_are_wanted_while_a_word_begins_with_a_trigger() -> None:
    triggers = ("/", "@")
    assert wants("/he", 3, triggers)
    assert wants("see @re", 7, triggers)
    assert not wants("see @re now", 11, triggers)
    assert not wants("either/or", 9, triggers)
    assert not wants("/he ", 4, triggers)
    assert not wants("", 0, triggers)


def test_an_accepted_item_replaces_its_range_and_is_attached_where_it_stands() -> None:
    item = CompletionItem(insert_text="/help ", attachment=HELP, range_start=0, range_end=3)
    done = accept("/he", 3, item)
    assert done == Completed("/help ", 6, SimpleMessageAttachment(label="/help", meta=HELP.meta, range=span(0, 0, 6)))


def test_ranges_count_in_utf16_and_lines_from_zero() -> None:
    item = CompletionItem(insert_text="@b", attachment=HELP, range_start=5, range_end=6)
    done = accept("🙂\n🙂@ and", 5, item)
    assert done.text == "🙂\n🙂@b and"
    assert isinstance(done.attachment, SimpleMessageAttachment)
    assert done.attachment.range == span(1, 2, 4)


def test_an_item_without_a_range_goes_in_at_the_cursor() -> None:
    done = accept("ab", 1, CompletionItem(insert_text="X", attachment=Unknown({"type": "odd"})))
    assert done == Completed("aXb", 2, Unknown({"type": "odd"}))


def test_what_was_deleted_again_is_not_attached() -> None:
    other = SimpleMessageAttachment(label="file")
    attached = (("/help ", HELP), ("@file ", other), ("@file ", other))
    found = kept("please /help with @file", attached)
    assert [each.range for each in found if not isinstance(each, Unknown)] == [span(0, 7, 12), span(0, 18, 23)]
    assert kept("nothing", attached) == ()
