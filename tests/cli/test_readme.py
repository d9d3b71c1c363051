"""What the README tells people to type works, in the order in which they would type it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from console import Console

README = Path(__file__).parents[2] / "README.md"


def _commands() -> list[str]:
    section = README.read_text().partition("\n## Talk to it\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [line.partition("  #")[0].strip() for line in block.splitlines()]


def test_the_first_conversation(console: Console, tmp_path: Path) -> None:
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    told: dict[str, tuple[int, str]] = {}
    for command in _commands():
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command.replace("git diff", "echo recall")],
            env={**console.variables, "PATH": programs},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        told[command] = (done.returncode, done.stdout + done.stderr)
    # Nobody sits at a terminal here, so the tool waits for the next command.
    waited = told.pop('holdfast send --session hello "approve make a boat"')
    assert waited[0] == 5
    assert {command: code for command, (code, _) in told.items()} == dict.fromkeys(told, 0), told
    assert "make a boat" in told["holdfast approve"][1]
    assert "* Run command: Ran `make a boat`" in told["holdfast show hello"][1]
    assert (tmp_path / "hello.html").read_text().startswith("<!doctype html>")
