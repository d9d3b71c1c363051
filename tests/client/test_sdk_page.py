"""Every snippet of docs/sdk.md runs, against a real host."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from aio import run
from served import environment, hosting

PAGE = Path(__file__).parents[2] / "docs" / "sdk.md"
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
PROGRAMS = [snippet for snippet in SNIPPETS if snippet.startswith("import holdfast") or "asyncio.run" in snippet]
PARTS = [snippet for snippet in SNIPPETS if snippet not in PROGRAMS]


def test_the_page_has_both() -> None:
    assert len(PROGRAMS) == 2
    assert len(PARTS) > 8


@pytest.mark.parametrize("snippet", PROGRAMS, ids=["async", "sync"])
def test_programs_run_as_they_stand(snippet: str, tmp_path: Path) -> None:
    async def conversation() -> None:
        async with hosting(tmp_path):
            done = subprocess.run(  # noqa: ASYNC221 - nothing else is to happen meanwhile
                [sys.executable, "-c", snippet],
                env={**environment(tmp_path), "HOLDFAST_DATA_DIR": str(tmp_path / "data")},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.stderr == ""
            assert "I would like to run a command." in done.stdout

    run(conversation, 60)


@pytest.mark.parametrize("snippet", PARTS, ids=[snippet.partition("\n")[0][:40] for snippet in PARTS])
def test_snippets_run_where_there_is_a_session(snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_DATA_DIR", str(tmp_path / "data"))
    code = compile(snippet, PAGE.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    async def conversation() -> None:
        async with hosting(tmp_path), holdfast.connect() as host:
            names: dict[str, Any] = {"holdfast": holdfast, "host": host, "session": await host.create_session("demo")}
            waiting = eval(code, names)
            if inspect.isawaitable(waiting):
                await waiting

    run(conversation, 60)
