"""`holdfast send`: what is said, what is answered, and how it ends, in pipes and on terminals."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from console import Console, valid
from holdfast.cli import cli

FAST = ("--config", "speed=0")
GREETING = "Hello! I am the demo agent of Holdfast."


def _session(console: Console, *more: str) -> str:
    return console.text("new", *FAST, *more).strip()


def _state(console: Console, uri: str) -> str:
    (found,) = [each for each in console.json("sessions", schema="sessions") if each["session"] == uri]
    return str(found["state"])


# In a pipe


def test_the_answer_is_all_of_stdout(console: Console) -> None:
    done = console.run("send", "hello", *FAST, "--title", "Greeting")
    assert done.code == 0
    assert done.out.startswith(GREETING)
    assert done.out.endswith("\n")
    (uri,) = [each["session"] for each in console.json("sessions", "--search", "Greeting", schema="sessions")]
    assert done.err == f"session {uri}\n"


@pytest.mark.parametrize("words", [(), ("-",)])
def test_the_text_may_come_from_stdin(console: Console, words: tuple[str, ...]) -> None:
    done = console.run("send", *words, *FAST, "--quiet", stdin="hello\n")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(GREETING)


@pytest.mark.parametrize(
    ("words", "stdin", "complaint"),
    [
        ((), " \n", "holdfast: there is nothing to send; stdin was empty\n"),
        (("x", "--session", "y", "--agent", "demo"), "", "make a new session; leave out --session."),
        (("x", "--chat", "y"), "", "--chat and --resume need --session."),
        (("x", "--session", "y", "--resume"), "", "leave out TEXT."),
        (("x", "--approve", "maybe"), "", "'maybe' is not one of"),
        (("x", "--file", "/no/such/file"), "", "does not exist"),
    ],
)
def test_bad_usage_is_told_before_anything_happens(words: tuple[str, ...], stdin: str, complaint: str) -> None:
    done = CliRunner().invoke(cli, ["send", *words], input=stdin)
    assert (done.exit_code, done.stdout) == (2, "")
    assert complaint in done.stderr


def test_a_conversation_goes_on_in_a_session(console: Console) -> None:
    uri = _session(console)
    first = console.json("send", "hello", "--session", uri, schema="send")
    again = console.json("send", "recall", "--session", uri.rpartition("/")[2][:12], schema="send")
    assert (first["session"], again["session"], again["chat"]) == (uri, uri, first["chat"])
    assert (first["state"], again["state"]) == ("complete", "complete")
    assert first["turn"] != again["turn"]
    assert "hello" in again["text"]


def test_progress_goes_to_stderr(console: Console) -> None:
    done = console.run("send", "approve echo hi", *FAST, "--approve", "all")
    assert done.code == 0
    assert "Done. You allowed it this once." in done.out
    assert "* " not in done.out
    assert "* Run command: Ran `echo hi` [completed]\n" in done.err


def test_thoughts_are_shown_on_request(console: Console) -> None:
    quiet = console.run("send", "think", *FAST)
    aloud = console.run("send", "think", *FAST, "--reasoning")
    assert len(aloud.err) > len(quiet.err) + 50
    assert aloud.out == quiet.out


def test_usage_and_everything_else_is_in_the_json(console: Console) -> None:
    sent = console.json("send", "usage", *FAST, "--quiet", schema="send")
    assert sent["usage"]["inputTokens"] > 0
    assert sent["text"]


def test_a_model_and_files_go_along(console: Console, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Paint it blue.")
    model = console.json("models", schema="models")[-1]["model"]
    sent = console.json("send", "models", *FAST, "--model", model, schema="send")
    assert model in sent["text"]
    sent = console.json("send", "recall", *FAST, "--file", str(note), schema="send")
    assert "note.txt" in sent["text"]


def test_a_file_that_is_too_large_is_not_sent(console: Console, tmp_path: Path) -> None:
    file = tmp_path / "film"
    with file.open("wb") as film:
        film.truncate(10_000_001)
    done = console.run("send", "look", *FAST, "--file", str(file))
    assert done.code == 1
    assert done.err.endswith(f"holdfast: {file} has 10000001 bytes; at most 10000000 can be attached\n")


# How a turn ends


def test_a_failed_turn_fails_the_command(console: Console) -> None:
    done = console.run("send", "error", *FAST)
    assert done.code == 1
    assert done.out == "I try something that cannot work.\n"
    assert done.err.endswith("\nholdfast: the turn failed: It did not work, as announced. Nothing is broken\n")
    sent = console.json("send", "error", *FAST, schema="send", code=1)
    assert (sent["state"], sent["error"]["type"]) == ("error", "demoFailure")


def test_a_turn_that_failed_halfway_is_resumed(console: Console) -> None:
    uri = _session(console)
    failed = console.run("send", "flaky", "--session", uri)
    assert failed.code == 1
    assert failed.err.endswith(f"; `holdfast send --session {uri} --resume` goes on\n")
    done = console.run("send", "--session", uri, "--resume")
    assert done.code == 0
    assert "3. lock the door" in done.out
    assert "1. pack the bags" not in done.out
    assert console.run("send", "--session", uri, "--resume").code == 2


def test_without_waiting_only_the_host_has_the_message(console: Console) -> None:
    uri = _session(console)
    sent = console.json("send", "wait", "--session", uri, "--no-wait", schema="send")
    assert (sent["state"], sent["text"]) == ("running", "")
    queued = console.json("send", "hello", "--session", uri, "--no-wait", schema="send")
    assert queued["state"] == "queued"
    assert "turn" not in queued
    waiting = console.json("queue", uri, schema="queue")["queue"]
    assert waiting == [{"id": queued["queued"], "text": "hello"}]
    console.text("queue", uri, "--remove", queued["queued"])
    assert console.json("cancel", uri, schema="cancel")["turn"] == sent["turn"]


def test_a_message_behind_another_turn_is_answered_in_the_end(console: Console) -> None:
    uri = _session(console)
    assert console.run("send", "approve", "--session", uri).code == 5
    with console.start("send", "hello", "--session", uri) as sending:
        assert sending.remark() == "a turn runs; the message waits for its end\n"
        console.text("approve", "--all", "--session", uri)
        assert sending.line().startswith(GREETING)
        assert sending.end().code == 0


def test_a_message_behind_a_turn_that_is_cancelled_stays_queued_and_is_told_so(console: Console) -> None:
    uri = _session(console)
    console.text("send", "wait", "--session", uri, "--no-wait")
    with console.start("send", "hello", "--session", uri) as sending:
        sending.remark()
        console.text("cancel", uri)
        why = "the turn before did not complete, so the message stays queued"
        assert sending.end() == (1, "", f"holdfast: {why}; `holdfast queue {uri} --start`\n")
    console.json("queue", uri, "--start", schema="queue")
    assert console.json("queue", uri, schema="queue")["queue"] == []


def test_a_turn_that_somebody_else_cancels_fails_the_command(console: Console) -> None:
    uri = _session(console)
    with console.start("send", "wait", "--session", uri, "--json") as sending:
        while console.json("cancel", uri, schema="cancel").get("turn") is None:
            pass
        done = sending.end()
    assert (done.code, done.err) == (1, "holdfast: the turn was cancelled\n")
    assert valid(json.loads(done.out), "send")["state"] == "cancelled"


def test_a_session_that_is_removed_meanwhile_ends_the_command_in_a_sentence(console: Console) -> None:
    uri = _session(console)
    with ExitStack() as stack:
        sending = stack.enter_context(console.start("send", "wait", "--session", uri))
        sending.line()
        behind = stack.enter_context(console.start("send", "hello", "--session", uri))
        behind.remark()
        console.text("rm", uri)
        for command in (sending, behind):
            done = command.end()
            assert done.code == 1
            assert done.err.startswith("holdfast: ")
            assert done.err.count("\n") == 1


def test_ctrl_c_cancels_the_turn(console: Console) -> None:
    uri = _session(console)
    with console.start("send", "wait", "--session", uri) as sending:
        sending.line()
        sending.signal(signal.SIGINT)
        assert sending.end().code == -signal.SIGINT
    assert _state(console, uri) == "idle"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_leave_the_turn_running(console: Console, number: signal.Signals) -> None:
    uri = _session(console)
    with console.start("send", "wait", "--session", uri) as sending:
        sending.line()
        sending.signal(number)
        assert sending.end().code == -number
    assert _state(console, uri) == "in-progress"


def test_a_closed_pipe_ends_the_command_and_not_the_turn(console: Console) -> None:
    uri = _session(console, "--config", "speed=200")
    command = (
        f"{shlex.join(console.words('send', 'long 2000', '--session', uri))} | head -c 1; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", command], env=console.variables, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, len(done.stdout), done.stderr) == (128 + signal.SIGPIPE, 1, "")
    assert _state(console, uri) == "in-progress"


# Who is asked


def test_without_a_terminal_nobody_is_asked_and_the_turn_waits(console: Console) -> None:
    uri = _session(console)
    done = console.run("send", "approve rm -r build", "--session", uri)
    assert done.code == 5
    assert done.out == "I would like to run a command.\n\n"
    (wait,) = console.json("approve", "--session", uri, schema="waiting")
    id = wait["id"].rpartition("#")[2]
    assert done.err == f"? Run this command?: `holdfast approve {id}`\nholdfast: the turn waits for a person\n"
    assert _state(console, uri) == "input-needed"


def test_what_it_waits_for_is_in_the_json(console: Console) -> None:
    sent = console.json("send", "form", *FAST, schema="send", code=5)
    (wait,) = sent["waits"]
    assert (sent["state"], wait["kind"]) == ("waiting", "question")
    assert sent["text"].startswith("Let us register a boat.")
    assert wait["questions"][0]["id"] == "name"


@pytest.mark.parametrize(
    ("approve", "prompt", "expected"),
    [
        ("never", "approve", "Nobody is there to be asked."),
        ("never", "review", "You kept the result to yourself"),
        ("never", "form", "You would rather not say."),
        ("all", "parallel", "ran 128 tests, no complaints"),
        ("all", "review", "I look something up."),
    ],
)
def test_it_can_be_settled_beforehand(console: Console, approve: str, prompt: str, expected: str) -> None:
    done = console.run("send", prompt, *FAST, "--approve", approve)
    assert done.code == 0, done
    assert expected in done.out


@pytest.mark.parametrize(("approve", "code"), [("all", 0), ("never", 0), ("ask", 5)])
def test_what_a_worker_asks_in_its_own_chat_is_settled_too(console: Console, approve: str, code: int) -> None:
    done = console.run("send", "subagent", *FAST, "--approve", approve)
    assert done.code == code, done
    assert ("holdfast approve" in done.err) is (code == 5)


def test_a_long_text_is_not_torn_apart_where_a_part_ends(console: Console) -> None:
    uri = _session(console)
    said = console.text("send", "burst 40000", "--session", uri, "--quiet")
    (turn,) = console.json("show", uri, schema="show")["turns"]
    parts = [part["content"] for part in turn["responseParts"]]
    assert len(parts) > 1
    assert said.strip() == "".join(parts).strip()
    assert said.strip() in console.text("show", uri)


def test_a_form_cannot_be_approved_away(console: Console) -> None:
    assert console.run("send", "form", *FAST, "--approve", "all").code == 5


def test_a_token_is_nothing_to_ask_for(console: Console) -> None:
    done = console.run("send", "mcp", *FAST, "--approve", "all")
    assert done.code == 5
    assert "this needs a client that can do that" in done.err


# On a terminal


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("y", "You allowed it this once."),
        ("2", "I will not ask again in this session"),
        ("n too loud", "too loud"),
        ("what?\nn", "All right, I leave it."),
    ],
)
def test_a_person_is_asked(console: Console, keys: str, expected: str) -> None:
    with console.screen("send", "approve", *FAST) as screen:
        shown = screen.until("[y, n, n REASON, 1-4] ")
        assert "? Run this command?\n  rm -r build\n  1 Allow once\n" in shown
        screen.type(f"{keys}\n")
        screen.until(expected)
        assert screen.end() == 0


def test_a_person_is_asked_while_stdin_and_stdout_are_pipes(console: Console, tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    with (
        subprocess.Popen(["echo", "approve"], stdout=subprocess.PIPE) as echo,
        answer.open("wb") as out,
        console.screen("send", "-", *FAST, stdin=echo.stdout, stdout=out) as screen,
    ):
        screen.until("1-4] ")
        screen.type("y\n")
        assert screen.end() == 0
    assert "Done." in answer.read_text()


def test_somebody_else_may_be_first(console: Console) -> None:
    with console.screen("send", "approve", *FAST, "--title", "Who is first") as screen:
        screen.until("1-4] ")
        (session,) = console.json("sessions", "--search", "Who is first", schema="sessions")
        console.text("approve", "--all", "--session", session["session"])
        screen.until("Done.")
        assert screen.end() == 0


def test_a_question_of_a_session_that_is_removed_is_not_asked_any_more(console: Console) -> None:
    uri = _session(console)
    with console.screen("send", "approve", "--session", uri) as screen:
        screen.until("1-4] ")
        console.text("rm", uri)
        assert screen.end() == 1
        assert "Traceback" not in screen.shown


def test_closing_the_input_leaves_it_waiting(console: Console) -> None:
    with console.screen("send", "approve", *FAST) as screen:
        screen.until("1-4] ")
        screen.type("\x04")
        assert screen.end() == 5


def test_a_form_is_filled_in(console: Console) -> None:
    answers: list[tuple[str, Any]] = [
        ("called? [1 to 40 characters] (Holdfast) ", ""),
        ("papers? (crew@example.com) ", "me@example.com"),
        ("sail? (optional) ", ""),
        ("metres? [2 to 400] (optional) ", "twelve\n12.5"),
        ("aboard? [0 to 12] (4) ", ""),
        ("engine? [yes/no] (yes) ", "no"),
        ("rigged? [sloop/ketch/schooner] ", "ketch"),
        ("[anchor/radio/raft/kettle; several with commas] (optional) ", "raft, kettle"),
    ]
    with console.screen("send", "form", *FAST) as screen:
        for question, text in answers:
            screen.until(question)
            screen.type(f"{text}\n")
        screen.until("Thank you!")
        assert screen.end() == 0
        for fact in ("Holdfast", "me@example.com", "12.5", "no", "Ketch", "Life raft, Kettle"):
            assert fact in screen.shown


def test_a_link_is_shown_and_waited_for(console: Console) -> None:
    with console.screen("send", "link", *FAST) as screen:
        screen.until("https://demo.holdfast.example/review")
        screen.until("[Enter when you are done, Ctrl-D to decline] ")
        screen.type("\n")
        screen.until("Thank you for looking.")
        assert screen.end() == 0


def test_ctrl_c_at_a_question_cancels_the_turn(console: Console) -> None:
    uri = _session(console)
    with console.screen("send", "approve", "--session", uri) as screen:
        screen.until("1-4] ")
        screen.type("\x03")
        assert screen.end() == -signal.SIGINT
    assert _state(console, uri) == "idle"
