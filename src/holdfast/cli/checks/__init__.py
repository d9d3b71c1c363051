"""What `holdfast doctor` looks at: one small function for each thing that can be wrong, listed in `CHECKS`.

A check looks, and changes nothing. It says what it found in words for a person, and how to mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from holdfast.cli.shapes import Finding
from holdfast.places import Running
from holdfast.server.settings import Settings

__all__ = ["Check", "Place", "found", "skipped", "warning", "wrong"]


@dataclass(frozen=True, kw_only=True)
class Place:
    """What the checks are about. With `complaint` the options cannot be read, and `settings` are the defaults."""

    settings: Settings
    complaint: str | None
    environ: Mapping[str, str]
    host: Running | None
    thorough: bool

    @property
    def data_dir(self) -> Path:
        return self.settings.data_dir


Check: TypeAlias = Callable[[Place], Finding]


def _finding(state: Literal["ok", "warning", "wrong", "skipped"], says: str, fix: str | None = None) -> Finding:
    return Finding(check="", state=state, says=says, fix=fix)


def found(says: str) -> Finding:
    """As it should be."""
    return _finding("ok", says)


def warning(says: str, fix: str) -> Finding:
    """It works, and may not for long, or not as somebody would like."""
    return _finding("warning", says, fix)


def wrong(says: str, fix: str) -> Finding:
    """It does not work so."""
    return _finding("wrong", says, fix)


def skipped(why: str) -> Finding:
    """There is nothing to look at."""
    return _finding("skipped", why)
