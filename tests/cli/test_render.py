"""Turns as people read them: in plain text, Markdown and HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from holdfast.cli.render import blocks, html, markdown, plain
from holdfast.cli.render.inline import inlined
from holdfast.protocol.chat.state import ActiveTurn, Turn
from holdfast.protocol.codec import convert

PART: dict[str, Any] = {
    "prose": {"kind": "markdown", "id": "p1", "content": "I *paint*.\n"},
    "reasoning": {"kind": "reasoning", "id": "p2", "content": "Blue, or green?"},
    "tool": {
        "kind": "toolCall",
        "toolCall": {
            "status": "completed",
            "toolCallId": "c1",
            "toolName": "run",
            "displayName": "Run <command>",
            "invocationMessage": "Run `make`",
            "toolInput": "make boat",
            "confirmed": "user-action",
            "success": True,
            "pastTenseMessage": {"markdown": "Ran `make`"},
            "content": [
                {"type": "text", "text": "ok ```\n"},
                {"type": "fileEdit", "after": {"uri": "file:///src/boat.py", "content": {"uri": "x:/1"}}},
            ],
        },
    },
    "denied": {
        "kind": "toolCall",
        "toolCall": {
            "status": "cancelled",
            "toolCallId": "c2",
            "toolName": "mail",
            "displayName": "Send mail",
            "invocationMessage": "Send a mail",
            "reason": "denied",
            "reasonMessage": "too loud",
        },
    },
    "question": {
        "kind": "inputRequest",
        "request": {
            "id": "q1",
            "message": "Tell me",
            "questions": [
                {"kind": "text", "id": "name", "title": "Name", "message": "Its name?"},
                {
                    "kind": "single-select",
                    "id": "rig",
                    "message": "Its rig?",
                    "options": [{"id": "sloop", "label": "Sloop"}],
                },
                {"kind": "boolean", "id": "engine", "message": "An engine?"},
            ],
            "answers": {
                "name": {"state": "submitted", "value": {"kind": "text", "value": "Holdfast"}},
                "rig": {"state": "submitted", "value": {"kind": "selected", "value": "sloop"}},
                "engine": {"state": "skipped"},
            },
        },
        "response": "accept",
    },
    "unknown": {"kind": "hologram", "depth": 3},
    "error": {"kind": "error", "error": {"errorType": "x", "message": "The paint ran out"}},
    "image": {
        "kind": "toolCall",
        "toolCall": {
            "status": "running",
            "toolCallId": "c3",
            "toolName": "draw",
            "displayName": "Draw",
            "invocationMessage": "Drawing",
            "confirmed": "not-needed",
            "content": [{"type": "embeddedResource", "data": "iVBORw0K", "contentType": "image/png"}],
        },
    },
}


def turn(*parts: str, **fields: Any) -> Turn:
    """A turn made of some of the parts above."""
    raw = {
        "id": "t1",
        "message": {"text": "Paint # the boat", "origin": {"kind": "user"}},
        "responseParts": [PART[part] for part in parts],
        "state": "complete",
        **fields,
    }
    return convert(Turn, raw)


def test_plain_text_of_a_turn() -> None:
    shown = plain.text_of(blocks.blocks_of(turn("reasoning", "prose", "tool", "denied", "question", "unknown")))
    assert shown == (
        "You:\n  Paint # the boat\n\n"
        "* Thought\n  | Blue, or green?\n\n"
        "I *paint*.\n\n"
        "* Run <command>: Ran `make` [completed]\n  | ok ```\n  created /src/boat.py\n\n"
        "* Send mail: Send a mail [denied]\n  too loud\n\n"
        "? Tell me [accept]\n  Name: Holdfast\n  Its rig?: Sloop\n  An engine?: skipped\n\n"
        "* something this version does not know: hologram\n\n"
    )


def test_plain_text_of_a_turn_that_failed() -> None:
    shown = plain.text_of(blocks.blocks_of(turn("error", state="error")))
    assert shown == "You:\n  Paint # the boat\n\n! The paint ran out\n\n[error]\n\n"


def test_markdown_of_a_turn() -> None:
    shown = markdown.markdown_of(
        blocks.blocks_of(turn("prose", "tool", "question", duration=4200, startedAt="2026-03-10T18:42:03.123Z"))
    )
    assert shown == (
        "**You** · 2026-03-10T18:42:03.123Z\n\n> Paint # the boat\n\n"
        "I *paint*.\n\n"
        "<details>\n<summary>Run &lt;command&gt;: completed</summary>\n\n"
        "Ran `make`\n\n```text\nmake boat\n```\n\n````text\nok ```\n````\n\n- created /src/boat.py\n\n</details>\n\n"
        "**Question** (accept): Tell me\n\n- Name: Holdfast\n- Its rig?: Sloop\n- An engine?: skipped\n\n"
        "*4.2 s*\n"
    )


def test_a_markdown_document_has_a_title_facts_and_chats() -> None:
    page = markdown.document("A *title*", [("Agent", "demo")], [("One", []), ("Two", blocks.blocks_of(turn()))])
    assert page == "# A \\*title\\*\n\n- Agent: demo\n\n## One\n\n## Two\n\n**You**\n\n> Paint # the boat\n"


def test_html_of_a_turn() -> None:
    page = html.document(
        "A <title>", [("Agent", "demo")], [("One", blocks.blocks_of(turn("prose", "tool", "image")))]
    )
    assert "<title>A &lt;title&gt;</title>" in page
    assert '<div class="said">Paint # the boat</div>' in page
    assert "<p>I <em>paint</em>.</p>" in page
    assert "<details><summary>Run &lt;command&gt;: completed</summary>" in page
    assert '<img src="data:image/png;base64,iVBORw0K"' in page


def test_a_running_turn_says_so() -> None:
    running = convert(
        ActiveTurn,
        {
            "id": "t1",
            "startedAt": "2026-03-10T18:42:03.123Z",
            "message": {"text": "Go", "origin": {"kind": "agent"}},
            "responseParts": [PART["image"]],
        },
    )
    assert plain.text_of(blocks.blocks_of(running)) == (
        "agent:\n  Go\n\n* Drawing [running]\n  image/png, 6 bytes\n\n[running]\n\n"
    )


def test_what_turns_refer_to_is_put_into_them() -> None:
    call = PART["tool"]["toolCall"]
    refers = {
        "id": "t1",
        "message": {"text": "Go", "origin": {"kind": "user"}},
        "responseParts": [
            {"kind": "contentRef", "uri": "x:/picture"},
            {
                "kind": "toolCall",
                "toolCall": {
                    **call,
                    "toolInput": {"uri": "x:/text"},
                    "content": [{"type": "resource", "uri": f"x:/{name}"} for name in ("text", "picture", "lost")],
                },
            },
        ],
        "state": "complete",
    }
    contents = {"x:/text": ("text/plain", "cGFpbnQ="), "x:/picture": ("image/png", "iVBORw0K")}
    page = html.document("x", [], [("x", blocks.blocks_of(inlined(convert(Turn, refers), contents)))])
    assert page.count('<img src="data:image/png;base64,iVBORw0K"') == 2
    assert page.count("<pre><code>paint</code></pre>") == 2
    assert "x:/lost" in page
    assert "x:/text" not in page


@given(strategies.of(Turn), st.sampled_from(["", "YQ==", "not base64", "/w=="]))
def test_every_turn_can_be_completed(any_turn: Turn, data: str) -> None:
    class Everything(dict[str, tuple[str, str]]):
        def __contains__(self, _: object) -> bool:
            return True

        def __missing__(self, _: str) -> tuple[str, str]:
            return "text/plain", data

    plain.text_of(blocks.blocks_of(inlined(any_turn, Everything())))


@given(st.text())
def test_a_fence_holds_whatever_is_inside(text: str) -> None:
    first, *inside, last = markdown.fenced(text).rstrip("\n").split("\n")
    fence = first.removesuffix("text")
    assert last == fence
    assert not any(line.startswith(fence) for line in inside)


@given(strategies.of(Turn))
def test_every_turn_can_be_read_in_every_format(any_turn: Turn) -> None:
    listed = list(blocks.blocks_of(any_turn))
    plain.text_of(listed)
    markdown.markdown_of(listed)
    html.document("x", [], [("x", listed)])


class Tags(HTMLParser):
    """What a browser would make of a page: its elements, and where their links and pictures lead."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.targets: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.targets |= {str(value) for name, value in attrs if name in ("href", "src")}


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "[x](javascript:alert(1))",
    "</details></div><iframe src=//evil.example>",
    "![x](https://evil.example/p.png)",
    "<style>*{}</style>",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_html_lets_nothing_through_that_runs(text: str) -> None:
    told = turn("prose", "tool", "question")
    raw = {
        "id": text,
        "message": {
            "text": text,
            "origin": {"kind": text},
            "attachments": [{"type": "simple", "label": text}],
        },
        "responseParts": [
            {"kind": "markdown", "id": "a", "content": text},
            {"kind": "reasoning", "id": "b", "content": text},
            {"kind": "systemNotification", "content": {"markdown": text}},
            {"kind": "systemNotification", "content": text},
            {"kind": "contentRef", "uri": text, "contentType": text},
            {"kind": "inputRequest", "request": {"id": "q", "message": text, "url": text}},
            {
                "kind": "toolCall",
                "toolCall": {
                    **PART["tool"]["toolCall"],
                    "displayName": text,
                    "toolInput": text,
                    "pastTenseMessage": text,
                    "content": [
                        {"type": "text", "text": text},
                        {"type": "embeddedResource", "data": text, "contentType": "image/png"},
                        {"type": "embeddedResource", "data": "eA==", "contentType": text},
                    ],
                },
            },
            {"kind": text},
            {"kind": "error", "error": {"errorType": "x", "message": text}},
        ],
        "state": "error",
    }
    page = html.document(text, [(text, text)], [(text, blocks.blocks_of(convert(Turn, raw))), (text, [])])
    found, harmless = Tags(), Tags()
    found.feed(page)
    harmless.feed(html.document("x", [("a", "b")], [("x", blocks.blocks_of(told)), ("y", [])]))
    assert found.names - harmless.names <= {"a", "img", "time", "h2"}
    assert not {name for name in found.attributes if name.startswith("on")}
    # A picture from elsewhere would say who reads the page; the policy in its head forbids loading it.
    assert "img-src data:;" in page
    assert not {target for target in found.targets if target.startswith("javascript:")}
