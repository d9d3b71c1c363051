"""docs/versions.md says of versions what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from holdfast.protocol.compat.bridge import STEPS

PAGE: Final = (Path(__file__).parents[2] / "docs" / "versions.md").read_text(encoding="utf-8")
_RESYNC: Final = re.compile(r"^\| ([\d.]+) \| `([\w/]+)` \| (.+) \|$", re.MULTILINE)


def test_what_makes_clients_reconnect_is_listed() -> None:
    known = {(str(step.older), type, rule.why) for step in STEPS for type, rule in step.resync.items()}  # noqa: A001
    listed = _RESYNC.findall(PAGE)
    assert set(listed) == known
    assert len(listed) == len(known)


def test_every_version_is_said_to_miss_something() -> None:
    rows = re.findall(r"^\| ([\d.]+) \| \w", PAGE, re.MULTILINE)
    assert [each if each.count(".") == 2 else f"{each}.0" for each in rows] == [str(step.older) for step in STEPS]
