"""`holdfast debug` as a program: what goes in, what comes out, and how it exits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-m", "holdfast", "debug"]
CHAT = {"resource": "ahp-chat:/c", "title": "C", "status": 33, "modifiedAt": "", "turns": []}
RENAME = {"type": "session/titleChanged", "title": "New"}
ENVELOPE = {"channel": "ahp-session:/s", "action": RENAME, "serverSeq": 7}


def _run(arguments: str, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments.split()], input=stdin, capture_output=True, timeout=60, check=False)


def _lines(*values: Any) -> bytes:
    return b"".join(value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n" for value in values)


def _unread(*, actions: list[Any]) -> dict[str, Any]:
    return {"initial": CHAT, "actions": actions}


UNREAD = {"type": "chat/isReadChanged", "isRead": False}


def test_reduce_applies_what_it_knows_and_skips_the_rest() -> None:
    case = _unread(actions=[{"type": "chat/future"}, {"type": "chat/delta"}, 7, UNREAD])
    done = _run("reduce --reducer chat", json.dumps(case).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == {**CHAT, "status": 1}


def test_reduce_takes_the_reducer_from_the_value_if_it_is_not_given() -> None:
    case = {"reducer": "chat", "description": "ignored", **_unread(actions=[UNREAD])}
    assert json.loads(_run("reduce", json.dumps(case).encode()).stdout)["status"] == 1
    assert _run("reduce", json.dumps(_unread(actions=[])).encode()).returncode == 2


def test_reduce_line_by_line_answers_every_line_and_lives_through_bad_ones() -> None:
    bad: list[Any] = [b"nonsense\n", b"\n", b"  \r\n", b"\xff\n", b"\xef\xbb\xbf{}\n", {"actions": []}, [], None]
    stdin = _lines(_unread(actions=[UNREAD]), *bad, _unread(actions=[])).removesuffix(b"\n")
    done = _run("reduce --reducer chat --lines", stdin)
    first, *errors, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert (first["status"], last["status"]) == (1, 33)
    assert [set(answer) for answer in errors] == [{"error"}] * len(bad)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", ["resourceWatch", "resource-watch", "RESOURCEWATCH"])
def test_reducers_are_known_in_the_spelling_of_a_command_line_too(name: str) -> None:
    state = {"root": "file:///w", "recursive": True}
    case = json.dumps({"initial": state, "actions": []}).encode()
    assert json.loads(_run(f"reduce --reducer {name}", case).stdout) == state


def test_lines_are_answered_one_by_one_while_stdin_is_open() -> None:
    command = [*COMMAND, "negotiate", "--lines"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        for offered, chosen in ((["1.0.0"], "1.0.0"), (["0.9.4", "0.2.0"], "0.9.4")):
            program.stdin.write(_lines(offered))
            program.stdin.flush()
            assert json.loads(program.stdout.readline()) == chosen
        program.stdin.close()
        assert program.wait(timeout=30) == 0


def test_roundtrip_reads_and_writes_a_type() -> None:
    done = _run("roundtrip --type ActionEnvelope", json.dumps({**ENVELOPE, "origin": None, "x": 1}).encode())
    assert json.loads(done.stdout) == ENVELOPE
    message = {"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {}}
    assert json.loads(_run("roundtrip --type JsonRpcMessage", json.dumps(message).encode()).stdout) == message


@pytest.mark.parametrize("text", ["hello", {"markdown": "# hello"}])
def test_roundtrip_knows_unions_by_name(text: Any) -> None:
    assert json.loads(_run("roundtrip --type StringOrMarkdown", json.dumps(text).encode()).stdout) == text


TERMINAL = {"title": "t", "content": [], "claim": {"kind": "client", "clientId": "c"}}


@pytest.mark.parametrize(
    ("version", "end"),
    [
        ("1.0.0", {"lifecycle": {"status": "exited", "exitCode": 3}}),
        ("0.10.0", {"lifecycle": {"status": "exited", "exitCode": 3}}),
        ("0.9.4", {"lifecycle": {"status": "exited", "exitCode": 3}}),
        ("0.8.0-dev", {"exitCode": 3}),
        ("0.8.0", {"exitCode": 3}),
        ("0.6.0", {"exitCode": 3}),
    ],
)
def test_reduce_speaks_older_versions(version: str, end: Any) -> None:
    running = {"lifecycle": {"status": "running"}} if "lifecycle" in end else {}
    case = {"initial": {**TERMINAL, **running}, "actions": [7, {"type": "terminal/exited", "exitCode": 3}]}
    done = _run(f"reduce --reducer terminal --version {version}", json.dumps(case).encode())
    assert json.loads(done.stdout) == {**TERMINAL, **end}


def test_reduce_tells_the_time_to_reducers_that_had_a_clock() -> None:
    started = {
        "type": "chat/turnStarted",
        "turnId": "t",
        "startedAt": "2026-01-01T00:00:00.000Z",
        "message": {"text": "hi", "origin": {"kind": "user"}},
    }
    case = json.dumps(_unread(actions=[started])).encode()
    now = "2026-01-02T00:00:00.000Z"
    for version, shown in (("0.8.0", now), ("0.9.0", started["startedAt"])):
        done = _run(f"reduce --reducer chat --version {version} --now {now}", case)
        assert json.loads(done.stdout)["modifiedAt"] == shown
    assert (
        json.loads(_run("reduce --reducer chat --version 0.8.0", case).stdout)["modifiedAt"] == started["startedAt"]
    )


def test_roundtrip_speaks_older_versions() -> None:
    plugin = {"type": "plugin", "id": "p", "uri": "u:/p", "name": "P", "enabled": False}
    done = _run("roundtrip --type Customization --version 0.7.0 --lines", _lines(plugin, 7))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0] == plugin
    assert set(answers[1]) == {"error"}
    source = {"chat": "ahp-chat:/c", "turnId": "t"}
    done = _run("roundtrip --type ChatForkSource --version 0.6.0", json.dumps(source).encode())
    assert json.loads(done.stdout) == source


def test_a_check_at_1_0_does_not_import_the_bridge() -> None:
    script = "import sys; from holdfast.cli import debug; sys.exit('holdfast.protocol.compat' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        ("reduce --reducer chat", b""),
        ("reduce --reducer chat --version 0.7.0", b""),
        ("reduce --reducer chat --version 0.7.0", b'{"initial":{},"actions":[]}'),
        ("reduce --reducer chat --version 0.7.0", b'{"initial":[],"actions":[]}'),
        ("reduce --reducer chat --version 0.7.0", b'{"initial":{"turns":[7]},"actions":[]}'),
        ("roundtrip --type Nothing --version 0.7.0", b"{}"),
        ("roundtrip --type Turn --version 0.7.0", b"7"),
        ("reduce --reducer chat", b"[]"),
        ("reduce --reducer chat", b'{"initial":{},"actions":[]}'),
        ("reduce --reducer nothing", b"{}"),
        ("reduce", b'{"reducer":"nothing","initial":{},"actions":[]}'),
        ("reduce --reducer chat --version 9.9.9", b"{}"),
        ("reduce --reducer chat --version 1.0", b"{}"),
        ("reduce --reducer chat --version=-dev", b"{}"),
        ("reduce --reducer chat --version 0.7.0 --now yesterday", b"{}"),
        ("reduce --reducer chat --bogus", b"{}"),
        ("reduce --reducer chat surplus", b"{}"),
        ("reduce --reducer", b"{}"),
        ("roundtrip --type Nothing", b"{}"),
        ("roundtrip", b"{}"),
        ("roundtrip --type Turn", b"\xff"),
        ("roundtrip --type Turn", b"[" * 100_000),
        ("roundtrip --type MarkdownResponsePart", b'{"kind":"' + b"x" * 100_000 + b'\\n","id":"p","content":""}'),
        ("negotiate", b"{}"),
        ("negotiate", b"[1]"),
        ("negotiate", b'["bogus"]'),
        ("negotiate", b'["1.0.0\\n"]'),
        ("negotiate --bogus", b"[]"),
        ("nothing", b"[]"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: str, stdin: bytes) -> None:
    done = _run(arguments, stdin)
    assert done.returncode == 2
    assert done.stderr.startswith(b"holdfast debug: ")
    assert done.stderr.count(b"\n") == 1
    assert len(done.stderr) < 500


def _ends_in_a_sentence(done: subprocess.CompletedProcess[bytes], code: int, text: bytes) -> None:
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.startswith(b"holdfast debug: ")
    assert text in done.stderr
    assert done.stderr.count(b"\n") == 1


def _shell(line: str) -> subprocess.CompletedProcess[bytes]:
    program = " ".join(COMMAND)
    return subprocess.run(["sh", "-c", f"{program} {line}"], capture_output=True, timeout=120, check=False)


def test_input_without_end_is_refused_before_memory_runs_out() -> None:
    _ends_in_a_sentence(_shell("roundtrip --type URI < /dev/zero"), 2, b"larger than 256 MiB")
    _ends_in_a_sentence(_shell("roundtrip --type URI --lines < /dev/zero"), 2, b"larger than 256 MiB")


def test_a_closed_stdin_is_an_empty_one() -> None:
    _ends_in_a_sentence(_shell("roundtrip --type URI <&-"), 2, b"JSON")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("lines", ["", "--lines"])
def test_output_that_cannot_be_written_is_said_in_a_sentence(lines: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "negotiate", *lines.split()],
            input=b'["1.0.0"]',
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"holdfast debug: ")
    assert done.stderr.count(b"\n") == 1


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    line = f"yes '[\"1.0.0\"]' | head -n 50000 | {' '.join(COMMAND)} negotiate --lines | head -n 1"
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == (b'"1.0.0"\n', b"")


def test_negotiate_prints_the_choice_or_the_error() -> None:
    assert json.loads(_run("negotiate", b'["0.9.0","1.0.0"]').stdout) == "1.0.0"
    refused = _run("negotiate", b'["2.0.0"]')
    assert json.loads(refused.stdout)["error"]["code"] == -32005
    assert refused.returncode == 0
    for malformed in (b'["1.0.0","bogus"]', b"{}", b"[1]", b"[", b""):  # W-17
        assert json.loads(_run("negotiate", malformed).stdout)["error"]["code"] == -32602
