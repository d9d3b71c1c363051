"""The long forms: `python -m tests.faults --help`, from the root of the checkout."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where tests find each other, as pytest has it


async def _kills(options: argparse.Namespace, directory: Path) -> None:
    from faults.kills import Campaign, Tally

    def report(tally: Tally) -> None:
        if tally.kills % 10 == 0:
            print(f"{tally.kills}: {tally}", flush=True)

    campaign = Campaign(directory, options.seed, "--durability", options.durability)
    print(await campaign.run(options.runs or 200, report))


async def _frozen(options: argparse.Namespace, directory: Path) -> None:
    from faults.frozen import compare

    print(await compare(directory, turns=options.runs or 2000))


async def _crowd(options: argparse.Namespace, directory: Path) -> None:
    from faults.crowd import crowd

    print(await crowd(directory, connections=options.runs or 10_000, seed=options.seed, is_long=True))


_RUNS: dict[str, Callable[[argparse.Namespace, Path], Coroutine[Any, Any, None]]] = {
    "kills": _kills,
    "frozen": _frozen,
    "crowd": _crowd,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("what", choices=_RUNS)
    parser.add_argument("--runs", type=int, help="kills (200), turns (2000) or connections (10000)")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(10**9), help="printed; the same one repeats a run"
    )
    parser.add_argument("--durability", default="process", choices=("process", "power"))
    options = parser.parse_args()
    print(f"{options.what}, seed {options.seed}", flush=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(_RUNS[options.what](options, Path(directory)))
    print(f"done in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
