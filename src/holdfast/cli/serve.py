"""`holdfast serve`: run a host in this terminal, or for whoever started it."""

from __future__ import annotations

import gc
from typing import Any

import click

from holdfast.cli.exits import in_words
from holdfast.cli.options import host_options, settings_from

__all__ = ["command"]


@click.command("serve")
@click.option("--stdio", is_flag=True, help="Talk over stdin and stdout, one message per line, instead of TCP.")
@host_options()
def command(stdio: bool, **given: Any) -> None:
    """Run a host until it is told to stop.

    Prints `ready URL` on stdout when clients may come; the URL holds the token and can be pasted into any of
    them. Everything else goes to stderr. SIGTERM, SIGINT and SIGHUP let running turns end, then stop the host.

    Every option can also stand in the user's holdfast.toml, in the file of --config, or in a variable:
    --data-dir is HOLDFAST_DATA_DIR.
    """
    with in_words():
        settings = settings_from(given)
        # Modules are no garbage: looking for some among them is a tenth of the start. `serve` looks again.
        gc.disable()
        # Only now: a typing error should not have to wait for an event loop and a database.
        import asyncio

        from holdfast.server import dirs, logs
        from holdfast.server.serve import serve, serve_stdio

        dirs.require_posix()
        logs.configure(settings.log_level, settings.log_format, file=settings.log_file)
        asyncio.run(serve_stdio(settings) if stdio else serve(settings, _ready))


def _ready(url: str) -> None:
    """The one place where a token is printed."""
    click.echo(f"ready {url}")
