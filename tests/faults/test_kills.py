"""Twenty kills. Two hundred of them: `python -m tests.faults kills`."""

from __future__ import annotations

import random
from pathlib import Path

from aio import run
from faults.kills import Campaign


# C-85, S-12, AN-13
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)

    async def campaign() -> None:
        tally = await Campaign(tmp_path, seed).run(20)
        print(tally)
        assert (tally.kills, tally.acknowledged > 0, tally.turns > 0) == (20, True, True)

    run(campaign, seconds=240)
