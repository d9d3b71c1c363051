"""`doctor` finds what is wrong, one thing at a time, and says how to mend it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aio import aio
from cli.running import holdfast, valid
from holdfast import __version__
from holdfast.cli import checks
from holdfast.cli.checks import machine
from holdfast.cli.doctor import _checks
from holdfast.server.settings import Settings
from served import hosting


def _findings(home: Path, *flags: str, code: int = 0, **variables: str) -> dict[str, dict[str, Any]]:
    """What it finds, by check."""
    done = holdfast(home, "doctor", "--json", *flags, **variables)
    assert (done.code, done.err) == (code, ""), done
    return {each["check"]: each for each in valid(json.loads(done.out), "doctor")}


def _amiss(findings: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: each["state"] for name, each in findings.items() if each["state"] not in ("ok", "skipped")}


def _data(home: Path) -> Path:
    return home / ".local" / "share" / "holdfast"


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    assert holdfast(folder, "up", "--port", "0").code == 0
    assert holdfast(folder, "down").code == 0
    return folder


@pytest.fixture
def home(lived_in: Path, tmp_path: Path) -> Path:
    """A home in which a host has run and ended."""
    shutil.copytree(lived_in, tmp_path, dirs_exist_ok=True)
    return tmp_path


# Where nothing is wrong but the length of the names that tests have.
SHORT = ("--unix-socket", "s", "--port", "0")


def test_a_new_home_is_well(tmp_path: Path) -> None:
    findings = _findings(tmp_path, *SHORT)
    assert list(findings) == list(_checks())
    assert _amiss(findings) == {}
    assert findings["journal"]["says"] == findings["token"]["says"] == "will be made by the first host"
    assert not _data(tmp_path).exists(), "it changes nothing"


def test_people_read_what_is_wrong_and_what_to_do(home: Path) -> None:
    (_data(home) / "token").chmod(0o644)
    done = holdfast(home, "doctor", *SHORT)
    assert done.code == 1
    lines = done.out.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("wrong   token  "))
    assert lines[at + 1].strip() == f"-> chmod 600 {_data(home)}/token && holdfast token --rotate"
    assert lines[-1] == "1 wrong"
    assert "\x1b" not in done.out
    (_data(home) / "token").chmod(0o600)
    assert holdfast(home, "doctor", *SHORT).out.splitlines()[-1] == "nothing is wrong"


def _open_directory(home: Path) -> None:
    _data(home).chmod(0o755)


def _file_as_directory(home: Path) -> None:
    shutil.rmtree(_data(home))
    _data(home).write_text("")


def _no_token(home: Path) -> None:
    (_data(home) / "token").write_text("\n")


def _broken_config(home: Path) -> None:
    folder = home / ".config" / "holdfast"
    folder.mkdir(parents=True)
    (folder / "holdfast.toml").write_text("prot = 1\n")


def _foreign_journal(home: Path) -> None:
    (_data(home) / "journal.db").write_bytes(b"Dear aunt, " * 1000)


def _newer_journal(home: Path) -> None:
    with sqlite3.connect(_data(home) / "journal.db") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def _damaged_journal(home: Path) -> None:
    file = _data(home) / "journal.db"
    data = bytearray(file.read_bytes())
    data[4096:8192] = b"\xff" * 4096
    file.write_bytes(data)


def _no_socket(home: Path) -> None:
    (home / "s").write_text("no socket")


def _lost_program(home: Path) -> None:
    folder = home / ".config" / "systemd" / "user"
    folder.mkdir(parents=True)
    (folder / "holdfast.service").write_text("[Service]\nExecStart=/gone/python -m holdfast serve\n")


def _last_words(home: Path) -> None:
    (_data(home) / "log" / "stderr.log").write_text("Traceback\nMemoryError: too much\n")


@pytest.mark.parametrize(
    ("spoil", "check", "state", "says", "fix"),
    [
        (_open_directory, "data-dir", "wrong", "others may enter", "chmod 700 "),
        (_file_as_directory, "data-dir", "wrong", "is not a directory", "choose another --data-dir"),
        (_no_token, "token", "wrong", "is empty", "holdfast token --rotate"),
        (_broken_config, "config", "wrong", "there is no option 'prot'; is it port?", "holdfast config"),
        (_foreign_journal, "journal", "wrong", "is not a Holdfast journal", "put a backup in its place"),
        (_newer_journal, "journal", "wrong", "was written by a newer Holdfast", "put a backup in its place"),
        (_damaged_journal, "journal", "wrong", "journal.db", "put a backup in its place"),
        (_no_socket, "socket", "wrong", "is no socket", "move it away"),
        (_last_words, "last-words", "warning", "ended with: MemoryError: too much", "holdfast logs"),
        pytest.param(
            *(_lost_program, "service", "wrong", "/gone/python, which is not there", "service install` again"),
            marks=pytest.mark.skipif(sys.platform == "darwin", reason="a unit of systemd"),
        ),
    ],
)
def test_one_thing_is_wrong(
    home: Path, spoil: Callable[[Path], None], check: str, state: str, says: str, fix: str
) -> None:
    spoil(home)
    findings = _findings(home, *SHORT, code=1 if state == "wrong" else 0)
    assert findings[check]["state"] == state
    assert says in findings[check]["says"]
    assert fix in findings[check]["fix"]
    # Of a directory that is none nothing can be read, and options that cannot be read are not in force.
    assert spoil in (_file_as_directory, _broken_config) or _amiss(findings) == {check: state}


def test_a_path_that_is_too_long_for_a_socket(tmp_path: Path) -> None:
    findings = _findings(tmp_path, "--port", "0", "--unix-socket", "s" * 120)
    assert _amiss(findings) == {"socket": "warning"}
    assert "and a unix socket" in findings["socket"]["says"]
    off = _findings(tmp_path, "--port", "0", "--unix-socket", "off")
    assert off["socket"]["state"] == "skipped"


def test_a_port_that_another_program_has(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        findings = _findings(tmp_path, "--unix-socket", "s", "--port", str(port), code=1)
    assert findings["port"]["says"] == f"another program listens at 127.0.0.1:{port}"
    assert _findings(tmp_path, "--unix-socket", "s", "--port", str(port))["port"]["state"] == "ok"


@aio
async def test_a_port_that_another_host_has_and_a_variable_that_names_it(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        address = host.url.partition("?")[0]
        port = address.rstrip("/").rpartition(":")[2]
        flags = ("--unix-socket", "s", "--port", port)
        findings = _findings(tmp_path, *flags, code=1, HOLDFAST_HOST=host.url)
        assert _amiss(findings) == {"port": "wrong"}
        assert findings["port"]["says"] == f"a host of another data directory listens at 127.0.0.1:{port}"
        assert findings["HOLDFAST_HOST"]["says"].startswith(f"HOLDFAST_HOST: holdfast {__version__} answers at")
        wrong = _findings(tmp_path, *SHORT, code=1, HOLDFAST_HOST=f"{address}?tkn=wrong")
        assert "token" in wrong["HOLDFAST_HOST"]["says"]


@aio
async def test_a_host_that_runs_is_greeted(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        flags = ("--data-dir", str(host.data_dir))
        findings = _findings(tmp_path, *flags)
        assert findings["host"]["says"].startswith(f"holdfast {__version__} answers at ")
        assert findings["host"]["says"].endswith("protocol 1.0.0")
        assert (findings["version"]["says"], findings["lock"]["says"]) == (
            __version__,
            f"a host runs, process {host.pid}",
        )


@aio
async def test_a_host_that_is_stopped_does_not_answer(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        os.kill(host.pid, signal.SIGSTOP)
        try:
            findings = _findings(tmp_path, "--data-dir", str(host.data_dir), code=1)
        finally:
            os.kill(host.pid, signal.SIGCONT)
        assert findings["host"]["state"] == "wrong"
        assert "holdfast down --now" in findings["host"]["fix"]


@aio
async def test_a_host_without_its_lock_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with hosting(tmp_path, "--unix-socket", str(path)) as host:
        (host.data_dir / "lock").unlink()
        flags = ("--data-dir", str(host.data_dir), "--unix-socket", str(path), "--port", "0")
        findings = _findings(tmp_path, *flags, code=1)
    assert _amiss(findings) == {"lock": "wrong"}
    assert "does not hold the lock" in findings["lock"]["says"]
    assert findings["lock"]["fix"] == (f"kill {host.pid}" if sys.platform == "linux" else findings["lock"]["fix"])


HOLDER = """
import fcntl, json, os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(file, fcntl.LOCK_EX)
os.write(file, json.dumps({"pid": int(sys.argv[2]), "started": "", "version": "9.9.9"}).encode() + b"\\n")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_lock_that_outlived_its_process_and_a_host_of_another_version(home: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    words = [sys.executable, "-c", HOLDER, str(_data(home) / "lock"), str(gone.pid)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        findings = _findings(home, *SHORT, code=1)
        assert holder.stdin is not None
        holder.stdin.close()
    assert _amiss(findings) == {"lock": "wrong", "host": "warning", "version": "warning"}
    assert "a child of it holds it" in findings["lock"]["says"]
    assert findings["version"]["says"] == f"the host that runs is 9.9.9, and this is {__version__}"


def test_no_token_is_worth_a_warning(tmp_path: Path) -> None:
    assert _amiss(_findings(tmp_path, *SHORT, "--no-token")) == {"token": "warning"}


# What a machine may lack


@pytest.fixture
def place(tmp_path: Path) -> checks.Place:
    return checks.Place(
        settings=Settings(data_dir=tmp_path / "data"), complaint=None, environ={}, host=None, thorough=False
    )


@pytest.mark.parametrize(("free", "state"), [(50 * 2**20, "wrong"), (500 * 2**20, "warning"), (50 * 2**30, "ok")])
def test_space_runs_out(place: checks.Place, monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**40, 2**40 - free, free))
    assert machine.disk(place).state == state


def test_an_old_library_is_named(place: checks.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "8.0.4" if name == "click" else "99.0")
    finding = machine.libraries(place)
    assert (finding.state, finding.fix) == ("wrong", "pip install --upgrade click")
    assert finding.says == "click is 8.0.4, and 8.1.7 is needed"


def test_few_files_and_old_interpreters(place: checks.Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4096))
    assert machine.open_files(place).state == "warning"
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 7, 0))
    assert machine.sqlite(place).state == "wrong"
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(sys, "version_info", (3, 10, 4))
        finding = machine.python(place)
    assert finding.state == "wrong"
