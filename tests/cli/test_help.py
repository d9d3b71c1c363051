"""What the command says of itself."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from holdfast.cli import cli


def _commands() -> list[tuple[str, click.Command]]:
    context = click.Context(cli)
    found = [(name, cli.get_command(context, name)) for name in cli.list_commands(context)]
    return [(name, command) for name, command in found if command is not None]


COMMANDS = _commands()


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_has_its_name_and_says_what_it_does(name: str, command: click.Command) -> None:
    assert command.name == name
    assert not command.get_short_help_str(70).endswith("..."), (
        "the first sentence fits on a line of `holdfast --help`"
    )


def test_a_typing_error_is_told_what_was_meant() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "conifg"], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert "No such command 'conifg'. Did you mean 'config'?" in done.stderr


def test_help_lists_every_command_in_a_section() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "--help"], capture_output=True, text=True, timeout=30, check=False
    )
    shown = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ") and line.strip()]
    assert set(cli.list_commands(click.Context(cli))) <= set(shown)
