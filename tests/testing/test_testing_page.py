"""Every snippet of docs/testing.md is a file of a project whose tests pass."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
FILES = dict(re.findall(r"^```python\n# (\S+)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))


def test_the_project_on_the_page_passes_its_tests(tmp_path: Path) -> None:
    assert len(FILES) == PAGE.read_text().count("```python")
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "6 passed" in done.stdout, done.stdout + done.stderr
