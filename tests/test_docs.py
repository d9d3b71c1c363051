"""Every command the documentation shows is run here, and prints what the page says it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])

# A console block: commands after "$ ", each followed by what it prints.
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([\w./-]+)\)")


class Shown(NamedTuple):
    command: str
    output: str


def _shown(page: Path) -> list[Shown]:
    blocks = "".join(_BLOCK.findall(page.read_text()))
    return [
        Shown(command, output)
        for command, _, output in (part.partition("\n") for part in re.split(r"^\$ ", blocks, flags=re.MULTILINE))
        if command
    ]


CASES = [pytest.param(shown, id=f"{page.name}-{index}") for page in PAGES for index, shown in enumerate(_shown(page))]


@pytest.mark.parametrize("shown", CASES)
def test_commands_print_what_the_page_shows(shown: Shown) -> None:
    programs = str(Path(sys.executable).parent)
    command = shown.command.replace(".venv/bin/", "")
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == shown.output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target
