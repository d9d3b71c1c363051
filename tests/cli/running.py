"""The real command run to its end, by a user with a home of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from console import SECONDS, Console, Done, valid
from served import environment

__all__ = ["Done", "holdfast", "valid"]


def holdfast(home: Path, *arguments: str, stdin: str = "", **variables: str) -> Done:
    """Run `holdfast` as a user with this home, who has set nothing but these variables."""
    done = subprocess.run(
        Console.words(*arguments),
        input=stdin,
        capture_output=True,
        text=True,
        env={**environment(home), **variables},
        cwd=home,
        timeout=SECONDS,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)
