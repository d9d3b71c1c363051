"""The `holdfast` command. Each subcommand has a file of its own and is imported when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final

import click

from holdfast import __version__

__all__ = ["main"]

# Subcommand -> the module whose `command` it is.
_COMMANDS: Final = {
    "backup": "holdfast.cli.backup",
    "config": "holdfast.cli.config",
    "debug": "holdfast.cli.debug",
    "serve": "holdfast.cli.serve",
    "token": "holdfast.cli.token",
}


class _LazyGroup(click.Group):
    """A group that knows its commands by name and loads only the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = import_module(module).command
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="holdfast")
def cli() -> None:
    """An agent host for the Agent Host Protocol: sessions that hold."""


def main() -> None:
    """Run the command line. Exit code 2 for bad usage or bad input."""
    sys.exit(cli.main(prog_name="holdfast", standalone_mode=True))
