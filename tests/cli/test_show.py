"""Reading what was said: `show` afterwards, `tail` while it is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from console import Console, Running, valid


def _talk(console: Console, *texts: str, title: str = "") -> str:
    """A session in which something was said."""
    uri = console.text("new", "--config", "speed=0", "--title", title).strip()
    for text in texts:
        console.json("send", text, "--session", uri, "--approve", "all", schema="send")
    return uri


# show


def test_a_session_is_shown_as_text(console: Console) -> None:
    uri = _talk(console, "hello", "approve make", title="Shown")
    shown = console.text("show", uri)
    assert shown.startswith(f"Shown\n{uri}  agent demo  idle  ")
    assert "\nYou:\n  hello\n\nHello! I am the demo agent" in shown
    assert "\n* Run command: Ran `make` [completed]\n  | $ make\n" in shown
    assert "left out" not in shown


def test_only_the_newest_turns_are_shown_unless_all_are_wanted(console: Console) -> None:
    uri = _talk(console, "hello", "usage", "recall")
    shown = console.json("show", uri, "--turns", "2", schema="show")
    assert [turn["message"]["text"] for turn in shown["turns"]] == ["usage", "recall"]
    assert shown["isWhole"] is False
    assert "(older turns are left out; --turns 0 shows all)" in console.text("show", uri, "--turns", "1")
    whole = console.json("show", uri, "--turns", "0", schema="show")
    assert [turn["message"]["text"] for turn in whole["turns"]] == ["hello", "usage", "recall"]
    assert whole["isWhole"] is True


def test_what_runs_and_waits_is_shown(console: Console) -> None:
    uri = console.text("new", "--config", "speed=0").strip()
    console.run("send", "approve make", "--session", uri)
    console.text("queue", uri, "and then?")
    shown = console.json("show", uri, schema="show")
    assert (shown["state"], shown["turns"]) == ("input-needed", [])
    assert shown["activeTurn"]["message"]["text"] == "approve make"
    assert [each["text"] for each in shown["queue"]] == ["and then?"]
    assert [each["kind"] for each in shown["waits"]] == ["approval"]
    text = console.text("show", uri)
    assert "? Run this command?: `holdfast approve " in text
    assert text.endswith("queued: and then?\n")


def test_a_terminal_shows_markdown_and_cannot_be_steered(console: Console) -> None:
    uri = _talk(console, "markdown", "recall \x1b[5mblink", title="On a \x1b[5mscreen")
    with console.screen("show", uri) as screen:
        assert screen.end() == 0
        assert "\x1b[5m" not in screen.shown
        assert "\x1b[1;36mYou:" in screen.shown
        assert "**" not in screen.shown  # Markdown is set, not quoted
    with console.screen("show", uri, variables={"NO_COLOR": "1"}) as screen:
        screen.end()
        assert "36m" not in screen.shown


# tail


@contextmanager
def _tail(console: Console, *words: str) -> Iterator[Running]:
    """A `tail` that follows already."""
    with console.start("tail", *words) as tail:
        assert tail.remark().startswith("following ")
        yield tail


def _action(tail: Running) -> Any:
    return valid(json.loads(tail.line()), "tail")


def test_a_session_is_followed_from_the_turn_that_runs(console: Console) -> None:
    uri = console.text("new", "--config", "speed=0").strip()
    console.text("send", "wait", "--session", uri, "--no-wait")
    with _tail(console, uri) as tail:
        assert tail.line() == "You:\n"
        assert [tail.line() for _ in range(2)] == ["  wait\n", "I wait until you stop me.\n"]
        console.text("steer", uri, "soon")
        tail.until("> soon")
        console.text("cancel", uri)
        tail.until("[cancelled]")
        console.text("rm", uri)
        assert tail.end() == (0, "", "the session is gone\n")


def test_it_can_end_when_nothing_runs_any_more(console: Console) -> None:
    uri = console.text("new", "--config", "speed=0").strip()
    console.run("send", "approve make", "--session", uri)
    with _tail(console, uri, "--until-idle") as tail:
        assert tail.line() == "You:\n"
        console.text("approve", "--all", "--session", uri)
        done = tail.end()
    assert done.code == 0
    assert done.out.endswith("Done. You allowed it this once. Next time I ask again.\n[complete]\n")
    assert console.run("tail", uri, "--until-idle").out == ""
    assert console.run("tail", "--until-idle").code == 2


def test_as_json_it_is_every_action(console: Console) -> None:
    uri = console.text("new", "--config", "speed=0").strip()
    with _tail(console, uri, "--json") as tail:
        console.json("send", "hello", "--session", uri, schema="send")
        lines: list[Any] = [_action(tail)]
        while lines[-1]["action"]["type"] != "chat/turnComplete":
            lines.append(_action(tail))
    assert {line["session"] for line in lines} == {uri}
    types = [line["action"]["type"] for line in lines]
    assert {"chat/turnStarted", "chat/delta"} <= set(types)


def test_all_sessions_are_followed_line_by_line(console: Console) -> None:
    first = _talk(console)
    with _tail(console) as tail:
        console.text("send", "wait", "--session", first, "--no-wait")
        mark = f"{first.rpartition('/')[2][:8]}  "
        tail.until(f"{mark}  wait\n")
        # One that is made later joins, with what was said in it from the beginning.
        second = console.json("send", "hello", "--config", "speed=0", schema="send")["session"]
        mark = f"{second.rpartition('/')[2][:8]}  "
        assert tail.until(mark) == f"{mark}You:\n"
        tail.until(f"{mark}Hello!")
        tail.until(f"{mark}[complete]\n")
    console.text("cancel", first)


def test_a_chat_that_is_added_begins_with_its_state(console: Console) -> None:
    uri = _talk(console, "hello")
    with _tail(console, uri, "--json") as tail:
        chat = console.json("fork", uri, schema="fork")["chat"]
        seen = _action(tail)
        while seen["channel"] != chat:
            seen = _action(tail)
        assert [turn["message"]["text"] for turn in seen["state"]["turns"]] == ["hello"]
        console.json("send", "usage", "--session", uri, "--chat", chat, schema="send")
        while (seen["channel"], seen.get("action", {}).get("type")) != (chat, "chat/turnComplete"):
            seen = _action(tail)


@pytest.mark.parametrize("command", ["show", "tail"])
def test_a_session_that_is_not_there_is_told(console: Console, command: str) -> None:
    done = console.run(command, "ahp-session:/nowhere")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("holdfast: there is no session 'ahp-session:/nowhere'")
