"""`holdfast down`: the end of a host in the background."""

from __future__ import annotations

from typing import Any, Final

import click

from holdfast.cli.exits import in_words
from holdfast.cli.options import host_options, settings_from
from holdfast.cli.output import as_json, emit_json, remark

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("down",)


@click.command("down")
@click.option("--now", is_flag=True, help="Do not wait for running turns. They can be resumed.")
@click.option(
    "--timeout", type=click.FloatRange(min=0), default=30.0, metavar="SECONDS", help="How long to wait.  [30]"
)
@as_json()
@host_options(("data_dir",))
def command(now: bool, timeout: float, as_json: bool, **given: Any) -> None:
    """Stop the host, and wait until it is gone.

    Running turns get some time to end (--drain-timeout of the host). Whatever a session holds is kept. Ends with
    exit code 3 if no host runs.
    """
    with in_words():
        from holdfast.cli import daemon
        from holdfast.cli.shapes import Down

        settings = settings_from(given)
        host = daemon.end(settings.data_dir, timeout, at_once=now)
        if as_json:
            emit_json(Down(data_dir=str(settings.data_dir), pid=host.pid))
        else:
            remark(f"stopped (process {host.pid})")
