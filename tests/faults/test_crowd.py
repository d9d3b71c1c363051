"""Whoever comes and goes leaves nothing behind. Ten thousand of them: `python -m tests.faults crowd`."""

from __future__ import annotations

import random
from pathlib import Path

from aio import aio
from faults.crowd import crowd


@aio
async def test_clients_that_come_and_go_leave_no_task_and_no_file(tmp_path: Path) -> None:
    seed = random.randrange(10**9)
    print("seed", seed)
    await crowd(tmp_path, 400, seed, is_long=False)
