"""Which host a command talks to, and what it says when there is none."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from console import Console, serving


def test_a_host_is_found_by_its_data_directory_its_address_or_its_socket(console: Console, tmp_path: Path) -> None:
    expected = console.text("agents")
    elsewhere = {"HOLDFAST_DATA_DIR": str(tmp_path)}
    for words in (
        ("--data-dir", str(console.data_dir)),
        ("--host", console.url),
        ("--host", f"unix:{console.data_dir}/run/holdfast.sock"),
    ):
        assert console.run("agents", *words, variables=elsewhere).out == expected
    for address in (console.url, f"unix:{console.data_dir}/run/holdfast.sock"):
        assert console.run("agents", variables={**elsewhere, "HOLDFAST_HOST": address}).out == expected


def test_a_data_directory_in_the_users_file_counts(console: Console, tmp_path: Path) -> None:
    (tmp_path / "holdfast").mkdir()
    (tmp_path / "holdfast" / "holdfast.toml").write_text(f'data_dir = "{console.data_dir}"\n')
    variables = {"HOLDFAST_DATA_DIR": "", "XDG_CONFIG_HOME": str(tmp_path)}
    assert console.run("agents", variables=variables).out == console.text("agents")


def test_a_flag_counts_before_a_variable(console: Console) -> None:
    variables = {"HOLDFAST_HOST": "ws://127.0.0.1:1/"}
    assert console.run("agents", variables=variables).code == 3
    assert console.run("agents", "--host", console.url, variables=variables).code == 0
    assert console.run("agents", "--data-dir", str(console.data_dir), variables=variables).code == 0


def test_a_host_can_be_a_command(console: Console, tmp_path: Path) -> None:
    command = f"exec:{sys.executable} -m holdfast serve --stdio --data-dir {tmp_path}"
    assert console.run("agents", "--host", command).out == console.text("agents")


def test_no_host_is_said_in_a_sentence(console: Console, tmp_path: Path) -> None:
    done = console.run("sessions", "--data-dir", str(tmp_path))
    assert (done.code, done.out) == (3, "")
    assert done.err == f"holdfast: no host runs for {tmp_path}; start one with `holdfast serve` or `holdfast up`\n"


def test_a_wrong_token_is_said_without_showing_it(console: Console) -> None:
    done = console.run("sessions", "--host", f"{console.url.partition('?')[0]}?tkn=guessed")
    assert done.code == 3
    assert done.err.count("\n") == 1
    assert "guessed" not in done.err


def test_an_address_that_is_none_is_bad_usage(console: Console) -> None:
    done = console.run("sessions", "--host", "boo")
    assert done.code == 2
    assert done.err.startswith("holdfast: 'boo' is no address: ")


def test_a_host_that_goes_away_and_comes_back_is_waited_for(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with serving(tmp_path) as first:
            uri = first.text("new", "--title", "Before").strip()
            watching = stack.enter_context(first.start("sessions", "--watch"))
            assert uri in watching.line()
        assert watching.remark() == "the host is away; waiting 30 s for it to come back\n"
        with serving(tmp_path) as second:
            assert watching.remark() == "the host is back\n"
            second.text("rename", uri, "After")
            assert "After" in watching.line()


def test_a_turn_whose_host_is_killed_is_told_and_resumed(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with serving(tmp_path) as first:
            uri = first.text("new", "--config", "speed=50").strip()
            sending = stack.enter_context(first.start("send", "long 100", "--session", uri, "--quiet"))
            sending.letters(1)
        with serving(tmp_path) as second:
            done = sending.end()
            assert done.code == 1
            assert done.err.endswith(f"; `holdfast send --session {uri} --resume` goes on\n")
            assert second.run("send", "--session", uri, "--resume").code == 0


def test_a_closed_pipe_ends_a_command_as_it_ends_any_other(console: Console) -> None:
    console.text("new")
    with console.start("sessions", "--watch", "--json") as watching:
        watching.line()
        watching.hang_up()
        console.text("new")
        assert watching.end() == (-signal.SIGPIPE, "", "")


def test_a_full_disk_fails_a_command_in_a_sentence(console: Console) -> None:
    done = _in_a_shell(console, "{holdfast} agents --json >/dev/full")
    assert (done.returncode, done.stderr) == (1, "holdfast: cannot write: No space left on device\n")


def test_closed_streams_are_told_in_a_sentence(console: Console) -> None:
    done = _in_a_shell(console, "{holdfast} agents >&-")
    assert (done.returncode, done.stderr) == (1, "holdfast: cannot write: stdout is closed\n")
    done = _in_a_shell(console, "{holdfast} send <&-")
    sentence = "holdfast: there is nothing to send; write TEXT, or - to read it from stdin\n"
    assert (done.returncode, done.stderr) == (2, sentence)


def test_a_terminal_of_another_age_is_shown_what_it_can(console: Console) -> None:
    console.text("new", "--title", "Grüße aus 東京")
    variables = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run(
        console.words("sessions", "--search", "aus"),
        env=console.variables | variables,
        capture_output=True,
        check=True,
    )
    assert "Grüße aus ??" in done.stdout.decode("latin-1")


def _in_a_shell(console: Console, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command.format(holdfast=shlex.join(console.words()))],
        env=console.variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_version_needs_no_host_and_nothing_heavy() -> None:
    code = "import sys; sys.argv = ['holdfast', '--version']; import holdfast.cli as c, atexit\n"
    code += (
        "atexit.register(lambda: print(sorted({'asyncio', 'msgspec', 'rich', 'websockets'} & set(sys.modules))))\n"
    )
    done = subprocess.run([sys.executable, "-c", f"{code}c.main()"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1:] == ["[]"]
