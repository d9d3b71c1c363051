"""`up`, `down`, `status` and `logs`: a host in the background, as a user has one."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from aio import aio
from cli.running import Done, holdfast, valid
from holdfast import __version__
from holdfast.places import running
from served import Wire, environment, hosting


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A user's home. What runs there at the end of the test is killed."""
    yield tmp_path
    host = running(_data(tmp_path))
    if host is not None:
        os.kill(host.pid, signal.SIGKILL)
        while running(_data(tmp_path)) is not None:
            time.sleep(0.01)


def _data(home: Path) -> Path:
    return home / ".local" / "share" / "holdfast"


def _up(home: Path, *flags: str) -> dict[str, Any]:
    done = holdfast(home, "up", "--port", "0", "--json", *flags)
    assert done.code == 0, done.err
    found: dict[str, Any] = valid(json.loads(done.out), "up")
    return found


def _status(home: Path) -> tuple[int, dict[str, Any]]:
    done = holdfast(home, "status", "--json")
    return done.code, valid(json.loads(done.out), "status")


def test_a_host_is_started_looked_at_and_stopped(home: Path) -> None:
    assert _status(home) == (3, {"state": "stopped", "dataDir": str(_data(home))})
    up = _up(home)
    assert (up["state"], up["new"], up["url"]) == ("running", True, up["address"])
    assert up["address"].startswith("ws://127.0.0.1:")
    code, status = _status(home)
    assert code == 0
    assert status["state"] == "running"
    assert (status["pid"], status["version"], status["sessions"], status["turnsRunning"]) == (
        up["pid"],
        __version__,
        0,
        0,
    )
    done = holdfast(home, "down", "--json")
    assert (done.code, valid(json.loads(done.out), "down")) == (0, {"dataDir": str(_data(home)), "pid": up["pid"]})
    assert running(_data(home)) is None
    assert _status(home)[0] == 3


def test_to_people_it_says_where_it_is_and_keeps_the_token_to_itself(home: Path) -> None:
    done = holdfast(home, "up", "--port", "0")
    host = running(_data(home))
    assert host is not None
    assert done == Done(0, f"{host.address}\n", f"started (process {host.pid}); `holdfast down` stops it\n")
    again = holdfast(home, "up", "--with-token")
    assert again.err == f"was running already (process {host.pid}); `holdfast down` stops it\n"
    address, _, query = again.out.strip().partition("?")
    (token,) = parse_qs(query)["tkn"]
    assert (address, token) == (host.address, (_data(home) / "token").read_text().strip())
    shown = holdfast(home, "status")
    assert shown.code == 0
    rows = dict(line.split(maxsplit=1) for line in shown.out.splitlines())
    assert (rows["host"], rows["address"], rows["turns"]) == ("running", host.address, "0 running")
    files = [each for each in _data(home).rglob("*") if each.is_file() and each.name != "token"]
    assert [each for each in files if token.encode() in each.read_bytes()] == []
    assert token not in shown.out + done.out + done.err + Path(f"/proc/{host.pid}/cmdline").read_text()


def test_up_twice_is_one_host(home: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "holdfast", "up", "--port", "0", "--json"],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    answers = [(process.communicate(timeout=60), process.returncode) for process in processes]
    assert [code for _, code in answers] == [0, 0, 0], answers
    found = [json.loads(out) for (out, _), _ in answers]
    assert len({each["pid"] for each in found}) == 1
    assert [each["new"] for each in found].count(True) == 1


def test_options_reach_the_host(home: Path) -> None:
    (home / "my.toml").write_text('frame-budget = "300kB"\n')
    flags = ("--data-dir", "here", "--config", "my.toml", "--no-compression", "--allowed-hosts", "a", "--demo-auth")
    up = _up(home, *flags, "--unix-socket", "sock")
    try:
        assert up["dataDir"] == str(home / "here")
        assert up["socket"] == str(home / "sock")
        assert up["log"] == str(home / "here" / "log" / "host.log")
        words = Path(f"/proc/{up['pid']}/cmdline").read_text().split("\0")
        assert words[words.index("--config") + 1] == str(home / "my.toml")
        assert {"--no-compression", "--demo-auth"} <= set(words)
        assert words[words.index("--allowed-hosts") + 1] == "a"
    finally:
        assert holdfast(home, "down", "--data-dir", "here").code == 0


def test_it_outlives_the_terminal_it_was_started_in(home: Path) -> None:
    up = _up(home)
    assert os.getsid(up["pid"]) == up["pid"]
    assert Path(f"/proc/{up['pid']}/fd/0").readlink() == Path("/dev/null")


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (("--durability", "some"), 2, "holdfast: --durability: expected one of process, power, got 'some'\n"),
        (("--tls-cert", "/none", "--tls-key", "/none"), 1, None),
    ],
)
def test_a_host_that_cannot_start_says_why(home: Path, flags: tuple[str, ...], code: int, said: str | None) -> None:
    done = holdfast(home, "up", "--port", "0", *flags)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("holdfast: ")
    assert done.err.count("\n") == 1
    assert said is None or done.err == said
    assert running(_data(home)) is None


def test_a_port_that_is_taken_is_named(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = holdfast(home, "up", "--port", str(port))
    assert done.code == 1
    assert str(port) in done.err
    assert done.err.count("\n") == 1


def test_down_without_a_host_ends_with_3(home: Path) -> None:
    assert holdfast(home, "down") == Done(3, "", f"holdfast: no host runs in {_data(home)}\n")


@aio
async def test_down_waits_for_running_turns_unless_told_not_to(tmp_path: Path) -> None:
    async with hosting(tmp_path, "--drain-timeout", "60s") as host:
        client = Wire(host.url)
        await client.initialize()
        chat = await client.session("demo:/1")
        await client.say(chat, "t1", "wait")
        await client.until(lambda: client.actions("chat/delta", chat))
        data = ("--data-dir", str(host.data_dir))
        done = holdfast(tmp_path, "down", *data, "--timeout", "0.2")
        assert done.code == 1
        assert done.err == (
            f"holdfast: process {host.pid} has not ended after 0.2 s; turns may be running:"
            " `holdfast down --now` does not wait for them\n"
        )
        assert holdfast(tmp_path, "down", *data, "--now") == Done(0, "", f"stopped (process {host.pid})\n")
        await client.gone()
        await host.start()
        client.url = host.url
        await client.reconnect()
        (turn,) = client.state(chat)["turns"]
        assert turn["responseParts"][-1]["resumable"]
        await client.close()


def test_a_host_that_does_not_answer_is_not_called_well(home: Path) -> None:
    up = _up(home)
    os.kill(up["pid"], signal.SIGSTOP)
    try:
        code, status = _status(home)
    finally:
        os.kill(up["pid"], signal.SIGCONT)
    assert (code, status["state"], status["pid"]) == (1, "silent", up["pid"])
    assert _status(home)[0] == 0


# Logs


def test_logs_are_shown_to_people_and_to_programs(home: Path) -> None:
    missing = holdfast(home, "logs")
    assert missing.code == 1
    assert "there is no log" in missing.err
    up = _up(home)
    assert stat.S_IMODE(Path(up["log"]).stat().st_mode) == 0o600
    *_, line = holdfast(home, "logs", "--json").out.splitlines()
    assert json.loads(line)["event"] == "listening"
    shown = holdfast(home, "logs").out
    assert f"INFO    serve: listening version={__version__} address={up['address']}" in shown
    holdfast(home, "down")
    events = [json.loads(line)["event"] for line in holdfast(home, "logs", "--json").out.splitlines()]
    # Where the directory has a long name, there is no unix socket, which is told before.
    assert events[-2:] == ["listening", "stopping"]
    last = holdfast(home, "logs", "--json", "-n", "1").out
    assert json.loads(last)["event"] == "stopping"


def test_logs_that_were_put_aside_are_read_too(home: Path) -> None:
    log = home / "host.log"
    for number, name in ((1, "host.log.2"), (2, "host.log.1"), (3, "host.log")):
        (home / name).write_text("".join(f"line {number}.{index}\n" for index in range(3)))
    flags = ("logs", "--log-file", str(log))
    assert holdfast(home, *flags, "-n", "4").out.split("\n") == ["line 2.2", "line 3.0", "line 3.1", "line 3.2", ""]
    assert len(holdfast(home, *flags).out.splitlines()) == 9


def test_a_log_is_followed_over_its_rotation(home: Path) -> None:
    log = home / "host.log"
    log.write_text("first\n")
    with subprocess.Popen(
        [sys.executable, "-m", "holdfast", "logs", "-f", "--log-file", str(log)],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == "first\n"
        with log.open("a") as opened:
            opened.write("second\nthi")
            opened.flush()
            assert following.stdout.readline() == "second\n"
            opened.write("rd\n")
        log.rename(home / "host.log.1")
        log.write_text("fourth\n")
        assert [following.stdout.readline() for _ in range(2)] == ["third\n", "fourth\n"]
        following.send_signal(signal.SIGINT)
        assert following.wait(timeout=30) == -signal.SIGINT
        assert following.stderr is not None
        assert following.stderr.read() == ""


def test_what_others_wrote_moves_no_cursor(home: Path) -> None:
    log = home / "host.log"
    log.write_text("\x1b[2Jgone\n")
    assert "\x1b" not in holdfast(home, "logs", "--log-file", str(log)).out


@aio
async def test_a_host_that_logs_elsewhere_says_so(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        done = holdfast(tmp_path, "logs", "--data-dir", str(host.data_dir))
        assert done.code == 1
        assert f"the host (process {host.pid}) logs to where it was started" in done.err
