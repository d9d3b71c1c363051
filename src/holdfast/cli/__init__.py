"""The `holdfast` command. Each subcommand has a file of its own and is imported when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from holdfast import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["SECTIONS", "cli", "main"]

# What `holdfast --help` shows: section -> subcommand -> the module whose `command` it is.
SECTIONS: Final = {
    "Sessions": {
        "attach": "holdfast.cli.attach",
        "sessions": "holdfast.cli.sessions",
        "new": "holdfast.cli.new",
        "send": "holdfast.cli.send",
        "show": "holdfast.cli.show",
        "tail": "holdfast.cli.tail",
        "queue": "holdfast.cli.queue",
        "steer": "holdfast.cli.steer",
        "cancel": "holdfast.cli.cancel",
        "fork": "holdfast.cli.fork",
        "rename": "holdfast.cli.rename",
        "archive": "holdfast.cli.archive",
        "rm": "holdfast.cli.rm",
        "export": "holdfast.cli.export",
        "import": "holdfast.cli.importing",
    },
    "What waits for a person": {
        "approve": "holdfast.cli.approve",
        "deny": "holdfast.cli.deny",
        "answer": "holdfast.cli.answer",
    },
    "The host": {
        "serve": "holdfast.cli.serve",
        "up": "holdfast.cli.up",
        "down": "holdfast.cli.down",
        "status": "holdfast.cli.status",
        "logs": "holdfast.cli.logs",
        "service": "holdfast.cli.service",
        "doctor": "holdfast.cli.doctor",
        "agents": "holdfast.cli.agents",
        "models": "holdfast.cli.models",
        "config": "holdfast.cli.config",
        "token": "holdfast.cli.token",
        "backup": "holdfast.cli.backup",
        "completion": "holdfast.cli.completion",
    },
    "Development": {
        "capture": "holdfast.cli.capture",
        "replay": "holdfast.cli.replay",
        "debug": "holdfast.cli.debug",
    },
}
_COMMANDS: Final = {name: module for commands in SECTIONS.values() for name, module in commands.items()}


class _LazyGroup(click.Group):
    """A group that knows its commands by name and loads only the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = import_module(module).command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As click does it; for a shell that shows names only no command is loaded."""
        if not os.environ.get("_HOLDFAST_COMPLETE", "").startswith("bash") or incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in _COMMANDS if name.startswith(incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with a guess at what was meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            close = difflib.get_close_matches(args[0], _COMMANDS, 1)
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean {close[0]!r}?", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands in their sections, each with its first sentence."""
        widest = max(len(name) for name in _COMMANDS)
        room = formatter.width - 6 - widest  # two spaces before, two between, two of click's own
        for title, names in SECTIONS.items():
            commands = {name: self.get_command(ctx, name) for name in names}
            rows = [(name.ljust(widest), found.get_short_help_str(room)) for name, found in commands.items() if found]
            with formatter.section(title):
                formatter.write_dl(rows, col_max=widest, col_spacing=2)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="holdfast")
def cli() -> None:
    """An agent host for the Agent Host Protocol: sessions that hold."""


def main() -> None:
    """Run the command line. Exit code 2 for bad usage or bad input."""
    sys.exit(cli.main(prog_name="holdfast", standalone_mode=True))
