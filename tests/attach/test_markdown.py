"""Markdown that grows: however it arrives, it looks like the whole."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.attach.paint.console import Line
from holdfast.attach.paint.markdown import Stream, inline, markdown_lines

PIECES = (
    "# Title\n",
    "\n",
    "\n\n",
    "A paragraph of some words that goes over the width of the lines.",
    "- one\n",
    "  - nested\n",
    "1. first\n",
    "```python\ndef f():\n",
    "    return 1\n",
    "```\n",
    "~~~",
    "| a | b |\n|---|---|\n",
    "| 1 | 2 |\n",
    "> quoted\n",
    "---\n",
    "***",
    "===\n",
    " text",
    "*emphasis*",
    "`code`",
    "<b>raw</b>\n",
    "\t",
    "\r\n",
    "\r",
    "\x1b[1m",
    "\x1b]0;title\x07",
    "\u2028",
    "\x0c",
    "[a link](http://example.com)",
    "[defined]",
    "[defined]: http://example.com/x\n",
    "> [defined]: http://example.com/y\n",
)

documents = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def text(lines: list[Line]) -> list[str]:
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


def looks(lines: list[Line]) -> list[list[tuple[str, object]]]:
    return [[(segment.text, segment.style) for segment in line] for line in lines]


@given(documents, st.lists(st.integers(0, 400), max_size=8))
@example("foo\n***bar", [5])
@example("foo\n***", [4])
@example("[a]: http://exa\n\n[a] x\n\ny", [6, 12])
def test_a_text_that_grew_looks_like_the_whole(document: str, cuts: list[int]) -> None:
    stream = Stream(40)
    for cut in sorted({min(cut, len(document)) for cut in cuts}):
        stream.lines(document[:cut])
    assert looks(stream.lines(document, grows=False)) == looks(markdown_lines(document, 40))


@given(documents, st.lists(st.integers(0, 400), max_size=8))
def test_while_it_grows_only_links_that_are_defined_later_may_differ(document: str, cuts: list[int]) -> None:
    document = document.replace("[defined]", "")
    stream = Stream(40)
    for cut in sorted({min(cut, len(document)) for cut in cuts}):
        stream.lines(document[:cut])
    assert looks(stream.lines(document)) == looks(markdown_lines(document, 40))


def test_what_is_finished_is_not_rendered_again() -> None:
    stream = Stream(40)
    before = stream.lines("# One\n\nTwo two.\n\nThr")
    after = stream.lines("# One\n\nTwo two.\n\nThree.\n")
    assert text(after) == ["One", "", "Two two.", "", "Three."]
    assert after[0] is before[0]


def test_a_text_that_does_not_continue_begins_anew() -> None:
    stream = Stream(40)
    stream.lines("One.\n\nTwo.\n\nThree.\n")
    assert text(stream.lines("Uno.\n\nDos.\n")) == ["Uno.", "", "Dos."]


def test_html_is_text() -> None:
    assert text(markdown_lines("<script>x</script>\n\n<b>y</b>", 40)) == ["<script>x</script>", "", "<b>y</b>"]


def test_code_stands_as_it_is() -> None:
    assert text(markdown_lines("```python\nif x:\n    y()\n\n\nz()\n```\n", 40)) == [
        "  if x:",
        "      y()",
        "",
        "",
        "  z()",
    ]


def test_nothing_reaches_the_terminal_that_it_would_obey() -> None:
    shown = markdown_lines("a\x1b[2Jb `\x1b]0;t\x07c` \x9b1m\n\n```\n\x1b[31mred\x07\n```\n", 40)
    assert not any(ord(each) < 32 or 0x7F <= ord(each) < 0xA0 for line in text(shown) for each in line)
    assert text(shown)[-1] == "  red␇"


def test_a_title_keeps_its_code_and_loses_its_marks() -> None:
    shown = inline("Run `rm -r build` **now**\nplease")
    assert shown.plain == "Run rm -r build now please"
    assert {str(span.style) for span in shown.spans} == {"markdown.code", "bold"}
