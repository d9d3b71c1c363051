"""What people write for a host."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.client.backoff import Retry
from holdfast.client.targets import target_of
from holdfast.protocol.errors import UsageError


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("ws://127.0.0.1:7447/?tkn=secret", "ws://127.0.0.1:7447/"),
        ("wss://host.example/ahp?tkn=secret", "wss://host.example/ahp"),
        ("http://127.0.0.1:7447/?tkn=secret", "ws://127.0.0.1:7447/"),
        ("https://host.example/", "wss://host.example/"),
        ("localhost:7447", "ws://localhost:7447/"),
        ("unix:/run/h.sock", "unix:/run/h.sock"),
        ("unix:///run/h.sock", "unix:/run/h.sock"),
        ("exec:holdfast serve --stdio", "exec:holdfast serve --stdio"),
        (["holdfast", "serve", "--stdio"], "exec:holdfast serve --stdio"),
        (Path("/run/h.sock"), "unix:/run/h.sock"),
    ],
)
def test_a_host_may_be_written_in_many_ways_and_is_shown_without_its_token(
    written: str | list[str] | Path, shown: str
) -> None:
    assert target_of(written, token=None, data_dir=None, environ={}, patience=1).shown == shown


@pytest.mark.parametrize("written", ["nonsense", "ftp://host/", "ws://", "exec:", "host:port", ""])
def test_what_is_no_host_is_refused_with_examples(written: str) -> None:
    with pytest.raises(UsageError, match="a host is written as"):
        target_of(written, token=None, data_dir=None, environ={}, patience=1)


def test_the_variable_counts_unless_a_data_directory_is_named(tmp_path: Path) -> None:
    environ = {"HOLDFAST_HOST": "unix:/a", "HOLDFAST_DATA_DIR": "/b"}
    assert target_of(None, token=None, data_dir=None, environ=environ, patience=1).shown == "unix:/a"
    shown = target_of(None, token=None, data_dir=tmp_path, environ=environ, patience=1).shown
    assert shown == f"the host of {tmp_path}"
    shown = target_of(None, token=None, data_dir=None, environ={"HOLDFAST_DATA_DIR": "/b"}, patience=1).shown
    assert shown == "the host of /b"


def test_waits_grow_to_a_bound_and_may_end() -> None:
    retry = Retry(first=1, factor=2, most=10, attempts=100)
    for failed, whole in ((0, 1), (1, 2), (3, 8), (4, 10), (99, 10)):
        waits = [retry.wait(failed) for _ in range(50)]
        assert all(wait is not None and whole / 2 <= wait <= whole for wait in waits)
        assert len(set(waits)) > 1
    assert retry.wait(100) is None
    assert Retry().wait(10**6) is not None
