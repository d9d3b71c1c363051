"""One host for each data directory, shown with real processes."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import __version__
from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server.lock import AlreadyRunning, Lock, Running, running

STARTED = "2025-03-10T18:42:03.123Z"

PROGRAM = """
import sys
from pathlib import Path
from holdfast.server.lock import Lock
with Lock(Path(sys.argv[1]), started="2025-03-10T18:42:03.123Z") as lock:
    lock.publish("ws://127.0.0.1:7447", Path("/run/s"))
    print("held", flush=True)
    sys.stdin.read()
"""

ASKER = """
import sys
from pathlib import Path
from holdfast.server.lock import running
print("asking", flush=True)
while True:
    running(Path(sys.argv[1]))
"""


@contextlib.contextmanager
def _host(data_dir: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the lock until its stdin ends."""
    command = [sys.executable, "-c", PROGRAM, str(data_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"held\n"
        yield host


def test_a_second_host_is_told_where_the_first_one_is(tmp_path: Path) -> None:
    assert running(tmp_path) is None
    with _host(tmp_path) as host:
        first = Running(
            pid=host.pid, started=STARTED, address="ws://127.0.0.1:7447", socket="/run/s", version=__version__
        )
        assert running(tmp_path) == first
        with pytest.raises(AlreadyRunning) as refused:
            Lock(tmp_path, started=STARTED)
        assert str(refused.value) == (
            f"a host is running in {tmp_path} already (process {host.pid}, at ws://127.0.0.1:7447)"
        )
        assert refused.value.host == first
    assert running(tmp_path) is None
    with Lock(tmp_path, started=STARTED):
        assert running(tmp_path) == Running(pid=os.getpid(), started=STARTED, version=__version__)
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600


def test_a_host_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    with _host(tmp_path) as host:
        host.send_signal(signal.SIGKILL)
        host.wait(timeout=60)
        assert running(tmp_path) is None
        with Lock(tmp_path, started=STARTED) as lock:
            lock.publish(None, None)
            assert running(tmp_path) == Running(pid=os.getpid(), started=STARTED, version=__version__)


def test_what_is_in_the_file_means_nothing_without_the_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text('{"pid": 1, "started": "x"}\n')
    assert running(tmp_path) is None
    with Lock(tmp_path, started=STARTED):
        pass


def test_a_lock_of_an_unknown_kind_is_a_lock(tmp_path: Path) -> None:
    lock = Lock(tmp_path, started=STARTED)
    (tmp_path / "lock").write_text('{"pid": 7, "started": "x", "since": "a newer version"}\n')
    assert running(tmp_path) == Running(pid=7, started="x")
    (tmp_path / "lock").write_text("rubbish")
    with pytest.raises(AlreadyRunning, match="another process"):
        Lock(tmp_path, started=STARTED)
    lock.release()
    lock.release()


def test_a_shorter_address_leaves_no_rest(tmp_path: Path) -> None:
    with Lock(tmp_path, started=STARTED) as lock:
        lock.publish("ws://a-rather-long-name.example:7447", Path("/run/a/rather/long/path"))
        lock.publish("ws://b", None)
        expected = Running(pid=os.getpid(), started=STARTED, address="ws://b", version=__version__)
        assert running(tmp_path) == expected
        assert (tmp_path / "lock").read_text().count("\n") == 1


def test_asking_does_not_keep_a_host_from_starting(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ASKER, str(tmp_path)], stdout=subprocess.PIPE) as asking:
        try:
            assert asking.stdout is not None
            assert asking.stdout.readline() == b"asking\n"
            for _ in range(200):
                with Lock(tmp_path, started=STARTED):
                    pass
        finally:
            asking.kill()


def test_a_directory_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    assert running(tmp_path / "missing") is None
    with pytest.raises(EnvironmentFailure, match=r"cannot use .*/missing/lock"):
        Lock(tmp_path / "missing", started=STARTED)
