"""The process is killed at random instants: what was acknowledged is there, whole, and numbers never come again."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports.journal import FindTurn, Journal, LoadUnit, ReadFrames
from journal.builders import NOW

RUNS = 20

# Prints "opening", then the first number, then each number that was acknowledged. Every commit puts the same
# number into two units and a turn; every tenth has heads. Blocks of numbers are small, so that reservations happen.
CHILD = """
import os, sys
from holdfast.journal.settings import JournalSettings
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports.journal import *

def say(word):
    os.write(1, f"{word}\\n".encode())

now = int(sys.argv[2])
journal = SqliteJournal(sys.argv[1], JournalSettings(block=100, replay_bytes=1 << 40, durability=sys.argv[3]))
say("opening")
opening = journal.open(now)
number, reserved = opening.epochs[-1].first, opening.reserved
say(number)
while True:
    if number + 8 > reserved:
        reserved = journal.reserve()
    writes = [
        AppendFrame(Frame("a", now, (StoredEnvelope("a", number, b"x" * 100),))),
        AppendFrame(Frame("b", now, (StoredEnvelope("b", number + 4, b"x" * 3000),))),
        AppendTurn("chat", str(number), b"x" * 1000),
    ]
    if number % 80 < 8:
        writes += [PutHead("a", "a", "session", number, b"{}"), PutHead("b", "chat", "chat", number, b"{}")]
    journal.commit(Commit(tuple(writes)))
    say(number)
    if number % 160 < 8:
        journal.maintain(now)
        journal.checkpoint()
    number += 8
"""


@contextmanager
def child(path: Path, now: int, durability: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", CHILD, str(path), str(now), durability]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str], lines: int) -> list[str]:
    """Kill the child after so many lines, and return all that it said, cut in the middle or not."""
    assert process.stdout is not None
    before = [process.stdout.readline() for _ in range(lines)]
    process.kill()
    rest = process.stdout.read().splitlines(keepends=True)
    return [line.strip() for line in [*before, *rest] if line.endswith("\n")]


def units_with(journal: Journal, number: int) -> tuple[bool, bool, bool]:
    """Whether a commit is in either unit and among the turns."""
    first = journal.read(ReadFrames(("a",), number - 1, None))
    second = journal.read(ReadFrames(("b",), number + 3, None))
    return (
        any(each.seq == number for each in first),
        any(each.seq == number + 4 for each in second),
        journal.read(FindTurn("chat", str(number))) is not None,
    )


def test_nothing_acknowledged_is_missing_after_a_kill(tmp_path: Path) -> None:
    seed = int(os.environ.get("HOLDFAST_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"HOLDFAST_SEED={seed}")
    chance = random.Random(seed)
    path = tmp_path / "journal.db"
    journal = SqliteJournal(path)
    acknowledged: list[int] = []
    epochs: list[int] = []
    for run in range(RUNS):
        now = NOW + run * chance.choice([0, 1, 1000])
        with child(path, now, chance.choice(["process", "process", "power"])) as process:
            opening, *numbers = map(str, said(process, chance.choice([1, 2, 3, chance.randrange(4, 300)])))
        assert opening == "opening"
        if numbers:
            first, *committed = map(int, numbers)
            assert first > max([*acknowledged, *epochs], default=0), f"run {run}: numbers come again"
            epochs.append(first)
            acknowledged += committed
        found = journal.open(now)
        first = found.epochs[-1].first
        recorded = [epoch.first for epoch in found.epochs]
        assert recorded == sorted(set(recorded)), f"run {run}: epochs {recorded}"
        assert set(epochs) <= set(recorded), f"run {run}: an epoch is missing"
        epochs.append(first)
        assert found.epochs[-1].head_before >= max(acknowledged, default=0)
        kept = {each.seq for each in journal.read(ReadFrames(("a",), 0, None))}
        assert set(acknowledged) <= kept, f"run {run}: acknowledged commits are missing"
        assert max(kept, default=0) < first, f"run {run}: the next number was used before"
        # The one commit that may have happened unsaid is whole as well.
        for number in sorted(kept)[-3:]:
            assert units_with(journal, number) == (True, True, True), f"run {run}: commit {number} is torn"
        if kept:
            assert journal.read(LoadUnit("a")) is not None
        journal.close()
    assert len(acknowledged) > RUNS
