"""The real command, run to its end or for as long as a test looks at it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from cli_reference import SCHEMAS
from served import environment

__all__ = ["Done", "conforms", "holdfast"]


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def holdfast(home: Path, *arguments: str, stdin: str = "", **variables: str) -> Done:
    """Run `holdfast` as a user with this home, who has set nothing but these variables."""
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={**environment(home), **variables},
        cwd=home,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def conforms(value: Any, schema: str) -> Any:
    """The value, which has the documented shape."""
    jsonschema.validate(value, json.loads((SCHEMAS / f"{schema}.schema.json").read_text()))
    return value
