"""Lists: agents, models, sessions and what becomes of them; making, renaming, archiving and removing them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from console import Console, valid
from holdfast.cli.sessions import Filter
from holdfast.cli.shapes import Session


def _new(console: Console, title: str, *more: str) -> str:
    uri: str = console.json("new", "--agent", "demo", "--title", title, *more, schema="new")["session"]
    return uri


def _listed(console: Console, *filters: str) -> list[Any]:
    listed: list[Any] = console.json("sessions", *filters, schema="sessions")
    return listed


# Agents and models


def test_agents(console: Console) -> None:
    (demo,) = console.json("agents", schema="agents")
    assert (demo["agent"], demo["name"]) == ("demo", "Demo")
    heading, row = console.text("agents").splitlines()
    assert heading.split() == ["AGENT", "NAME", "MODELS", "DESCRIPTION"]
    assert row.split()[:3] == ["demo", "Demo", str(len(demo["models"]))]


def test_models(console: Console) -> None:
    models = console.json("models", schema="models")
    assert {model["agent"] for model in models} == {"demo"}
    assert console.json("models", "--agent", "demo", schema="models") == models
    assert models[0]["model"] in console.text("models")


def test_models_of_nobody(console: Console) -> None:
    done = console.run("models", "--agent", "nobody")
    assert (done.code, done.out) == (1, "")
    assert done.err == "holdfast: this host has no agent 'nobody'; it has demo\n"


# Making sessions


def test_a_new_session_is_printed_and_listed(console: Console, tmp_path: Path) -> None:
    made = console.json("new", "--title", "Paint", "--directory", str(tmp_path), schema="new")
    (listed,) = [each for each in _listed(console) if each["session"] == made["session"]]
    assert (listed["title"], listed["chat"], listed["state"]) == ("Paint", made["chat"], "idle")
    assert listed["directories"] == [tmp_path.as_uri()]


def test_without_json_it_is_the_uri_and_nothing_else(console: Console) -> None:
    done = console.run("new")
    assert re.fullmatch(r"ahp-session:/[0-9a-f-]{36}\n", done.out)
    assert done.err == ""


def test_it_works_here_unless_something_else_is_said(console: Console) -> None:
    uri = console.text("new").strip()
    (listed,) = [each for each in _listed(console) if each["session"] == uri]
    assert listed["directories"] == [Path.cwd().as_uri()]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--config", "sped=1"), 2, "the agent has no option 'sped'; it has permissionMode, speed, greeting, branch"),
        (("--config", "permissionMode=off"), 2, "permissionMode is one of ask, auto, read-only, not 'off'"),
        (("--config", "speed"), 2, "expected KEY=VALUE, got 'speed'"),
        (("--agent", "nobody"), 4, "there is no agent 'nobody'"),
    ],
)
def test_what_cannot_be_made_says_why(console: Console, words: tuple[str, ...], code: int, sentence: str) -> None:
    done = console.run("new", *words)
    assert (done.code, done.out, done.err) == (code, "", f"holdfast: {sentence}\n")


# Lists


def test_filters_choose(console: Console, tmp_path: Path) -> None:
    one = _new(console, "Choose me", "--directory", str(tmp_path))
    two = _new(console, "choose me too")
    found = {each["session"] for each in _listed(console, "--search", "CHOOSE", "--agent", "demo")}
    assert found == {one, two}
    assert [each["session"] for each in _listed(console, "--directory", str(tmp_path))] == [one]
    assert [each["session"] for each in _listed(console, "--search", "choose", "--limit", "1")] == [two]
    assert _listed(console, "--search", "choose", "--state", "error") == []
    assert console.run("sessions", "--search", "no such title").err == "no sessions; `holdfast new` makes one\n"


SESSION: dict[str, Any] = {
    "session": "a:/1",
    "title": "x",
    "agent": "demo",
    "state": "idle",
    "read": True,
    "archived": False,
    "created_at": "",
    "modified_at": "",
}


@pytest.mark.parametrize(
    ("changed", "wanted", "fits"),
    [
        ({}, Filter(), True),
        ({"archived": True}, Filter(), False),
        ({"archived": True}, Filter(archived=None), True),
        ({}, Filter(archived=True), False),
        ({}, Filter(unread=True), False),
        ({"read": False}, Filter(unread=True), True),
        ({}, Filter(states=("error", "idle")), True),
        ({}, Filter(states=("error",)), False),
        ({}, Filter(agent="other"), False),
        ({"directories": ("file:///a",)}, Filter(directory="file:///a"), True),
        ({}, Filter(directory="file:///a"), False),
    ],
)
def test_a_filter_takes_what_it_is_for(changed: dict[str, Any], wanted: Filter, fits: bool) -> None:
    assert wanted.fits(Session(**(SESSION | changed))) is fits


def test_a_table_in_a_pipe_is_plain_and_whole(console: Console) -> None:
    title = "A title that is longer than any terminal is wide, " * 4
    uri = _new(console, title)
    lines = console.text("sessions").splitlines()
    (row,) = [line for line in lines if title.strip() in line]
    assert row.startswith(uri.partition("/")[2][:8])
    assert "\x1b" not in "".join(lines)


def test_a_table_on_a_terminal_is_fitted_and_cannot_be_steered_by_a_title(console: Console) -> None:
    _new(console, "Blink \x1b[5m" + "long " * 60)
    with console.screen("sessions", "--search", "blink") as screen:
        assert screen.end() == 0
        assert "\x1b[5m" not in screen.shown
        assert "Blink \N{REPLACEMENT CHARACTER}[5m" in screen.shown
        assert "…" in screen.shown


def test_watching_tells_what_is_there_and_what_changes(console: Console) -> None:
    one = _new(console, "Watched one")
    with console.start("sessions", "--watch", "--json", "--search", "watched") as watching:

        def line() -> tuple[str, str, str | None]:
            change = valid(json.loads(watching.line()), "sessions-watch")
            return change["change"], change["session"], change.get("summary", {}).get("title")

        assert line() == ("listed", one, "Watched one")
        two = _new(console, "Watched two")
        assert line() == ("added", two, "Watched two")
        console.text("rename", one, "Watched three")
        assert line() == ("changed", one, "Watched three")
        console.text("rename", two, "Gone from here")
        assert line() == ("removed", two, None)
        console.text("rm", one)
        assert line() == ("removed", one, None)


def test_a_watched_screen_follows(console: Console) -> None:
    with console.screen("sessions", "--watch", "--search", "seen live") as screen:
        screen.until("Title")
        _new(console, "Seen live")
        screen.until("Seen live")
        screen.type("\x03")
        assert screen.end() == -2  # of the signal, as shells expect


# Changing them


def test_a_session_is_renamed(console: Console) -> None:
    uri = _new(console, "Before it is renamed")
    renamed = console.json("rename", "before it", "Afterwards", schema="rename")
    assert renamed == {"session": uri, "title": "Afterwards"}
    assert [each["title"] for each in _listed(console) if each["session"] == uri] == ["Afterwards"]


def test_what_is_archived_is_out_of_sight(console: Console) -> None:
    uris = [_new(console, f"Archive {number}") for number in (1, 2)]
    done = console.json("archive", *uris, schema="archive")
    assert done == [{"session": uri, "archived": True} for uri in uris]
    assert _listed(console, "--search", "Archive") == []
    assert {each["session"] for each in _listed(console, "--search", "Archive", "--archived")} == set(uris)
    console.text("archive", "--undo", "Archive 1")
    assert [each["session"] for each in _listed(console, "--search", "Archive")] == [uris[0]]
    assert {each["session"] for each in _listed(console, "--search", "Archive", "--all")} == set(uris)


def test_what_is_removed_can_be_brought_back(console: Console) -> None:
    uri = _new(console, "Remove me")
    assert console.json("rm", "remove me", schema="rm") == [{"session": uri, "removed": True, "title": "Remove me"}]
    assert _listed(console, "--search", "Remove me") == []
    removed = console.json("rm", "--undo", schema="rm")
    assert [each["title"] for each in removed if each["session"] == uri] == ["Remove me"]
    assert "Remove me" in console.text("rm", "--undo")
    back = console.json("rm", "--undo", uri, schema="rm")
    assert back == [{"session": uri, "removed": False, "title": "Remove me"}]
    assert [each["session"] for each in _listed(console, "--search", "Remove me")] == [uri]


def test_removing_says_how_to_undo_it(console: Console) -> None:
    uri = _new(console, "Undo me")
    assert console.run("rm", uri).err == f"removed Undo me; `holdfast rm --undo {uri}` brings it back\n"


def test_nothing_happens_to_the_others_if_one_is_not_found(console: Console) -> None:
    uri = _new(console, "Keep me")
    done = console.run("rm", uri, "no such session")
    assert done.code == 1
    assert done.err == "holdfast: there is no session 'no such session'; `holdfast sessions` lists them\n"
    assert [each["session"] for each in _listed(console, "--search", "Keep me")] == [uri]
    assert console.run("rm").code == 2
