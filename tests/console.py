"""The `holdfast` command as people and scripts run it: real processes, against a real host that a module shares."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema

from served import environment

__all__ = ["Console", "Done", "serving"]

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


class Console:
    """A terminal of a user whose host runs."""

    def __init__(self, home: Path, data_dir: Path, url: str) -> None:
        self.home = home
        self.data_dir = data_dir
        self.url = url
        self.variables: dict[str, str] = {**environment(home), "HOLDFAST_DATA_DIR": str(data_dir)}

    def start(self, *words: str, variables: Mapping[str, str] | None = None, **kwargs: Any) -> subprocess.Popen[str]:
        """Start a command; its streams are pipes unless something else is said."""
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", *words],
            env={**self.variables, **(variables or {})},
            text=True,
            **(pipes | kwargs),
        )

    def run(self, *words: str, stdin: str = "", variables: Mapping[str, str] | None = None) -> Done:
        """Run a command to its end."""
        with self.start(*words, variables=variables) as process:
            try:
                out, err = process.communicate(stdin, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                raise AssertionError(f"{words} did not end; it printed {out!r} and {err!r}") from None
        return Done(process.returncode, out, err)

    def text(self, *words: str, stdin: str = "") -> str:
        """What a command prints that goes well."""
        done = self.run(*words, stdin=stdin)
        assert done.code == 0, done
        return done.out

    def json(self, *words: str, schema: str, code: int = 0, stdin: str = "") -> Any:
        """What a command prints with `--json`, checked against its schema."""
        done = self.run(*words, "--json", stdin=stdin)
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
