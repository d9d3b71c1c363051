"""`service`: the files for systemd and launchd word by word, and the commands that are run for them."""

from __future__ import annotations

import json
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aio import aio
from cli.running import Done, holdfast, valid
from holdfast.cli.units import launchd, systemd
from served import hosting

UNIT = """\
# Made by `holdfast service install`, which overwrites it.
[Unit]
Description=Holdfast agent host

[Service]
ExecStart={python} -P -m holdfast serve --data-dir {home}/.local/share/holdfast --port 7000
# The line it prints has the token in it.
StandardOutput=null
Environment=PATH={path}
UMask=0077
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=25
OOMPolicy=continue

[Install]
WantedBy=default.target
"""

# A service manager that writes down what it is told, and remembers whether the service is active.
MANAGER = """\
#!/bin/sh
echo "$(basename "$0") $*" >> "$HOME/calls"
case "$*" in
  *restart*|*bootstrap*) [ ! -e "$HOME/broken" ] || { echo "no bus" >&2; exit 1; }; touch "$HOME/active" ;;
  *disable*|*bootout*) [ -e "$HOME/active" ] || exit 5; rm "$HOME/active" ;;
  *is-active*|*print*) [ -e "$HOME/active" ] ;;
esac
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of a user whose PATH has a service manager and little else."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("systemctl", "launchctl"):
        (programs / name).write_text(MANAGER)
        (programs / name).chmod(0o755)
    return tmp_path


def _run(home: Path, *words: str, path: str = "{home}/bin:/usr/bin:/bin") -> Done:
    return holdfast(home, "service", *words, PATH=path.format(home=home))


def _calls(home: Path) -> list[str]:
    file = home / "calls"
    lines = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return [line for line in lines if "is-active" not in line and "print" not in line]


def test_a_unit_is_installed_started_and_taken_away(home: Path) -> None:
    file = home / ".config" / "systemd" / "user" / "holdfast.service"
    assert _run(home, "status", "--manager", "systemd").code == 3
    done = _run(home, "install", "--manager", "systemd", "--port", "7000")
    assert done.code == 0, done.err
    assert done.out == f"{file} is installed and runs; it starts whenever you log in\n"
    assert "enable-linger" in done.err
    assert file.read_text() == UNIT.format(python=sys.executable, home=home, path=f"{home}/bin:/usr/bin:/bin")
    assert _calls(home) == [
        "systemctl --user daemon-reload",
        "systemctl --user enable holdfast.service",
        "systemctl --user restart holdfast.service",
    ]
    status = _run(home, "status", "--manager", "systemd", "--json")
    assert (status.code, valid(json.loads(status.out), "service")) == (
        0,
        {"manager": "systemd", "file": str(file), "installed": True, "active": True},
    )
    assert _run(home, "uninstall", "--manager", "systemd").code == 0
    assert not file.exists()
    assert _calls(home) == ["systemctl --user disable --now holdfast.service", "systemctl --user daemon-reload"]
    again = _run(home, "uninstall", "--manager", "systemd", "--json")
    assert (again.code, json.loads(again.out)["installed"]) == (0, False)
    assert _calls(home) == []


def test_a_launch_agent_is_installed_started_and_taken_away(home: Path) -> None:
    file = home / "Library" / "LaunchAgents" / "holdfast.plist"
    assert _run(home, "install", "--manager", "launchd", "--no-compression").code == 0
    data = home / ".local" / "share" / "holdfast"
    value = plistlib.loads(file.read_bytes())
    log = data / "log" / "host.log"
    assert value == {
        "Label": "holdfast",
        "ProgramArguments": [
            *(sys.executable, "-P", "-m", "holdfast", "serve", "--data-dir", str(data), "--no-compression"),
            *("--log-file", str(log)),
        ],
        "EnvironmentVariables": {"PATH": f"{home}/bin:/usr/bin:/bin"},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": str(log.with_name("stderr.log")),
        "ExitTimeOut": 25,
        "Umask": 0o077,
    }
    assert log.parent.is_dir()
    assert [call.split()[1] for call in _calls(home)] == ["bootout", "enable", "bootstrap"]
    assert _run(home, "uninstall", "--manager", "launchd").code == 0
    assert [call.split()[1] for call in _calls(home)] == ["bootout"]
    assert not file.exists()


def test_a_dry_run_shows_everything_and_does_nothing(home: Path) -> None:
    done = _run(home, "install", "--dry-run", "--manager", "systemd", "--port", "7000")
    unit = UNIT.format(python=sys.executable, home=home, path=f"{home}/bin:/usr/bin:/bin")
    file = home / ".config" / "systemd" / "user" / "holdfast.service"
    assert done == Done(
        0,
        f"# {file}\n{unit}\n# then\nsystemctl --user daemon-reload\nsystemctl --user enable holdfast.service\n"
        "systemctl --user restart holdfast.service\n",
        "",
    )
    removal = _run(home, "uninstall", "--dry-run", "--manager", "launchd").out
    assert f"rm {home}/Library/LaunchAgents/holdfast.plist" in removal.splitlines()
    assert sorted(each.name for each in home.iterdir()) == ["bin"]


def test_variables_are_kept_in_the_file(home: Path) -> None:
    done = holdfast(home, "service", "install", "--dry-run", "--manager", "systemd", HOLDFAST_FRAME_BUDGET="1MB")
    (line,) = [line for line in done.out.splitlines() if line.startswith("ExecStart")]
    assert line.endswith("--frame-budget 1MB")


def test_without_a_manager_it_says_what_else_there_is(home: Path) -> None:
    done = _run(home, "install", "--manager", "systemd", path="/nowhere")
    assert done == Done(1, "", "holdfast: there is no systemctl here; `holdfast up` starts a host without it\n")
    assert not (home / ".config").exists()


def test_a_manager_that_fails_is_quoted(home: Path) -> None:
    (home / "broken").touch()
    done = _run(home, "install", "--manager", "systemd")
    assert done.code == 1
    assert done.err.startswith("holdfast: `systemctl --user restart holdfast.service` did not work: no bus; ")


@aio
async def test_a_host_that_runs_already_is_in_the_way(home: Path) -> None:
    async with hosting(home) as host:
        done = _run(home, "install", "--manager", "systemd", "--data-dir", str(host.data_dir))
        assert done.code == 1
        assert f"(process {host.pid}); `holdfast down` stops it" in done.err
        assert _calls(home) == []


@pytest.mark.parametrize("odd", ["a b", 'a"b', "a\\b", "a%hb", "a$HOME", "ä", "$$", "a'b"])
def test_odd_words_arrive_as_they_are(odd: str, tmp_path: Path) -> None:
    words = ["/bin/holdfast", "--data-dir", odd]
    unit = systemd(words, tmp_path, "/bin", 10)
    (line,) = [line for line in unit.text.splitlines() if line.startswith("ExecStart=")]
    # What systemd does, in its order: words and escapes, then specifiers and variables.
    read = [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line.removeprefix("ExecStart="))]
    assert read == words
    assert "%h" not in line.replace("%%", "")
    agent = launchd(words, tmp_path, tmp_path, "/bin", 10, 501)
    assert plistlib.loads(agent.text.encode())["ProgramArguments"][:3] == words


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_finds_nothing_wrong_with_a_unit(tmp_path: Path) -> None:
    unit = systemd([sys.executable, "-m", "holdfast", "serve", "--data-dir", 'a $b %h "c"'], tmp_path, "/bin", 10)
    file = tmp_path / "holdfast.service"
    file.write_text(unit.text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
