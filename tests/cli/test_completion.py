"""`completion`: a shell that has read the script completes commands, options and their values."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from cli.running import holdfast
from holdfast.cli import cli
from served import environment

# What bash does when somebody presses Tab.
TAB = """\
eval "$(holdfast completion bash)"
words=($1 "$2"); COMP_WORDS=("${words[@]}"); COMP_CWORD=$((${#words[@]} - 1))
function compopt() { echo "compopt $*"; }
_holdfast_completion holdfast
printf '%s\\n' "${COMPREPLY[@]}"
"""


def _completed(home: Path, line: str) -> list[str]:
    """What bash offers at the end of a line."""
    *words, last = line.split(" ")
    programs = Path(sys.executable).parent
    variables = {**environment(home), "PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", TAB, "bash", " ".join(words), last],
        capture_output=True,
        text=True,
        env=variables,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("holdfast sta", ["status"]),
        ("holdfast serve --durab", ["--durability"]),
        ("holdfast serve --durability ", ["process", "power"]),
        ("holdfast service unin", ["uninstall"]),
        ("holdfast completion f", ["fish"]),
    ],
)
def test_bash_completes(tmp_path: Path, line: str, offered: list[str]) -> None:
    assert _completed(tmp_path, line) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_offers_every_command_and_files(tmp_path: Path) -> None:
    assert _completed(tmp_path, "holdfast ") == cli.list_commands(click.Context(cli))
    assert _completed(tmp_path, "holdfast serve --data-dir ")[:2] == ["compopt -o", "default"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_what_commands_do(tmp_path: Path, shell: str) -> None:
    words = {"COMP_WORDS": "holdfast sta", "COMP_CWORD": "1" if shell == "zsh" else "sta"}
    done = holdfast(tmp_path, _HOLDFAST_COMPLETE=f"{shell}_complete", **words)
    assert "Tell whether a host runs here" in done.out
    script = holdfast(tmp_path, "completion", shell)
    assert (script.code, script.err) == (0, "")
    assert f"_HOLDFAST_COMPLETE={shell}_complete" in script.out


def test_a_shell_we_do_not_know_is_refused(tmp_path: Path) -> None:
    assert holdfast(tmp_path, "completion", "tcsh").code == 2
