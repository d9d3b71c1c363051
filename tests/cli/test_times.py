"""Timestamps as people say them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.cli.times import ago, is_recent

NOW = datetime(2026, 3, 10, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("2026-03-10T17:59:59.500Z", "now"),
        ("2026-03-10T18:00:03.000Z", "now"),  # another clock
        ("2026-03-10T17:56:30.000Z", "3 min ago"),
        ("2026-03-10T15:00:00.000Z", "3 h ago"),
        ("2026-03-08T15:00:00.000Z", "2 d ago"),
        ("2024-03-08T15:00:00.000Z", "2 y ago"),
        ("2026-03-10T19:00:00.000Z", "2026-03-10T19:00:00.000Z"),
        ("2026-03-10T17:00:00", "2026-03-10T17:00:00"),  # of no zone
        ("soon", "soon"),
        ("", ""),
    ],
)
def test_ago(then: str, said: str) -> None:
    assert ago(then, NOW) == said


@pytest.mark.parametrize(
    ("then", "recent"),
    [
        ("2026-03-10T17:59:30.000Z", True),
        ("2026-03-10T18:00:04.000Z", True),
        ("2026-03-10T17:58:30.000Z", False),
        ("2026-03-10T18:01:00.000Z", False),
        ("soon", False),
    ],
)
def test_is_recent(then: str, recent: bool) -> None:
    assert is_recent(then, NOW) is recent
