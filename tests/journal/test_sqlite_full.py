"""No space: a commit fails whole, everything before it stays, and the next one works once there is room.

Shown with SQLite's own limit, with a file system that is really full where one can be mounted, and with a limit on
the size of files, which the system reports as a failed write instead.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports.journal import Content, JournalFull, PutContent, ReadFrames
from journal.builders import NOW, OTHER, SESSION, SETTINGS, commit, frame, head, seqs, session, turns

# Commits frames of 20 kB with a session each until one fails, checks that exactly the acknowledged ones are there,
# makes room, perhaps with the journal closed meanwhile, and goes on. Prints what happened.
FILLING = """
import sys
from pathlib import Path
from holdfast.journal.sqlite import SqliteJournal
from holdfast.ports.journal import *

path, is_closed, make_room = Path(sys.argv[1]), {is_closed}, {make_room}
journal = SqliteJournal(path)
number = journal.open(1_790_000_000_000).epochs[-1].first

def fill(number):
    row = SessionRow(f"s{{number}}", "2026", b"{{}}", True, False, b"")
    envelope = StoredEnvelope("s", number, b"x" * 20_000)
    journal.commit(Commit((PutSession(row), AppendFrame(Frame("s", 1_790_000_000_000, (envelope,))))))

acknowledged, failure = [], None
while failure is None:
    assert len(acknowledged) < 1000
    try:
        fill(number)
        acknowledged.append(number)
        number += 4
    except JournalFailed as failed:
        failure = failed

def kept():
    assert journal.read(LoadUnit(f"s{{number}}")) is None
    return [each.seq for each in journal.read(ReadFrames(("s",), 0, None))]

assert kept() == acknowledged
if is_closed:
    journal.close()
make_room()
if is_closed:
    journal.open(0)
assert kept() == acknowledged
fill(number)
acknowledged.append(number)
number += 4
assert kept() == acknowledged
journal.maintain(1_790_000_000_000)
journal.checkpoint()
journal.close()
opening = journal.open(0)
assert kept() == acknowledged
assert opening.sessions == len(acknowledged) > 5
journal.close()
print(type(failure).__name__, str(failure).replace(str(path), "PATH"))
"""


def run(command: list[str]) -> str:
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def test_full_database_refuses_the_commit_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "journal.db", SETTINGS)
    journal.open(NOW)
    commit(journal, session(SESSION), frame(SESSION, 4))
    writer = journal._require_open().writer
    (unlimited,) = writer.execute("PRAGMA max_page_count").fetchone()
    (pages,) = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages + 3}")
    large = PutContent(Content("content", SESSION, "text/plain", b"x" * 100_000))
    with pytest.raises(JournalFull, match=r"no space left for .*journal\.db; make room and try again"):
        commit(journal, frame(SESSION, 8), session(OTHER), head(OTHER, OTHER, 8), *turns(OTHER, "t"), large)
    assert seqs(journal.read(ReadFrames((SESSION,), 0, None))) == [4]
    commit(journal, frame(SESSION, 8))
    writer.execute(f"PRAGMA max_page_count = {unlimited}")
    commit(journal, frame(SESSION, 12), large)
    assert seqs(journal.read(ReadFrames((SESSION,), 0, None))) == [4, 8, 12]
    journal.close()


@pytest.mark.parametrize("is_closed", [False, True])
def test_full_disk(tmp_path: Path, is_closed: bool) -> None:
    """A small file system, mounted where only the child sees it. Ballast is what is removed to make room."""
    unshare = shutil.which("unshare")
    mounted = f'mount -t tmpfs -o size=4m none "{tmp_path}"'
    isolated = [str(unshare), "--user", "--map-root-user", "--mount", "sh", "-c"]
    if unshare is None or subprocess.run([*isolated, mounted], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    ballast = tmp_path / "ballast"
    script = FILLING.format(is_closed=is_closed, make_room=f"Path({str(ballast)!r}).unlink")
    filled = f'{mounted} && head -c 2500000 /dev/zero > "{ballast}" && exec "$@"'
    found = run([*isolated, filled, "sh", sys.executable, "-c", script, str(tmp_path / "journal.db")])
    assert found == "JournalFull there is no space left for PATH; make room and try again"


@pytest.mark.parametrize("is_closed", [False, True])
def test_limited_size_of_files(tmp_path: Path, is_closed: bool) -> None:
    limit = (
        "import resource; _, hard = resource.getrlimit(resource.RLIMIT_FSIZE);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))"
    )
    unlimited = "lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))"
    script = limit + FILLING.format(is_closed=is_closed, make_room=unlimited)
    found = run([sys.executable, "-c", script, str(tmp_path / "journal.db")])
    assert found == "JournalFailed PATH could not be used: disk I/O error"
