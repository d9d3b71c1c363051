"""What is where in a data directory."""

from __future__ import annotations

from pathlib import Path

__all__ = ["journal_file", "token_file"]


def journal_file(data_dir: Path) -> Path:
    """Sessions and everything in them; SQLite keeps two more files beside it."""
    return data_dir / "journal.db"


def token_file(data_dir: Path) -> Path:
    """The connection token, readable for its owner."""
    return data_dir / "token"
