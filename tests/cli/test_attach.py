"""`holdfast attach` as people start it: in a terminal, and where there is none."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from console import Console

_PATIENCE: Final = 30.0


class Terminal:
    """A program in a terminal of its own; `seen` is everything it wrote."""

    def __init__(self, process: subprocess.Popen[bytes], keyboard: int) -> None:
        self.process = process
        self.seen = b""
        self._keyboard = keyboard

    def press(self, keys: bytes) -> None:
        os.write(self._keyboard, keys)

    def until(self, *words: bytes) -> None:
        """Read until the program has written these words."""
        end = time.monotonic() + _PATIENCE
        while not all(word in self.seen for word in words):
            ready, _, _ = select.select([self._keyboard], [], [], max(end - time.monotonic(), 0))
            assert ready, (words, self.seen)
            try:
                self.seen += os.read(self._keyboard, 65536)
            except OSError:
                raise AssertionError((words, self.seen)) from None

    def ended(self) -> int:
        """Read to the end, and wait for it; its exit code."""
        try:
            while data := os.read(self._keyboard, 65536):
                self.seen += data
        except OSError:
            pass
        return self.process.wait(_PATIENCE)


@contextmanager
def terminal(variables: Mapping[str, str], *words: str) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**variables, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.close(ours)


def test_a_session_is_shown_and_left_and_can_be_found_again(console: Console) -> None:
    made = console.json("new", "--agent", "demo", "--title", "Shown", schema="new")
    with terminal(console.variables, "attach", "Shown") as shown:
        shown.until("● live".encode(), b"Shown", b"Write a message")
        shown.press(b"\x11")  # ^q
        assert shown.ended() == 0
    id = made["session"].rpartition("/")[2][:8]
    assert f"Come back: holdfast attach {id}".encode() in shown.seen


def test_the_list_is_shown_when_no_session_is_named(console: Console) -> None:
    console.json("new", "--agent", "demo", "--title", "Listed one", schema="new")
    with terminal(console.variables, "attach", "--host", console.url) as shown:
        shown.until(b"F1")
        shown.press(b"\x11")
        assert shown.ended() == 0


def test_it_needs_a_terminal(console: Console) -> None:
    done = console.run("attach")
    assert (done.code, done.out) == (2, "")
    assert "attach needs a terminal" in done.err


def test_without_a_host_it_says_so_and_leaves_the_terminal_alone(console: Console, tmp_path: Path) -> None:
    with terminal(console.variables, "attach", "--data-dir", str(tmp_path)) as shown:
        assert shown.ended() == 3
    assert b"no host runs for" in shown.seen
    assert b"\x1b[?1049h" not in shown.seen


def test_a_session_that_is_not_there_is_not_found(console: Console) -> None:
    with terminal(console.variables, "attach", "no such session") as shown:
        assert shown.ended() != 0
    assert b"no session" in shown.seen
