"""Sessions as documents: `export` writes them, `import` takes them in again."""

from __future__ import annotations

import copy
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from console import Console
from holdfast.cli.importing import _pages, _pieces
from holdfast.cli.shapes import Content


@pytest.fixture(scope="module")
def uri(console: Console) -> str:
    """A session with two chats, tools, pictures, content kept elsewhere, and a turn that failed."""
    made: str = console.text("new", "--config", "speed=0", "--title", "A *whole* session").strip()
    for text in ("hello", "approve make", "content", "big 100"):
        console.json("send", text, "--session", made, "--approve", "all", schema="send")
    console.json("send", "error", "--session", made, schema="send", code=1)
    console.json("fork", made, "--title", "Another way", schema="fork")
    return made


@pytest.fixture(scope="module")
def exported(console: Console, uri: str) -> Any:
    """All of it as JSON."""
    return console.json("export", uri, schema="export")


@pytest.fixture
def document(exported: Any) -> Any:
    """The same, to be changed."""
    return copy.deepcopy(exported)


def test_markdown_is_for_people(console: Console, uri: str) -> None:
    page = console.text("export", uri)
    assert page.startswith(f"# A \\*whole\\* session\n\n- Agent: demo\n- Session: {uri}\n- Created: ")
    assert "\n## Another way\n" in page
    assert "\n> approve make\n" in page
    assert "<summary>Run command: completed</summary>" in page
    assert "**Failed:** It did not work, as announced." in page
    assert len(page) > 200_000  # with what the host keeps outside of the turns
    assert "ahp-content:" not in page


class _Page(HTMLParser):
    """What a browser would load for a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loaded += [str(value) for name, value in attrs if name in ("src", "srcset", "data", "background")]


def test_a_html_page_needs_nothing_else(console: Console, uri: str, tmp_path: Path) -> None:
    file = tmp_path / "session.html"
    done = console.run("export", uri, "--output", str(file))
    assert (done.code, done.out, done.err) == (0, "", f"wrote {file}\n")
    page = _Page(file.read_text())
    assert {"h1", "details", "img"} <= page.tags
    assert not {"script", "link", "iframe"} & page.tags
    assert all(source.startswith("data:image/") for source in page.loaded)


def test_json_has_everything(document: Any, uri: str) -> None:
    assert (document["format"], document["version"], document["uri"]) == ("holdfast-session", 1, uri)
    first, second = document["chats"]
    assert [turn["state"] for turn in first["turns"]] == ["complete"] * 4 + ["error"]
    assert second["title"] == "Another way"
    wanted = {word for word in json.dumps(document["chats"]).split('"') if word.startswith("ahp-content:")}
    assert wanted
    assert {content["uri"] for content in document["contents"]} == wanted


def test_what_cannot_be_written_is_told(console: Console, uri: str) -> None:
    done = console.run("export", uri, "--output", "/no/such/directory/x.md")
    assert (done.code, done.out) == (1, "")
    assert "/no/such/directory/x.md" in done.err


def _comparable(document: Any) -> Any:
    """What is to be the same after an import: everything but names the host had to change."""
    text = json.dumps({"chats": [chat["turns"] for chat in document["chats"]], "contents": document["contents"]})
    for number, content in enumerate(document["contents"]):
        text = text.replace(content["uri"], f"content-{number}")
    for number, chat in enumerate(document["chats"]):
        text = text.replace(chat["resource"], f"chat-{number}")
    return json.loads(text)


def test_an_export_is_taken_in_again_under_another_name(
    console: Console, uri: str, document: Any, tmp_path: Path
) -> None:
    file = tmp_path / "session.json"
    console.text("export", uri, "-o", str(file))
    made = console.json("import", str(file), "--title", "Taken in", schema="import")
    assert made["session"] != uri
    after = console.json("export", made["session"], schema="export")
    assert _comparable(after) == _comparable(document)
    assert (after["session"]["title"], after["createdAt"]) == ("Taken in", document["createdAt"])
    assert after["chats"][0]["resource"] == made["chat"]
    # It goes on like any other.
    assert "make" in console.text("send", "recall", "--session", made["session"])


def test_where_its_name_is_free_it_keeps_it(console: Console, document: Any) -> None:
    document["uri"] = "ahp-session:/this-name-is-free"
    made = console.json("import", "-", schema="import", stdin=json.dumps(document))
    assert made["session"] == "ahp-session:/this-name-is-free"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("no JSON", "stdin has no session that was exported: JSON is malformed"),
        ("{}", "stdin has no session that was exported: Object missing required field `format`"),
        ("\xff", "stdin has no session that was exported: "),
    ],
)
def test_what_is_no_export_is_told(console: Console, text: str, complaint: str) -> None:
    done = console.run("import", "-", stdin=text)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"holdfast: {complaint}")


def test_a_newer_form_of_export_is_told(console: Console, document: Any) -> None:
    done = console.run("import", "-", stdin=json.dumps(document | {"version": 2}))
    assert done.code == 1
    assert "$.version" in done.err


def test_an_agent_the_host_does_not_have_leaves_nothing_behind(console: Console, document: Any) -> None:
    document["session"]["title"] = "Left nothing behind"
    done = console.run("import", "-", "--agent", "nobody", stdin=json.dumps(document))
    assert done.code == 4
    document["chats"][0]["turns"][1]["responseParts"] = "broken"
    done = console.run("import", "-", stdin=json.dumps(document))
    assert done.code == 4
    assert console.json("sessions", "--search", "Left nothing behind", schema="sessions") == []


def test_large_sessions_are_sent_in_pieces() -> None:
    content = Content(uri="ahp-content:/1", content_type="text/plain", data="abcd" * 700_000)
    pieces = list(_pieces(content))
    assert [len(piece["data"]) for piece in pieces] == [1_000_000, 1_000_000, 800_000]
    assert [piece.get("more") for piece in pieces] == [True, True, None]
    assert "".join(piece["data"] for piece in pieces) == content.data
    assert [piece["data"] for piece in _pieces(Content(uri="x:/", content_type="", data=""))] == [""]
    turns = [{"id": str(size), "text": "x" * size} for size in (10, 600_000, 600_000, 2_000_000, 10)]
    assert [[turn["id"] for turn in page] for page in _pages(turns)] == [
        ["10", "600000"],
        ["600000"],
        ["2000000"],
        ["10"],
    ]
