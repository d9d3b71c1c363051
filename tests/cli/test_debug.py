"""`holdfast debug` as a program: what goes in, what comes out, and how it exits."""

from __future__ import annotations

import json
import subprocess
import sys
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


def test_reduce_line_by_line_lives_through_bad_lines() -> None:
    stdin = _lines(_unread(actions=[UNREAD]), b"nonsense\n", b"\n", {"actions": []}, _unread(actions=[]))
    done = _run("reduce --reducer chat --lines", stdin)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("status") for answer in answers] == [1, None, None, 33]
    assert all(set(answer) == {"error"} for answer in answers[1:3])
    assert done.returncode == 0


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
        ("reduce --reducer chat --version 9.9.9", b"{}"),
        ("roundtrip --type Nothing", b"{}"),
        ("roundtrip", b"{}"),
        ("roundtrip --type Turn", b"\xff"),
        ("roundtrip --type Turn", b"[" * 100_000),
        ("negotiate", b"{}"),
        ("negotiate", b"[1]"),
        ("negotiate", b'["bogus"]'),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: str, stdin: bytes) -> None:
    done = _run(arguments, stdin)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert done.stderr.strip().splitlines()[-1:] != []


def test_negotiate_prints_the_choice_or_the_error() -> None:
    assert json.loads(_run("negotiate", b'["0.9.0","1.0.0"]').stdout) == "1.0.0"
    refused = _run("negotiate", b'["2.0.0"]')
    assert json.loads(refused.stdout)["error"]["code"] == -32005
    assert refused.returncode == 0
    malformed = _run("negotiate", b'["1.0.0","bogus"]')
    assert json.loads(malformed.stdout)["error"]["code"] == -32602
