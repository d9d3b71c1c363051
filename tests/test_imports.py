"""Imports go one way: `protocol <- host <- server <- cli`, and what stands beside the host stands alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

SOURCE: Final = Path(__file__).parents[1] / "src" / "holdfast"

# Package -> what of ours it may import. A package that is not listed fails the test until somebody decides.
ALLOWED: Final = {
    "protocol": {"protocol"},
    "ports": {"ports", "protocol"},
    "host": {"host", "ports", "protocol"},
    "journal": {"journal", "ports", "protocol"},
    "agents": {"agents", "ports", "protocol"},
    "server": {"server", "agents", "journal", "host", "ports", "protocol", "places"},
    "client": {"client", "protocol", "places", "_version"},
    "attach": {"attach", "client", "protocol", "places"},
    "sync": {"sync", "client", "protocol"},
    "cli": {"attach", "cli", "server", "journal", "client", "protocol", "places"},
    "testing": {"testing", "sync", "agents", "client", "server", "journal", "host", "ports", "protocol"},
    "": {"cli", "client", "protocol", "sync", "testing", "_version"},  # modules directly in `holdfast`
}

# The pure core does no I/O and reads no clock.
IMPURE: Final = {
    "asyncio",
    "socket",
    "sqlite3",
    "subprocess",
    "threading",
    "time",
    "random",
    "uuid",
    "os",
    "io",
}
PURE: Final = {"protocol", "ports", "host"}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _package(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else ""


FILES: Final = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    package = _package(path)
    for name in _imports(path):
        top, _, rest = name.partition(".")
        if top == "holdfast":
            part = rest.split(".")[0]
            assert part in ALLOWED[package] or part == "__version__", f"{package} may not import {name}"
        elif package in PURE:
            assert top not in IMPURE, f"{package} is pure and may not import {name}"
