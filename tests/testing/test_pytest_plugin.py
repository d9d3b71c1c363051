"""The fixtures, in a pytest of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CONFTEST = """
import pytest
from holdfast.testing import Actor, ManualClock, calls, says, waits

pytest_plugins = ["holdfast.testing.pytest"]

@pytest.fixture
def actor():
    return Actor("Let me look. ", calls("ls", ask=True, result="a.txt"), "There.")

@pytest.fixture
def holdfast_agents(actor):
    return [actor]
"""

TESTS = """
import holdfast
import holdfast.sync

def test_a_conversation(holdfast_session, actor):
    said = []
    for event in holdfast_session.send("What is here?"):
        match event:
            case holdfast.Text(text): said.append(text)
            case holdfast.sync.Approval() as ask: ask.approve()
    assert "".join(said) == "Let me look. There."
    assert actor.heard == ["What is here?"]

def test_breaks_and_restarts(holdfast_local, holdfast_session, actor):
    actor.plays("Yes?")
    holdfast_local.drop()
    with holdfast_local.unreachable():
        turn = holdfast_session.send("Hello?")
    assert turn.outcome().text == "Yes?"
    holdfast_local.restart()
    assert holdfast_session.send("Still there?").outcome().text == "Yes?"

def test_several_clients(holdfast_local, holdfast_session, actor):
    other = holdfast_local.connect()
    same = other.session(holdfast_session.uri)
    holdfast_session.rename("Ours")
    other.ping()
    assert same.title == "Ours"
    other.close()

class TestTime:
    import pytest
    from holdfast.testing import ManualClock

    @pytest.fixture
    def holdfast_options(self):
        return {"clock": self.ManualClock(), "undo_window": 60}

    def test_passes_when_told(self, holdfast_local, holdfast_host, holdfast_session):
        holdfast_session.dispose()
        holdfast_local.advance(61)
        with self.pytest.raises(holdfast.RpcError):
            holdfast_host.restore_session(holdfast_session.uri)

def test_a_failing_one(holdfast_session, actor):
    actor.plays("No.")
    assert holdfast_session.send("x").outcome().text == "Yes."
"""


def pytest_run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_tests_have_a_host_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_mine.py").write_text(TESTS)
    done = pytest_run(tmp_path)
    assert "1 failed, 4 passed" in done.stdout, done.stdout + done.stderr
    assert "AssertionError: assert 'No.' == 'Yes.'" in done.stdout


def test_nothing_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["holdfast.testing.pytest"]\n')
    (tmp_path / "test_mine.py").write_text(
        "import sys\n\ndef test_few():\n"
        "    loaded = {name for name in sys.modules if name.startswith('holdfast')}\n"
        "    assert loaded == {'holdfast', 'holdfast._version', 'holdfast.testing', 'holdfast.testing.pytest'}\n"
        "    assert 'msgspec' not in sys.modules and 'websockets' not in sys.modules\n"
    )
    done = pytest_run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
