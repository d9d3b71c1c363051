"""The `holdfast` command as people and scripts run it: real processes, against a real host that a module shares."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema
from click.testing import CliRunner

from holdfast.cli import cli
from served import environment

__all__ = ["Console", "Done", "Running", "Screen", "serving", "valid"]

SECONDS: Final = 60.0
"""After which a command that should have ended is believed not to end."""

SCHEMAS: Final = Path(__file__).parents[1] / "docs" / "schemas"


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))


class Running:
    """A command that runs beside the test."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def line(self) -> str:
        """The next line of stdout."""
        assert self._process.stdout is not None, "a pipe"
        line: str = self._process.stdout.readline()
        assert line, f"there was no more: {self.end()}"
        return line

    def until(self, words: str) -> str:
        """The next line of stdout that has these words in it."""
        while words not in (line := self.line()):
            pass
        return line

    def letters(self, count: int) -> str:
        """The next so many letters of stdout."""
        assert self._process.stdout is not None, "a pipe"
        return self._process.stdout.read(count)

    def remark(self) -> str:
        """The next line of stderr."""
        assert self._process.stderr is not None, "a pipe"
        line: str = self._process.stderr.readline()
        assert line, f"there was no more: {self.end()}"
        return line

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def hang_up(self) -> None:
        """Read stdout no more."""
        assert self._process.stdout is not None, "a pipe"
        self._process.stdout.close()

    def end(self) -> Done:
        """Wait for its end; what it printed that was not read."""
        streams = (self._process.stdout, self._process.stderr)
        out, err = ("" if each is None or each.closed else each.read() for each in streams)
        return Done(self._process.wait(SECONDS), out, err)


class Screen:
    """What a command shows on a terminal, and the keys for it."""

    def __init__(self, file: int, process: subprocess.Popen[Any]) -> None:
        self._file = file
        self.process = process
        self.shown = ""

    def until(self, words: str) -> str:
        """Wait until something appears; everything up to there is returned, and not looked at again."""
        while words not in self.shown:
            self._read(f"{words!r} did not appear in {self.shown!r}")
        seen, _, self.shown = self.shown.partition(words)
        return seen + words

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._file, text.encode())

    def end(self) -> int:
        """Wait until the command is over; its exit code is returned, and `shown` has the rest."""
        with contextlib.suppress(OSError):  # so a terminal ends on Linux
            while self._read("it does not end"):
                pass
        return self.process.wait(SECONDS)

    def _read(self, problem: str) -> bool:
        ready, _, _ = select.select([self._file], [], [], SECONDS)
        assert ready, problem
        data = os.read(self._file, 65_536)
        self.shown += data.decode().replace("\r\n", "\n")
        return bool(data)


class Console:
    """A terminal of a user whose host runs."""

    def __init__(self, home: Path, data_dir: Path, url: str) -> None:
        self.home = home
        self.data_dir = data_dir
        self.url = url
        self.variables: dict[str, str] = {**environment(home), "HOLDFAST_DATA_DIR": str(data_dir)}
        self._tried: set[str] = set()

    @staticmethod
    def words(*words: str) -> list[str]:
        """The whole command."""
        return [sys.executable, "-m", "holdfast", *words]

    @contextmanager
    def start(self, *words: str, variables: Mapping[str, str] | None = None) -> Iterator[Running]:
        """Run a command beside the test, for as long as the block lasts."""
        process = subprocess.Popen(
            self.words(*words),
            env={**self.variables, **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # Reading what does not come would last for ever.
        limit = threading.Timer(SECONDS, process.kill)
        limit.start()
        with process:
            try:
                yield Running(process)
            finally:
                limit.cancel()
                process.kill()

    def run(self, *words: str, stdin: str = "", variables: Mapping[str, str] | None = None) -> Done:
        """Run a command to its end."""
        done = subprocess.run(
            self.words(*words),
            env={**self.variables, **(variables or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def screen(self, *words: str, variables: Mapping[str, str] | None = None, **streams: Any) -> Iterator[Screen]:
        """Run a command on a terminal of its own; streams that are given are something else."""
        ours, theirs = pty.openpty()
        attributes = termios.tcgetattr(theirs)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, attributes)
        process = subprocess.Popen(
            self.words(*words),
            env={**self.variables, "TERM": "xterm", "COLUMNS": "120", "LINES": "40", **(variables or {})},
            start_new_session=True,
            # The terminal becomes that of the new session: what /dev/tty is.
            preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
            **(dict.fromkeys(("stdin", "stdout", "stderr"), theirs) | streams),
        )
        os.close(theirs)
        try:
            yield Screen(ours, process)
        finally:
            process.kill()
            process.communicate()
            os.close(ours)

    def _quickly(self, words: Sequence[str], stdin: str) -> Done:
        """Run a command in a process of its own the first time, then in this one: starting takes the time."""
        if words[0] not in self._tried:
            self._tried.add(words[0])
            return self.run(*words, stdin=stdin)
        done = CliRunner().invoke(cli, words, input=stdin, env=self.variables, catch_exceptions=False)
        return Done(done.exit_code, done.stdout, done.stderr)

    def text(self, *words: str, stdin: str = "") -> str:
        """What a command prints that goes well."""
        done = self._quickly(words, stdin)
        assert done.code == 0, done
        return done.out

    def json(self, *words: str, schema: str, code: int = 0, stdin: str = "") -> Any:
        """What a command prints with `--json`, checked against its schema."""
        done = self._quickly((*words, "--json"), stdin)
        assert done.code == code, done
        return valid(json.loads(done.out), schema)


def valid(value: Any, schema: str) -> Any:
    """The value, if it is what the schema says."""
    _validator(schema).validate(value)
    return value


@contextmanager
def serving(directory: Path, *flags: str) -> Iterator[Console]:
    """A console whose host runs, until the block ends."""
    data_dir = directory / "data"
    with (
        (directory / "host.log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "holdfast", "serve", "--data-dir", str(data_dir), "--port", "0", *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment(directory),
            text=True,
        ) as host,
    ):
        try:
            assert host.stdout is not None
            word, _, url = host.stdout.readline().strip().partition(" ")
            assert word == "ready", (directory / "host.log").read_text()
            yield Console(directory, data_dir, url)
        finally:
            host.kill()
