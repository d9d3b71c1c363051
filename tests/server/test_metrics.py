"""Numbers in the text format of Prometheus."""

from __future__ import annotations

import pytest

from holdfast.protocol.errors import UsageError
from holdfast.server.metrics import SECONDS, Registry


def test_the_text_is_what_prometheus_reads() -> None:
    registry = Registry()
    actions = registry.counter("actions_total", "Actions accepted.")
    by_unix = registry.counter("links_total", "Links opened.", transport="unix")
    by_tcp = registry.counter("links_total", "Links opened.", transport='"tcp"\\\n')
    sessions = [1, 2, 3]
    registry.gauge("sessions", "Sessions in memory.", lambda: len(sessions))
    registry.gauge("broken", "No number.", lambda: float("nan"))
    commits = registry.histogram("commit_seconds", "Time to commit.", (0.1, 1.0), durability="process")
    actions.add()
    actions.add(2)
    by_unix.add()
    by_tcp.add(0.5)
    for seconds in (0.05, 0.1, 0.5, 3):
        commits.observe(seconds)
    sessions.pop()
    assert registry.text() == (
        "# HELP actions_total Actions accepted.\n# TYPE actions_total counter\nactions_total 3\n"
        "# HELP links_total Links opened.\n# TYPE links_total counter\n"
        'links_total{transport="unix"} 1\nlinks_total{transport="\\"tcp\\"\\\\\\n"} 0.5\n'
        "# HELP sessions Sessions in memory.\n# TYPE sessions gauge\nsessions 2\n"
        "# HELP broken No number.\n# TYPE broken gauge\nbroken nan\n"
        "# HELP commit_seconds Time to commit.\n# TYPE commit_seconds histogram\n"
        'commit_seconds_bucket{durability="process",le="0.1"} 2\n'
        'commit_seconds_bucket{durability="process",le="1"} 3\n'
        'commit_seconds_bucket{durability="process",le="+Inf"} 4\n'
        'commit_seconds_sum{durability="process"} 3.65\n'
        'commit_seconds_count{durability="process"} 4\n'
    )


def test_a_name_means_one_thing() -> None:
    registry = Registry()
    registry.counter("x_total", "X.")
    registry.counter("x_total", "X.", kind="a")
    for again in (
        lambda: registry.counter("x_total", "X."),
        lambda: registry.gauge("x_total", "X.", lambda: 0, kind="b"),
    ):
        with pytest.raises(UsageError, match="there is a counter of that name already"):
            again()


def test_an_empty_registry_is_an_empty_text() -> None:
    assert Registry().text() == ""
    assert sorted(SECONDS) == list(SECONDS)
