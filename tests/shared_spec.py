"""Where the official fixtures and schemas are, when they are there at all.

They stay outside this project. Tests that need them run when the folder stands beside the checkout, and the
project's own corpus runs everywhere.
"""

from __future__ import annotations

from pathlib import Path

SPEC = Path(__file__).resolve().parents[2] / "shared" / "spec"


def fixtures(version: str, kind: str = "reducers") -> Path:
    """The folder of one version's cases; it may not exist."""
    return SPEC / "fixtures" / version / kind


def schemas(version: str) -> Path:
    """The folder of one version's JSON Schemas; it may not exist."""
    return SPEC / "schema" / version
