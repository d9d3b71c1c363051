"""What a process costs, asked of Linux; and where it may run."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Final

__all__ = ["CLIENT", "SERVER", "cpu_seconds", "pin", "reset_peak", "resident", "resident_peak"]

_CPUS: Final = sorted(os.sched_getaffinity(0))

SERVER: Final = _CPUS[0]
"""The core that servers get, and next to it the one for whoever loads them."""
CLIENT: Final = _CPUS[-1]


def pin(pid: int, cpu: int) -> None:
    """Keep a process, with all the threads it has, on one core."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {cpu})


def cpu_seconds(pid: int) -> float:
    """What a process has used of CPUs so far, in all its threads."""
    # The clock of another process: see CPUCLOCK_SCHED in Linux' posix-timers.
    return time.clock_gettime((~pid << 3) | 2)


def resident(pid: int) -> float:
    """Megabytes in memory."""
    return _status(pid, "VmRSS")


def resident_peak(pid: int) -> float:
    """The most megabytes that were in memory since `reset_peak`."""
    return _status(pid, "VmHWM")


def reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _status(pid: int, name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None, f"{name} of a process that runs"
    return int(found[1]) * 1024 / 1e6
