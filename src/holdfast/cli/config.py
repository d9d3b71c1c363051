"""`holdfast config`: the options in force, and where each came from."""

from __future__ import annotations

import json
from typing import Any

import click

from holdfast.cli.exits import in_words
from holdfast.cli.options import host_options, settings_from
from holdfast.server.settings import effective

__all__ = ["command"]


@click.command("config", short_help="Print the options in force, and where each came from.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
@host_options()
def command(as_json: bool, **given: Any) -> None:
    """Print the options a host would run with here, and where each came from.

    Takes the same options as `serve`, to see what they would do. What is printed with the flag --json has stable
    names.
    """
    with in_words():
        rows = effective(settings_from(given))
    if as_json:
        click.echo(json.dumps({row.name: {"value": row.value, "origin": row.origin} for row in rows}, indent=2))
        return
    names, values = max(len(row.name) for row in rows), max(len(row.value) for row in rows)
    for row in rows:
        click.echo(f"{row.name:{names}}  {row.value:{values}}  {row.origin}")
