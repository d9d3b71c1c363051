"""What a running host costs and how far it carries: started, listed, opened, called, followed by a hundred.

    python bench/scale.py [--only NAME ...] [--rounds 5] [--json]

Real processes on real sockets; every run checks what it got: count, order, final state. Figures are medians over
rounds with the spread beside them; where there is a peer, it runs in turn with the host. Servers have one core and
the load generator another, so run it on a quiet machine with two, on Linux. docs/performance.md says what each
figure means. Nothing here is asserted but correctness.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from questions import calls, catalogue, fanout, history, latency, stalled, start, versions
from rig.load import Unavailable
from rig.report import Report
from rig.stage import Stage

QUESTIONS: dict[str, tuple[str, Callable[[Stage], Awaitable[None]]]] = {
    "start": ("from nothing to listening, and what it holds then", start.measure),
    "catalogue": ("100,000 sessions", catalogue.measure),
    "history": ("a chat of 10,000 turns", history.measure),
    "calls": ("requests", calls.measure),
    "fanout": ("actions, end to end", fanout.measure),
    "latency": ("how long an action takes at 1,000 a second", latency.measure),
    "versions": ("older clients, against those of this version", versions.measure),
    "stalled": ("one subscriber that reads nothing", stalled.measure),
}


async def _ask(names: list[str], rounds: int, report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as directory:
        stage = Stage(Path(directory), rounds, report)
        await stage.load.compile()
        for name in names:
            title, measure = QUESTIONS[name]
            report.begin(name, title)
            await measure(stage)


def main() -> int:
    """Run what was asked for; 1 if a target was missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="+", choices=QUESTIONS, default=list(QUESTIONS), metavar="NAME")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json", action="store_true", help="print the figures as JSON at the end, and nothing else")
    given = options.parse_args()
    if sys.platform != "linux":
        sys.exit("this benchmark asks Linux what processes cost; it runs nowhere else")
    report = Report(quiet=given.json)
    machine = f"Python {platform.python_version()}, {os.cpu_count()} CPUs, medians of {given.rounds} rounds"
    report.note(machine)
    try:
        asyncio.run(_ask(given.only, given.rounds, report))
    except Unavailable as missing:
        sys.exit(str(missing))
    if given.json:
        print(json.dumps({"notes": report.notes, "figures": [each.as_json() for each in report.figures]}, indent=1))
    elif report.missed:
        print(f"\n{report.missed} targets missed")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
